"""The filters that Spark's optimizer pushes to a Python data source, as a HudiExpression.

    EqualTo, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, EqualNullSafe      a comparison
    In                                                                                      IN
    IsNull, IsNotNull, Not                                                                  the same
    StringStartsWith, StringEndsWith, StringContains                                        LIKE

Spark pushes a filter only where column and constant have the same type. A constant arrives as a Python value; a value
that is ambiguous (a naive datetime for an instant, a value of another kind) makes the filter unknown, and so does a
filter class that is not in the table (contract C1).
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
    Column,
    Compare,
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
from handler.spark.catalyst.conditions import all_of

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
    """The AND of Spark's filters over columns of this schema; a filter that is not supported is Unknown."""
    return all_of(_condition(filter_, schema) for filter_ in filters)


def _condition(filter_: Any, schema: StructType) -> HudiExpression:
    try:
        return _supported(filter_, schema)
    except UnsupportedError as error:
        return Unknown(f"{type(filter_).__name__}: {error}")


def _supported(filter_: Any, schema: StructType) -> HudiExpression:
    name = type(filter_).__name__
    if name == "Not":
        return Not(_condition(filter_.child, schema))
    if name not in _OPERATORS and name not in _PATTERNS and name not in ("In", "IsNull", "IsNotNull"):
        raise UnsupportedError("a filter of a kind that is not known")
    path = tuple(filter_.attribute)
    if any("." in part for part in path):
        raise UnsupportedError("a column whose name holds a dot")
    column = Column(path)
    if name == "IsNull":
        return IsNull(column)
    if name == "IsNotNull":
        return Not(IsNull(column))
    column_type = _type_at(path, schema)
    if name in _PATTERNS:
        if not _evaluator_type(column_type).kind.is_text or not isinstance(filter_.value, str):
            raise UnsupportedError("text is looked for in what is no text")
        return Like(column, _PATTERNS[name].format(escape_text(filter_.value)))
    if name == "In":
        return In(column, tuple(_literal(value, column_type) for value in filter_.value))
    return Compare(_OPERATORS[name], column, _literal(filter_.value, column_type))


def _type_at(path: tuple[str, ...], schema: StructType) -> DataType:
    data_type: DataType = schema
    for name in path:
        fields = [field for field in data_type if field.name == name] if isinstance(data_type, StructType) else []
        if len(fields) != 1:
            raise UnsupportedError(f"{'.'.join(path)} is not one column of the table")
        data_type = fields[0].dataType
    return data_type


def _literal(value: Any, column_type: DataType) -> Literal:
    type_ = _evaluator_type(column_type)
    if value is None:
        return Literal(None, type_)
    converted = _value(value, type_)
    if converted is None:
        raise UnsupportedError(f"{value!r} is no {type_}")
    return Literal(converted, type_)


def _evaluator_type(data_type: DataType) -> Type:
    if isinstance(data_type, TimestampType):
        return TIMESTAMP_LTZ
    if isinstance(data_type, TimestampNTZType):
        return TIMESTAMP
    if isinstance(data_type, DecimalType):
        return decimal_type(data_type.precision, data_type.scale)
    if isinstance(data_type, StringType) and data_type.simpleString() != "string":
        raise UnsupportedError(f"{data_type.simpleString()} does not compare as bytes do")
    type_ = Type.parse(data_type.simpleString())
    if type_.kind is Kind.OTHER:
        raise UnsupportedError(f"{data_type.simpleString()} is not compared")
    return type_


def _value(value: Any, type_: Type) -> Any:
    """The value in the evaluator's form, or None when it is not a value of the type."""
    match type_.kind:
        case Kind.BOOLEAN:
            return value if isinstance(value, bool) else None
        case kind if kind.is_integer:
            smallest, largest = type_.integer_range()
            return value if type(value) is int and smallest <= value <= largest else None
        case kind if kind.is_fractional:
            return float(value) if isinstance(value, float) and not math.isnan(value) else None
        case Kind.DECIMAL:
            return _decimal(value, type_)
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


def _decimal(value: Any, type_: Type) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite():
        return None
    sign, digits, exponent = number.as_tuple()
    del sign
    assert isinstance(exponent, int)
    whole = len(digits) + exponent
    return number if (-exponent <= type_.scale and whole <= type_.precision - type_.scale) or not number else None
