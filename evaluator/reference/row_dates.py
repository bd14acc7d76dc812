"""Intervals, dates moved by them, and functions of constants on single values, for the oracle.

Written apart from ``evaluator.functions.constants``. ``special_call`` gives None for a call that is no concern of this
file. Outside UTC, a wall clock that an engine moves as an instant has no row form.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, TIMESTAMP, Kind, Type
from evaluator.language.zones import zone_named

__all__ = ["counts_time", "dates_in_text", "moves_a_date", "moves_an_instant", "special_call"]

_Typed = tuple[Any, Type]
_PATTERN_FIELDS = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
#: Functions whose first argument may be the text of a date; datediff has two.
_OF_DATES = "year quarter month day dayofyear date_add date_sub add_months last_day to_date trunc date_format datediff"


def dates_in_text(name: str, arguments: Sequence[_Typed]) -> list[_Typed]:
    """The arguments of a function of dates, with the text of a date as that date."""
    if name not in _OF_DATES.split() or (name == "to_date" and len(arguments) > 1):
        return list(arguments)
    places = (0, 1) if name == "datediff" else (0,)
    return [_date_of_text(argument) if place in places else argument for place, argument in enumerate(arguments)]


def moves_a_date(name: str, arguments: Sequence[_Typed]) -> bool:
    """Whether a call takes days from a date or adds them, so that columns and constants follow the same rule."""
    types = [argument_type for _, argument_type in arguments]
    return name == "datediff" or (name in ("+", "-") and (DATE in types or TIME_SPAN in types))


def moves_an_instant(arguments: Sequence[_Typed], semantics: Semantics) -> bool:
    """Whether a call of Spark moves an instant by an interval, which is more than to move what a clock shows."""
    types = [argument_type for _, argument_type in arguments]
    return semantics.functions_of_spark and TIME_SPAN in types and any(t.kind is Kind.TIMESTAMP_LTZ for t in types)


def counts_time(name: str, arguments: Sequence[_Typed]) -> bool:
    """Whether a call counts the time between two moments."""
    *_, first, second = [Kind.VOID, Kind.VOID, *(argument_type.kind for _, argument_type in arguments)]
    both = all(kind is Kind.DATE or kind.is_timestamp for kind in (first, second))
    return both and (name == "timestampdiff" or (name == "-" and len(arguments) == 2))


def special_call(name: str, arguments: Sequence[_Typed], semantics: Semantics) -> _Typed | None:
    """The value and the type of a call that moves dates or that has a form for constants; None for any other."""
    types = [argument_type for _, argument_type in arguments]
    values = [value for value, _ in arguments]
    if counts_time(name, arguments):
        return _time_between(name, arguments, semantics)
    if None in values and moves_a_date(name, arguments):
        return None, INT if name == "datediff" else DATE
    if TIME_SPAN in types:
        return _with_span(name, arguments, semantics)
    if None in values:
        return None
    match name, types:
        case ("+" | "-", [moved, count]) if moved == DATE and count.kind.is_integer and semantics.dates_count_days:
            days = datetime.timedelta(days=values[1])
            return _days(_moment(*arguments[0]) + (days if name == "+" else -days)), DATE
        case ("+", [count, moved]) if moved == DATE and count.kind.is_integer and semantics.dates_count_days:
            return _days(_moment(*arguments[1]) + datetime.timedelta(days=values[0])), DATE
        case ("add_months", [moved, _]) if moved == DATE:
            return _days(_month_steps(_moment(*arguments[0]), values[1], semantics.last_days_stay)), DATE
        case ("make_date", [_, _, _]) if semantics.functions_of_spark:
            return _days(datetime.datetime(*values)), DATE
        case ("to_date" | "to_timestamp", [_, _]) if semantics.functions_of_spark:
            moment = _parsed(*values)
            return (_days(moment), DATE) if name == "to_date" else ((moment - EPOCH) // MICROSECOND, TIMESTAMP)
        case ("pow", [_, _]):
            return _power(*map(Fraction, values)), DOUBLE
        case ("div", [_, _]):
            return int(Fraction(values[0], values[1])), BIGINT
        case _:
            return None


def _time_between(name: str, arguments: Sequence[_Typed], semantics: Semantics) -> _Typed:
    """The time between two moments of one type: an interval, or whole units of it."""
    *unit, (first, first_type), (second, second_type) = arguments
    result = TIME_SPAN if name == "-" else BIGINT
    if first is None or second is None:
        return None, result
    moments = _moment(first, first_type), _moment(second, second_type)
    if name == "timestampdiff":
        zone = zone_named(semantics.time_zone)
        return _whole_units(unit[0][0], *(_as_instant_shows(moment, zone) for moment in moments)), result
    if not semantics.is_utc and semantics.moves_by_instant and not semantics.functions_of_spark:
        raise UnsupportedError("the time between two instants has no row form outside UTC")
    if not semantics.is_utc and first_type != second_type:
        raise UnsupportedError("the time between moments of two types has no row form outside UTC")
    return TimeSpan("micros", (moments[0] - moments[1]) // MICROSECOND), result


def _as_instant_shows(clock: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """What the clock of a zone shows at the instant that a wall clock names; another one where the clock is set."""
    return clock.replace(tzinfo=zone).astimezone(datetime.timezone.utc).astimezone(zone).replace(tzinfo=None)


def _whole_units(unit: str, start: datetime.datetime, end: datetime.datetime) -> int:
    if unit in _MONTHS:
        count = abs(_whole_months(start, end)) // _MONTHS[unit]
    else:
        count = abs(end - start) // datetime.timedelta(**{f"{unit}s": 1})
    return count if end >= start else -count


def _whole_months(start: datetime.datetime, end: datetime.datetime) -> int:
    """The day of the end is that up to which whole days have passed."""
    one = datetime.timedelta(days=1)
    day = start.date() + (end - start) // one * one if end >= start else start.date() - (start - end) // one * one
    count = (day.year - start.year) * 12 + day.month - start.month
    if count > 0 and day.day < start.day:
        return count - 1
    return count + 1 if count < 0 and day.day > start.day else count


def _date_of_text(argument: _Typed) -> _Typed:
    value, value_type = argument
    if value_type.kind is not Kind.STRING or not isinstance(value, str) or len(value) != 10:
        return argument
    try:
        return _days(datetime.datetime.strptime(value, "%Y-%m-%d")), DATE
    except ValueError:
        return argument


def _with_span(name: str, arguments: Sequence[_Typed], semantics: Semantics) -> _Typed:
    match name, [value for value, _ in arguments]:
        case "negative", [TimeSpan(unit=unit, amount=amount)]:
            return TimeSpan(unit, -amount), TIME_SPAN
        case (("+" | "-"), [TimeSpan() as left, TimeSpan() as right]):
            return _added(left, right, 1 if name == "+" else -1), TIME_SPAN
        case (("+" | "-"), [int(), TimeSpan(unit=unit, amount=amount)]):
            return _moved(arguments[0], unit, amount if name == "+" else -amount, semantics)
        case "+", [TimeSpan(unit=unit, amount=amount), int()]:
            return _moved(arguments[1], unit, amount, semantics)
        case _:
            raise UnsupportedError(f"{name} of an interval has no row form")


def _added(left: TimeSpan, right: TimeSpan, sign: int) -> TimeSpan:
    if left.unit == right.unit:
        return TimeSpan(left.unit, left.amount + sign * right.amount)
    if "months" in (left.unit, right.unit):
        raise UnsupportedError("months and days have no sum")
    lengths = [span.amount * (DAY if span.unit == "days" else 1) for span in (left, right)]
    return TimeSpan("micros", lengths[0] + sign * lengths[1])


def _moved(start: _Typed, unit: str, amount: int, semantics: Semantics) -> _Typed:
    if start[1].kind is Kind.TIMESTAMP_LTZ and semantics.functions_of_spark:
        return _moved_instant(start[0], unit, amount, zone_named(semantics.time_zone)), start[1]
    moment = _moment(*start)
    is_date = start[1] == DATE
    if not is_date and start[1] != TIMESTAMP:
        raise UnsupportedError(f"{start[1]} moved by an interval has no row form")
    if unit == "months":
        moment = _month_steps(moment, amount, last_days_stay=False)
    elif unit == "days":
        moment += datetime.timedelta(days=amount)
        is_date = is_date and semantics.dates_count_days
    else:
        moment += datetime.timedelta(microseconds=amount)
        is_date = False
    if is_date:
        return _days(moment), DATE
    if not semantics.is_utc and semantics.moves_by_instant:
        raise UnsupportedError("a wall clock that is moved as an instant has no row form outside UTC")
    return (moment - EPOCH) // MICROSECOND, TIMESTAMP


def _moved_instant(micros: int, unit: str, amount: int, zone: datetime.tzinfo) -> int:
    """Months, or whole days, on the clock of a zone, and the rest as an instant."""
    start = (EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=micros)).astimezone(zone)
    clock, rest = start.replace(tzinfo=None, fold=0), datetime.timedelta()
    if unit == "months":
        clock = _month_steps(clock, amount, last_days_stay=False)
    else:
        length = amount * (DAY if unit == "days" else 1)
        days = abs(length) // DAY * (1 if length >= 0 else -1)
        clock += datetime.timedelta(days=days)
        rest = datetime.timedelta(microseconds=length - days * DAY)
    offset, later = (clock.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    assert offset is not None
    assert later is not None
    if later < offset and start.utcoffset() == later:  # a clock that shows the hour twice: the offset stays as it was
        offset = later
    return (clock - offset + rest - EPOCH) // MICROSECOND


def _month_steps(moment: datetime.datetime, count: int, last_days_stay: bool) -> datetime.datetime:
    """Month by month to the first day of the month, then as many days on as that month has, at most."""
    first = moment.replace(day=1)
    for _ in range(abs(count)):
        first = (first + datetime.timedelta(days=31)).replace(day=1) if count > 0 else _month_before(first)
    after = (first + datetime.timedelta(days=31)).replace(day=1)
    is_last = (moment + datetime.timedelta(days=1)).day == 1
    last = after - datetime.timedelta(days=1)
    return last if is_last and last_days_stay else min(last, first + datetime.timedelta(days=moment.day - 1))


def _month_before(first: datetime.datetime) -> datetime.datetime:
    return (first - datetime.timedelta(days=1)).replace(day=1)


def _moment(value: Any, value_type: Type) -> datetime.datetime:
    return EPOCH + (datetime.timedelta(days=value) if value_type == DATE else datetime.timedelta(microseconds=value))


def _days(moment: datetime.datetime) -> int:
    return (moment - EPOCH).days


def _parsed(text: str, pattern: str) -> datetime.datetime:
    form = pattern
    for field, directive in _PATTERN_FIELDS:
        form = form.replace(field, directive)
    try:
        return datetime.datetime.strptime(text, form)
    except ValueError as error:
        raise UnsupportedError(f"{text!r} as {pattern!r} has no row form") from error


def _power(base: Fraction, exponent: Fraction) -> float:
    result = base**exponent if exponent.denominator == 1 and (base or exponent > 0) else None
    if not isinstance(result, Fraction) or Fraction(float(result)) != result:
        raise UnsupportedError("a power that no double holds has no row form")
    return float(result)
