"""Texts of moments as Spark reads them beside an instant: with a zone, and without seconds.

    2026-05-01T10:00:00Z          the instant
    2026-05-01 10:00:00.5+02:00   the instant
    2026-5-1 9:30                 2026-05-01 09:30:00, a wall clock of the session

Source: Spark ``SparkDateTimeUtils.parseTimestampString``; ``test_zoned_texts.py`` asks Spark.
"""

from __future__ import annotations

import datetime
import re

from evaluator.language.epoch import EPOCH, FIRST_GREGORIAN_DAY, MICROSECOND

__all__ = ["instant_of_text", "with_whole_time"]

_MINUTE = r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2})"
_SECOND = r":(\d{1,2})(?:\.(\d{1,9}))?"
_WALL_CLOCK = re.compile(f"{_MINUTE}(?:{_SECOND})?", re.ASCII)
#: Without seconds Spark reads no zone.
_ZONED = re.compile(_MINUTE + _SECOND + r" ?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d)?)", re.ASCII)
_FARTHEST = 18 * 60


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


def with_whole_time(text: str) -> str:
    """The text of a wall clock with two digits of each part, and with seconds; any other text as it is."""
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
