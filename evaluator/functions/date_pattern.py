"""date_format over an interval: the least and the greatest text of any moment in the interval.

A pattern consists of fields of fixed width (``yyyy MM dd HH mm ss``) and punctuation, so texts are ordered by the
values of their fields, the first field first. The least text has the least value of the first field of any moment in
the interval; among those moments the least value of the second field; and so on:

    ==============  ==========================  ==============================
    pattern         ends                        texts
    ==============  ==========================  ==============================
    yyyy-MM-dd      any                         the texts of the ends
    MM/dd/yyyy      2020-01-04, 2020-02-01      '01/04/2020' .. '02/01/2020'
    MM/dd/yyyy      2019-12-31, 2020-01-04      '01/01/2020' .. '12/31/2019'
    dd              2020-01-04, 2020-01-09      '04' .. '09'
    dd              2020-01-04, 2020-02-01      '01' .. '31'
    HH              2020-01-04 22h, 05 03h      '00' .. '23'
    ==============  ==========================  ==============================
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["UNITS", "fields_of", "format_bounds"]

UNITS = ("yyyy", "MM", "dd", "HH", "mm", "ss")
_FORMATS = dict(zip(UNITS, ("%Y", "%m", "%d", "%H", "%M", "%S"), strict=True))
_UNIT_OF = {form: UNITS.index(name) for name, form in _FORMATS.items()}
#: The range of each unit; the year has no range of its own.
_FIRST, _LAST = (0, 1, 1, 0, 0, 0), (9999, 12, 31, 23, 59, 59)
_TOKEN = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z'\[\]{}#]")


def format_bounds(pattern: str, lo: datetime.datetime, hi: datetime.datetime) -> tuple[str, str] | None:
    """Bounds of the texts of all moments from lo to hi; None for a pattern with other fields."""
    parsed = fields_of(pattern)
    if parsed is None or lo > hi or lo.year < 1000:
        return None
    fields = [UNITS.index(name) for name in dict.fromkeys(parsed[0])]
    ends = _parts(lo), _parts(hi)
    if _in_turn(fields, *ends):
        return lo.strftime(parsed[1]), hi.strftime(parsed[1])
    return _written(parsed[1], _extreme(fields, *ends, 1)), _written(parsed[1], _extreme(fields, *ends, -1))


def _parts(moment: datetime.datetime) -> tuple[int, ...]:
    return (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def _in_turn(fields: Sequence[int], lo: Sequence[int], hi: Sequence[int]) -> bool:
    """Whether the texts are in the order of time: the units that vary stand from the greatest down, without a gap."""
    first_varying = next((unit for unit, (a, b) in enumerate(zip(lo, hi, strict=True)) if a != b), len(UNITS))
    varying = [unit for unit in fields if unit >= first_varying]
    return varying == list(range(first_varying, first_varying + len(varying)))


def _extreme(fields: Sequence[int], lo: Sequence[int], hi: Sequence[int], sign: int) -> Mapping[int, int]:
    """The values of the fields (by their index in UNITS) in the least (sign 1) or greatest (-1) text."""
    chosen: dict[int, int] = {}
    for unit in fields:
        values = range(lo[0], hi[0] + 1) if unit == 0 else range(_FIRST[unit], _LAST[unit] + 1)
        for value in values[::sign]:
            if _occurs({**chosen, unit: value}, lo, hi):
                chosen[unit] = value
                break
    return chosen


def _occurs(wanted: Mapping[int, int], lo: Sequence[int], hi: Sequence[int]) -> bool:
    """Whether some moment from lo to hi has the wanted values. Seconds are the finest unit."""
    first_varying = next((unit for unit, (a, b) in enumerate(zip(lo, hi, strict=True)) if a != b), len(UNITS))
    if any(unit < first_varying and value != lo[unit] for unit, value in wanted.items()):
        return False
    stack: list[tuple[tuple[int, ...], bool, bool]] = [(tuple(lo[:first_varying]), True, True)]
    while stack:
        prefix, at_lo, at_hi = stack.pop()
        unit = len(prefix)
        if unit == len(UNITS) or (unit > 2 and not at_lo and not at_hi):
            return True  # the day lies within the interval: every time of day occurs
        first = lo[unit] if at_lo else _FIRST[unit]
        last = hi[unit] if at_hi else _last_of(unit, prefix)
        stack.extend(
            ((*prefix, value), at_lo and value == first, at_hi and value == last)
            for value in _choices(unit, wanted.get(unit), first, last)
        )
    return False


def _choices(unit: int, wanted: int | None, first: int, last: int) -> Iterable[int]:
    """The values to try: both ends, and between them those that may admit different values of smaller units.

    Nine years include a leap year. Months have different lengths. All days and hours are alike.
    """
    if wanted is not None:
        return (wanted,) if first <= wanted <= last else ()
    return (last, *range(first, min(last, first + (10, 12, 2)[min(unit, 2)])))


def _last_of(unit: int, prefix: Sequence[int]) -> int:
    return calendar.monthrange(prefix[0], prefix[1])[1] if unit == 2 else _LAST[unit]


def _written(template: str, values: Mapping[int, int]) -> str:
    """A template of ``fields_of`` with values in place of its fields."""

    def text(match: re.Match[str]) -> str:
        unit = _UNIT_OF.get(match[0])
        return "%" if unit is None else f"{values[unit]:0{len(UNITS[unit])}}"

    return re.sub("%.", text, template)


def fields_of(pattern: str) -> tuple[list[str], str] | None:
    """The fields of a pattern in order, and the pattern as strftime has it; None for a pattern with other fields."""
    fields: list[str] = []
    template: list[str] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            return None
        token = match[0]
        if match[1]:
            if token not in _FORMATS:
                return None
            fields.append(token)
            template.append(_FORMATS[token])
        else:
            quoted = match[2]
            template.append(_literal(token if quoted is None else quoted.replace("''", "'") or "'"))
        position = match.end()
    return fields, "".join(template)


def _literal(text: str) -> str:
    return text.replace("%", "%%")
