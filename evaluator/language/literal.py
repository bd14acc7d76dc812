"""Constants in a column's own domain, exactly or not at all (contract C7).

``in_domain`` gives the values of the column that the engine may treat as equal to the constant, as an interval. It is
mostly one point. It is wider where the engine itself rounds the column before it compares:

    ======================  ==================  ==================================================================
    column                  constant            interval
    ======================  ==================  ==================================================================
    integer, decimal        integer, decimal    the number itself (5.5 stays 5.5: ``to_ordinals`` finds the integers)
    integer                 float, double       the number; from 2^24 / 2^53 on, one unit in the last place around it
    decimal                 float, double       one unit in the last place around it: the column is rounded to binary
    double                  any number          nearest double
    float                   integer, decimal    from the nearest double to the nearest float: engines differ
                                                (Hive 4 rounds a double constant to float, and either reads a float's
                                                digits anew for a double column: both are in the interval)
    double, float           infinity            infinity
    text                    text                the text; CHAR: from the trimmed to the padded text (P15)
    number                  canonical digits    the number; any other text: not converted (P11)
    date                    timestamp           its fraction of a day: 12:00 lies between two dates; a day around it
                                                where clocks are set forward
    date, timestamp         canonical text      as the engine reads it; any other text: not converted. From Hive 3 on
                                                and in Spark also ``2020-1-2`` and ``2020-01-02T10:00:00``
    any timestamp           nanoseconds         kept by Hive, dropped by Spark
    integer, decimal        a number that only  the number, or NULL: Spark's common type has 38 digits; a text too
                            some engines hold   large for an integer column is NULL there
    wall clock              wall clock          the wall clock; near a gap of the session zone also those as far away
                                                as the clock is set forward: Spark may compare both as instants
    UTC timestamp           wall clock          every instant that may show this wall clock in the session zone (P14)
    ======================  ==================  ==================================================================

For any other pair of types ``in_domain`` raises UnsupportedError, and the leaf is unknown. P11, P14 and P15 stand in
docs/facts/pitfalls.md.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.language.epoch import DAY, EPOCH_ORDINAL, FIRST_DAY, FIRST_GREGORIAN_DAY, REBASED_DAYS
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.moment_texts import instant_of_text, usual_form
from evaluator.language.readable_texts import is_unreadable
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE, Kind, Type
from evaluator.language.zones import FIRST_SHOWN, instant_of, shift_near, shown

__all__ = [
    "SMALLEST_DOUBLE",
    "exact_number",
    "in_domain",
    "instants_shown",
    "is_integer_text",
    "is_number_text",
    "kept_digits",
    "nearest_float",
    "to_ordinals",
    "wall_clock_of_text",
]

#: The value of a text that an engine cannot read: NULL.
_NEVER = Interval(null=True, value=False)
_TRUE_WORDS, _FALSE_WORDS = frozenset({"t", "true", "y", "yes", "1"}), frozenset({"f", "false", "n", "no", "0"})

_INTEGER_TEXT = re.compile(r"-?(0|[1-9]\d{0,14})")
_DECIMAL_TEXT = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?")
_DATE_TEXT = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIMESTAMP_TEXT = re.compile(r"(\d{4}-\d{2}-\d{2})(?: (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?)?")
#: The smallest double above 0.
SMALLEST_DOUBLE = 5e-324


def in_domain(value: Any, literal: Type, column: Type, semantics: Semantics, via: Type | None = None) -> Interval:
    """The column values that may equal the constant; ``via`` is the type to which the engine casts the column first.

    It may cast the constant to that type, too.
    """
    if semantics.unreadable_text_is_null and literal.kind.is_text and _reads_text(column) and is_unreadable(value):
        return _NEVER
    match column.kind:
        case kind if kind.is_integer or kind is Kind.DECIMAL:
            return _as_exact(_number(value, literal), literal, column, via or literal, semantics)
        case Kind.FLOAT | Kind.DOUBLE if literal.kind.is_fractional and math.isinf(value):
            return point(value)
        case Kind.FLOAT | Kind.DOUBLE:
            return _as_float(_number(value, literal), literal, column, semantics)
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR if literal.kind.is_text:
            return _as_text(value, literal, column)
        case Kind.DATE:
            value = usual_form(value, semantics)[:10] if literal.kind.is_text else value
            return _as_date(value, literal, semantics)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            value = usual_form(value, semantics) if literal.kind.is_text else value
            return _as_timestamp(value, literal, column, semantics)
        case Kind.BOOLEAN if literal.kind is Kind.BOOLEAN:
            return point(int(value))
        case Kind.BOOLEAN if literal.kind is Kind.STRING and semantics.functions_of_spark:
            return _as_boolean(value, semantics)
        case Kind.BINARY if literal.kind is Kind.BINARY:
            return point(value)
        case _:
            raise UnsupportedError(f"{column} compared with {literal} is not decided")


def _reads_text(column: Type) -> bool:
    """Whether a text beside such a column is read as a number or a moment."""
    return column.kind.is_number or column.kind is Kind.DATE or column.kind.is_timestamp


def _as_boolean(text: str, semantics: Semantics) -> Interval:
    """What Spark reads a text as beside a boolean: NULL where it is neither true nor false."""
    word = text.strip(" ").lower()
    if word in _TRUE_WORDS or word in _FALSE_WORDS:
        return point(int(word in _TRUE_WORDS))
    if semantics.unreadable_text_is_null and word.isalpha() and word.isascii():
        return _NEVER
    raise UnsupportedError(f"boolean compared with string {text!r} is not decided")


def to_ordinals(interval: Interval, column: Type) -> Interval:
    """The interval in the form of the column's arrays (``statistics.columns.to_ordinal``).

    Decimals are scaled by 10^scale. A bound of an integer-like column may be a Fraction, which is no value of the
    column; its floor and its ceiling are the nearest values below and above.
    """
    if column.kind is not Kind.DECIMAL:
        return interval
    scale = 10**column.scale
    return interval.with_bounds(*(None if end is None else _scaled(end, scale) for end in (interval.lo, interval.hi)))


def exact_number(value: Any) -> int | Fraction:
    """An int, Decimal or float as an exact number. Raises UnsupportedError for NaN and infinities."""
    if isinstance(value, int):
        return int(value)
    finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    if not finite:
        raise UnsupportedError(f"{value} is not a finite number")
    numerator, denominator = value.as_integer_ratio()
    return int(numerator) if denominator == 1 else Fraction(numerator, denominator)


def nearest_float(value: float) -> float:
    """The float32 nearest to a double, as a double; infinite when it is out of range."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def is_integer_text(value: object) -> bool:
    """Whether a text is an integer in the form that engines write: no sign before 0, no leading zeros."""
    return isinstance(value, str) and value != "-0" and _INTEGER_TEXT.fullmatch(value) is not None


