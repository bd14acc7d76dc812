"""Spark's functions of constant dates and timestamps that no range function computes.

    next_day('2020-01-31', 'MON')                DATE '2020-02-03'
    months_between('2020-03-15', '2020-01-15')   2.0
    timestampdiff(HOUR, a, b)                    whole hours between two wall clocks
    make_timestamp(2020, 2, 29, 10, 11, 12.5)    TIMESTAMP '2020-02-29 10:11:12.5'
    timestamp_seconds(1600000000)                the wall clock of the session at this instant
    unix_timestamp('2020-02-29 10:00:00')        the instant of this wall clock of the session
    date_format(date '2020-02-05', 'd MMM')      '5 Feb'

A wall clock that names no instant or two is left open, and so is what is NULL or an error.

Sources: Spark ``DateTimeUtils``, ``datetimeExpressions.scala``, ``IntervalUtils``.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions.constant_moments import (
    ConstantFunction,
    Result,
    clock_constant,
    clock_shown,
    date_constant,
    offset_at,
    timestamp_of_text,
)
from evaluator.functions.constant_texts import day_of_text
from evaluator.functions.java_patterns import read_moment, written_moment
from evaluator.functions.moment_differences import cut_quotient, units_between
from evaluator.language.epoch import DAY, EPOCH, EPOCH_ORDINAL, FIRST_GREGORIAN_DAY, LAST_DAY, MICROSECOND
from evaluator.language.literal import exact_number
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, Kind, Type, decimal_type

__all__ = ["FUNCTIONS", "weekday_of"]

_SECOND = 1_000_000
_HOUR = 3_600 * _SECOND
_DAYS_OF_WEEK = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"]
_SECONDS_OF_MONTH = 31 * 86_400
_TIMES = "yyyy-MM-dd HH:mm:ss"
#: Values that are written with their digits of microseconds have at most so many before them.
_MOST_UNITS = 10**6


def _day(value: Any, kind: Type) -> int | None:
    """The day of a date, a timestamp or a text, if it is in the years that are decided."""
    day = value if kind == DATE else day_of_text(value) if kind.kind is Kind.STRING else None
    if kind == TIMESTAMP and isinstance(value, int):
        day = value // DAY
    return day if day is not None and FIRST_GREGORIAN_DAY <= day <= LAST_DAY else None


def _clock(value: Any, kind: Type, semantics: Semantics) -> int | None:
    """The wall clock of a date, a timestamp or a text, where it names one instant."""
    if kind == TIMESTAMP and isinstance(value, int):
        read = clock_constant(value, value, semantics, in_days=True)
    else:
        read = timestamp_of_text([value], [kind], None, semantics)
    return None if read is None else int(read[0])


def _instant(clock: int, semantics: Semantics) -> int | None:
    if semantics.is_utc:
        return clock
    offset = offset_at(clock, semantics.zone)
    return None if offset is None else clock - offset


def _date(day: int) -> datetime.date:
    return datetime.date.fromordinal(day + EPOCH_ORDINAL)


def _of_day(compute: Callable[[datetime.date], int]) -> ConstantFunction:
    """A number of a day."""

    def result(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
        day = _day(values[0], types[0])
        return None if day is None else (compute(_date(day)), INT)

    return result


def _next_day(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    day, wanted = _day(values[0], types[0]), weekday_of(values[1])
    if day is None or wanted is None:
        return None
    return date_constant(day + 1 + (wanted - _date(day).weekday() - 1) % 7)


def weekday_of(name: object) -> int | None:
    """The weekday, from 0 for Monday, that ``'MO'``, ``'Mon'`` or ``'monday'`` names; None for any other text."""
    if not isinstance(name, str) or not name.isascii():
        return None
    return next((n for n, one in enumerate(_DAYS_OF_WEEK) if name.upper() in (one[:2], one[:3], one)), None)


def _months_between(
    values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics
) -> Result | None:
    rounds = values[2] if len(values) > 2 else True
    clocks = [_clock(value, kind, semantics) for value, kind in zip(values[:2], types, strict=False)]
    if None in clocks or not isinstance(rounds, bool | int):
        return None
    days = [_date(clock // DAY) for clock in clocks if clock is not None]
    ends = [(day + datetime.timedelta(days=1)).day == 1 if day < datetime.date.max else True for day in days]
    months = (days[0].year - days[1].year) * 12 + days[0].month - days[1].month
    if days[0].day == days[1].day or all(ends):
        return float(months), DOUBLE
    seconds = []
    for clock in clocks:
        assert clock is not None
        instants = [_instant(one, semantics) for one in (clock // DAY * DAY, clock)]
        if instants[0] is None or instants[1] is None:
            return None
        seconds.append((instants[1] - instants[0]) // _SECOND)
    difference = (days[0].day - days[1].day) * 86_400 + seconds[0] - seconds[1]
    total = months + difference / _SECONDS_OF_MONTH
    return (math.floor(total * 1e8 + 0.5) / 1e8 if rounds else total), DOUBLE


def _difference(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    """timestampdiff(unit, start, end): whole units between two wall clocks."""
    start, end = (_clock(value, kind, semantics) for value, kind in zip(values[1:], types[1:], strict=True))
    if start is None or end is None:
        return None
    units = units_between(str(values[0]), start, end)
    return None if units is None else (units, BIGINT)


def _micros(value: Any) -> int | None:
    """Seconds with at most six digits behind the point, in microseconds."""
    micros = Fraction(value) * _SECOND
    return micros.numerator if micros.denominator == 1 else None


def _make_timestamp(
    values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics
) -> Result | None:
    if not all(t.kind.is_integer for t in types[:5]) or not (types[5].kind.is_integer or types[5].kind is Kind.DECIMAL):
        return None
    micros = _micros(values[5])
    year, month, day, hour, minute = values[:5]
    if micros is None or not 0 <= micros <= 60 * _SECOND:
        return None
    try:
        start = datetime.datetime(year, month, day, hour, minute)
    except (ValueError, OverflowError):
        return None
    clock = (start - EPOCH) // MICROSECOND + micros
    return clock_constant(clock, clock, semantics, in_days=True)


def _make_span(parts: Sequence[str]) -> ConstantFunction:
    """make_interval, make_ym_interval and make_dt_interval; an interval of one unit only."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
        amounts = {"months": 0, "days": 0, "micros": 0}
        for part, value, kind in zip(parts, values, types, strict=False):
            if (
                not (kind.kind.is_integer or (part == "second" and kind.kind is Kind.DECIMAL))
                or abs(value) > _MOST_UNITS
            ):
                return None
            unit, length = _PARTS[part]
            amount = Fraction(value) * length
            if amount.denominator != 1:
                return None
            amounts[unit] += amount.numerator
        units = [unit for unit, amount in amounts.items() if amount]
        if "day_" in parts:  # make_dt_interval: an interval of microseconds, whatever it holds
            return TimeSpan("micros", amounts["micros"]), TIME_SPAN
        if len(units) != 1:
            return None
        return TimeSpan(units[0], amounts[units[0]]), TIME_SPAN  # type: ignore[arg-type]

    return compute


