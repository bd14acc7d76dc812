"""HudiExpressions of the evaluator's strategies as Columns, by PySpark's own operators and functions."""

from __future__ import annotations

import datetime
import math
import operator

from pyspark.sql import functions as F  # noqa: N812

from evaluator.language import expression as ex
from evaluator.language.types import Kind

EPOCH = datetime.datetime(1970, 1, 1)
UTC_EPOCH = EPOCH.replace(tzinfo=datetime.timezone.utc)
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NAMES = {Kind.TIMESTAMP_LTZ: "timestamp", Kind.TIMESTAMP: "timestamp_ntz"}


def column_of(expression):
    return ex.fold(expression, _column)


def value_of(value, of):
    """A value of the evaluator as Python has it."""
    match of.kind:
        case _ if value is None:
            return None
        case Kind.DATE:
            return (EPOCH + datetime.timedelta(days=value)).date()
        case Kind.TIMESTAMP:
            return EPOCH + datetime.timedelta(microseconds=math.floor(value))
        case Kind.TIMESTAMP_LTZ:
            return UTC_EPOCH + datetime.timedelta(microseconds=math.floor(value))
        case _:
            return value


def spark_name(of):
    return NAMES.get(of.kind, "string" if of.kind.is_text else str(of))


def _column(node, parts):
    match node:
        case ex.Column(path=path):
            return F.col(".".join(path))
        case ex.Literal(value=None):
            return F.lit(None)
        case ex.Literal(value=value, type=of):
            if of.kind is Kind.TIMESTAMP:
                return F.expr(f"TIMESTAMP_NTZ'{value_of(value, of)}'")
            literal = F.lit(value_of(value, of))
            return literal if of.kind is Kind.DECIMAL else literal.cast(spark_name(of))
        case ex.Constant(value=value):
            return F.lit(value).cast("boolean")
        case ex.Compare(op="<=>"):
            return parts[0].eqNullSafe(parts[1])
        case ex.Compare(op=op):
            return OPERATORS[op](*parts)
        case ex.In():
            return parts[0].isin(*parts[1:])
        case ex.IsNull():
            return parts[0].isNull()
        case ex.Like(pattern=pattern):
            return parts[0].like(pattern)
        case ex.Not():
            return ~parts[0]
        case ex.And():
            return _joined(operator.and_, parts)
        case ex.Or():
            return _joined(operator.or_, parts)
        case ex.Cast(type=to):
            return parts[0].cast(spark_name(to))
        case ex.Call(function="negative"):
            return -parts[0]
        case ex.Call(function=name):
            return OPERATORS[name](*parts) if name in OPERATORS else F.call_function(name, *parts)
        case _:
            raise AssertionError(node)


def _joined(operation, parts):
    found = parts[0]
    for part in parts[1:]:
        found = operation(found, part)
    return found
