"""Dates and timestamps of constants: moved by an interval, made of numbers, read from text by the rules of the engine.

    date '2020-01-31' + interval '1' month    DATE '2020-02-29'
    add_months('2020-02-29', 1)               DATE '2020-03-29' in Spark, DATE '2020-03-31' in Hive
    date '2020-01-01' + 30                    DATE '2020-01-31' in Spark; Hive refuses it

Results before 1582-10-15 or after 9999-12-31 are left open. A timestamp is moved only between wall clocks that name one
instant each, and by hours only where both have the same distance from UTC, unless the engine's timestamps have no zone.

Sources: Hive ``DateTimeMath``, ``GenericUDFOPDTIPlus``, ``GenericUDFAddMonths``; Spark ``DateTimeUtils``.
"""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions.constant_texts import clock_of_text, day_of_text
from evaluator.language.epoch import DAY, EPOCH, EPOCH_ORDINAL, FIRST_GREGORIAN_DAY, LAST_DAY, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.literal import exact_number, wall_clock_of_text
from evaluator.language.moment_texts import instant_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import DATE, STRING, TIMESTAMP, Kind, Type
from evaluator.language.zones import instant_of, wall_clock_of

__all__ = [
    "FUNCTIONS",
    "YEAR_AFTER_THE_REFORM",
    "ConstantFunction",
    "Result",
    "clock_constant",
    "clock_shown",
    "date_constant",
    "months_later",
    "of_spans",
    "offset_at",
    "timestamp_of_text",
]

Result = tuple[Any, Type]
ConstantFunction = Callable[[Sequence[Any], Sequence[Type], Type | None, Semantics], Result | None]
_WIDE = Context(prec=200)
_MAX_SPAN = 12 * 9_999
YEAR_AFTER_THE_REFORM = datetime.date(1583, 1, 1).toordinal() - EPOCH_ORDINAL


def of_spans(name: str, values: Sequence[Any], types: Sequence[Type], semantics: Semantics) -> Result | None:
    """A sum, a difference or a multiple with an interval in it."""
    if name == "negative" and len(values) == 1:
        return -values[0], TIME_SPAN
    if name == "*" and len(values) == 2 and semantics.functions_of_spark:
        span, number = values if isinstance(values[0], TimeSpan) else reversed(values)
        if type(number) is not int:
            return None
        if span.unit == "months":
            return TimeSpan("months", span.amount * number), TIME_SPAN
        return TimeSpan("micros", span.micros * number), TIME_SPAN  # no longer whole days for Spark
    if name not in ("+", "-") or len(values) != 2:
        return None
    left, right = values
    if isinstance(right, TimeSpan):
        span = right if name == "+" else -right
        if isinstance(left, TimeSpan):
            total = left.plus(span)
            return None if total is None else (total, TIME_SPAN)
        return _moved(left, types[0], span, semantics)
    return _moved(right, types[1], left, semantics) if name == "+" else None


