"""Literals and type names of SQL text, typed as Hive and Spark type them. A literal keeps its exact value (C7).

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
import re
from fractions import Fraction
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlglot import exp

from evaluator.language.epoch import EPOCH, EPOCH_ORDINAL, MICROSECOND
from evaluator.language.expression import Literal, Opaque, Operand
from evaluator.language.time_spans import TIME_SPAN, span_of_parts, span_of_range, span_of_text
from evaluator.language.types import (
    BINARY,
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Kind,
    Type,
    decimal_type,
)
from evaluator.language.zones import offset_parts
from handler.sql.numbers import LiteralError, shortened

__all__ = [
    "VOID",
    "binary",
    "date",
    "interval",
    "is_small",
    "timestamp",
    "type_of",
]

VOID = Type(Kind.VOID)

#: The length of a CHAR or VARCHAR, and the precision and scale of a decimal.
_PARAMETER = re.compile(r"[0-9]{1,9}")
#: A type with more parts is named by its first word.
_MAX_TYPE_PARTS = 50

_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIMESTAMP = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?)?)?"
    r"\s*(\S.*?)?\s*"
)


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


def interval(node: exp.Interval) -> Operand:
    """``INTERVAL '3' MONTH``, ``INTERVAL '1-2' YEAR TO MONTH``, ``INTERVAL '1 day 2 hours'``; else Opaque."""
    amount, unit = node.this, node.args.get("unit")
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = ""
    if isinstance(amount, exp.Neg):
        sign, amount = "-", amount.this
    if not isinstance(amount, exp.Literal):
        return Opaque("an interval whose length is no number is not decided")
    span = None
    match unit:
        case None if amount.is_string and not sign:
            span = span_of_text(amount.this)
        case exp.IntervalSpan() if not sign:
            span = span_of_range(amount.this, unit.this.name, unit.expression.name)
        case exp.Var() | exp.Anonymous(expressions=[exp.Literal()]):  # ``day``, or ``day (3)``
            span = span_of_parts([(sign + amount.this, unit.name)])
        case _:
            pass
    if span is None:
        return Opaque(f"the interval '{shortened(amount.this)}' is not understood")
    return Literal(span, TIME_SPAN)


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


def type_of(data_type: exp.DataType) -> Type:
    """The type that a CAST names. Spark's TIMESTAMP is an instant (TIMESTAMP_LTZ), Hive's is a wall clock.

    Raises LiteralError for a length, a precision or a scale that no engine takes.
    """
    kind = _KINDS.get(data_type.this) if isinstance(data_type.this, exp.DType) else None
    match kind:
        case None:
            return Type(Kind.OTHER, name=_type_text(data_type))
        case Kind.DECIMAL:
            precision, scale = (*_parameters(data_type, 2), *(10, 0)[len(data_type.expressions) :])
            if not 1 <= precision <= 38 or scale > precision:
                raise LiteralError(f"{_type_text(data_type)} is not a type")
            return decimal_type(precision, scale)
        case Kind.CHAR | Kind.VARCHAR:
            lengths = _parameters(data_type, 1)
            if 0 in lengths:
                raise LiteralError(f"{_type_text(data_type)} is not a type")
            return Type(kind, lengths[0]) if lengths else STRING
        case _:
            return Type(kind)


def _parameters(data_type: exp.DataType, at_most: int) -> list[int]:
    """The numbers in the parentheses of a type."""
    texts = [parameter.name for parameter in data_type.expressions]
    if len(texts) > at_most or not all(map(_PARAMETER.fullmatch, texts)):
        raise LiteralError(f"{_type_text(data_type)} is not a type")
    return [int(text) for text in texts]


def _type_text(data_type: exp.DataType) -> str:
    """The name of a type; of one with many parts only its first word, because sqlglot's generator is recursive."""
    if is_small(data_type, _MAX_TYPE_PARTS):
        return shortened(data_type.sql("spark").lower())
    return str(data_type.this.value if isinstance(data_type.this, exp.DType) else data_type.key).lower()


def is_small(node: exp.Expr, most: int) -> bool:
    """Whether a tree of sqlglot has at most ``most`` nodes, found without recursion."""
    stack, count = [node], 0
    while stack:
        count += 1
        if count > most:
            return False
        stack.extend(stack.pop().iter_expressions())
    return True
