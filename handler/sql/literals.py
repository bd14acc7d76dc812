"""Literals of SQL text, typed as Hive and Spark type them. A literal keeps its exact value (C7).

    =====================  ====================================  ================================
    SQL                    type                                  value
    =====================  ====================================  ================================
    5                      int, else bigint, else decimal(p,0)   int (Decimal)
    5Y  5S  5L             tinyint  smallint  bigint             int
    1.5  .05               decimal(2,1)  decimal(2,2)            Decimal
    1.5BD                  decimal                               Decimal
    1e3  1.5D              double                                float
    1.5F                   float                                 float, rounded to 32 bits
    'x'                    string                                str
    X'6162'                binary                                bytes
    DATE '2020-01-02'      date                                  days since 1970-01-01
    TIMESTAMP '... 10:00'  timestamp                             microseconds of the wall clock
    TIMESTAMP '...+01:00'  timestamp with local time zone        microseconds since the epoch
    =====================  ====================================  ================================

A literal that no type holds is None here and ``Opaque`` in the tree. A literal that the engine refuses is a
``LiteralError``.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from evaluator.language.epoch import EPOCH, EPOCH_ORDINAL, MICROSECOND
from evaluator.language.expression import Literal
from evaluator.language.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Kind,
    Type,
    decimal_type,
)
from evaluator.language.zones import offset_parts

__all__ = [
    "VOID",
    "LiteralError",
    "binary",
    "check_number",
    "date",
    "number",
    "shortened",
    "string",
    "suffixed",
    "timestamp",
]

VOID = Type(Kind.VOID)

#: A number of more characters has a value that no type holds exactly, and Python does not convert it to an integer.
_MAX_DIGITS = 4_000
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_SHOWN = 60
_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIMESTAMP = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?)?)?"
    r"\s*(\S.*?)?\s*"
)


class LiteralError(ValueError):
    """A literal or a type that the engine refuses too, such as DATE '2020-13-01' or decimal(99,2)."""


def shortened(text: str) -> str:
    """A text of at most 60 characters, for messages."""
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def check_number(text: str) -> None:
    """Raise LiteralError for a word that starts like a number and is none, such as ``1600e`` or ``1.2.3``."""
    if not _NUMBER.fullmatch(text):
        raise LiteralError(f"{shortened(text)} is not a number")


def number(text: str) -> Literal | None:
    """A number without a suffix, with its sign if it has one; None when no SQL type holds it."""
    check_number(text)
    if "e" in text.lower():
        return _finite(float(text), DOUBLE)
    if "." not in text:
        if len(text) > _MAX_DIGITS:
            return None
        value = int(text)
        for integer_type in (INT, BIGINT):
            low, high = integer_type.integer_range()
            if low <= value <= high:
                return Literal(value, integer_type)
    exact = Decimal(text)
    decimal = _decimal_type_of(exact)
    return None if decimal is None else Literal(exact, decimal)


def suffixed(text: str, to: Type) -> Literal | None:
    """A number with a suffix (``5L``) or a number cast to a wider type: None when ``to`` does not hold it exactly."""
    if len(text) > _MAX_DIGITS:
        return None
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if not exact.is_finite():
        return None
    match to.kind:
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            low, high = to.integer_range()
            return Literal(int(exact), to) if exact == exact.to_integral_value() and low <= exact <= high else None
        case Kind.DOUBLE:
            return _finite(float(text), DOUBLE)
        case Kind.FLOAT:
            with np.errstate(over="ignore"):
                return _finite(float(np.float32(text)), FLOAT)
        case Kind.DECIMAL:
            needed = _decimal_type_of(exact)
            if needed is None or needed.scale > to.scale or needed.precision - needed.scale > to.precision - to.scale:
                return None
            return Literal(exact, to)
        case _:
            return None


def _decimal_type_of(value: Decimal) -> Type | None:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale)
    return decimal_type(precision, scale) if precision <= 38 else None


def _finite(value: float, floating_type: Type) -> Literal | None:
    return Literal(value, floating_type) if math.isfinite(value) else None


def string(text: str) -> Literal:
    """A string."""
    return Literal(text, STRING)


def binary(digits: str) -> Literal:
    """``X'6162'``."""
    try:
        return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), BINARY)
    except ValueError:
        raise LiteralError(f"X'{shortened(digits)}' is not hexadecimal") from None


def date(text: str) -> Literal:
    """``DATE 'yyyy-MM-dd'``; month and day may be left out, as in Spark."""
    match = _DATE.fullmatch(text)
    try:
        if not match:
            raise ValueError
        return Literal(_day(match[1], match[2], match[3]), DATE)
    except ValueError:
        raise LiteralError(f"DATE '{shortened(text)}' is not a date such as DATE '2020-01-31'") from None


def timestamp(text: str) -> Literal:
    """``TIMESTAMP 'yyyy-MM-dd HH:mm:ss.SSSSSS'``, with or without a zone at the end."""
    match = _TIMESTAMP.fullmatch(text)
    try:
        if not match:
            raise ValueError
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        seconds = int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)
        if int(hour or 0) > 23 or int(minute or 0) > 59 or int(second or 0) > 59:
            raise ValueError
        wall_clock = (_day(year, month, day) * 86_400 + seconds) * 1_000_000
        micros = Fraction(int((fraction or "0").ljust(9, "0")), 1000)
        if zone is None:
            return Literal(_int_if_whole(wall_clock + micros), TIMESTAMP)
        return Literal(_int_if_whole(_instant(wall_clock, zone) + micros), TIMESTAMP_LTZ)
    except (ValueError, OverflowError):
        raise LiteralError(
            f"TIMESTAMP '{shortened(text)}' is not a timestamp such as TIMESTAMP '2020-01-31 12:30:00'"
        ) from None


def _day(year: str, month: str | None, day: str | None) -> int:
    return datetime.date(int(year), int(month or 1), int(day or 1)).toordinal() - EPOCH_ORDINAL


def _int_if_whole(micros: Fraction) -> int | Fraction:
    return micros.numerator if micros.denominator == 1 else micros


def _instant(wall_clock: int, zone: str) -> int:
    """The instant of a zone's wall clock, in microseconds. Raises ValueError for a zone that is not known."""
    if zone.upper() in ("Z", "UTC", "GMT", "UT"):
        return wall_clock
    if parts := offset_parts(zone):
        sign, hours, minutes, seconds = parts
        east = hours * 3600 + minutes * 60 + seconds
        return wall_clock + east * (-1_000_000 if sign == "+" else 1_000_000)
    try:
        region = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, OSError):
        raise ValueError(zone) from None
    local = EPOCH + wall_clock * MICROSECOND
    offset = local.replace(tzinfo=region).utcoffset()
    assert offset is not None
    return wall_clock - offset // MICROSECOND
