"""Catalyst's clock and intervals: the functions of the clock, constant intervals, and what moves by them.

Catalyst                                              tree
====================================================  ======================================
CurrentDate, CurrentTimestamp, Now, LocalTimestamp    current_date(), current_timestamp(), ...
UnixTimestamp(CurrentTimestamp), UnixSeconds          unix_timestamp(), unix_timestamp(t)
a literal of type ``interval day``, ``interval year``  an interval of days, of months, ...
TimestampAddInterval, DateAddYMInterval, TimeAdd      ``+``
TimestampAdd(DAY, -7, t)                              t + INTERVAL '-7' DAY
DateAdd(d, ExtractANSIIntervalDays(interval))         date_add(d, 7)
TimestampDiff(HOUR, a, b)                             timestampdiff('hour', a, b)
SubtractTimestamps(a, b), SubtractDates(a, b)         a - b, an interval
UnixDate(d)                                           datediff(d, DATE '1970-01-01')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.language.epoch import DAY
from evaluator.language.expression import Call, Literal, Operand
from evaluator.language.time_spans import TIME_SPAN, TimeSpan, span_of_parts
from evaluator.language.types import DATE, INT, STRING, Kind, Type

__all__ = ["MOMENTS", "interval_literal", "moved_or_none"]

#: Catalyst's classes of the clock.
MOMENTS = {
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "Now": "current_timestamp",
    "LocalTimestamp": "localtimestamp",
}
_SUMS = frozenset(["TimestampAddInterval", "TimeAdd", "DateAddYMInterval", "TimestampAddYMInterval"])
#: An interval is an integer of 64 bits.
_LONG = 1 << 63
#: Whole days.
_DAYS = Type(Kind.OTHER, name="interval day")
#: The types of intervals without months, and what their values are multiples of.
_MULTIPLES = {"interval day to second": 1, "interval day to minute": 60_000_000, "interval day to hour": 3_600_000_000}
_MONTHS = ("interval year", "interval month", "interval year to month")


def interval_literal(fields: Mapping[str, Any]) -> Literal | None:
    """A constant interval; None for a literal of another type, or NULL."""
    name, text = fields.get("dataType"), fields.get("value")
    if not isinstance(name, str) or not name.startswith("interval ") or text is None:
        return None
    try:
        amount = int(str(text))
    except ValueError:
        return None
    if abs(amount) >= _LONG:
        return None
    if name in _MONTHS:
        return Literal(TimeSpan("months", amount), TIME_SPAN)
    if name == "interval day" and amount % DAY == 0:
        return Literal(TimeSpan("days", amount // DAY), TIME_SPAN)
    return Literal(TimeSpan("micros", amount), TIME_SPAN)


def moved_or_none(name: str, fields: Mapping[str, Any], arguments: Sequence[Operand]) -> Operand | None:
    """What moves by an interval, or reads the clock or an interval; None for any other class."""
    match name, arguments:
        case _, [moment, span] if name in _SUMS:
            return Call("+", (moment, span))
        case "ExtractANSIIntervalDays", [Literal(value=TimeSpan(unit="days" | "micros") as span)]:
            days = abs(span.micros) // DAY
            return Literal(days if span.micros >= 0 else -days, INT)
        case "TimestampAdd", [Literal(value=int() as count), moment]:
            unit = str(fields.get("unit", "")).lower()
            added = span_of_parts([(str(count), "day" if unit == "dayofyear" else unit)])
            return None if added is None else Call("+", (moment, Literal(added, TIME_SPAN)))
        case "TimestampDiff", [start, end]:
            return Call("timestampdiff", (Literal(str(fields.get("unit", "")).lower(), STRING), start, end))
        case (("SubtractTimestamps" | "SubtractDates"), [end, start]) if not fields.get("legacyInterval"):
            return Call("-", (end, start), _DAYS if name == "SubtractDates" else TIME_SPAN)
        case "Cast", [Literal(value=TimeSpan()) | Call(type=Type(kind=Kind.OTHER)) as span]:
            return span if _keeps_length(span, fields.get("dataType")) else None
        case (("UnixTimestamp" | "ToUnixTimestamp"), [Call(function="current_timestamp"), *_]):
            return Call("unix_timestamp", ())
        case "UnixSeconds", [Call(function="current_timestamp")]:
            return Call("unix_timestamp", ())
        case "UnixSeconds", [moment]:
            return Call("unix_timestamp", (moment,))
        case "UnixDate", [day]:
            return Call("datediff", (day, Literal(0, DATE)))
        case _:
            return None


def _keeps_length(span: Literal | Call, target: object) -> bool:
    """Whether each value that an interval may have is one of the type to which it is cast."""
    multiple = _MULTIPLES.get(target, 0) if isinstance(target, str) else 0
    match span:
        case Literal(value=TimeSpan(unit="days" | "micros") as constant):
            return multiple > 0 and constant.micros % multiple == 0
        case Call("-", type=interval):
            return multiple == 1 or (multiple > 0 and interval == _DAYS)
        case _:
            return False