def _moved(value: Any, kind: Type, span: TimeSpan, semantics: Semantics) -> Result | None:
    """A date or a timestamp moved by an interval."""
    if not isinstance(value, int):
        return None  # a timestamp with nanoseconds
    if kind == DATE:
        if span.unit == "months":
            if semantics.dates_move_by_instant and not semantics.is_utc:
                return None
            return date_constant(months_later(value, span.amount))
        if span.unit == "days" and semantics.dates_count_days:
            return date_constant(value + span.amount)
        if span.unit == "micros" and semantics.dates_may_lose_hours:
            return None
        value = value * DAY
    elif kind != TIMESTAMP:
        return None
    if span.unit == "months":
        day = months_later(value // DAY, span.amount)
        return None if day is None else clock_constant(value, day * DAY + value % DAY, semantics, in_days=True)
    return clock_constant(value, value + span.micros, semantics, in_days=span.unit == "days")


def clock_constant(start: int, end: int, semantics: Semantics, *, in_days: bool) -> Result | None:
    """A wall clock moved from start to end; ``in_days``: by whole days or months."""
    if not FIRST_GREGORIAN_DAY * DAY <= end < (LAST_DAY + 1) * DAY:
        return None
    if semantics.moves_by_instant and not semantics.is_utc:
        offsets = [offset_at(clock, semantics.zone) for clock in (start, end)]
        if None in offsets or (offsets[0] != offsets[1] and not (in_days and semantics.days_keep_wall_clock)):
            return None
    return end, TIMESTAMP


def offset_at(clock: int, zone: str) -> int | None:
    """The distance from UTC of a wall clock that names one instant."""
    instants = instant_of(clock, zone)
    if instants is None or not instants.is_point or wall_clock_of(instants.lo, zone) != clock:
        return None
    return int(clock - instants.lo)


def date_constant(day: int | None) -> Result | None:
    """A day as a constant; None outside of the years that are decided."""
    return (day, DATE) if day is not None and FIRST_GREGORIAN_DAY <= day <= LAST_DAY else None


def months_later(day: int, count: int, *, last_days_stay: bool = False) -> int | None:
    """The same day of another month, or its last one where it is shorter."""
    if not FIRST_GREGORIAN_DAY <= day <= LAST_DAY or abs(count) > _MAX_SPAN:
        return None
    date = datetime.date.fromordinal(day + EPOCH_ORDINAL)
    year, month = divmod(date.year * 12 + date.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    length = calendar.monthrange(year, month + 1)[1]
    is_last = date.day == calendar.monthrange(date.year, date.month)[1]
    number = length if is_last and last_days_stay else min(date.day, length)
    return datetime.date(year, month + 1, number).toordinal() - EPOCH_ORDINAL


def _add_months(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    if types[0] != DATE or not types[1].kind.is_integer:
        return None
    moved = months_later(values[0], values[1], last_days_stay=semantics.last_days_stay)
    if semantics.last_days_stay and moved is not None and min(values[0], moved) < YEAR_AFTER_THE_REFORM:
        return None  # Hive 3 counts in the calendar of the time: add_months('1582-12-31', -1) is 1582-12-01
    return date_constant(moved)


def _date_and_number(sign: int) -> ConstantFunction:
    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        numbers = (Kind.TINYINT, Kind.SMALLINT, Kind.INT)
        if not semantics.dates_count_days:
            return None
        if types[0] == DATE and types[1].kind in numbers:
            return date_constant(values[0] + sign * values[1])
        return (
            date_constant(values[0] + values[1]) if sign > 0 and types[1] == DATE and types[0].kind in numbers else None
        )

    return compute


def _make_date(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    if not semantics.functions_of_spark or not all(t.kind.is_integer for t in types):
        return None
    try:
        return date_constant(datetime.date(*values).toordinal() - EPOCH_ORDINAL)
    except (ValueError, OverflowError):
        return None


def timestamp_of_text(
    values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics
) -> Result | None:
    """Spark's to_timestamp(text) and CAST(text, date or timestamp AS TIMESTAMP): a wall clock of the session zone."""
    if not semantics.functions_of_spark or (result is not None and result.kind is not Kind.TIMESTAMP_LTZ):
        return None
    if types[0] == DATE:
        clock: Any = values[0] * DAY
    elif types[0] == TIMESTAMP:
        clock = values[0]
    elif types[0].kind is Kind.STRING:
        instant = instant_of_text(values[0])
        if instant is not None:
            return clock_shown(instant, semantics)
        try:
            clock = wall_clock_of_text(values[0])
        except UnsupportedError:
            clock = clock_of_text(values[0])
    else:
        return None
    return clock_constant(clock, clock, semantics, in_days=True) if isinstance(clock, int) else None


def clock_shown(instant: int, semantics: Semantics) -> Result | None:
    """An instant as the wall clock that names it and no other one."""
    if not (FIRST_GREGORIAN_DAY + 1) * DAY <= instant < LAST_DAY * DAY:
        return None
    clock = wall_clock_of(instant, semantics.zone)
    if clock is None or (not semantics.is_utc and offset_at(clock, semantics.zone) != clock - instant):
        return None
    return clock_constant(clock, clock, semantics, in_days=True)


def _date_of_text(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    """Spark's todate_constant(text) and CAST(text AS DATE)."""
    if not semantics.functions_of_spark or types[0].kind is not Kind.STRING:
        return None
    return date_constant(day_of_text(values[0]))


#: What Spark reads in a text in place of a number (``Cast.processFloatingPointSpecialLiterals``).
_SPECIAL_NUMBERS = {
    "nan": math.nan,
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
}


def _cast(values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics) -> Result | None:
    """Spark's casts of which the range function leaves the last digit open."""
    if not semantics.functions_of_spark or result is None:
        return None
    [value], [source] = values, types
    if result.kind.is_fractional and source.kind is Kind.STRING:
        special = _SPECIAL_NUMBERS.get(str(value).strip(" ").lower())
        return None if special is None else (special, result)
    if result == STRING and source.kind is Kind.TIMESTAMP and isinstance(value, int):
        if clock_constant(value, value, semantics, in_days=True) is None:
            return None  # it may be shown as another one
        text = (EPOCH + value * MICROSECOND).strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0").rstrip(".")
        return text, STRING
    if source.kind is Kind.DECIMAL and (result == STRING or result.kind is Kind.DECIMAL):
        if source.scale > 6 or (result.kind is not Kind.STRING and result.scale > 6):
            return None
        exact = _WIDE.divide(Decimal(Fraction(value).numerator), Decimal(Fraction(value).denominator))
        if result == STRING:
            return f"{exact.quantize(Decimal(1).scaleb(-source.scale), ROUND_HALF_UP, _WIDE):f}", STRING
        rounded = exact.quantize(Decimal(1).scaleb(-result.scale), ROUND_HALF_UP, _WIDE)
        return (exact_number(rounded), result) if abs(rounded) < 10 ** (result.precision - result.scale) else None
    return (_date_of_text if result == DATE else timestamp_of_text)(values, types, result, semantics)


FUNCTIONS: dict[tuple[str, int], ConstantFunction] = {
    ("+", 2): _date_and_number(1),
    ("-", 2): _date_and_number(-1),
    ("add_months", 2): _add_months,
    ("make_date", 3): _make_date,
    ("to_date", 1): _date_of_text,
    ("to_timestamp", 1): timestamp_of_text,
    ("cast", 1): _cast,
}
