"""The oracle (contract C9): what a filter is on one row, by SQL's three-valued logic, in the obvious slow way.

It shares nothing with the rules but the tree, the types and the table of function result types. It is for tests and
proofs, never for
pruning: rows in the value form of ``evaluator.types`` go in, TRUE, FALSE or NULL (None) comes out.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from evaluator import expression as ex
from evaluator.errors import UnsupportedError
from evaluator.functions import FUNCTIONS
from evaluator.reference_functions import call, convert
from evaluator.schema import Schema
from evaluator.semantics import Semantics
from evaluator.types import TIMESTAMP, Kind, Type

__all__ = ["value_of"]

_Typed = tuple[Any, Type]
_EPOCH = datetime.datetime(1970, 1, 1)
_UTC = datetime.timezone.utc


def value_of(expression: ex.HudiExpression, row: Mapping[str, Any], schema: Schema,
             semantics: Semantics) -> bool | None:
    """The value of a filter on a row: column name to value, a missing column is NULL.

    Raises UnsupportedError where the filter holds something unknown, or a function that has no row form here.
    """

    def visit(node: ex.Node, children: list[Any]) -> Any:
        match node:
            case ex.And():
                return False if False in children else None if None in children else True
            case ex.Or():
                return True if True in children else None if None in children else False
            case ex.Not():
                return None if children[0] is None else not children[0]
            case ex.Constant(value=value):
                return value
            case ex.Compare(op=op):
                return _compare(op, children[0], children[1], semantics)
            case ex.In():
                found = [_compare("=", children[0], member, semantics) for member in children[1:]]
                return True if True in found else None if None in found or children[0][0] is None else False
            case ex.IsNull():
                return children[0][0] is None
            case ex.Like(pattern=pattern, escape=escape):
                text = children[0][0]
                return None if text is None else _like(text, pattern, escape)
            case ex.Column():
                return _column(node, row, schema, semantics)
            case ex.Literal(value=value, type=of):
                return (math.floor(value) if semantics.micros_only and isinstance(value, Fraction) else value), of
            case ex.Cast(type=to):
                value, of = children[0]
                return (None if value is None else convert(value, of, to)), to
            case ex.Call(function=name):
                return _call(name, children)
            case ex.Unknown(reason=reason) | ex.Opaque(reason=reason):
                raise UnsupportedError(reason)
            case _:
                raise UnsupportedError(f"{type(node).__name__} has no value on a row")

    result: bool | None = ex.fold(expression, visit)
    return result


def _column(column: ex.Column, row: Mapping[str, Any], schema: Schema, semantics: Semantics) -> _Typed:
    field = schema.resolve(column.name, case_sensitive=semantics.case_sensitive)
    if field is None:
        raise UnsupportedError(f"column {column.name} is not in the table, or its name is ambiguous")
    value = row.get(field.name)
    of = column.type if column.type is not None and column.type.kind is Kind.CHAR else field.type
    if of.kind is Kind.TIMESTAMP_LTZ and value is not None:
        return _wall_clock(value, semantics), TIMESTAMP
    return value, of


def _wall_clock(micros: int, semantics: Semantics) -> int:
    moment = datetime.datetime(1970, 1, 1, tzinfo=_UTC) + datetime.timedelta(microseconds=micros)
    local = moment.astimezone(ZoneInfo(semantics.time_zone)).replace(tzinfo=None)
    return (local - _EPOCH) // datetime.timedelta(microseconds=1)


def _call(name: str, arguments: list[_Typed]) -> _Typed:
    function = FUNCTIONS.get(name)
    if function is None:
        raise UnsupportedError(f"function {name} is not decided")
    result = function.result([of for _, of in arguments])
    return call(name, arguments, result), result


def _compare(op: str, left: _Typed, right: _Typed, semantics: Semantics) -> bool | None:
    if op == "<=>":
        if left[0] is None or right[0] is None:
            return left[0] is None and right[0] is None
        op = "="
    if left[0] is None or right[0] is None:
        return None
    x, y = _comparable(left, right, semantics)
    order = _order(x, y)
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]


def _order(x: Any, y: Any) -> int:
    """-1, 0 or 1; NaN equals itself and is the largest, as Spark and Double.compare have it."""
    if isinstance(x, float) and isinstance(y, float) and (math.isnan(x) or math.isnan(y)):
        return int(math.isnan(x)) - int(math.isnan(y))
    return int(x > y) - int(x < y)


def _comparable(left: _Typed, right: _Typed, semantics: Semantics) -> tuple[Any, Any]:
    (x, a), (y, b) = left, right
    if a.kind.is_number and b.kind.is_number:
        if a.kind.is_fractional or b.kind.is_fractional:
            return float(x), float(y)
        return Fraction(x), Fraction(y)
    if a.kind.is_text and b.kind.is_text:
        return (x.rstrip(" "), y.rstrip(" ")) if Kind.CHAR in (a.kind, b.kind) else (x, y)
    if a.kind is b.kind:
        return x, y
    if _is_temporal(a) and _is_temporal(b):
        return _moment(x, a, semantics), _moment(y, b, semantics)
    if b.kind.is_text and (a.kind.is_number or _is_temporal(a)):
        return _read_as(y, a, x, semantics)
    if a.kind.is_text and (b.kind.is_number or _is_temporal(b)):
        second, first = _read_as(x, b, y, semantics)
        return first, second
    raise UnsupportedError(f"{a} compared with {b} has no row form")


def _is_temporal(of: Type) -> bool:
    return of.kind is Kind.DATE or of.kind.is_timestamp


def _moment(value: Any, of: Type, semantics: Semantics) -> Any:
    if of.kind is Kind.DATE:
        return value * 86_400_000_000
    return _wall_clock(value, semantics) if of.kind is Kind.TIMESTAMP_LTZ else value


def _read_as(text: str, of: Type, value: Any, semantics: Semantics) -> tuple[Any, Any]:
    """(the other operand, the text read as its type)."""
    if of.kind.is_number:
        number = Fraction(Decimal(text))
        return (float(value), float(number)) if of.kind.is_fractional else (Fraction(value), number)
    moment = (datetime.datetime.fromisoformat(text) - _EPOCH) // datetime.timedelta(microseconds=1)
    if of.kind is Kind.DATE:
        return value, moment // 86_400_000_000
    return _moment(value, of, semantics), moment


def _like(text: str, pattern: str, escape: str) -> bool:
    regex = ""
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == escape and position + 1 < len(pattern):
            position += 1
            regex += re.escape(pattern[position])
        else:
            regex += {"%": ".*", "_": "."}.get(char, re.escape(char))
        position += 1
    return re.fullmatch(regex, text, re.DOTALL) is not None
