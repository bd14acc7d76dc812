"""Literals and type names of SQL text, typed as Hive and Spark type them.

written                  type                    value
5                        int, else bigint, else decimal(p,0)   int (Decimal)
5Y  5S  5L               tinyint smallint bigint int
1.5  .05                 decimal(2,1) decimal(2,2)             Decimal
1.5BD                    decimal                 Decimal
1e3  1.5D                double                  float
1.5F                     float                   float, rounded to 32 bits
'x'                      string                  str
X'6162'                  binary                  bytes
DATE '2020-01-02'        date                    days since 1970-01-01
TIMESTAMP '... 10:00'    timestamp               microseconds of the wall clock
TIMESTAMP '...+01:00'    timestamp with local time zone        microseconds since the epoch
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from sqlglot import exp

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

__all__ = ["VOID", "LiteralError", "binary", "date", "number", "string", "suffixed", "timestamp", "type_of"]

VOID = Type(Kind.VOID)

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIMESTAMP = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?)?)?"
    r"\s*(\S.*?)?\s*"
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


class LiteralError(ValueError):
    """A literal that the engine would refuse too."""


def number(text: str) -> Literal | None:
    """A number without a suffix, with its sign if it has one; None when no SQL type holds it."""
    if "e" in text.lower():
        return _double(float(text), DOUBLE)
    if "." not in text:
        value = int(text)
        for kind in (INT, BIGINT):
            low, high = kind.integer_range()
            if low <= value <= high:
                return Literal(value, kind)
    exact = Decimal(text)
    of = _decimal_type_of(exact)
    return None if of is None else Literal(exact, of)


def _decimal_type_of(value: Decimal) -> Type | None:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale)
    return decimal_type(precision, scale) if precision <= 38 else None


def _double(value: float, of: Type) -> Literal | None:
    return Literal(value, of) if math.isfinite(value) else None


def suffixed(text: str, of: Type) -> Literal | None:
    """A number with a suffix (``5L``) or a number cast to a wider type: None when ``of`` does not hold it exactly."""
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if not exact.is_finite():
        return None
    match of.kind:
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            low, high = of.integer_range()
            return Literal(int(exact), of) if exact == exact.to_integral_value() and low <= exact <= high else None
        case Kind.DOUBLE:
            return _double(float(text), DOUBLE)
        case Kind.FLOAT:
            with np.errstate(over="ignore"):
                return _double(float(np.float32(text)), FLOAT)
        case Kind.DECIMAL:
            held = _decimal_type_of(exact)
            if held is None or held.scale > of.scale or held.precision - held.scale > of.precision - of.scale:
                return None
            return Literal(exact, of)
        case _:
            return None


def string(text: str) -> Literal:
    """A string."""
    return Literal(text, STRING)


def binary(digits: str) -> Literal:
    """``X'6162'``."""
    try:
        return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), BINARY)
    except ValueError:
        raise LiteralError(f"X'{digits}' is not hexadecimal") from None


def date(text: str) -> Literal:
    """``DATE 'yyyy-MM-dd'``; month and day may be left out, as in Spark."""
    match = _DATE.fullmatch(text)
    try:
        if not match:
            raise ValueError
        return Literal(_day(match[1], match[2], match[3]), DATE)
    except ValueError:
        raise LiteralError(f"DATE '{text}' is not a date such as DATE '2020-01-31'") from None


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
        wall = (_day(year, month, day) * 86_400 + seconds) * 1_000_000
        below = Fraction(int((fraction or "0").ljust(9, "0")), 1000)
        if zone is None:
            return Literal(_whole(wall + below), TIMESTAMP)
        return Literal(_whole(_instant(wall, zone) + below), TIMESTAMP_LTZ)
    except (ValueError, OverflowError):
        raise LiteralError(f"TIMESTAMP '{text}' is not a timestamp such as TIMESTAMP '2020-01-31 12:30:00'") from None


def _day(year: str, month: str | None, day: str | None) -> int:
    return datetime.date(int(year), int(month or 1), int(day or 1)).toordinal() - _EPOCH_DAY


def _whole(micros: Fraction) -> int | Fraction:
    return micros.numerator if micros.denominator == 1 else micros


def _instant(wall: int, zone: str) -> int:
    if zone.upper() in ("Z", "UTC", "GMT", "UT"):
        return wall
    if match := _OFFSET.fullmatch(zone):
        seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
        return wall + seconds * (-1_000_000 if match[1] == "+" else 1_000_000)
    try:
        region = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, OSError):
        raise ValueError(zone) from None
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=wall)
    offset = at.replace(tzinfo=region).utcoffset()
    assert offset is not None
    return wall - offset // datetime.timedelta(microseconds=1)


_KINDS: dict[exp.DType, Kind] = {
    exp.DType.BOOLEAN: Kind.BOOLEAN,
    exp.DType.TINYINT: Kind.TINYINT,
    exp.DType.SMALLINT: Kind.SMALLINT,
    exp.DType.INT: Kind.INT,
    exp.DType.BIGINT: Kind.BIGINT,
    exp.DType.FLOAT: Kind.FLOAT,
    exp.DType.DOUBLE: Kind.DOUBLE,
    exp.DType.TEXT: Kind.STRING,
    exp.DType.DATE: Kind.DATE,
    exp.DType.BINARY: Kind.BINARY,
    exp.DType.TIMESTAMP: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: Kind.TIMESTAMP_LTZ,
    exp.DType.TIMESTAMPLTZ: Kind.TIMESTAMP_LTZ,
    exp.DType.CHAR: Kind.CHAR,
    exp.DType.VARCHAR: Kind.VARCHAR,
    exp.DType.DECIMAL: Kind.DECIMAL,
}


def type_of(written: exp.DataType) -> Type:
    """The type that a CAST names. Spark's TIMESTAMP is an instant (TIMESTAMP_LTZ), Hive's is a wall clock."""
    kind = _KINDS.get(written.this) if isinstance(written.this, exp.DType) else None
    parameters = [int(p.name) for p in written.expressions if p.name.isdigit()]
    match kind:
        case None:
            return Type(Kind.OTHER, name=written.sql("spark").lower())
        case Kind.DECIMAL:
            return (
                decimal_type(*(parameters + [10, 0][len(parameters) :]))
                if len(parameters) != 1
                else decimal_type(parameters[0], 0)
            )
        case Kind.CHAR | Kind.VARCHAR:
            return Type(kind, parameters[0]) if parameters else STRING
        case _:
            return Type(kind)
