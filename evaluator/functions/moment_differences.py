"""``timestampdiff(unit, a, b)``: whole units between two wall clocks of the session, as Spark counts them.

    timestampdiff(HOUR, a, b)     a in [08:00, 09:30], b = 12:15             ->  [2, 4]
    timestampdiff(MONTH, a, b)    a = 2024-01-31, b in [2024-02-29, 03-31]   ->  [0, 2]

Units of a fixed length are cut off towards zero: their number never falls while b rises, and never rises while a does.
So it is with months while b rises. While a rises they may: there is no month from 31 January 23:00 to 1 March 12:00,
for 29 February is the last day whose 23:00 is reached, but one from 1 February. So b is taken to be a day off.

Source: Spark ``DateTimeUtils.timestampDiff``, which counts with ``java.time.temporal.ChronoUnit``.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from evaluator.functions.base import Argument, RangeFunction, constant_of, strict
from evaluator.functions.calendar import as_shown, moment_of, wall_clock
from evaluator.language.epoch import DAY, EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, hull
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, Kind, Type

__all__ = ["FUNCTIONS", "cut_quotient", "units_between"]

_SECOND = 1_000_000
#: Microseconds in the units that have a fixed length between wall clocks.
_LENGTHS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": _SECOND,
    "MINUTE": 60 * _SECOND,
    "HOUR": 3_600 * _SECOND,
    "DAY": DAY,
    "WEEK": 7 * DAY,
}
_MONTHS_OF = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def units_between(unit: str, start: int, end: int) -> int | None:
    """Whole units between two wall clocks, in microseconds, of the years 1 to 9999; None for another unit."""
    unit = unit.upper()
    if unit in _LENGTHS:
        return cut_quotient(end - start, _LENGTHS[unit])
    if unit not in _MONTHS_OF:
        return None
    (first, rest_of_first), (last, rest_of_last) = (divmod(clock, DAY) for clock in (start, end))
    if last > first and rest_of_last < rest_of_first:
        last -= 1
    elif last < first and rest_of_last > rest_of_first:
        last += 1
    return cut_quotient(_months_between_days(first, last), _MONTHS_OF[unit])


def _months_between_days(first: int, last: int) -> int:
    days = [datetime.date.fromordinal(day + EPOCH_ORDINAL) for day in (first, last)]
    packed = [(day.year * 12 + day.month) * 32 + day.day for day in days]  # as ``LocalDate.monthsUntil`` counts
    return cut_quotient(packed[1] - packed[0], 32)


def cut_quotient(number: int, divisor: int) -> int:
    """A quotient without its fraction."""
    return -(-number // divisor) if number < 0 else number // divisor


def _difference_type(types: Sequence[Type]) -> Type:
    if not all(t.kind is Kind.DATE or t.kind.is_timestamp for t in types[-2:]):
        raise UnsupportedError("timestampdiff over text is not decided")
    return BIGINT


def _difference(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    unit = str(constant_of(arguments[0], "a unit of time"))
    if units_between(unit, 0, 0) is None:
        raise UnsupportedError(f"timestampdiff in units of {unit} is not decided")
    start, end = (_clock(argument, semantics) for argument in arguments[1:])
    slack = 0 if unit.upper() in _LENGTHS or start.is_point else DAY
    ends = (start.hi, end.lo, -slack), (start.lo, end.hi, slack)
    return strict(arguments[1:], *(_between(unit, *one) for one in ends))


def _clock(argument: Argument, semantics: Semantics) -> Interval:
    """The wall clock, also as it is shown once the engine has made an instant of it."""
    clock = wall_clock(argument, semantics)
    return clock if argument.type.kind is Kind.TIMESTAMP_LTZ else hull([clock, as_shown(clock, semantics)])


def _between(unit: str, start: Any, end: Any, slack: int) -> int | None:
    """The units between two ends of ranges; None where one is not known, or finer than microseconds."""
    if start is None or end is None or start % 1 or end % 1:
        return None
    if any(moment_of(clock) is None for clock in (start, end + slack)):
        return None
    return units_between(unit, int(start), int(end + slack))


FUNCTIONS = {"timestampdiff": RangeFunction(_difference_type, _difference)}
