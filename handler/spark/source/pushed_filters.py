"""The filters that Spark's optimizer pushes to a Python data source, as a HudiExpression.

    EqualTo, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, EqualNullSafe      a comparison
    In                                                                                      IN
    IsNull, IsNotNull, Not                                                                  the same
    StringStartsWith, StringEndsWith, StringContains                                        LIKE

Spark pushes a filter only where column and constant have one type, so a constant is exactly of its column's type. It
comes as a Python value; what that does not say exactly (a naive datetime for an instant, a value of another kind) makes
the filter unknown, as does a filter of a kind that is not known here (C1).
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pyspark.sql.types import DataType, DecimalType, StringType, StructType, TimestampNTZType, TimestampType

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import (
    And,
    Column,
    Compare,
    Constant,
    HudiExpression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Unknown,
)
from evaluator.language.like import escape_text
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ, Kind, Type, decimal_type

__all__ = ["condition_of_filters"]

_OPERATORS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_PATTERNS = {"StringStartsWith": "{}%", "StringEndsWith": "%{}", "StringContains": "%{}%"}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def condition_of_filters(filters: Sequence[Any], schema: StructType) -> HudiExpression:
    """The AND of Spark's filters over columns of this schema. Never fails: what is not understood is Unknown."""
    parts = tuple(_condition(one, schema) for one in filters)
    return parts[0] if len(parts) == 1 else And(parts) if parts else Constant(True)


def _condition(one: Any, schema: StructType) -> HudiExpression:
    try:
        return _known(one, schema)
    except UnsupportedError as error:
        return Unknown(f"{type(one).__name__}: {error}")


def _known(one: Any, schema: StructType) -> HudiExpression:
    name = type(one).__name__
    if name == "Not":
        return Not(_condition(one.child, schema))
    if name not in _OPERATORS and name not in _PATTERNS and name not in ("In", "IsNull", "IsNotNull"):
        raise UnsupportedError("a filter of a kind that is not known")
    path = tuple(one.attribute)
    if any("." in part for part in path):
        raise UnsupportedError("a column whose name holds a dot")
    column = Column(path)
    if name == "IsNull":
        return IsNull(column)
    if name == "IsNotNull":
        return Not(IsNull(column))
    of = _type_at(path, schema)
    if name in _PATTERNS:
        if not _evaluator_type(of).kind.is_text or not isinstance(one.value, str):
            raise UnsupportedError("text is looked for in what is no text")
        return Like(column, _PATTERNS[name].format(escape_text(one.value)))
    if name == "In":
        return In(column, tuple(_literal(value, of) for value in one.value))
    return Compare(_OPERATORS[name], column, _literal(one.value, of))


def _type_at(path: tuple[str, ...], schema: StructType) -> DataType:
    found: DataType = schema
    for name in path:
        fields = [field for field in found if field.name == name] if isinstance(found, StructType) else []
        if len(fields) != 1:
            raise UnsupportedError(f"{'.'.join(path)} is not one column of the table")
        found = fields[0].dataType
    return found


def _literal(value: Any, of: DataType) -> Literal:
    type_ = _evaluator_type(of)
    if value is None:
        return Literal(None, type_)
    found = _value(value, type_)
    if found is None:
        raise UnsupportedError(f"{value!r} is no {type_}")
    return Literal(found, type_)


def _evaluator_type(of: DataType) -> Type:
    if isinstance(of, TimestampType):
        return TIMESTAMP_LTZ
    if isinstance(of, TimestampNTZType):
        return TIMESTAMP
    if isinstance(of, DecimalType):
        return decimal_type(of.precision, of.scale)
    if isinstance(of, StringType) and of.simpleString() != "string":
        raise UnsupportedError(f"{of.simpleString()} does not compare as bytes do")
    found = Type.parse(of.simpleString())
    if found.kind is Kind.OTHER:
        raise UnsupportedError(f"{of.simpleString()} is not compared")
    return found


def _value(value: Any, of: Type) -> Any:
    """The value in the evaluator's form, or None when it is none of the type."""
    match of.kind:
        case Kind.BOOLEAN:
            return value if isinstance(value, bool) else None
        case kind if kind.is_integer:
            smallest, largest = of.integer_range()
            return value if type(value) is int and smallest <= value <= largest else None
        case kind if kind.is_fractional:
            return float(value) if isinstance(value, float) and not math.isnan(value) else None
        case Kind.DECIMAL:
            return _decimal(value, of)
        case Kind.DATE:
            if type(value) is datetime.date:
                return value.toordinal() - _EPOCH.toordinal()
        case Kind.TIMESTAMP:
            if isinstance(value, datetime.datetime) and value.tzinfo is None:
                return (value - _EPOCH) // _MICROSECOND
        case Kind.TIMESTAMP_LTZ:
            if isinstance(value, datetime.datetime) and value.tzinfo is not None:
                return (value - _EPOCH.replace(tzinfo=datetime.timezone.utc)) // _MICROSECOND
        case kind if kind.is_text:
            return value if isinstance(value, str) else None
        case Kind.BINARY:
            return bytes(value) if isinstance(value, bytes | bytearray) else None
        case _:
            pass
    return None


def _decimal(value: Any, of: Type) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite():
        return None
    sign, digits, exponent = number.as_tuple()
    del sign
    assert isinstance(exponent, int)
    whole = len(digits) + exponent
    return number if (-exponent <= of.scale and whole <= of.precision - of.scale) or not number else None
