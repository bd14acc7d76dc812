"""Types and constants of Catalyst's JSON as types and literals of the evaluator, exactly or not at all (C7).

Spark's ``timestamp`` is an instant. A constant instant becomes the wall clock of the session's zone, as in the text of
a condition, where that wall clock means one instant only. Otherwise it stays an instant.

A cast of a constant is done here where all engines agree on the result:

    from                        to                          becomes
    ==========================  ==========================  =======================================
    NULL                        anything                    NULL of that type
    integer, decimal            integer, decimal            the same number, if the type holds it
    integer                     float, double               the same number, if it is exact there
    decimal                     double                      the nearest number
    '2020-01-02'                date                        DATE '2020-01-02'
    '2020-01-02 10:00:00'       timestamp, timestamp_ntz    the wall clock
    date                        timestamp, timestamp_ntz    its midnight, as a wall clock
    'true', 'false'             boolean                     TRUE, FALSE
    anything else                                           stays a cast
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from evaluator.language.epoch import DAY, EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Cast, Column, Literal, Opaque, Operand
from evaluator.language.literal import wall_clock_of_text
from evaluator.language.types import BIGINT, BOOLEAN, DATE, SMALLINT, TIMESTAMP, TIMESTAMP_LTZ, TINYINT, Kind, Type
from evaluator.language.zones import instant_of, wall_clock_of

__all__ = ["cast_of", "literal_of", "type_of"]

_NAMES = {
    "byte": TINYINT,
    "short": SMALLINT,
    "long": BIGINT,
    "timestamp": TIMESTAMP_LTZ,
    "timestamp_ntz": TIMESTAMP,
    "null": Type(Kind.VOID),
}
#: The digits of Spark's longest decimal.
_MAX_DIGITS = 38
#: Whole numbers up to these are exact in a floating-point type.
_MAX_EXACT_INTEGERS = {Kind.FLOAT: 1 << 24, Kind.DOUBLE: 1 << 53}


def type_of(data_type: Any) -> Type:
    """The type of a JSON ``dataType``; OTHER for one that the evaluator has no kind for (a collated text, an array).

    >>> print(type_of("long"), type_of("decimal(10,2)"), type_of("timestamp_ntz"), type_of({"type": "array"}).kind)
    bigint decimal(10,2) timestamp Kind.OTHER
    """
    if not isinstance(data_type, str):
        kind = data_type.get("type", "object") if isinstance(data_type, Mapping) else "object"
        return Type(Kind.OTHER, name=str(kind))
    found = _NAMES.get(data_type) or Type.parse(data_type)
    if found.kind is Kind.DECIMAL and not 0 <= found.scale <= found.precision <= _MAX_DIGITS:
        return Type(Kind.OTHER, name="decimal")
    return found


def literal_of(fields: Mapping[str, Any], exact: Any, zone: str) -> Operand:
    """The constant of a ``Literal``; ``exact`` is its value where the JSON leaves it out. Opaque if it is unknown."""
    literal_type, text = type_of(fields["dataType"]), fields.get("value")
    if text is None:
        return Literal(None, literal_type)
    try:
        value = _value(literal_type, str(text), exact)
    except (ValueError, ArithmeticError):
        value = None
    if value is None:
        return Opaque(f"a constant of type {literal_type} is not decided")
    return _timestamp(value, zone) if literal_type == TIMESTAMP_LTZ else Literal(value, literal_type)


def _value(literal_type: Type, text: str, exact: Any) -> object | None:
    match literal_type.kind:
        case Kind.BOOLEAN:
            return text == "true"
        case kind if kind.is_integer or kind is Kind.TIMESTAMP:
            low, high = (BIGINT if kind is Kind.TIMESTAMP else literal_type).integer_range()
            number = int(text)
            return number if low <= number <= high else None
        case Kind.FLOAT:
            return float(np.float32(text.replace("Infinity", "inf")))
        case Kind.DOUBLE:
            return float(text.replace("Infinity", "inf"))
        case Kind.DECIMAL:
            decimal = Decimal(text)
            exponent = decimal.as_tuple().exponent
            is_plain = isinstance(exponent, int) and abs(exponent) <= _MAX_DIGITS
            fits = is_plain and abs(decimal.adjusted()) <= _MAX_DIGITS and _decimal(decimal, literal_type) is not None
            return decimal if fits else None
        case Kind.STRING:
            return text
        case Kind.DATE:
            return datetime.date.fromisoformat(text).toordinal() - EPOCH_ORDINAL
        case Kind.TIMESTAMP_LTZ | Kind.BINARY:
            return exact if exact is None or isinstance(exact, int) else bytes(exact)
        case _:
            return None


def _timestamp(instant: Any, zone: str) -> Literal:
    """The wall clock of an instant where it means that instant only, otherwise the instant."""
    wall_clock = wall_clock_of(instant, zone)
    instants = None if wall_clock is None else instant_of(wall_clock, zone)
    if instants is not None and (instants.lo, instants.hi) == (instant, instant):
        return Literal(wall_clock, TIMESTAMP)
    return Literal(instant, TIMESTAMP_LTZ)


def cast_of(operand: Operand, to: Type) -> Operand:
    """``CAST(operand AS to)``; a column of that type stays as it is, and a constant is converted where that is exact.

    >>> for text in ("2020-01-02", "soon"):
    ...     print(cast_of(Literal(text, Type(Kind.STRING)), DATE))
    DATE '2020-01-02'
    CAST('soon' AS date)
    """
    if isinstance(operand, Column) and operand.type == to:
        return operand
    constant = _cast_constant(operand, to) if isinstance(operand, Literal) else None
    return Cast(operand, to) if constant is None else constant


def _cast_constant(constant: Literal, to: Type) -> Literal | None:
    value, source = constant.value, constant.type
    if value is None:
        return Literal(None, to)
    if source == to:
        return constant
    is_exact_number = source.kind.is_integer or source.kind is Kind.DECIMAL
    if is_exact_number and to.kind.is_integer:
        number = Decimal(value)  # type: ignore[arg-type]
        low, high = to.integer_range()
        return Literal(int(number), to) if number == int(number) and low <= number <= high else None
    if is_exact_number and to.kind is Kind.DECIMAL:
        return _decimal(Decimal(value), to)  # type: ignore[arg-type]
    if source.kind.is_integer and to.kind in _MAX_EXACT_INTEGERS:
        return Literal(float(value), to) if abs(value) <= _MAX_EXACT_INTEGERS[to.kind] else None  # type: ignore[arg-type]
    if source.kind is Kind.DECIMAL and to.kind is Kind.DOUBLE:
        return Literal(float(value), to)  # type: ignore[arg-type]
    if source.kind is Kind.STRING:
        return _cast_text(str(value), to)
    if source.kind is Kind.DATE and to.kind.is_timestamp:
        return Literal(value * DAY, TIMESTAMP)  # type: ignore[operator]
    return None


def _decimal(number: Decimal, to: Type) -> Literal | None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    raised = int("".join(map(str, digits)) or "0") * 10 ** max(exponent + to.scale, 0)
    divisor = 10 ** max(-(exponent + to.scale), 0)
    unscaled, lost = divmod(raised, divisor)
    if lost or unscaled >= 10**to.precision:
        return None
    return Literal(Decimal((sign, tuple(map(int, str(unscaled))), -to.scale)), to)


def _cast_text(text: str, to: Type) -> Literal | None:
    if to.kind is Kind.BOOLEAN and text in ("true", "false"):
        return Literal(text == "true", BOOLEAN)
    if to.kind is not Kind.DATE and not to.kind.is_timestamp:
        return None
    try:
        wall_clock = wall_clock_of_text(text)
    except UnsupportedError:
        return None
    if to.kind is Kind.DATE:
        return Literal(wall_clock // DAY, DATE) if len(text) == len("2020-01-02") else None
    return Literal(math.floor(wall_clock), TIMESTAMP)
