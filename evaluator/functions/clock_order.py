"""Spark's functions that keep the order of time, over the range of the clock.

    unix_millis(now())                              from the plan's own millisecond on
    timestamp_seconds(unix_timestamp() - 3600)      every moment of the clock, an hour earlier
    next_day(current_date(), 'MON')                 from the Monday after the plan's day on
    make_date(year(current_date()), 1, 1)           from the first day of the plan's year on
    unix_timestamp(current_date())                  instants of midnights of the session's zone

No range function has them, because they are rare beside a column. ``in_order`` bounds the results for the moments of a
range of the clock; it gives None for any other call.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from evaluator.functions.base import Argument, strict
from evaluator.functions.constants import constant_result
from evaluator.functions.conversions import cast
from evaluator.language.epoch import DAY, EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP_LTZ, Kind, Type

__all__ = ["as_instants", "as_texts", "in_order"]

_Range = tuple[Interval, Type]
#: Microseconds in the numbers that these functions give or take.
_NUMBER_OF = {"unix_seconds": 1_000_000, "unix_millis": 1_000, "unix_micros": 1}
_OF_NUMBER = {"timestamp_seconds": 1_000_000, "timestamp_millis": 1_000, "timestamp_micros": 1, "cast": 1_000_000}
#: Parts of a date whose range is all that is known of them.
_PARTS = {"weekofyear": (1, 53), "dayofweek": (1, 7), "weekday": (0, 6)}
_TO_INSTANTS = frozenset([*_NUMBER_OF, "unix_timestamp", "to_unix_timestamp"])
_TEXT_FUNCTIONS = frozenset(["concat", "left", "substring"])


def in_order(name: str, arguments: Sequence[Argument], target: Type | None, semantics: Semantics) -> _Range | None:
    """The results for a range of the clock. Raises UnsupportedError where they are not decided."""
    if not semantics.functions_of_spark or not all(a.interval.is_bounded for a in arguments):
        return None
    first = arguments[0]
    lo, hi = first.interval.lo, first.interval.hi
    if name == "make_date" and len(arguments) == 3:
        return _made(arguments), DATE
    if name == "div" and len(arguments) == 2:
        return _divided(arguments), BIGINT
    if name == "next_day" and len(arguments) == 2 and first.type == DATE:
        return _moved_alike(name, arguments, semantics), DATE
    if name in ("from_utc_timestamp", "to_utc_timestamp") and first.type.kind is Kind.TIMESTAMP_LTZ:
        return first.interval.with_bounds(lo - DAY, hi + DAY), TIMESTAMP_LTZ
    if len(arguments) != 1:
        return None
    if name in _PARTS and (first.type.kind is Kind.DATE or first.type.kind.is_timestamp):
        return strict(arguments, *_PARTS[name]), INT
    if name in _NUMBER_OF and first.type.kind is Kind.TIMESTAMP_LTZ:
        return first.interval.with_bounds(lo // _NUMBER_OF[name], hi // _NUMBER_OF[name]), BIGINT
    if name in _OF_NUMBER and first.type.kind.is_integer and (name != "cast" or target == TIMESTAMP_LTZ):
        return first.interval.with_bounds(lo * _OF_NUMBER[name], hi * _OF_NUMBER[name]), TIMESTAMP_LTZ
    if name == "unix_date" and first.type == DATE:
        return first.interval, INT
    if name == "date_from_unix_date" and first.type.kind.is_integer:
        return first.interval, DATE
    return None


def as_instants(name: str, arguments: Sequence[Argument], semantics: Semantics) -> list[Argument]:
    """The arguments, with dates and wall clocks as the instants that Spark takes them for before it counts seconds."""
    if not semantics.functions_of_spark or name not in _TO_INSTANTS:
        return list(arguments)
    slack = 0 if semantics.clock is None or semantics.clock.zone_known else DAY
    return [
        Argument(TIMESTAMP_LTZ, _wider(cast(one, TIMESTAMP_LTZ, semantics), slack))
        if one.type.kind in (Kind.DATE, Kind.TIMESTAMP)
        else one
        for one in arguments
    ]


def _wider(interval: Interval, slack: int) -> Interval:
    return interval.with_bounds(interval.lo - slack, interval.hi + slack) if interval.is_bounded else interval


def as_texts(name: str, arguments: Sequence[Argument], semantics: Semantics) -> list[Argument]:
    """The arguments, with dates and years as the texts that Spark takes them for in a function of texts."""
    if not semantics.functions_of_spark or name not in _TEXT_FUNCTIONS:
        return list(arguments)
    of_text = len(arguments) if name == "concat" else 1
    return [
        Argument(STRING, cast(one, STRING, semantics))
        if at < of_text and (one.type == DATE or one.type.kind.is_integer)
        else one
        for at, one in enumerate(arguments)
    ]


def _moved_alike(name: str, arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """A function of a date that never falls while the date rises, by its results for both ends."""
    date, *others = arguments
    ends = []
    for end in (date.interval.lo, date.interval.hi):
        computed = constant_result(name, [Argument(date.type, point(end)), *others], None, semantics)
        if computed is None:
            raise UnsupportedError(f"{name} of the clock is not decided")
        ends.append(computed[0])
    return strict(arguments, *ends)


def _divided(arguments: Sequence[Argument]) -> Interval:
    number, divisor = (a.interval for a in arguments)
    if not all(a.type.kind.is_integer for a in arguments) or not divisor.is_point or divisor.lo <= 0 or number.lo < 0:
        raise UnsupportedError("div of the clock is decided for a positive divisor only")
    return strict(arguments, number.lo // divisor.lo, number.hi // divisor.lo)


def _made(arguments: Sequence[Argument]) -> Interval:
    """make_date: the first parts are compared first. A day that a month does not have is NULL."""
    if not all(a.type.kind.is_integer for a in arguments):
        raise UnsupportedError("make_date of anything but integers is not decided")
    (year, month, day), (last_year, last_month, last_day) = (
        [a.interval.lo for a in arguments],
        [a.interval.hi for a in arguments],
    )
    if not (1600 <= year <= last_year <= 9999 and 1 <= month <= last_month <= 12 and 1 <= day <= last_day <= 31):
        raise UnsupportedError("make_date beyond the calendar is not decided")
    first = datetime.date(year, month, day if day <= 28 else 1).toordinal() - EPOCH_ORDINAL
    end = datetime.date(last_year, last_month, last_day if last_day <= 28 else 28).toordinal() - EPOCH_ORDINAL
    return strict(arguments, first, end + (3 if last_day > 28 else 0), null=last_day > 28)
