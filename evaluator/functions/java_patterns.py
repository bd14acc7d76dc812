"""Moments written and read by Java's patterns, for constants: with names of months and days, and without zeros.

    dd MMM yyyy     05 Feb 2020
    EEEE            Wednesday
    h:mm a          3:04 AM
    yyyy-M-d        2020-2-5

Names are those of US English, which Spark uses whatever the locale is. Only fields are known that
``java.time.format.DateTimeFormatter`` and ``java.text.SimpleDateFormat`` treat alike: a setting of Spark
(``spark.sql.legacy.timeParserPolicy``) chooses between them. ``date_pattern.py`` has the texts of a range of moments.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from itertools import pairwise

from evaluator.functions.text_moments import DateForm

__all__ = ["date_form", "read_moment", "written_moment"]

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_TOKEN = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z'\[\]{}#]")
_Moment = datetime.datetime

_WRITERS: dict[str, Callable[[_Moment], str]] = {
    "yyyy": lambda m: f"{m.year:04}",
    "y": lambda m: str(m.year),
    "yy": lambda m: f"{m.year % 100:02}",
    "MM": lambda m: f"{m.month:02}",
    "M": lambda m: str(m.month),
    "MMM": lambda m: _MONTHS[m.month - 1][:3],
    "MMMM": lambda m: _MONTHS[m.month - 1],
    "dd": lambda m: f"{m.day:02}",
    "d": lambda m: str(m.day),
    "D": lambda m: str(m.timetuple().tm_yday),
    "DDD": lambda m: f"{m.timetuple().tm_yday:03}",
    "HH": lambda m: f"{m.hour:02}",
    "H": lambda m: str(m.hour),
    "hh": lambda m: f"{(m.hour + 11) % 12 + 1:02}",
    "h": lambda m: str((m.hour + 11) % 12 + 1),
    "mm": lambda m: f"{m.minute:02}",
    "m": lambda m: str(m.minute),
    "ss": lambda m: f"{m.second:02}",
    "s": lambda m: str(m.second),
    "SSS": lambda m: f"{m.microsecond // 1000:03}",
    "a": lambda m: "AM" if m.hour < 12 else "PM",
    **dict.fromkeys(("E", "EE", "EEE"), lambda m: _WEEKDAYS[m.weekday()][:3]),
    "EEEE": lambda m: _WEEKDAYS[m.weekday()],
}
_UNITS = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
_TWO_DIGITS = ("MM", "dd", "HH", "mm", "ss")
_ONE_OR_TWO = frozenset("MdHms")
#: A pattern without day or month gives the first of them.
_FIRST_UNITS = ({"year"}, {"year", "month"})
_DATE_UNITS = {"year", "month", "day"}
#: The letters of fields within a day, and of zones.
_TIMES, _ZONES = "HhmsSa", "XxZzVO"
#: Text between the fields of a pattern that is read.
_SEPARATOR = re.compile(r"[-/.: _,TZ]+")


def _tokens(pattern: str) -> list[tuple[str, bool]] | None:
    """The fields and the texts of a pattern in their order, and whether each is a field; None if it is not known."""
    tokens: list[tuple[str, bool]] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            return None
        text = match[0] if match[2] is None else match[2].replace("''", "'") or "'"
        tokens.append((text, match[1] is not None))
        position = match.end()
    return tokens


def written_moment(pattern: str, moment: datetime.datetime) -> str | None:
    """The text of a moment; None for a pattern with other fields."""
    tokens = _tokens(pattern)
    if tokens is None or not pattern or any(is_field and text not in _WRITERS for text, is_field in tokens):
        return None
    return "".join(_WRITERS[text](moment) if is_field else text for text, is_field in tokens)


def read_moment(pattern: str, text: str) -> datetime.datetime | None:
    """The moment that a text says, written exactly as the pattern says; None for others, and for other patterns."""
    tokens = _tokens(pattern)
    if tokens is None:
        return None
    if any(first[1] and second[1] and {first[0], second[0]} & _ONE_OR_TWO for first, second in pairwise(tokens)):
        return None
    form, units = "", []
    for token, is_field in tokens:
        if not is_field:
            if not _SEPARATOR.fullmatch(token):
                return None
            form += re.escape(token)
        elif token == "yyyy":
            form += "([0-9]{4})"
        elif token in _TWO_DIGITS:
            form += "([0-9]{2})"
        elif token in _ONE_OR_TWO:
            form += "([0-9]{1,2})"
        elif token == "MMM":
            form += "(" + "|".join(month[:3] for month in _MONTHS) + ")"
        else:
            return None
        if is_field:
            units.append(_UNITS[token[0]])
    match = re.fullmatch(form, text)
    known = set(units)
    if match is None or len(known) < len(units) or not (known in _FIRST_UNITS or known >= _DATE_UNITS):
        return None
    numbers = {unit: _number(part) for unit, part in zip(units, match.groups(), strict=True)}
    try:
        return datetime.datetime(**{"month": 1, "day": 1, **numbers})  # type: ignore[arg-type]
    except ValueError:
        return None


def date_form(pattern: str) -> DateForm | None:
    """How a pattern reads that begins with a year, a month and a day, before a time of that day; None for others.

    >>> date_form("yyyy-MM-dd HH:mm")
    DateForm(after_year='-', after_month='-', day_is_closed=False, has_zone=False)
    """
    tokens = _tokens(pattern) or []
    fields = [place for place, (_, is_field) in enumerate(tokens) if is_field]
    names = [tokens[place][0] for place in fields]
    if fields[:1] != [0] or [name[0] for name in names[:3]] != ["y", "M", "d"] or names[0] != "yyyy":
        return None
    if any(len(name) > 2 for name in names[1:3]) or any(name[0] not in _TIMES + _ZONES for name in names[3:]):
        return None
    ends = [*fields[1:], len(tokens)]
    texts = ["".join(text for text, _ in tokens[place + 1 : end]) for place, end in zip(fields, ends, strict=True)]
    is_closed = len(names) > 3 and not texts[2]
    if any(text and not _SEPARATOR.fullmatch(text) for text in texts[:3]):
        return None
    if not all(texts[:2]) and names[1:3] != ["MM", "dd"]:
        return None
    return DateForm(texts[0], texts[1], is_closed and names[2] == "dd", any(name[0] in _ZONES for name in names[3:]))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == text)
