"""CAST over intervals: the results that an engine's conversion can have.

    ==================  =====================  ==============================================================
    from                to                     result on [lo, hi]
    ==================  =====================  ==============================================================
    integer             integer                the same while both ends fit the type; else not decided (wraps)
    decimal, double     integer                cut toward zero, which never falls; both ends must fit
    number              double, float          nearest value, which never falls
    number              decimal(p, s)          exact when it fits, else within one unit of the last digit
    boolean             number                 0, 1
    number              boolean                0 is false, all else true
    integer             text                   decimal digits, in order among numbers of one sign and length
    date, timestamp     text                   ISO text, in order in the years 1000 to 9999
    boolean             text                   'false', 'true' (Spark), 'FALSE', 'TRUE' (Hive)
    text                text                   the same, or its first n characters; never through CHAR
    text                binary                 its UTF-8, which is in the same order
    date                timestamp              midnight, wall clock
    timestamp           date                   the day of the wall clock
    timestamp           number                 seconds since the epoch
    number              instant, in Spark      that many seconds since the epoch, cut to microseconds
    ==================  =====================  ==============================================================

A cast of text to other types is decided where it is read alike, or not at all (``evaluator.functions.from_text``).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from evaluator.functions.base import INTEGERS, Argument, monotone, strict, within_type
from evaluator.functions.calendar import as_shown, day_texts, timestamp_text_bounds, to_day, wall_clock
from evaluator.functions.from_text import from_text, reads_text
from evaluator.language.epoch import DAY, FIRST_GREGORIAN_DAY, LAST_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import exact_number, nearest_float
from evaluator.language.semantics import Semantics
from evaluator.language.types import TIMESTAMP, Kind, Type
from evaluator.language.zones import instant_of, shift_near

__all__ = ["cast", "instants_of", "keeps_value", "vanishes"]

_WHOLE_DIGITS = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 19}


def keeps_value(source: Type, target: Type) -> bool:
    """True when the cast gives the very same value for every value of the source type (lossless widening)."""
    match source.kind, target.kind:
        case (a, b) if a in INTEGERS and b in INTEGERS:
            return INTEGERS.index(a) <= INTEGERS.index(b)
        case (a, Kind.DECIMAL) if a in INTEGERS:
            return target.precision - target.scale >= _WHOLE_DIGITS[a]
        case (Kind.TINYINT | Kind.SMALLINT, Kind.FLOAT | Kind.DOUBLE) | (Kind.INT, Kind.DOUBLE):
            return True
        case (Kind.DECIMAL, Kind.DECIMAL):
            return target.scale >= source.scale and target.precision - target.scale >= source.precision - source.scale
        case (Kind.FLOAT, Kind.DOUBLE) | (Kind.VARCHAR, Kind.STRING):
            return True
        case (Kind.VARCHAR, Kind.VARCHAR):
            return target.precision >= source.precision
        case (a, b):
            return source == target or (a.is_timestamp and b.is_timestamp and a is b)


def cast(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    """The interval of ``CAST(argument AS target)``. Raises UnsupportedError for a pair that is not decided."""
    source = argument.type
    if keeps_value(source, target):
        return argument.interval
    if source.kind is Kind.VOID:
        return Interval(null=True, value=False)
    if source.kind in (Kind.STRING, Kind.VARCHAR) and reads_text(target, semantics):
        if target.kind is Kind.TIMESTAMP_LTZ and argument.interval.is_point:
            return _instants(Argument(TIMESTAMP, from_text(argument, TIMESTAMP, semantics)), semantics)
        return from_text(argument, target, semantics)
    match target.kind:
        case kind if kind.is_integer:
            return _to_integer(argument, target, semantics)
        case Kind.DOUBLE | Kind.FLOAT:
            return _unless_vanished(_to_float(argument, target, semantics), argument, semantics)
        case Kind.DECIMAL if source.kind.is_number:
            return _to_decimal(argument, target, semantics)
        case Kind.BOOLEAN if source.kind.is_number:
            return _unless_vanished(_to_boolean(argument), argument, semantics)
        case Kind.STRING | Kind.VARCHAR:
            return _to_text(argument, target, semantics)
        case Kind.BINARY if source.kind in (Kind.STRING, Kind.VARCHAR):
            return monotone(argument, _utf8)
        case Kind.DATE if source.kind.is_timestamp:
            return to_day(argument, semantics)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ if source.kind is Kind.DATE and target.kind is Kind.TIMESTAMP:
            return as_shown(monotone(argument, lambda day: day * DAY), semantics)
        case Kind.TIMESTAMP if source.kind is Kind.TIMESTAMP_LTZ:
            return wall_clock(argument, semantics)
        case Kind.TIMESTAMP_LTZ if source.kind is Kind.TIMESTAMP and not semantics.utc_timestamps:
            return _instants(argument, semantics)
        case Kind.TIMESTAMP_LTZ if source.kind.is_number and semantics.functions_of_spark:
            return instants_of(argument, 1_000_000)
        case Kind.TIMESTAMP_LTZ if source.kind is Kind.DATE:
            return _midnights(argument, semantics)
        case _:
            raise _undecided(source, target)


def vanishes(source: Type, semantics: Semantics) -> bool:
    """Whether a cast of this type to binary may lose or round values (``Semantics.wide_decimals_vanish``)."""
    return (
        semantics.wide_decimals_vanish
        and source.kind is Kind.DECIMAL
        and (source.precision - source.scale > 20 or source.scale > 18)
    )


def _utf8(text: str) -> bytes:
    """The bytes of a text, whose order is that of the characters. Raises UnsupportedError for half a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnsupportedError("the text holds half a surrogate pair") from error


