"""Java constants as literals of the evaluator: exactly, or not at all (contract C7).

    ===============================  =========================================================================
    Java constant                    literal
    ===============================  =========================================================================
    type.Date                        days since 1970-01-01
    type.Timestamp                   microseconds (a Fraction when nanoseconds are set)
    TimestampTZ                      an instant, in microseconds
    java.sql.Date                    a day when only one fits (``day_of_midnight``), else a range of two days
    java.sql.Timestamp               a range: the writer's time zone is not in the bytes
    HiveIntervalYearMonth, DayTime   an interval of months or of microseconds
    text with half a surrogate pair  Opaque: Java would compare its replacement character
    struct, list, map                Opaque (``membership`` takes a struct IN and a folded IN list apart)
    any class that does not fit      Opaque
    the declared type
    ===============================  =========================================================================

Facts: docs/facts/hive-kryo.md#constants.
"""

from __future__ import annotations

import functools
from decimal import Decimal
from fractions import Fraction

from evaluator.language.epoch import FIRST_GREGORIAN_DAY
from evaluator.language.expression import Literal, Opaque, Operand
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import DATE, TIMESTAMP, Kind, Type
from sarg.hive_tree.constants import (
    Constant,
    DayTime,
    LocalDate,
    LocalTimestamp,
    SqlDate,
    SqlTimestamp,
    YearMonth,
    ZonedTimestamp,
)

__all__ = ["day_of_midnight", "literal_of", "range_of", "type_of"]

_DAY_MILLIS = 86_400_000
_HOUR_MILLIS = 3_600_000
#: More than the distance of any zone from UTC at any time, in microseconds (Manila before 1844: 15:56).
_MAX_ZONE_OFFSET = 16 * _HOUR_MILLIS * 1000
_INTEGER_CLASSES = frozenset(["java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long"])


def type_of(text: str) -> Type:
    """The evaluator's type for a Hive type text."""
    return _short_type(text) if len(text) < 100 else Type.parse(text)


_short_type = functools.lru_cache(maxsize=1024)(Type.parse)


def literal_of(constant: Constant | None, declared_type: Type) -> Operand:
    """The literal, or Opaque with the reason why there is none."""
    if constant is None:
        return Literal(None, declared_type)
    value, kind = constant.value, declared_type.kind
    match value:
        case bool() if kind is Kind.BOOLEAN:
            return Literal(value, declared_type)
        case int() if constant.java in _INTEGER_CLASSES and kind.is_integer and _is_in_range(value, declared_type):
            return Literal(value, declared_type)
        case float() if kind.is_fractional:
            return Literal(value, declared_type)
        case Decimal() if kind is Kind.DECIMAL:
            return Literal(value, declared_type)
        case str() if kind.is_text and not _is_well_formed(value):
            return Opaque("a text with half a surrogate pair")
        case str() if kind.is_text:
            return Literal(value, declared_type)
        case bytes() if kind is Kind.BINARY:
            return Literal(value, declared_type)
        case LocalDate() if kind is Kind.DATE:
            return Literal(value.epoch_day(), declared_type)
        case LocalTimestamp() if kind is Kind.TIMESTAMP:
            return Literal(_micros(value.epoch_nanos()), declared_type)
        case ZonedTimestamp() if kind is Kind.TIMESTAMP_LTZ:
            return Literal(_micros(value.seconds * 10**9 + value.nanos), declared_type)
        case SqlDate() if kind is Kind.DATE:
            day = day_of_midnight(value.millis)
            if day is None:
                return Opaque("the writer's time zone is not in the bytes of a date")
            return Literal(day, declared_type)
        case YearMonth(months=months) if kind is Kind.OTHER:
            return Literal(TimeSpan("months", months), TIME_SPAN)
        case DayTime(seconds=seconds, nanos=nanos) if kind is Kind.OTHER and nanos % 1000 == 0:
            return Literal(TimeSpan("micros", seconds * 10**6 + nanos // 1000), TIME_SPAN)
        case SqlTimestamp() if kind is Kind.TIMESTAMP:
            return Opaque("the writer's time zone is not in the bytes of a timestamp")
        case _:
            return Opaque(f"a {constant.java.rpartition('.')[2]} constant of type {declared_type}")


def range_of(constant: Constant | None, declared_type: Type) -> tuple[Literal, Literal] | None:
    """Bounds of a java.sql constant that stands for one of several values; None for every other constant.

    ``millis`` of a timestamp in Hive 2.3 are the wall clock of an unknown zone, which is within 16 hours of UTC.
    """
    if constant is None:
        return None
    match constant.value:
        case SqlDate(millis=millis) if declared_type.kind is Kind.DATE and day_of_midnight(millis) is None:
            day = millis // _DAY_MILLIS
            return (Literal(day, DATE), Literal(day + 1, DATE)) if _is_gregorian(millis) else None
        case SqlTimestamp(millis=millis, nanos=nanos) if declared_type.kind is Kind.TIMESTAMP and _is_gregorian(millis):
            whole_second = millis // 1000 * 10**6
            low = whole_second + nanos // 1000 - _MAX_ZONE_OFFSET
            high = whole_second + -(-nanos // 1000) + _MAX_ZONE_OFFSET
            return Literal(low, TIMESTAMP), Literal(high, TIMESTAMP)
        case _:
            return None


def day_of_midnight(millis: int) -> int | None:
    """The day whose local midnight is ``millis``, if it is the same day in every time zone; else None.

    Midnight of day d is ``d * 86,400,000 - offset`` with an offset from -12:00 to +14:00, a multiple of 15 minutes.
    With r = millis modulo a day, in hours:

        0 <= r < 10     d = millis // day         (offset 0 to -9:45)
        10 <= r <= 12   two days are possible     (offset -10:00 to -12:00, or +14:00 to +12:00)
        12 < r < 24     d = millis // day + 1     (offset +11:45 to +0:15)

    2020-01-02 in Los Angeles (-8:00) is 1577952000000: r = 8 h, day 18263 = 2020-01-02. Days near or before 1582-10-15
    are not decided, because java.sql counts them in the Julian calendar.
    """
    day, rest = divmod(millis, _DAY_MILLIS)
    is_ambiguous = 10 * _HOUR_MILLIS <= rest <= 12 * _HOUR_MILLIS
    if is_ambiguous or rest % (_HOUR_MILLIS // 4) or not _is_gregorian(millis):
        return None
    return day if rest < 10 * _HOUR_MILLIS else day + 1


def _is_gregorian(millis: int) -> bool:
    return millis // _DAY_MILLIS > FIRST_GREGORIAN_DAY + 2


def _is_in_range(value: int, integer_type: Type) -> bool:
    low, high = integer_type.integer_range()
    return low <= value <= high


def _is_well_formed(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _micros(nanos: int) -> int | Fraction:
    return Fraction(nanos, 1000) if nanos % 1000 else nanos // 1000
