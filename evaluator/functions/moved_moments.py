"""``t + interval``: a timestamp of a column that an interval moves.

    t + interval '2' hour     t in [10:00, 11:00]             ->  [12:00, 13:00]
    t + interval '1' month    t in [2024-01-30, 2024-02-02]   ->  [2024-02-29, 2024-03-02]

Spark moves an instant by months and whole days to the same wall clock of the session's zone, and by the rest as an
instant. Where the zone's offset changes between both moments, the result is wider by the change. Hive moves the wall
clock that it shows, and Hive 2 that of its own zone: its months are taken to be a day off either way. Moments before
1583 are left open, because engines disagree on their calendar, and those before 1900 where the offset counts: zones
have no table of them.

Sources: Spark ``DateTimeUtils.timestampAddDayTime``, ``timestampAddMonths``; Hive ``DateTimeMath``.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.functions import arithmetic
from evaluator.functions.base import Argument, RangeFunction, strict
from evaluator.functions.calendar import as_shown, wall_clock
from evaluator.functions.clock_ranges import moved_by
from evaluator.functions.constant_moments import YEAR_AFTER_THE_REFORM
from evaluator.language.epoch import DAY, LAST_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN
from evaluator.language.types import TIMESTAMP, Kind, Type

__all__ = ["FUNCTIONS"]

_OF_NUMBERS = arithmetic.FUNCTIONS["+"]
_FIRST, _LAST = YEAR_AFTER_THE_REFORM * DAY, (LAST_DAY + 1) * DAY - 1


def _sum_type(types: Sequence[Type]) -> Type:
    if TIME_SPAN not in types:
        return _OF_NUMBERS.result(types)
    if types[0].kind.is_timestamp and types[1] == TIME_SPAN:
        return types[0]
    raise UnsupportedError(f"{types[0]} moved by an interval is not decided")


def _sum(arguments: Sequence[Argument], result: Type, semantics: Semantics) -> Interval:
    """A sum of numbers, or of a moment and an interval."""
    if arguments[1].type != TIME_SPAN:
        return _OF_NUMBERS.compute(arguments, result, semantics)
    moment, span = arguments[0], arguments[1].interval.lo
    if result.kind is Kind.TIMESTAMP:
        moment = Argument(TIMESTAMP, wall_clock(moment, semantics))
    if not _is_decided(moment.interval):
        return strict([moment], null=True)
    moved, _ = moved_by(moment, span, semantics)
    if not moved.is_bounded:
        return strict([moment], null=True)
    is_of_hive_2 = semantics.moves_by_instant and not semantics.functions_of_spark
    slack = DAY if span.unit == "months" and is_of_hive_2 else 0
    interval = strict([moment], moved.lo - slack, moved.hi + slack)
    if not _is_decided(interval):
        return strict([moment], null=True)
    return as_shown(interval, semantics) if result.kind is Kind.TIMESTAMP else interval


def _is_decided(moments: Interval) -> bool:
    return moments.is_bounded and bool(moments.lo >= _FIRST and moments.hi <= _LAST)


FUNCTIONS = {"+": RangeFunction(_sum_type, _sum)}
