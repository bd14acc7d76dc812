"""Dates of a column that are moved by an operator, as the functions of dates that they are.

    d + interval '30' day         date_add(d, 30); in Hive the timestamp of its midnight
    d - interval '3' month        add_months(d, -3), by the widest of both rules for the end of a month
    d + 30, 30 + d, d - 30        date_add(d, 30), date_sub(d, 30): Spark
    datediff(d, '2000-08-23')     datediff(d, DATE '2000-08-23')
    t - interval '2' hour         t + interval '-2' hour (``evaluator.functions.moved_moments``)

What stands between two constants is computed elsewhere (``evaluator.functions.constants``). Not decided: a date moved
by hours, a date less a date.

Sources: Spark ``BinaryArithmeticWithDatetimeResolver``; Hive ``GenericUDFOPDTIPlus``, ``GenericUDFOPDTIMinus``.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.binding.operands import BoundConstant, BoundOperand
from evaluator.functions.base import Argument
from evaluator.functions.constants import with_dates
from evaluator.language.epoch import DAY
from evaluator.language.interval import point
from evaluator.language.records import record
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import DATE, INT, Kind

__all__ = ["DateShift", "date_shift", "moment_shift", "read_texts_as_dates"]

_DAY_COUNTS = (Kind.TINYINT, Kind.SMALLINT, Kind.INT)


@record
class DateShift:
    """``function(date, count)``, which is a date; ``as_timestamp``: the engine makes a timestamp of it."""

    function: str
    date: BoundOperand
    count: BoundOperand
    as_timestamp: bool = False


def date_shift(name: str, arguments: Sequence[BoundOperand], semantics: Semantics) -> DateShift | None:
    """The function of dates that ``+`` or ``-`` is; None where it is none, or where it is not decided."""
    if name not in ("+", "-") or len(arguments) != 2:
        return None
    date, count = arguments
    if date.type != DATE and name == "+":
        date, count = count, date
    if date.type != DATE:
        return None
    if isinstance(count, BoundConstant) and isinstance(count.value, TimeSpan):
        return _by_span(date, count.value if name == "+" else -count.value, semantics)
    if count.type.kind in _DAY_COUNTS and semantics.dates_count_days:
        return DateShift("date_add" if name == "+" else "date_sub", date, count)
    return None


def moment_shift(name: str, arguments: Sequence[BoundOperand]) -> list[BoundOperand] | None:
    """The moment of a column and the interval that ``+`` adds to it; None where the operator does something else."""
    if name not in ("+", "-") or len(arguments) != 2:
        return None
    moment, span = arguments
    if name == "+" and span.type.kind.is_timestamp:
        moment, span = span, moment
    if isinstance(moment, BoundConstant) or not moment.type.kind.is_timestamp:
        return None
    if not isinstance(span, BoundConstant) or not isinstance(span.value, TimeSpan):
        return None
    amount = span.value if name == "+" else -span.value
    return [moment, BoundConstant(amount, point(amount), TIME_SPAN)]


def _by_span(date: BoundOperand, span: TimeSpan, semantics: Semantics) -> DateShift | None:
    if span.unit == "micros" and span.amount % DAY == 0 and not semantics.dates_count_days:
        span = TimeSpan("days", span.amount // DAY)  # Hive has one type for days and hours
    count = BoundConstant(span.amount, point(span.amount), INT)
    if span.unit == "months":
        by_instant = semantics.dates_move_by_instant and not semantics.is_utc
        return None if by_instant else DateShift("add_months", date, count)
    if span.unit != "days":
        return None
    if semantics.dates_count_days:
        return DateShift("date_add", date, count)
    by_instant = semantics.moves_by_instant and not semantics.is_utc
    return None if by_instant else DateShift("date_add", date, count, as_timestamp=True)


def read_texts_as_dates(name: str, arguments: Sequence[BoundOperand]) -> list[BoundOperand]:
    """The arguments of datediff, with each constant text ``yyyy-MM-dd`` as the date as which it is read."""
    if name != "datediff":
        return list(arguments)
    read: list[BoundOperand] = []
    for place, argument in enumerate(arguments):
        if isinstance(argument, BoundConstant) and not argument.of_clock:
            given = [Argument(argument.type, argument.interval)] * len(arguments)
            known = with_dates(name, given)[place]
            read.append(
                BoundConstant(known.interval.lo, known.interval, known.type) if known.type == DATE else argument
            )
        else:
            read.append(argument)
    return read