def _unless_vanished(result: Interval, argument: Argument, semantics: Semantics) -> Interval:
    if not vanishes(argument.type, semantics):
        return result
    interval = argument.interval
    fits = argument.type.scale <= 18 and interval.is_bounded and max(abs(interval.lo), abs(interval.hi)) < 10**20
    return result if fits else strict([argument], null=True)


def _midnights(argument: Argument, semantics: Semantics) -> Interval:
    """The instants at which days begin in the session zone, and in UTC where the engine may use that."""
    days = argument.interval
    if not days.is_bounded:
        return strict([argument])
    first, last = (instant_of(day * DAY, semantics.zone) for day in (days.lo, days.hi))
    if first is None or last is None:
        return strict([argument])
    lo, hi = first.lo, last.hi
    if semantics.utc_timestamps:
        lo, hi = min(lo, days.lo * DAY), max(hi, days.hi * DAY)
    return strict([argument], lo, hi)


def _instants(argument: Argument, semantics: Semantics) -> Interval:
    """The instants at which wall clocks are shown in the session zone, or that stand for those in a gap."""
    clocks = argument.interval
    if not clocks.is_bounded:
        return strict([argument])
    first = instant_of(clocks.lo - shift_near(clocks.lo, semantics.zone), semantics.zone)
    last = instant_of(clocks.hi + shift_near(clocks.hi, semantics.zone), semantics.zone)
    return strict([argument]) if first is None or last is None else strict([argument], first.lo, last.hi)


def instants_of(argument: Argument, unit: int) -> Interval:
    """The instants of numbers of ``unit`` microseconds each, cut as Spark does it, in the years from 1583 to 9999.

    NaN and infinity are NULL, or an error in ANSI mode.
    """
    numbers, may_be_nan = within_type(argument), argument.type.kind.is_fractional
    if not numbers.is_bounded or not all(math.isfinite(end) for end in (numbers.lo, numbers.hi)):
        return strict([argument], null=may_be_nan)
    factor: Any = float(unit) if may_be_nan else unit
    lo, hi = (math.trunc(end * factor) for end in (numbers.lo, numbers.hi))
    if lo < FIRST_GREGORIAN_DAY * DAY or hi > LAST_DAY * DAY:
        return strict([argument], null=may_be_nan)
    return strict([argument], lo, hi, null=may_be_nan)


def _undecided(source: Type, target: Type) -> UnsupportedError:
    return UnsupportedError(f"CAST of {source} to {target} is not decided")


