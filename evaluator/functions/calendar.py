"""Dates and timestamps over intervals: parts, shifts, truncation, ISO and other text.

Timestamps are converted to wall clocks of the session zone first (contract C8). A clock that is set back within the
interval widens it, as it shows some times twice. A part such as ``month(d)`` is monotone while all greater parts are
constant. Days before 1582-10-15 or after 9999-12-31 are not decided.

    month(d)          d in [2020-03-01, 2020-05-31]    ->  [3, 5]
    month(d)          d in [2019-12-01, 2020-01-31]    ->  [1, 12]
    date_add(d, n)    d in [day 10, day 20], n in [1, 3]    ->  [day 11, day 23]
"""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.functions.base import Argument, RangeFunction, constant_of, monotone, strict
from evaluator.functions.constant_moments import YEAR_AFTER_THE_REFORM, months_later
from evaluator.functions.date_pattern import format_bounds
from evaluator.language.epoch import DAY, EPOCH, EPOCH_ORDINAL, FIRST_GREGORIAN_DAY, LAST_DAY, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, hull
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.language.zones import shown_between, wall_clocks_between

__all__ = ["FUNCTIONS", "as_shown", "day_texts", "through_text", "timestamp_text_bounds", "to_day", "wall_clock"]


def wall_clock(argument: Argument, semantics: Semantics) -> Interval:
    """A timestamp or date argument as microseconds of the session's wall clock."""
    interval, kind = argument.interval, argument.type.kind
    match kind:
        case Kind.DATE:
            return monotone(argument, lambda day: day * DAY)
        case Kind.TIMESTAMP:
            return interval
        case Kind.TIMESTAMP_LTZ:
            lo, hi = wall_clocks_between(interval.lo, interval.hi, semantics.zone)
            local = interval.with_bounds(lo, hi)
            return hull([local, interval]) if semantics.utc_timestamps else local
        case _:
            raise UnsupportedError(f"a date function over {argument.type} is not decided")


def as_shown(interval: Interval, semantics: Semantics) -> Interval:
    """Wall clocks that the engine converts to instants and back: one in a gap of the session zone becomes another.

    Wall clocks outside the years on which zone tables agree stay outside, except for one day.
    """
    if semantics.is_utc:
        return interval
    return interval.with_bounds(*shown_between(interval.lo, interval.hi, semantics.zone))


