"""Constant texts of moments as engines read them: with a zone, without seconds, without zeros.

    2026-05-01T10:00:00Z          Spark: the instant
    2026-05-01 10:00:00.5+02:00   Spark: the instant
    2026-5-1 9:30                 Spark: 2026-05-01 09:30:00, a wall clock of the session
    2026-5-1T10:00:00             Spark, Hive 3 and 4: 2026-05-01 10:00:00

Source: Spark ``SparkDateTimeUtils.parseTimestampString``; ``test_moment_texts.py`` asks Spark.
"""

from __future__ import annotations

import datetime
import re

from evaluator.language.epoch import EPOCH, FIRST_GREGORIAN_DAY, MICROSECOND
from evaluator.language.semantics import Semantics

__all__ = ["instant_of_text", "usual_form"]

_MINUTE = r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2})"
_SECOND = r":(\d{1,2})(?:\.(\d{1,9}))?"
_WALL_CLOCK = re.compile(f"{_MINUTE}(?:{_SECOND})?", re.ASCII)
#: Without seconds Spark reads no zone.
_ZONED = re.compile(_MINUTE + _SECOND + r" ?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d)?)", re.ASCII)
_FARTHEST = 18 * 60
_LOOSE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?))?")
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


def instant_of_text(text: str) -> int | None:
    """The instant of a text with a zone, in microseconds; None for other texts, and for those that are not read.

    >>> instant_of_text("1970-01-01T01:00:00+01:00")
    0
    """
    match = _ZONED.fullmatch(text)
    clock = None if match is None else _clock(match)
    if match is None or clock is None or clock.toordinal() < EPOCH.toordinal() + FIRST_GREGORIAN_DAY:
        return None
    hours, minutes = int(match[9] or 0), int(match[10] or 0)
    east = hours * 60 + minutes
    if minutes > 59 or east > _FARTHEST:
        return None
    away = datetime.timedelta(minutes=-east if match[8] == "-" else east)
    return (clock - EPOCH - away) // MICROSECOND


def usual_form(text: str, semantics: Semantics) -> str:
    """A text as it is usually written, for an engine that reads it so: ``2020-01-02 10:00:00``; else as it is."""
    if semantics.functions_of_spark:
        part = _PART_OF_A_DATE.fullmatch(text)
        if part is not None:
            return f"{part[1]}-{part[2] or '01':>02}-01"
        text = _with_whole_time(text)
    match = _LOOSE.fullmatch(text) if semantics.dates_from_any_text else None
    return text if match is None else f"{match[1]}-{match[2]:>02}-{match[3]:>02}" + (f" {match[4]}" if match[4] else "")


def _with_whole_time(text: str) -> str:
    match = _WALL_CLOCK.fullmatch(text)
    if match is None:
        return text
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction = f".{match[7]}" if match[7] else ""
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}"


def _clock(match: re.Match[str]) -> datetime.datetime | None:
    parts = [int(part or 0) for part in match.groups()[:6]]
    try:
        return datetime.datetime(*parts, int((match[7] or "")[:6].ljust(6, "0")))  # type: ignore[call-arg, arg-type]
    except ValueError:
        return None
