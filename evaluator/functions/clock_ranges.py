"""Functions of the clock: the range of the moment at which a query runs, and what becomes of it.

    current_date()                                  a day, from the plan's own on
    now() - interval 7 days                         every moment of the clock, moved
    date_format(now(), 'yyyyMMdd')                  texts of one form, in the order of time
    cast(date_format(now(), 'yyyyMMdd') as int)     these texts as numbers, in the same order

All other functions take the range of the clock as they take that of a column. Moments are moved here, because the rules
of ``constants.py`` are for one value. A month that is shorter than another one does not turn two moments around, except
for their times of day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evaluator.functions.base import Argument, strict
from evaluator.functions.calendar import FUNCTIONS as OF_CALENDAR
from evaluator.functions.calendar import wall_clock
from evaluator.functions.constant_moments import months_later
from evaluator.functions.conversions import cast
from evaluator.functions.date_pattern import UNITS, fields_of
from evaluator.language.clock import MOMENT_FUNCTIONS, WIDEST_CHANGE, Clock
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.literal import wall_clock_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.language.zones import FIRST_SHOWN, offset_spread, wall_clock_of

__all__ = ["DATE_FORM", "in_any_zone", "moment", "moved", "moved_by", "read_text", "shown_seconds", "written_form"]

_Range = tuple[Interval, Type]
#: Functions that do the same with instants in every zone.
_OF_INSTANTS = frozenset(["branches", "coalesce", "greatest", "least", "unix_timestamp", "to_unix_timestamp"])
_SECOND = 1_000_000
#: By months three days may become one and one three, and an offset may change before the move and after it.
_AROUND = 7 * DAY + 2 * WIDEST_CHANGE
#: Patterns of texts whose order is that of what they are read as.
DATE_FORM, _TIMES = "yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss"
_DIGITS = re.compile("[0-9]{1,18}")


def moment(name: str, semantics: Semantics) -> _Range:
    """The range and the type of a function of the clock. Raises UnsupportedError where nothing is known of the time."""
    clock = semantics.clock
    if not MOMENT_FUNCTIONS[name] and not semantics.functions_of_spark:
        raise UnsupportedError(f"function {name} is not decided")
    if clock is None:
        raise UnsupportedError(f"{name}() is known only when the query runs")
    match name:
        case "current_date" | "curdate":
            return clock.days(semantics.zone), DATE
        case "unix_timestamp":
            instants = clock.instants()
            return instants.with_bounds(instants.lo // _SECOND, instants.hi // _SECOND), BIGINT
        case "localtimestamp":
            return clock.wall_clocks(semantics.zone), TIMESTAMP
        case _ if semantics.functions_of_spark and not clock.is_fixed:
            return clock.instants(), TIMESTAMP_LTZ
        case _ if semantics.functions_of_spark and clock.wall_clock is None:
            shown = wall_clock_of(clock.first, semantics.zone)
            if shown is None or Clock.showing(shown, semantics.zone).instants() != clock.instants():
                return clock.instants(), TIMESTAMP_LTZ
            return clock.wall_clocks(semantics.zone), TIMESTAMP
        case _:
            return clock.wall_clocks(semantics.zone), TIMESTAMP


def moved(name: str, arguments: Sequence[Argument], semantics: Semantics) -> _Range | None:
    """A moment of the clock plus or minus an interval or a number of days; None for any other sum."""
    if name not in ("+", "-") or len(arguments) != 2:
        return None
    first, second = arguments
    if name == "+" and (isinstance(first.interval.lo, TimeSpan) or second.type == DATE):
        first, second = second, first
    span = second.interval.lo
    if isinstance(span, TimeSpan) and not isinstance(first.interval.lo, TimeSpan):
        return moved_by(first, span if name == "+" else -span, semantics)
    if first.type == DATE and second.type.kind.is_integer and semantics.dates_count_days:
        function = OF_CALENDAR["date_add" if name == "+" else "date_sub"]
        return function.compute([first, second], DATE, semantics), DATE
    return None


def moved_by(argument: Argument, span: TimeSpan, semantics: Semantics) -> _Range:
    """The range of a date or a moment that an interval moves, and its type. Raises UnsupportedError without bounds."""
    interval, kind = argument.interval, argument.type
    if not interval.is_bounded:
        raise UnsupportedError("a moment without bounds is not decided")
    if kind == DATE and span.unit == "months":
        slack = int(semantics.dates_move_by_instant and not semantics.is_utc)
        days = [_day_later(day, span.amount) for day in (interval.lo, interval.hi)]
        return interval.with_bounds(days[0] - slack, days[1] + slack), DATE
    if kind == DATE and span.unit == "days" and semantics.dates_count_days:
        return interval.with_bounds(interval.lo + span.amount, interval.hi + span.amount), DATE
    if kind == DATE:
        if span.unit == "micros" and semantics.dates_may_lose_hours:
            raise UnsupportedError("a date moved by hours is a date or a timestamp, by a setting")
        interval, kind = interval.with_bounds(interval.lo * DAY, interval.hi * DAY), TIMESTAMP
    elif not kind.kind.is_timestamp:
        raise UnsupportedError(f"{kind} moved by an interval is not decided")
    if kind.kind is Kind.TIMESTAMP_LTZ and span.unit == "months":
        return _months_of_instants(argument, span, semantics), kind
    return _shifted(interval, kind, span, semantics), kind


def _shifted(interval: Interval, kind: Type, span: TimeSpan, semantics: Semantics) -> Interval:
    """Moments moved, wider by what the offset of the session's zone may change between a moment and the moved one."""
    if span.unit == "months":
        lo, hi = interval.lo // DAY, interval.hi // DAY
        ends = _day_later(lo, span.amount) * DAY, (_day_later(hi, span.amount) + 1) * DAY - 1
        if _day_later(lo + 1, span.amount) * DAY > ends[0]:
            ends = ends[0] + interval.lo % DAY, ends[1]  # no later day becomes the same one
    else:
        ends = interval.lo + span.micros, interval.hi + span.micros
    is_exact = kind.kind is Kind.TIMESTAMP_LTZ and span.unit == "micros" and abs(span.micros) < DAY
    if not semantics.moves_by_instant or is_exact:
        return interval.with_bounds(*ends)
    return interval.with_bounds(  # Spark moves by the whole days of an interval first
        ends[0] - _offset_change((interval.lo, ends[0]), semantics),
        ends[1] + _offset_change((interval.hi, ends[1]), semantics),
    )