_PARTS = {
    "year": ("months", 12),
    "month": ("months", 1),
    "week": ("days", 7),
    "day": ("days", 1),
    "day_": ("micros", DAY),
    "hour": ("micros", _HOUR),
    "minute": ("micros", 60 * _SECOND),
    "second": ("micros", _SECOND),
}


def _of_number(scale: int) -> ConstantFunction:
    """timestamp_seconds, timestamp_millis, timestamp_micros."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        is_exact = types[0].kind.is_integer or (types[0].kind is Kind.DECIMAL and scale == _SECOND)
        instant = Fraction(values[0]) * scale if is_exact else None
        if instant is None or instant.denominator != 1:
            return None
        return clock_shown(instant.numerator, semantics)

    return compute


def _date_of_number(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    return date_constant(values[0]) if types[0].kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT) else None


def _number_of_date(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    return (values[0], INT) if types[0] == DATE else None


def _number_of(scale: int) -> ConstantFunction:
    """unix_seconds, unix_millis, unix_micros of a timestamp."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        clock = _clock(values[0], types[0], semantics) if types[0] in (TIMESTAMP, DATE) else None
        instant = None if clock is None else _instant(clock, semantics)
        return None if instant is None else (instant // scale, BIGINT)

    return compute


def _unix_timestamp(
    values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics
) -> Result | None:
    """unix_timestamp of a moment, or of a text that is written as the pattern says. It cuts what is below a second."""
    if types[0].kind is not Kind.STRING:
        micros = _number_of(1)(values, types, result, semantics)
        return None if micros is None else (cut_quotient(micros[0], _SECOND), BIGINT)
    pattern = values[1] if len(values) > 1 else _TIMES
    moment = read_moment(pattern, values[0]) if isinstance(pattern, str) else None
    if moment is None:
        return None
    clock = (moment - EPOCH) // MICROSECOND
    return _number_of(_SECOND)([clock], [TIMESTAMP], result, semantics)


def _by_pattern(target: Type) -> ConstantFunction:
    """to_date and to_timestamp of a text that is written exactly as the pattern says."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        if not all(t.kind is Kind.STRING for t in types):
            return None
        moment = read_moment(values[1], values[0])
        if moment is None:
            return None
        clock = (moment - EPOCH) // MICROSECOND
        return date_constant(clock // DAY) if target == DATE else clock_constant(clock, clock, semantics, in_days=True)

    return compute


def _format(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    """date_format."""
    clock = _clock(values[0], types[0], semantics)
    if clock is None or not isinstance(values[1], str):
        return None
    text = written_moment(values[1], EPOCH + clock * MICROSECOND)
    return None if text is None else (text, STRING)


def _from_unixtime(
    values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics
) -> Result | None:
    shown = _of_number(_SECOND)(values[:1], types[:1], result, semantics) if types[0].kind.is_integer else None
    pattern = values[1] if len(values) > 1 else _TIMES
    return None if shown is None else _format([shown[0], pattern], [TIMESTAMP, STRING], result, semantics)


def _seconds(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    """extract(second from t), with its fraction."""
    clock = _clock(values[0], types[0], semantics)
    if clock is None:
        return None
    return exact_number(Decimal(clock % (60 * _SECOND)).scaleb(-6)), decimal_type(8, 6)


#: By name and number of arguments. All are Spark's.
FUNCTIONS: dict[tuple[str, int], ConstantFunction] = {
    ("date_from_unix_date", 1): _date_of_number,
    ("unix_date", 1): _number_of_date,
    ("weekofyear", 1): _of_day(lambda day: day.isocalendar()[1]),
    ("yearofweek", 1): _of_day(lambda day: day.isocalendar()[0]),
    ("dayofweek", 1): _of_day(lambda day: day.isoweekday() % 7 + 1),
    ("dayofweek_iso", 1): _of_day(lambda day: day.isoweekday()),
    ("weekday", 1): _of_day(lambda day: day.weekday()),
    ("extract_second", 1): _seconds,
    ("next_day", 2): _next_day,
    ("months_between", 2): _months_between,
    ("months_between", 3): _months_between,
    ("timestampdiff", 3): _difference,
    ("make_timestamp", 6): _make_timestamp,
    ("timestamp_seconds", 1): _of_number(_SECOND),
    ("timestamp_millis", 1): _of_number(1_000),
    ("timestamp_micros", 1): _of_number(1),
    ("unix_seconds", 1): _number_of(_SECOND),
    ("unix_millis", 1): _number_of(1_000),
    ("unix_micros", 1): _number_of(1),
    **{(name, count): _unix_timestamp for name in ("unix_timestamp", "to_unix_timestamp") for count in (1, 2)},
    ("to_date", 2): _by_pattern(DATE),
    ("to_timestamp", 2): _by_pattern(TIMESTAMP),
    ("date_format", 2): _format,
    ("from_unixtime", 1): _from_unixtime,
    ("from_unixtime", 2): _from_unixtime,
    **{
        ("make_interval", n): _make_span(("year", "month", "week", "day", "hour", "minute", "second"))
        for n in range(1, 8)
    },
    **{("make_ym_interval", n): _make_span(("year", "month")) for n in (1, 2)},
    **{("make_dt_interval", n): _make_span(("day_", "hour", "minute", "second")) for n in range(1, 5)},
}