def is_number_text(value: object) -> bool:
    """Whether a text is a plain decimal number, such as ``-12.50``."""
    return isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value) is not None


def wall_clock_of_text(text: str) -> int | Fraction:
    """``yyyy-MM-dd[ HH:mm:ss[.fffffffff]]`` as microseconds of a wall clock.

    Raises UnsupportedError for other forms.
    """
    match = _TIMESTAMP_TEXT.fullmatch(text)
    if match is None:
        raise UnsupportedError(f"{text!r} is not written like a timestamp")
    days = _checked_day(_day_of_text(match[1]))
    if match[2] is None:
        return days * DAY
    hour, minute, second = int(match[2]), int(match[3]), int(match[4])
    if hour > 23 or minute > 59 or second > 59:
        raise UnsupportedError(f"{text!r} is not a time of day")
    nanoseconds = int((match[5] or "").ljust(9, "0"))
    micros = days * DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000
    return _plain(micros + Fraction(nanoseconds, 1000))


def _scaled(number: Any, scale: int) -> int | Fraction:
    if type(number) is int:
        return number * scale
    return _plain((number if type(number) is Fraction else Fraction(number)) * scale)


def _plain(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number


def _number(value: Any, literal: Type) -> int | Fraction:
    if literal.kind.is_number:
        return exact_number(value)
    if literal.kind.is_text and _DECIMAL_TEXT.fullmatch(value):
        return exact_number(Decimal(value))
    raise UnsupportedError(f"a number compared with {literal} {value!r} is not decided")


def _as_exact(number: int | Fraction, literal: Type, column: Type, via: Type, semantics: Semantics) -> Interval:
    """An integer or decimal column: the engine compares exactly, unless it rounds the column to binary first."""
    null = semantics.decimals_may_be_null and _may_fit_no_decimal(number, literal, column)
    if literal.kind.is_text:
        # The engine may read the text as the column's type or compare both as doubles.
        if column.kind.is_integer and (not isinstance(number, int)):
            raise UnsupportedError("an integer compared with text that is no integer is not decided")
        null = semantics.text_takes_column_type and column.kind.is_integer and not _in_range(number, column)
        via = DOUBLE
    if number == 0 or not (via.kind.is_fractional or literal.kind.is_fractional):
        return Interval(number, number, null)  # no decimal but 0 is so small that it is rounded to 0
    single = Kind.FLOAT in (via.kind, literal.kind)
    exact_below = 1 << (24 if single else 53)
    narrow = column.kind.is_integer and column.kind is not Kind.BIGINT and not single
    lo, hi = _rounded(number, single=single)
    if column.kind.is_integer and (narrow or max(abs(lo), abs(hi)) < exact_below):
        return Interval(_plain(lo), _plain(hi), null)
    digits = 22 if single else 51
    slack = abs(Fraction(number)) / (1 << digits) + Fraction(1, 1 << 140)
    return Interval(number - slack, number + slack, null)


def _rounded(number: int | Fraction, *, single: bool) -> tuple[Fraction, Fraction]:
    """Bounds of a number and of its nearest double, and float: 5.00000000000000000001 is 5.0 as a double."""
    try:
        nearest = float(number)
    except OverflowError as error:
        raise UnsupportedError("the number is beyond the range of a double") from error
    forms = [number, exact_number(nearest)]
    if single and math.isfinite(as_float := nearest_float(nearest)):
        forms.append(exact_number(as_float))
    ordered = sorted(map(Fraction, forms))
    return ordered[0], ordered[-1]


def _may_fit_no_decimal(number: int | Fraction, literal: Type, column: Type) -> bool:
    if literal.kind is Kind.DECIMAL:
        # Hive converts neither side of one type, but Hive 3 may take a constant of 38 digits for NULL.
        return literal.precision >= 38 and (literal != column or abs(number) >= 10 ** (37 - literal.scale))
    return literal.kind.is_fractional and column.kind is Kind.DECIMAL and abs(number) >= 10 ** (38 - column.scale)


def _in_range(number: int | Fraction, column: Type) -> bool:
    smallest, largest = column.integer_range()
    return smallest <= number <= largest


def _as_float(number: int | Fraction, literal: Type, column: Type, semantics: Semantics) -> Interval:
    try:
        nearest = float(number)
    except OverflowError as error:
        raise UnsupportedError("the number is beyond the range of a double") from error
    lo = hi = nearest
    if column.kind is Kind.FLOAT and not literal.kind.is_fractional:
        singles = _nearest_singles(number, nearest)
        lo, hi = min(lo, *singles), max(hi, *singles)
    if semantics.constants_take_column_type and {column.kind, literal.kind} == {Kind.FLOAT, Kind.DOUBLE}:
        other = nearest_float(nearest) if column.kind is Kind.FLOAT else float(str(np.float32(nearest)))
        lo, hi = min(lo, other), max(hi, other)
    if semantics.signed_zero_differs and lo <= 0.0 <= hi:
        lo, hi = min(lo, -SMALLEST_DOUBLE), max(hi, SMALLEST_DOUBLE)
    return Interval(lo, hi, semantics.decimals_may_be_null and literal.kind is Kind.DECIMAL and literal.precision >= 38)


def _nearest_singles(number: int | Fraction, nearest: float) -> list[float]:
    """The floats to which engines may round a number: by way of the nearest double, or at once."""
    single = nearest_float(nearest)
    beside = [float(np.nextafter(np.float32(single), np.float32(end))) for end in (-math.inf, math.inf)]
    if not math.isfinite(single):
        return [single]
    gap = abs(number - Fraction(single))
    return [single, *(float_ for float_ in beside if math.isfinite(float_) and abs(number - Fraction(float_)) <= gap)]


def _as_text(value: str, literal: Type, column: Type) -> Interval:
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise UnsupportedError("the text holds half a surrogate pair")
    if Kind.CHAR not in (column.kind, literal.kind):
        return point(value)
    if any(c < " " for c in value):
        raise UnsupportedError("CHAR with characters below the space is not decided")
    trimmed = value.rstrip(" ")
    # One blank more than any stored form: 'a ' that is no CHAR may be greater than the trimmed value.
    length = max(column.precision, literal.precision, len(value)) + 1
    return Interval(trimmed, trimmed.ljust(length), null=False)


def _day_of_text(text: str) -> int:
    match = _DATE_TEXT.fullmatch(text)
    if match is None:
        raise UnsupportedError(f"{text!r} is not written like a date")
    try:
        day = datetime.date(int(match[1]), int(match[2]), int(match[3])).toordinal() - EPOCH_ORDINAL
    except ValueError as error:
        raise UnsupportedError(f"{text!r} is not a date") from error
    return day


def _checked_day(day: int) -> int:
    if day < FIRST_GREGORIAN_DAY:
        raise UnsupportedError("dates before 1582-10-15 are not decided: calendars differ")
    return day


def _day_in_any_calendar(day: int) -> Interval:
    """A day; before 1582-10-15 all days that it may be in another calendar. Raises UnsupportedError before year 1."""
    if day >= FIRST_GREGORIAN_DAY:
        return point(day)
    if day < FIRST_DAY:
        _checked_day(day)
    return Interval(day - REBASED_DAYS, day + REBASED_DAYS, null=False)


def _as_date(value: Any, literal: Type, semantics: Semantics) -> Interval:
    if literal.kind is Kind.DATE:
        return _day_in_any_calendar(value)
    if literal.kind is Kind.TIMESTAMP:
        value = kept_digits(value, semantics)
        day = Fraction(value) / DAY
        _checked_day(math.floor(day))
        if _near_a_gap(math.floor(value), semantics):
            return Interval(_plain(day - 1), _plain(day + 1), null=False)
        if semantics.date_hides_timestamp:
            return Interval(math.floor(day), _plain(day), null=False)
        return point(_plain(day))
    if literal.kind.is_text:
        return _day_in_any_calendar(_day_of_text(value))
    raise UnsupportedError(f"a date compared with {literal} is not decided")


def _near_a_gap(wall_clock: int, semantics: Semantics) -> bool:
    """Whether a wall clock, or a midnight within a day of it, may be shown as another one (P14)."""
    day = wall_clock // DAY
    moments = (wall_clock, *((day + step) * DAY for step in (-1, 0, 1, 2)))
    return any(shown(moment, semantics.zone) != (moment, moment) for moment in moments)


def _as_timestamp(value: Any, literal: Type, column: Type, semantics: Semantics) -> Interval:
    nullable = False
    slack = 0
    last_of_day: int | None = None
    match literal.kind:
        case Kind.TIMESTAMP_LTZ if column.kind is Kind.TIMESTAMP_LTZ:
            return point(kept_digits(value, semantics))
        case Kind.TIMESTAMP:
            wall_clock = kept_digits(value, semantics)
        case Kind.DATE:
            wall_clock = value * DAY
            last_of_day = wall_clock + DAY - 1 if semantics.date_hides_timestamp else None
        case _ if literal.kind.is_text:
            instant = instant_of_text(value) if semantics.functions_of_spark else None
            if instant is not None and column.kind is Kind.TIMESTAMP_LTZ:
                return point(instant)
            wall_clock = kept_digits(wall_clock_of_text(value), semantics)
            nullable = semantics.bare_date_is_null and len(value) <= 10
            slack = 1 if semantics.moments_as_text else 0
        case _:
            raise UnsupportedError(f"a timestamp compared with {literal} is not decided")
    ends = (wall_clock, wall_clock if last_of_day is None else last_of_day)
    first = wall_clock // DAY
    if first < FIRST_DAY:
        _checked_day(first)
    if first < FIRST_GREGORIAN_DAY or (wall_clock < FIRST_SHOWN + DAY and semantics.time_zone != "UTC"):
        return Interval(ends[0] - REBASED_DAYS * DAY, ends[1] + REBASED_DAYS * DAY, null=nullable)
    if column.kind is Kind.TIMESTAMP:
        # Spark compares a wall clock with an instant as instants: in a gap of its zone two wall clocks are one instant.
        before, after = (shift_near(math.floor(wall), semantics.zone) for wall in ends)
        lo, hi = ends[0] - before, ends[1] + after
    else:
        lo, hi = instants_shown(*ends, semantics)
    return Interval(lo - slack, hi + slack, null=nullable)


def kept_digits(micros: int | Fraction, semantics: Semantics) -> int | Fraction:
    """A timestamp in microseconds, with the digits that the engine keeps in a constant."""
    return math.floor(micros) if semantics.micros_only else micros


def instants_shown(first: int | Fraction, last: int | Fraction, semantics: Semantics) -> tuple[Any, Any]:
    """Bounds of the instants at which a wall clock from first to last may be shown."""
    readings: list[int | Fraction] = []
    for wall_clock in (first, last):
        whole = math.floor(wall_clock)
        instants = instant_of(whole, semantics.zone)
        if instants is None:
            raise UnsupportedError(f"wall clocks of {semantics.time_zone} are decided in the years 1900 to 9999 only")
        fraction = wall_clock - whole
        readings += [instants.lo + fraction, instants.hi + fraction]
        if semantics.utc_timestamps:
            readings.append(wall_clock)
    return min(readings), max(readings)
