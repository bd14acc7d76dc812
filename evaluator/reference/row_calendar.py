"""Calendar functions on single values, for the oracle: fields, truncation, months and texts of dates and timestamps."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.types import Kind, Type

__all__ = ["CALENDAR", "instant_of_seconds", "moment_of"]


def moment_of(value: Any, value_type: Type) -> Any:
    """Dates and timestamps as datetime; other arguments as they are."""
    if value_type.kind is Kind.DATE:
        return EPOCH + datetime.timedelta(days=value)
    return EPOCH + datetime.timedelta(microseconds=math.floor(value)) if value_type.kind.is_timestamp else value


def _day(moment: datetime.datetime) -> int:
    return (moment - EPOCH).days


def _truncated(moment: datetime.datetime, unit: str) -> datetime.datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit.lower():
        case "year" | "yyyy" | "yy":
            return midnight.replace(month=1, day=1)
        case "quarter" | "q":
            return midnight.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)
        case "month" | "mon" | "mm":
            return midnight.replace(day=1)
        case "week":
            return midnight - datetime.timedelta(days=moment.weekday())
        case "day":
            return midnight
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case _:
            raise UnsupportedError(f"truncation to {unit} has no row form")


def _formatted(moment: datetime.datetime, pattern: str) -> str:
    for field, form in (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S")):
        pattern = pattern.replace(field, form)
    return moment.strftime(pattern)


def instant_of_seconds(seconds: Any) -> int | None:
    """Microseconds, without a fraction. A double is multiplied as one."""
    if isinstance(seconds, float):
        return _in_64_bits(math.trunc(seconds * 1_000_000.0)) if math.isfinite(seconds) else None
    return _in_64_bits(math.trunc(Fraction(seconds) * 1_000_000))


def _in_64_bits(micros: int) -> int:
    if not -(1 << 63) <= micros < 1 << 63:
        raise UnsupportedError("an instant that Spark cannot hold has no row form")
    return micros


def _last_day(moment: datetime.datetime) -> int:
    following = moment.replace(day=28) + datetime.timedelta(days=4)
    return _day(following.replace(day=1)) - 1


def _add_months(moment: datetime.datetime, count: int) -> int:
    """The same day of another month, or its last day if it is shorter."""
    months = moment.year * 12 + moment.month - 1 + count
    first = datetime.datetime(months // 12, months % 12 + 1, 1)
    return min(_day(first) + moment.day - 1, _last_day(first))


def _months_between(a: datetime.datetime, b: datetime.datetime, rounds: bool = True) -> float:
    """Whole months, and the rest in months of 31 days."""
    months = (a.year - b.year) * 12 + a.month - b.month
    if a.day == b.day or all((one + datetime.timedelta(days=1)).day == 1 for one in (a, b)):
        return float(months)
    since = [one - one.replace(day=1, hour=0, minute=0, second=0, microsecond=0) for one in (a, b)]
    seconds = [one.days * 86_400 + one.seconds for one in since]
    result = months + (seconds[0] - seconds[1]) / (31 * 86_400)
    return round(result, 8) if rounds else result


def _next_day(moment: datetime.datetime, name: str) -> int:
    days = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
    return _day(moment) + 1 + (days.index(name[:2].upper()) - moment.weekday() - 1) % 7


def _text_of_seconds(seconds: int, pattern: str = "yyyy-MM-dd HH:mm:ss") -> str:
    return _formatted(EPOCH + datetime.timedelta(seconds=seconds), pattern)


#: Functions by name, of datetimes and of other arguments as they are.
CALENDAR: Mapping[str, Callable[..., Any]] = {
    "year": lambda m: m.year,
    "quarter": lambda m: (m.month + 2) // 3,
    "month": lambda m: m.month,
    "day": lambda m: m.day,
    "dayofyear": lambda m: m.timetuple().tm_yday,
    "weekofyear": lambda m: m.isocalendar()[1],
    "yearofweek": lambda m: m.isocalendar()[0],
    "dayofweek": lambda m: m.isoweekday() % 7 + 1,
    "weekday": lambda m: m.weekday(),
    "hour": lambda m: m.hour,
    "minute": lambda m: m.minute,
    "second": lambda m: m.second,
    "date_add": lambda m, n: _day(m) + n,
    "date_sub": lambda m, n: _day(m) - n,
    "datediff": lambda end, start: _day(end) - _day(start),
    "add_months": _add_months,
    "last_day": _last_day,
    "to_date": _day,
    "months_between": _months_between,
    "next_day": _next_day,
    "trunc": lambda m, unit: _day(_truncated(m, unit)),
    "date_trunc": lambda unit, m: (_truncated(m, unit) - EPOCH) // MICROSECOND,
    "date_format": _formatted,
    "unix_timestamp": lambda m: math.floor((m - EPOCH).total_seconds()),
    "to_unix_timestamp": lambda m: math.floor((m - EPOCH).total_seconds()),
    "from_unixtime": _text_of_seconds,
    "to_timestamp": lambda m: (m - EPOCH) // MICROSECOND,
    "unix_date": _day,
    "date_from_unix_date": lambda n: n,
    "unix_seconds": lambda m: (m - EPOCH) // MICROSECOND // 1_000_000,
    "unix_millis": lambda m: (m - EPOCH) // MICROSECOND // 1_000,
    "unix_micros": lambda m: (m - EPOCH) // MICROSECOND,
    "timestamp_seconds": instant_of_seconds,
    "timestamp_millis": lambda n: _in_64_bits(n * 1_000),
    "timestamp_micros": lambda n: n,
}