def to_day(argument: Argument, semantics: Semantics) -> Interval:
    """The day, since 1970-01-01, of a date or timestamp."""
    if argument.type.kind is Kind.DATE:
        return argument.interval
    clock = wall_clock(argument, semantics)
    return clock.with_bounds(*(None if end is None else end // DAY for end in (clock.lo, clock.hi)))


def day_texts(argument: Argument) -> Interval:
    """Bounds of ``yyyy-MM-dd``, whose order as text is that of the days of four-digit years."""
    ends = _decided(argument.interval, FIRST_GREGORIAN_DAY, LAST_DAY)
    return strict([argument]) if ends is None else strict([argument], *(_iso(end) for end in ends))


def _decided(interval: Interval, first: int, last: int) -> tuple[Any, Any] | None:
    """The ends of an interval of days or moments, for a text of it. None: values above ``last`` have no known order.

    What lies before ``first`` stays before it in every calendar, so ``first`` is an upper bound of it. The ends of a
    part of an interval are never outside of those of the whole.
    """
    lo, hi = interval.lo, interval.hi
    if hi is None or hi > last:
        return None
    return (None if lo is None or lo < first else lo), max(hi, first)


def _iso(day: int | None) -> str | None:
    return None if day is None else datetime.date.fromordinal(day + EPOCH_ORDINAL).isoformat()


def moment_of(micros: Any) -> datetime.datetime | None:
    """The calendar moment of a wall clock, cut to microseconds; None for days that are not decided."""
    whole = math.floor(micros)
    if not FIRST_GREGORIAN_DAY * DAY <= whole <= LAST_DAY * DAY:
        return None
    return EPOCH + datetime.timedelta(microseconds=whole)


def timestamp_text_bounds(argument: Argument, semantics: Semantics) -> Interval:
    """Bounds of ``yyyy-MM-dd HH:mm:ss[.f]``. Engines write the fraction in different ways: it is left open."""
    clock = wall_clock(argument, semantics)
    ends = _decided(clock, FIRST_GREGORIAN_DAY * DAY, LAST_DAY * DAY)
    if ends is None:
        return clock.with_bounds(None, None)
    lo, hi = (None if end is None else EPOCH + datetime.timedelta(microseconds=math.floor(end)) for end in ends)
    return clock.with_bounds(
        None if lo is None else lo.strftime("%Y-%m-%d %H:%M:%S"),
        None if hi is None else hi.strftime("%Y-%m-%d %H:%M:%S") + ".9999999999",
    )


def _dated(types: Sequence[Type], result: Type) -> Type:
    if not (types[0].kind is Kind.DATE or types[0].kind.is_timestamp):
        raise UnsupportedError(f"a date function over {types[0]} is not decided")
    return result


def _to(result: Type) -> Callable[[Sequence[Type]], Type]:
    return lambda types: _dated(types, result)


def _moments(argument: Argument, semantics: Semantics) -> tuple[datetime.datetime, datetime.datetime] | None:
    clock = wall_clock(argument, semantics)
    if not clock.is_bounded:
        return None
    lo, hi = moment_of(clock.lo), moment_of(clock.hi)
    return None if lo is None or hi is None else (lo, hi)


_Key = Callable[[datetime.datetime], Any]


def _part(part: _Key, greater: _Key, smallest: int, largest: int) -> RangeFunction:
    """A part of the moment: monotone while the greater parts are the same at both ends."""

    def compute(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
        moments = _moments(arguments[0], semantics)
        if moments is None:
            return strict(arguments, null=True)
        lo, hi = moments
        if greater(lo) == greater(hi):
            return strict(arguments, part(lo), part(hi))
        return strict(arguments, smallest, largest)

    return RangeFunction(_to(INT), compute)


def _week_year(moment: datetime.datetime) -> object:
    """The year of the moment's ISO week. Up to 1583 no two are the same: Hive 3 counts weeks by the old calendar."""
    year = moment.isocalendar()[0]
    return year if year > 1583 else object()


def _year(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """year: it never falls. Of a range with one bound Spark has one bound too; Hive may count the years before 0 up."""
    clock = wall_clock(arguments[0], semantics)
    ends = [None if end is None else moment_of(end) for end in (clock.lo, clock.hi)]
    if None in ends and (not semantics.functions_of_spark or (ends == [None, None])):
        return strict(arguments, null=True)
    return strict(arguments, *(None if end is None else end.year for end in ends), null=None in ends)


def _shift(sign: int) -> RangeFunction:
    """date_add, date_sub: days moved by a number of days, which has an interval of its own."""

    def compute(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
        day, count = to_day(arguments[0], semantics), arguments[1].interval
        if not day.is_bounded or not count.is_bounded or not arguments[1].type.kind.is_integer:
            return strict(arguments, null=True)
        steps = (sign * count.lo, sign * count.hi)
        lo, hi = day.lo + min(steps), day.hi + max(steps)
        if not FIRST_GREGORIAN_DAY <= lo <= hi <= LAST_DAY:
            return strict(arguments, null=True)
        return strict(arguments, lo, hi)

    return RangeFunction(_to(DATE), compute)


def _difference(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    if not all(a.type.kind is Kind.DATE or a.type.kind.is_timestamp for a in arguments):
        raise UnsupportedError("datediff over text is not decided")
    end, start = (to_day(a, semantics) for a in arguments)
    if not (end.is_bounded and start.is_bounded):
        return strict(arguments)
    return strict(arguments, end.lo - start.hi, end.hi - start.lo)


def _to_date(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    if len(arguments) != 1:
        raise UnsupportedError("to_date with a pattern is not decided")
    return to_day(arguments[0], semantics)


def _to_timestamp(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """to_timestamp of a date or a timestamp: its wall clock, as the session zone shows it."""
    if len(arguments) != 1:
        raise UnsupportedError("to_timestamp with a pattern is not decided")
    clock = wall_clock(arguments[0], semantics)
    if any(end is None or moment_of(end) is None for end in (clock.lo, clock.hi)):
        return strict(arguments, null=True)
    return as_shown(clock, semantics)


def through_text(name: str, target: Type | None, argument: Type) -> bool:
    """Whether a function, or a cast to ``target``, has the same result for a value of this type and for its text.

    ``to_timestamp(cast(t as string))`` is ``to_timestamp(t)``: engines write all digits of the wall clock and read them
    back. Hive 2 does not read a time as a date nor a bare date as a time: those casts are left as they are.
    """
    if name == "cast":
        return (target == DATE and argument.kind is Kind.DATE) or (target == TIMESTAMP and argument.kind.is_timestamp)
    return name in ("to_timestamp", "to_date") and (argument.kind is Kind.DATE or argument.kind.is_timestamp)


def _last_day(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    day = to_day(arguments[0], semantics)
    lo, hi = day.lo, day.hi
    least = None if lo is None or lo < FIRST_GREGORIAN_DAY else _end_of_month(min(lo, LAST_DAY))
    most = None if hi is None or hi > LAST_DAY else _end_of_month(max(hi, FIRST_GREGORIAN_DAY))
    return strict([Argument(DATE, day)], least, most)


def _end_of_month(day: int) -> int:
    date = datetime.date.fromordinal(day + EPOCH_ORDINAL)
    return date.replace(day=calendar.monthrange(date.year, date.month)[1]).toordinal() - EPOCH_ORDINAL


def _add_months(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """add_months keeps the day, cuts it to the length of the month, or keeps the last day of a month the last one.

    Both rules never fall while the day rises. Up to 1582 engines count in different calendars: a month has 28 to 31
    days there.
    """
    count = constant_of(arguments[1], "a number of months")
    day = to_day(arguments[0], semantics)
    if not day.is_bounded or not isinstance(count, int) or abs(count) > 12_000:
        return strict(arguments, null=True)
    ends = months_later(day.lo, count), months_later(day.hi, count, last_days_stay=True)
    if ends[0] is not None and ends[1] is not None and min(day.lo, ends[0]) >= YEAR_AFTER_THE_REFORM:
        return strict(arguments, *ends)
    lo, hi = day.lo + min(28 * count, 31 * count) - 3, day.hi + max(28 * count, 31 * count) + 3
    if not FIRST_GREGORIAN_DAY <= lo <= hi <= LAST_DAY:
        return strict(arguments, null=True)
    return strict(arguments, lo, hi)


def _midnight(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _quarter_start(moment: datetime.datetime) -> datetime.datetime:
    return _midnight(moment).replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)


_STARTS: dict[str, Callable[[datetime.datetime], datetime.datetime]] = {
    "year": lambda m: _midnight(m).replace(month=1, day=1),
    "quarter": _quarter_start,
    "month": lambda m: _midnight(m).replace(day=1),
    "week": lambda m: _midnight(m) - datetime.timedelta(days=m.weekday()),
    "day": _midnight,
    "hour": lambda m: m.replace(minute=0, second=0, microsecond=0),
    "minute": lambda m: m.replace(second=0, microsecond=0),
    "second": lambda m: m.replace(microsecond=0),
}
_UNITS = {
    "year": "year",
    "yyyy": "year",
    "yy": "year",
    "quarter": "quarter",
    "month": "month",
    "mon": "month",
    "mm": "month",
    "week": "week",
    "day": "day",
    "dd": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
}


def _start_of(moment: Argument, unit: str, semantics: Semantics) -> tuple[Any, Any] | None:
    start = _STARTS.get(_UNITS.get(unit, ""))
    if start is None:
        raise UnsupportedError(f"truncation to {unit!r} is not decided")
    moments = _moments(moment, semantics)
    return None if moments is None else (start(moments[0]), start(moments[1]))


def _trunc(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """trunc(date, unit): the first day of the year, quarter, month or (in Spark) week."""
    unit = str(constant_of(arguments[1], "a unit")).lower() if len(arguments) == 2 else ""
    if unit in ("", "day", "dd", "hour", "minute", "second") or (unit == "week" and not semantics.functions_of_spark):
        raise UnsupportedError("trunc to a unit below the week, or in Hive below the month, is not decided")
    if unit == "q" and not semantics.functions_of_spark:
        unit = "quarter"
    ends = _start_of(arguments[0], unit, semantics)
    if ends is None:
        return strict(arguments, null=True)
    days = [(end - EPOCH).days for end in ends]
    if semantics.days_truncate_as_millis and arguments[0].type.kind is Kind.DATE:
        start = _STARTS[_UNITS[unit]]
        days += [(start(near) - EPOCH).days for near in (EPOCH - datetime.timedelta(days=1), EPOCH)]
    return strict(arguments, min(days), max(days))


def _date_trunc_type(types: Sequence[Type]) -> Type:
    return _dated(types[1:], TIMESTAMP)


def _date_trunc(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """date_trunc(unit, timestamp): the wall clock at the start of the unit."""
    ends = _start_of(arguments[1], str(constant_of(arguments[0], "a unit")).lower(), semantics)
    if ends is None:
        return strict(arguments, null=True)
    start, end = ((moment - EPOCH) // MICROSECOND for moment in ends)
    return as_shown(strict(arguments, start, end), semantics)


def _date_format(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    pattern = constant_of(arguments[1], "a pattern")
    moments = _moments(arguments[0], semantics)
    bounds = None if moments is None else format_bounds(str(pattern), *moments)
    return strict(arguments, null=True) if bounds is None else strict(arguments, *bounds)


def _epoch_seconds(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """unix_timestamp(x) / to_unix_timestamp(x): whole seconds, for an instant or in UTC."""
    argument = arguments[0]
    if argument.type.kind.is_text or len(arguments) > 1:
        raise UnsupportedError("unix_timestamp of text is not decided")
    is_instant = argument.type.kind is Kind.TIMESTAMP_LTZ and not semantics.utc_timestamps
    if not (is_instant or semantics.is_utc):
        raise UnsupportedError("unix_timestamp of a wall clock is decided in UTC only")
    micros = argument.interval if is_instant else wall_clock(argument, semantics)
    ends = (None if end is None else _whole_seconds(end, semantics) for end in (micros.lo, micros.hi))
    return micros.with_bounds(*ends)


def _whole_seconds(micros: Any, semantics: Semantics) -> int:
    """Seconds since 1970. Before it Spark cuts the fraction off, too, and Hive takes the second before."""
    whole: int = math.floor(micros)
    return whole // 1_000_000 + int(semantics.functions_of_spark and whole < 0 and whole % 1_000_000 != 0)


def _from_seconds(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """from_unixtime(n[, pattern]): the text of the wall clock, in UTC or in the session zone of Spark."""
    if not arguments[0].type.kind.is_integer or not (semantics.is_utc or semantics.functions_of_spark):
        raise UnsupportedError("from_unixtime is decided for integers in UTC only")
    instants = monotone(arguments[0], lambda seconds: seconds * 1_000_000)
    pattern = Argument(STRING, Interval("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss", null=False))
    if len(arguments) > 1:
        pattern = arguments[1]
    shown = TIMESTAMP if semantics.is_utc else TIMESTAMP_LTZ
    return _date_format([Argument(shown, instants), pattern], STRING, semantics)


def _integer_seconds(types: Sequence[Type]) -> Type:
    if len(types) == 0:
        raise UnsupportedError("the current time is not decided")
    return _dated(types, BIGINT)


def _text_type(_: Sequence[Type]) -> Type:
    return STRING


_UNIX = RangeFunction(_integer_seconds, _epoch_seconds)

FUNCTIONS = {
    "year": RangeFunction(_to(INT), _year),
    "quarter": _part(lambda m: (m.month + 2) // 3, lambda m: m.year, 1, 4),
    "month": _part(lambda m: m.month, lambda m: m.year, 1, 12),
    "day": _part(lambda m: m.day, lambda m: (m.year, m.month), 1, 31),
    "dayofyear": _part(lambda m: m.timetuple().tm_yday, lambda m: m.year, 1, 366),
    "weekofyear": _part(lambda m: m.isocalendar()[1], _week_year, 1, 53),
    "yearofweek": _part(lambda m: m.isocalendar()[0], lambda _: None, 1, 9999),
    "dayofweek": _part(lambda m: m.isoweekday() % 7 + 1, lambda m: (m.toordinal()) // 7, 1, 7),
    "weekday": _part(lambda m: m.weekday(), lambda m: (m.toordinal() - 1) // 7, 0, 6),
    "hour": _part(lambda m: m.hour, lambda m: m.date(), 0, 23),
    "minute": _part(lambda m: m.minute, lambda m: (m.date(), m.hour), 0, 59),
    "second": _part(lambda m: m.second, lambda m: (m.date(), m.hour, m.minute), 0, 59),
    "date_add": _shift(1),
    "date_sub": _shift(-1),
    "datediff": RangeFunction(_to(INT), _difference),
    "add_months": RangeFunction(_to(DATE), _add_months),
    "last_day": RangeFunction(_to(DATE), _last_day),
    "to_date": RangeFunction(_to(DATE), _to_date),
    "to_timestamp": RangeFunction(_to(TIMESTAMP), _to_timestamp),
    "trunc": RangeFunction(_to(DATE), _trunc),
    "date_trunc": RangeFunction(_date_trunc_type, _date_trunc),
    "date_format": RangeFunction(_to(STRING), _date_format),
    "unix_timestamp": _UNIX,
    "to_unix_timestamp": _UNIX,
    "from_unixtime": RangeFunction(_text_type, _from_seconds),
}
