"""Intervals of SQL, as constants: a number of months, of days or of microseconds.

    ======================================  ==================  =================================
    SQL                                     unit                amount
    ======================================  ==================  =================================
    interval '1' year, interval 12 months   months              12
    interval '1-2' year to month            months              14
    interval 2 weeks, interval '14' day     days                14
    interval '1 2:00:00' day to second      microseconds        93,600,000,000
    interval '1 day 2 hours'                microseconds        93,600,000,000
    ======================================  ==================  =================================

A month has no fixed length, so months and days are never mixed. Days stay apart from microseconds, because Spark moves
a date by whole days to a date, and by hours to a timestamp. ``Interval`` of the evaluator is something else: bounds.
"""

from __future__ import annotations

import re
from typing import Literal

from evaluator.language.epoch import DAY
from evaluator.language.records import record
from evaluator.language.types import Kind, Type

__all__ = ["TIME_SPAN", "TimeSpan", "span_of_parts", "span_of_range", "span_of_text"]

#: The type of a TimeSpan. It is of no kind that is compared.
TIME_SPAN = Type(Kind.OTHER, name="interval")

_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000
_MONTHS = {"year": 12, "month": 1}
_DAYS = {"week": 7, "day": 1}
_MICROS = {"hour": _HOUR, "minute": _MINUTE, "second": _SECOND, "millisecond": 1_000, "microsecond": 1}
_WHOLE = re.compile(r"[+-]?\d{1,9}")
_SECONDS = re.compile(r"([+-]?)(\d{1,9})(?:\.(\d{1,6}))?")
_PART = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,6})?)\s+([A-Za-z]+)(?=\s|$)\s*")
_CLOCK = {
    ("hour", "minute"): r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})",
    ("hour", "second"): r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,6}))?",
    ("minute", "second"): r"(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,6}))?",
}
#: The forms of ``interval '...' unit TO unit``.
_RANGES = {
    ("year", "month"): r"(?P<year>\d{1,4})-(?P<month>\d{1,2})",
    ("day", "hour"): r"(?P<day>\d{1,9}) (?P<hour>\d{1,2})",
    ("day", "minute"): rf"(?P<day>\d{{1,9}}) {_CLOCK['hour', 'minute']}",
    ("day", "second"): rf"(?P<day>\d{{1,9}}) {_CLOCK['hour', 'second']}",
    **_CLOCK,
}
#: The greatest number of each unit after the first one of a range.
_LIMITS = {"month": 11, "hour": 23, "minute": 59, "second": 59}


@record
class TimeSpan:
    """A constant interval of one unit."""

    unit: Literal["months", "days", "micros"]
    amount: int

    def __neg__(self) -> TimeSpan:
        return TimeSpan(self.unit, -self.amount)

    def plus(self, other: TimeSpan) -> TimeSpan | None:
        """The sum; None for months beside days or hours, which engines refuse."""
        if self.unit == other.unit:
            return TimeSpan(self.unit, self.amount + other.amount)
        if "months" in (self.unit, other.unit):
            return None
        return TimeSpan("micros", self.micros + other.micros)

    @property
    def micros(self) -> int:
        """The length of a span of days or microseconds."""
        return self.amount * (DAY if self.unit == "days" else 1)

    def __str__(self) -> str:
        match self.unit:
            case "months":
                return f"INTERVAL '{self.amount}' MONTH"
            case "days":
                return f"INTERVAL '{self.amount}' DAY"
            case _:
                sign, (seconds, micros) = "-" * (self.amount < 0), divmod(abs(self.amount), _SECOND)
                return f"INTERVAL '{sign}{seconds}" + f".{micros:06}".rstrip("0").rstrip(".") + "' SECOND"


def span_of_parts(parts: list[tuple[str, str]]) -> TimeSpan | None:
    """The sum of numbers with their units, such as ``("3", "days")``; None for a form that is not understood."""
    total: TimeSpan | None = None
    for number, name in parts:
        part = _part(number.strip(), name.lower().removesuffix("s"))
        total = part if total is None or part is None else total.plus(part)
        if total is None:
            return None
    return total


def span_of_text(text: str) -> TimeSpan | None:
    """``'1 year 2 months'``: the units stand in the text."""
    parts: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or len(parts) > 9:
            return None
        parts.append((match[1], match[2]))
        position = match.end()
    return span_of_parts(parts)


def span_of_range(text: str, first: str, last: str) -> TimeSpan | None:
    """``'1-2'`` from year to month, ``'1 02:03:04.5'`` from day to second. A sign in front holds for all of it."""
    form = _RANGES.get((first.lower(), last.lower()))
    match = None if form is None else re.fullmatch(rf"(?P<sign>[+-]?){form}", text.strip())
    if match is None:
        return None
    fields = match.groupdict()
    sign = -1 if fields.pop("sign") == "-" else 1
    fraction = int((fields.pop("fraction", None) or "").ljust(6, "0"))
    numbers = {unit: int(number) for unit, number in fields.items()}
    if any(unit != first.lower() and number > _LIMITS.get(unit, number) for unit, number in numbers.items()):
        return None
    if first.lower() == "year":
        return TimeSpan("months", sign * (numbers["year"] * 12 + numbers["month"]))
    micros = sum(number * {**_MICROS, "day": DAY}[unit] for unit, number in numbers.items()) + fraction
    return TimeSpan("micros", sign * micros)


def _part(number: str, unit: str) -> TimeSpan | None:
    if unit == "second" and (match := _SECONDS.fullmatch(number)):
        micros = int(match[2]) * _SECOND + int((match[3] or "").ljust(6, "0"))
        return TimeSpan("micros", -micros if match[1] == "-" else micros)
    if not _WHOLE.fullmatch(number):
        return None
    if unit in _MONTHS:
        return TimeSpan("months", int(number) * _MONTHS[unit])
    if unit in _DAYS:
        return TimeSpan("days", int(number) * _DAYS[unit])
    return TimeSpan("micros", int(number) * _MICROS[unit]) if unit in _MICROS else None
