"""months_between and next_day over intervals.

    months_between(a, b)  a in [2020-03-10, 2020-04-20], b = 2020-01-31  ->  [1.19, 2.78]
    next_day(d, 'MO')     d in [2020-01-01, 2020-01-08]                  ->  [2020-01-06, 2020-01-13]

months_between counts whole months, and the rest in months of 31 days: (day - 1 + time) / 31 never falls within a month
and stays below 1. Two exceptions leave the rest out: the same day of both months (a difference of less than a day), and
the last day of both (28 to 31: less than four days). So it lies within 4/31 of a difference of two rising functions.

next_day is the first day after d of a weekday, and never falls. Hive gives it as text (``binding.dates_as_text``).
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from evaluator.functions.base import Argument, RangeFunction, constant_of, monotone, strict
from evaluator.functions.calendar import moment_of, to_day, wall_clock
from evaluator.functions.constant_dates import weekday_of
from evaluator.language.epoch import DAY, EPOCH, FIRST_GREGORIAN_DAY, LAST_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, DOUBLE, Kind, Type

__all__ = ["FUNCTIONS"]

#: Four days of a month of 31, and two hours where clocks are set. Results that are rounded have their rest, and stay
#: far within it.
_SLACK = Fraction(4 * 24 + 2, 31 * 24)


def _months_type(types: Sequence[Type]) -> Type:
    if not all(t.kind is Kind.DATE or t.kind.is_timestamp for t in types[:2]):
        raise UnsupportedError("months_between over text is not decided")
    return DOUBLE


def _months_between(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    later, earlier = (wall_clock(argument, semantics) for argument in arguments[:2])
    ends = [_months(end) for end in (later.lo, earlier.hi, later.hi, earlier.lo)]
    if None in ends:
        return strict(arguments, null=True)
    least, most = ends[0] - ends[1] - _SLACK, ends[2] - ends[3] + _SLACK
    return strict(arguments, float(least), float(most))


def _months(clock: Any) -> Any:
    """Months since a fixed day, with days of which 31 make a month; None for days that are not decided."""
    moment = None if clock is None else moment_of(clock)
    if moment is None:
        return None
    day = Fraction(math.floor(clock) % DAY, DAY) + moment.day
    return moment.year * 12 + moment.month + day / 31


def _next_day_type(types: Sequence[Type]) -> Type:
    if not (types[0].kind is Kind.DATE or types[0].kind.is_timestamp):
        raise UnsupportedError("next_day over text is not decided")
    return DATE


def _next_day(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    wanted = weekday_of(constant_of(arguments[1], "a day of the week"))
    if wanted is None:
        raise UnsupportedError("next_day of such a day of the week is not decided")
    day = to_day(arguments[0], semantics)
    ends = (day.lo, day.hi)
    if any(end is None or not FIRST_GREGORIAN_DAY <= end < LAST_DAY - 7 for end in ends):
        return strict(arguments, null=True)
    return monotone(Argument(DATE, day), lambda end: end + 1 + (wanted - _weekday(end) - 1) % 7)


def _weekday(day: int) -> int:
    return (EPOCH + datetime.timedelta(days=day)).weekday()


FUNCTIONS = {
    "months_between": RangeFunction(_months_type, _months_between),
    "next_day": RangeFunction(_next_day_type, _next_day),
}