def _offset_change(moments: tuple[Any, Any], semantics: Semantics) -> int:
    """By how much the offset of the session's zone may differ around an end of a range and that end moved, at most.

    A moment farther within the range than ``_AROUND`` does not pass the moved end, however the offset changes.
    """
    first, last = min(moments) - _AROUND, max(moments) + _AROUND
    zone_known = semantics.clock is None or semantics.clock.zone_known
    spread = offset_spread(first, last, semantics.zone) if zone_known else None
    if spread is None and first < FIRST_SHOWN:
        raise UnsupportedError("a moment before the years of the zone's table is not decided")
    return WIDEST_CHANGE if spread is None else spread


def _months_of_instants(argument: Argument, span: TimeSpan, semantics: Semantics) -> Interval:
    """Instants moved by months of the session's calendar: as its wall clocks, and back."""
    [shown] = in_any_zone("+", [argument], None, semantics)
    clock = wall_clock(shown, semantics)
    if not clock.is_bounded:
        raise UnsupportedError("a moment beyond the years of the zone's table is not decided")
    clocks = _shifted(clock, TIMESTAMP, span, semantics)
    instants = cast(Argument(TIMESTAMP, clocks), TIMESTAMP_LTZ, semantics)
    [result] = in_any_zone("+", [Argument(TIMESTAMP_LTZ, instants)], None, semantics)
    return result.interval


def _day_later(day: int, months: int) -> int:
    moved_day = months_later(day, months)
    if moved_day is None:
        raise UnsupportedError("a date beyond the year 9999 is not decided")
    return moved_day


def in_any_zone(name: str, arguments: Sequence[Argument], target: Type | None, semantics: Semantics) -> list[Argument]:
    """The arguments of a function that converts by the session's zone: instants in all zones if that is not known."""
    clock = semantics.clock
    by_number = target is not None and target.kind.is_number
    if clock is None or name in _OF_INSTANTS or by_number:
        return list(arguments)
    return [
        Argument(a.type, clock.beyond_zone(a.interval)) if a.type.kind is Kind.TIMESTAMP_LTZ else a for a in arguments
    ]


def shown_seconds(arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """from_unixtime of the clock: the texts of what any zone shows, or of what the session's zone shows in Spark."""
    clock = semantics.clock
    seconds = arguments[0].interval
    if clock is None or not arguments[0].type.kind.is_integer or not seconds.is_bounded:
        raise UnsupportedError("from_unixtime is decided for integers only")
    instants = Argument(TIMESTAMP_LTZ, seconds.with_bounds(seconds.lo * _SECOND, seconds.hi * _SECOND + _SECOND - 1))
    if not (semantics.functions_of_spark and clock.zone_known):
        wide = instants.interval.with_bounds(instants.interval.lo - DAY, instants.interval.hi + DAY)
        instants = Argument(TIMESTAMP, wide)
    pattern = arguments[1] if len(arguments) > 1 else Argument(STRING, point(_TIMES))
    return OF_CALENDAR["date_format"].compute([instants, pattern], STRING, semantics)


def written_form(name: str, arguments: Sequence[Argument], target: Type | None) -> str:
    """The pattern in which a function writes moments of the clock as text; "" if it is none of a fixed form."""
    match name, [a.interval.lo for a in arguments]:
        case "date_format", [_, str() as pattern]:
            return pattern
        case "from_unixtime", [_]:
            return _TIMES
        case "from_unixtime", [_, str() as pattern]:
            return pattern
        case "cast", [_] if target == STRING and arguments[0].type == DATE:
            return DATE_FORM
        case _:
            return ""


def read_text(form: str, texts: Interval, target: Type, semantics: Semantics) -> Interval | None:
    """A text of the clock, written by the pattern ``form``, as a value of a type; None where that is not decided."""
    if not texts.is_bounded:
        return None
    ends = (texts.lo, texts.hi)
    if target == DATE and (form == DATE_FORM or (form == _TIMES and semantics.functions_of_spark)):
        days = [wall_clock_of_text(end) // DAY for end in ends]
        return texts.with_bounds(*days)
    if target.kind.is_timestamp and form in (DATE_FORM, _TIMES):
        if semantics.bare_date_is_null and form == DATE_FORM:
            return None
        clocks = texts.with_bounds(*(wall_clock_of_text(end) for end in ends))
        return clocks if target == TIMESTAMP else cast(Argument(TIMESTAMP, clocks), target, semantics)
    parsed = fields_of(form)
    in_order = parsed is not None and parsed[0] == list(UNITS[: len(parsed[0])])
    if target.kind.is_integer and in_order and all(_DIGITS.fullmatch(end) for end in ends):
        smallest, largest = target.integer_range()
        numbers = [int(end) for end in ends]
        if smallest <= numbers[0] and numbers[1] <= largest:
            return texts.with_bounds(*numbers)
        return strict([Argument(STRING, texts)], null=True)
    return None