def _to_integer(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    smallest, largest = target.integer_range()
    source, interval = argument.type.kind, argument.interval
    if source is Kind.BOOLEAN:
        return interval
    if source.is_timestamp:
        return _seconds(argument, semantics, math.floor, smallest, largest)
    if not source.is_number:
        raise _undecided(argument.type, target)
    if not interval.is_bounded or not all(math.isfinite(end) for end in (interval.lo, interval.hi)):
        return strict([argument], null=True)
    lo, hi = math.trunc(interval.lo), math.trunc(interval.hi)
    if lo < smallest or hi > largest:
        return strict([argument], null=True)
    return strict([argument], lo, hi)


def _seconds(argument: Argument, semantics: Semantics, rounded: Any, smallest: int, largest: int) -> Interval:
    """A timestamp as seconds since the epoch, where wall clock and instant agree: of Spark's instants, or in UTC."""
    is_instant = argument.type.kind is Kind.TIMESTAMP_LTZ and not semantics.utc_timestamps
    if not (is_instant or semantics.is_utc):
        raise UnsupportedError("a timestamp as a number is decided in UTC only")
    result = monotone(argument, lambda micros: rounded(Fraction(micros) / 1_000_000))
    if not result.is_bounded or result.lo < smallest or result.hi > largest:
        return strict([argument], null=True)
    return result


def _to_float(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    source = argument.type.kind
    if source.is_timestamp and target.kind is Kind.DOUBLE:
        seconds = _seconds(argument, semantics, lambda s: s, -(1 << 52), 1 << 52)
        if semantics.seconds_are_rough and seconds.is_bounded:
            seconds = seconds.with_bounds(seconds.lo - Fraction(1, 1000), seconds.hi + Fraction(1, 1000))
        return monotone(Argument(argument.type, seconds), float)
    if source is Kind.BOOLEAN:
        return monotone(argument, float)
    if not source.is_number:
        raise _undecided(argument.type, target)

    def nearest(value: Any) -> float | None:
        try:
            double = float(value)
        except OverflowError:
            return None
        return double if target.kind is Kind.DOUBLE else nearest_float(double)

    result = monotone(argument, nearest)
    if target.kind is Kind.FLOAT and source is not Kind.DOUBLE and result.is_bounded:
        # Rounding through double first may differ by one unit in the last place from rounding once.
        # A number that a float holds is itself on every way.
        slack = [
            0.0 if exact_number(end) == exact_number(given) else abs(end) * 2.0**-22 + 2.0**-140
            for end, given in ((result.lo, argument.interval.lo), (result.hi, argument.interval.hi))
        ]
        return result.with_bounds(result.lo - slack[0], result.hi + slack[1])
    if target.kind is Kind.FLOAT and semantics.floats_may_keep_doubles and result.is_bounded:
        return result.with_bounds(min(result.lo, argument.interval.lo), max(result.hi, argument.interval.hi))
    return result


def _to_decimal(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    interval = argument.interval
    unit = Fraction(1, 10**target.scale)
    limit = 10 ** (target.precision - target.scale)
    if not interval.is_bounded and not argument.type.kind.is_fractional:
        return _open_decimal(argument, unit, limit)
    if not interval.is_bounded or not all(math.isfinite(end) for end in (interval.lo, interval.hi)):
        return strict([argument], null=True)
    lo = Fraction(exact_number(interval.lo)) - _half_gap(interval.lo, argument.type, semantics)
    hi = Fraction(exact_number(interval.hi)) + _half_gap(interval.hi, argument.type, semantics)
    if max(abs(lo), abs(hi)) + unit >= limit:
        return strict([argument], null=True)
    source = argument.type
    exact = source.kind.is_integer or (source.kind is Kind.DECIMAL and source.scale <= target.scale)
    return strict(
        [argument],
        lo if exact else math.ceil(lo / unit - 1) * unit,
        hi if exact else math.floor(hi / unit + 1) * unit,
        null=semantics.doubles_may_not_fit and source.kind.is_fractional,
    )


def _open_decimal(argument: Argument, unit: Fraction, limit: int) -> Interval:
    """An exact number of which one bound at most is known: it is rounded by less than a unit.

    What does not fit is NULL, an error in ANSI mode, and some other number in Hive 4 (of a bigint). So the bound says
    something only where every number of the type fits.
    """
    source = argument.type
    largest = 10 ** (source.precision - source.scale) if source.kind is Kind.DECIMAL else -source.integer_range()[0]
    if largest + unit >= limit:
        return strict([argument], null=True)
    return strict(
        [argument],
        *(
            None if end is None else Fraction(exact_number(end)) + step
            for end, step in ((argument.interval.lo, -unit), (argument.interval.hi, unit))
        ),
    )


def _half_gap(value: Any, source: Type, semantics: Semantics) -> Fraction:
    """How far the text of a binary number, which engines cast to decimal, may be from its value."""
    if not source.kind.is_fractional:
        return Fraction(0)
    bits = 24 if source.kind is Kind.FLOAT and semantics.floats_cast_by_text else 53
    return Fraction(2) ** (math.frexp(value)[1] - bits - 1)


def _to_boolean(argument: Argument) -> Interval:
    interval = argument.interval
    if not interval.is_bounded:
        return strict([argument], 0, 1)
    if interval.lo == 0 == interval.hi:
        return strict([argument], 0, 0)
    return strict([argument], 0 if interval.lo <= 0 <= interval.hi else 1, 1)


def _to_text(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    source, interval = argument.type.kind, argument.interval
    if source is Kind.CHAR:
        raise UnsupportedError("CHAR in a function is not decided: it may be stored padded or not")
    if source in (Kind.STRING, Kind.VARCHAR):
        length = target.precision
        return interval if target.kind is Kind.STRING else monotone(argument, lambda text: text[:length])
    if target.kind is Kind.VARCHAR:
        raise _undecided(argument.type, target)
    if source is Kind.BOOLEAN:
        # Hive writes TRUE and FALSE, Spark true and false; the upper case comes first in text order.
        return strict([argument], "TRUE" if interval.lo else "FALSE", "false" if interval.hi == 0 else "true")
    if source.is_integer:
        return _digits(argument)
    if source is Kind.DATE:
        return day_texts(argument)
    if source.is_timestamp:
        return timestamp_text_bounds(argument, semantics)
    raise _undecided(argument.type, target)


def _digits(argument: Argument) -> Interval:
    """Integers of one sign and length have the same order as text; negative ones the opposite order."""
    interval = argument.interval
    if not interval.is_bounded:
        return strict([argument])
    lo, hi = str(interval.lo), str(interval.hi)
    if interval.lo >= 0 and len(lo) == len(hi):
        return strict([argument], lo, hi)
    if interval.hi < 0 and len(lo) == len(hi):
        return strict([argument], hi, lo)
    # Any digits: between the smallest and the largest first characters.
    return strict([argument], "-" if interval.lo < 0 else "0", ":" if interval.hi >= 0 else "-:")
