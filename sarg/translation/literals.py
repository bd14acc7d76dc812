"""Java constants as literals of the evaluator: exactly, or not at all (contract C7).

=======================  ==============================================================================
type.Date                Literal, days since 1970-01-01
type.Timestamp           Literal, microseconds (a Fraction when nanoseconds are set)
TimestampTZ              Literal of an instant
java.sql.Date            Literal when only one day fits (see ``day_of_midnight``), else a range of days
java.sql.Timestamp       a range: the writer's time zone is not in the bytes
text with half a         Opaque: Java's replacement character would be compared instead
surrogate pair
struct, list, map        Opaque (a struct IN and a folded IN list are taken apart before)
a class that does not    Opaque
fit the declared type
=======================  ==============================================================================
"""

from __future__ import annotations

import functools
from decimal import Decimal
from fractions import Fraction

from evaluator.language.expression import Literal, Opaque, Operand
from evaluator.language.types import DATE, TIMESTAMP, Kind, Type
from sarg.hive_tree.constants import Constant, LocalDate, LocalTimestamp, SqlDate, SqlTimestamp, ZonedTimestamp

__all__ = ["day_of_midnight", "literal_of", "range_of", "type_of"]

_DAY = 86_400_000
_HOUR = 3_600_000
#: The first day of the Gregorian calendar; java.sql counts days before it in the Julian one.
_GREGORIAN_DAY = LocalDate(1582, 10, 15).epoch_day()
#: Farther than any zone ever was from UTC (Manila, before 1844: 15:56).
_WIDEST_ZONE = 16 * _HOUR * 1000
_FITS = {"java.lang.Byte": 8, "java.lang.Short": 16, "java.lang.Integer": 32, "java.lang.Long": 64}


def type_of(text: str) -> Type:
    """The evaluator's type for a Hive type text."""
    return _short_type(text) if len(text) < 100 else Type.parse(text)


_short_type = functools.lru_cache(maxsize=1024)(Type.parse)


def literal_of(constant: Constant | None, of: Type) -> Operand:
    """The literal, or Opaque with the reason why there is none."""
    if constant is None:
        return Literal(None, of)
    value = constant.value
    match value:
        case bool() if of.kind is Kind.BOOLEAN:
            return Literal(value, of)
        case int() if constant.java in _FITS and of.kind.is_integer and _is_in_range(value, of):
            return Literal(value, of)
        case float() if of.kind.is_fractional:
            return Literal(value, of)
        case Decimal() if of.kind is Kind.DECIMAL:
            return Literal(value, of)
        case str() if of.kind.is_text:
            return Literal(value, of) if _is_well_formed(value) else Opaque("a text with half a surrogate pair")
        case bytes() if of.kind is Kind.BINARY:
            return Literal(value, of)
        case LocalDate() if of.kind is Kind.DATE:
            return Literal(value.epoch_day(), of)
        case LocalTimestamp() if of.kind is Kind.TIMESTAMP:
            return Literal(_micros(value.epoch_nanos()), of)
        case ZonedTimestamp() if of.kind is Kind.TIMESTAMP_LTZ:
            return Literal(_micros(value.seconds * 10**9 + value.nanos), of)
        case SqlDate() if of.kind is Kind.DATE:
            day = day_of_midnight(value.millis)
            return Opaque("the writer's time zone is not in the bytes of a date") if day is None else Literal(day, of)
        case SqlTimestamp() if of.kind is Kind.TIMESTAMP:
            return Opaque("the writer's time zone is not in the bytes of a timestamp")
        case _:
            return Opaque(f"a {constant.java.rpartition('.')[2]} constant of type {of}")


def range_of(constant: Constant | None, of: Type) -> tuple[Literal, Literal] | None:
    """Bounds of a java.sql constant that stands for one of several values; None for every other constant.

    ``millis`` of a timestamp in Hive 2.3 are a wall clock of an unknown zone: the clock is within 16 hours of UTC's.
    """
    if constant is None:
        return None
    match constant.value:
        case SqlDate(millis=millis) if of.kind is Kind.DATE and day_of_midnight(millis) is None:
            day = millis // _DAY
            return (Literal(day, DATE), Literal(day + 1, DATE)) if _is_gregorian(millis) else None
        case SqlTimestamp(millis=millis, nanos=nanos) if of.kind is Kind.TIMESTAMP and _is_gregorian(millis):
            seconds = millis // 1000 * 10**6
            low, high = seconds + nanos // 1000 - _WIDEST_ZONE, seconds + -(-nanos // 1000) + _WIDEST_ZONE
            return Literal(low, TIMESTAMP), Literal(high, TIMESTAMP)
        case _:
            return None


def day_of_midnight(millis: int) -> int | None:
    """The day whose local midnight is ``millis``, if there is only one in all time zones.

    Midnight of day d is ``d * 86,400,000 - offset`` with an offset from -12:00 to +14:00, a multiple of 15 minutes.
    With r = millis modulo a day, in hours:

        0 <= r < 10     d = millis // day         (offset 0 to -9:45)
        10 <= r <= 12   -10:00 to -12:00 or +14:00 to +12:00: two days fit
        12 < r < 24     d = millis // day + 1     (offset +11:45 to +0:15)

    2020-01-02 in Los Angeles (-8:00) is 1577952000000: r = 8 h, day 18263 = 2020-01-02. Days near or before 1582-10-15
    are not decided: java.sql counts them in another calendar.
    """
    day, rest = divmod(millis, _DAY)
    if not _is_gregorian(millis) or rest % (_HOUR // 4) or 10 * _HOUR <= rest <= 12 * _HOUR:
        return None
    return day if rest < 10 * _HOUR else day + 1


def _is_gregorian(millis: int) -> bool:
    return millis // _DAY > _GREGORIAN_DAY + 2


def _is_in_range(value: int, of: Type) -> bool:
    low, high = of.integer_range()
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
