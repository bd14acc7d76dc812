"""Types and constants of Catalyst's JSON, as the evaluator writes them.

Spark's ``timestamp`` is an instant. A constant one becomes the wall clock of the session zone, which is what the text
of a condition would say, wherever that clock means one instant; else it stays an instant.

A cast of a constant is done here where every engine would do it alike:

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

from evaluator.language.epoch import DAY
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
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
#: Whole numbers up to these are exact in binary.
_EXACT = {Kind.FLOAT: 1 << 24, Kind.DOUBLE: 1 << 53}


def type_of(written: Any) -> Type:
    """The type of a JSON ``dataType``. What the evaluator has no kind for (a collated text, an array) is OTHER.

    >>> print(type_of("long"), type_of("decimal(10,2)"), type_of("timestamp_ntz"), type_of({"type": "array"}).kind)
    bigint decimal(10,2) timestamp Kind.OTHER
    """
    if not isinstance(written, str):
        kind = written.get("type", "object") if isinstance(written, Mapping) else "object"
        return Type(Kind.OTHER, name=str(kind))
    return _NAMES.get(written) or Type.parse(written)


def literal_of(fields: Mapping[str, Any], exact: Any, zone: str) -> Operand:
    """The constant of a ``Literal``; ``exact`` is its value where the JSON does not hold it. Opaque if not known."""
    of, text = type_of(fields["dataType"]), fields.get("value")
    if text is None:
        return Literal(None, of)
    try:
        value = _value(of, str(text), exact)
    except (ValueError, ArithmeticError):
        value = None
    if value is None:
        return Opaque(f"a constant of type {of} is not decided")
    return _as_written(value, zone) if of == TIMESTAMP_LTZ else Literal(value, of)


def _value(of: Type, text: str, exact: Any) -> object | None:
    match of.kind:
        case Kind.BOOLEAN:
            return text == "true"
        case kind if kind.is_integer or kind is Kind.TIMESTAMP:
            return int(text)
        case Kind.FLOAT:
            return float(np.float32(text.replace("Infinity", "inf")))
        case Kind.DOUBLE:
            return float(text.replace("Infinity", "inf"))
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.STRING:
            return text
        case Kind.DATE:
            return datetime.date.fromisoformat(text).toordinal() - _EPOCH_DAY
        case Kind.TIMESTAMP_LTZ | Kind.BINARY:
            return exact if exact is None or isinstance(exact, int) else bytes(exact)
        case _:
            return None


def _as_written(instant: Any, zone: str) -> Literal:
    wall_clock = wall_clock_of(instant, zone)
    meant = None if wall_clock is None else instant_of(wall_clock, zone)
    if meant is not None and (meant.lo, meant.hi) == (instant, instant):
        return Literal(wall_clock, TIMESTAMP)
    return Literal(instant, TIMESTAMP_LTZ)


def cast_of(operand: Operand, to: Type) -> Operand:
    """``CAST(operand AS to)``; what has that type already stays as it is.

    >>> for text in ("2020-01-02", "soon"):
    ...     print(cast_of(Literal(text, Type(Kind.STRING)), DATE))
    DATE '2020-01-02'
    CAST('soon' AS date)
    """
    if isinstance(operand, Column) and operand.type == to:
        return operand
    done = _cast_constant(operand, to) if isinstance(operand, Literal) else None
    return Cast(operand, to) if done is None else done


def _cast_constant(constant: Literal, to: Type) -> Literal | None:
    value, of = constant.value, constant.type
    if value is None:
        return Literal(None, to)
    if of == to:
        return constant
    exact = of.kind.is_integer or of.kind is Kind.DECIMAL
    if exact and to.kind.is_integer:
        number = Decimal(value)  # type: ignore[arg-type]
        low, high = to.integer_range()
        return Literal(int(number), to) if number == int(number) and low <= number <= high else None
    if exact and to.kind is Kind.DECIMAL:
        return _decimal(Decimal(value), to)  # type: ignore[arg-type]
    if of.kind.is_integer and to.kind in _EXACT:
        return Literal(float(value), to) if abs(value) <= _EXACT[to.kind] else None  # type: ignore[arg-type]
    if of.kind is Kind.DECIMAL and to.kind is Kind.DOUBLE:
        return Literal(float(value), to)  # type: ignore[arg-type]
    if of.kind is Kind.STRING:
        return _read(str(value), to)
    if of.kind is Kind.DATE and to.kind.is_timestamp:
        return Literal(value * DAY, TIMESTAMP)  # type: ignore[operator]
    return None


def _decimal(number: Decimal, to: Type) -> Literal | None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scaled = int("".join(map(str, digits)) or "0") * 10 ** max(exponent + to.scale, 0)
    rest = 10 ** max(-(exponent + to.scale), 0)
    if scaled % rest or scaled // rest >= 10**to.precision:
        return None
    return Literal(Decimal((sign, tuple(map(int, str(scaled // rest))), -to.scale)), to)


def _read(text: str, to: Type) -> Literal | None:
    if to.kind is Kind.BOOLEAN and text in ("true", "false"):
        return Literal(text == "true", BOOLEAN)
    if to.kind is not Kind.DATE and not to.kind.is_timestamp:
        return None
    try:
        moment = wall_clock_of_text(text)
    except UnsupportedError:
        return None
    if to.kind is Kind.DATE:
        return Literal(moment // DAY, DATE) if len(text) == len("2020-01-02") else None
    return Literal(math.floor(moment), TIMESTAMP)
