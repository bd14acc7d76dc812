"""date_format over an interval: which patterns keep the order of the moments they write.

A pattern is read as fields of fixed width (``yyyy MM dd HH mm ss``) and punctuation. The units from the year down
that are the same at both ends are constant in between. The varying ones must stand in the pattern from the greatest
varying
unit down, none left out, none out of turn; then text order is time order:

    ==============  ==========================  ========================================
    pattern         ends                        decided
    ==============  ==========================  ========================================
    yyyy-MM-dd      any                         yes: all units in turn
    MM/dd/yyyy      2020-01-04, 2020-02-01      yes: the year is constant, then MM, dd
    MM/dd/yyyy      2019-12-31, 2020-01-04      no: the year varies but stands last
    dd              2020-01-04, 2020-02-01      no: the month varies and is not written
    HH              2020-01-04 07h .. 09h       yes: the date is constant
    ==============  ==========================  ========================================
"""

from __future__ import annotations

import datetime
import re

__all__ = ["FORMATS", "UNITS", "fields_of", "format_bounds"]

UNITS = ("yyyy", "MM", "dd", "HH", "mm", "ss")
FORMATS = dict(zip(UNITS, ("%Y", "%m", "%d", "%H", "%M", "%S"), strict=True))
_TOKEN = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z'\[\]{}#]")


def format_bounds(pattern: str, lo: datetime.datetime, hi: datetime.datetime) -> tuple[str, str] | None:
    """The texts of both ends when they bound the texts of all moments in between; None when they may not."""
    parsed = fields_of(pattern)
    if parsed is None or lo > hi or lo.year < 1000 or not _in_turn(parsed[0], lo, hi):
        return None
    return lo.strftime(parsed[1]), hi.strftime(parsed[1])


def fields_of(pattern: str) -> tuple[list[str], str] | None:
    """The fields of a pattern in order, and the pattern in the form of strftime; None for fields that are not known."""
    fields: list[str] = []
    template: list[str] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            return None
        token = match[0]
        if match[1]:
            if token not in FORMATS:
                return None
            fields.append(token)
            template.append(FORMATS[token])
        else:
            quoted = match[2]
            template.append(_literal(token if quoted is None else quoted.replace("''", "'") or "'"))
        position = match.end()
    return fields, "".join(template)


def _literal(text: str) -> str:
    return text.replace("%", "%%")


def _in_turn(fields: list[str], lo: datetime.datetime, hi: datetime.datetime) -> bool:
    values = [(getattr(lo, name), getattr(hi, name)) for name in ("year", "month", "day", "hour", "minute", "second")]
    constant = next((i for i, (a, b) in enumerate(values) if a != b), len(values))
    varying = [unit for unit in fields if UNITS.index(unit) >= constant]
    expected = UNITS[constant:]
    in_order: list[str] = []
    for unit in varying:
        if unit in in_order:
            continue  # written again: it adds no order of its own
        in_order.append(unit)
    return tuple(in_order) == expected[: len(in_order)]
