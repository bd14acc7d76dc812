"""Texts as Spark reads them without ANSI mode, where another text is NULL: CAST to a date or a timestamp.

Sources: Spark ``SparkDateTimeUtils.stringToDate`` and ``parseTimestampString``; ``test_text_moments_in_spark.py`` asks
Spark.
"""

from __future__ import annotations

import datetime
import re

from evaluator.language.epoch import EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, Kind, Type
from evaluator.language.zones import zone_named

__all__ = ["cast_text", "reads_text"]

_TRIMMED = "".join(map(chr, range(0x21))) + "\x7f"
_DATE = re.compile(r"[+]?([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIME = r"[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:[.]([0-9]*))?)?"
_MOMENT = re.compile(rf"[+]?([0-9]{{4,6}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:{_TIME})?)?)?")


def reads_text(source: Type, target: Type, semantics: Semantics) -> bool:
    """Whether a cast is one that is computed here."""
    is_text = source.kind in (Kind.STRING, Kind.VARCHAR)
    return (
        is_text
        and (target == DATE or target.kind is Kind.TIMESTAMP_LTZ)
        and semantics.functions_of_spark
        and semantics.unreadable_rows_are_null
    )


def cast_text(text: str, target: Type, semantics: Semantics) -> int | None:
    """The day, or the instant in microseconds. Raises UnsupportedError for a text with a zone, or beyond year 9999."""
    text = text.strip(_TRIMMED)
    match = (_DATE if target == DATE else _MOMENT).fullmatch(text)
    if match is None:
        if target != DATE and (":" in text or "T" in text):
            raise UnsupportedError(f"{text!r} has no row form: it may have a zone, or a time of today")
        return None
    year, month, day = (int(part or 1) for part in match.groups()[:3])
    if year > 9999:
        raise UnsupportedError(f"the year {year} has no row form")
    try:
        date = datetime.date(year, month, day)
    except ValueError:
        return None
    return date.toordinal() - EPOCH_ORDINAL if target == DATE else _instant(date, match, semantics)


def _instant(date: datetime.date, match: re.Match[str], semantics: Semantics) -> int | None:
    hour, minute, second = (int(part or 0) for part in match.groups()[3:6])
    try:
        time = datetime.time(hour, minute, second, int((match[7] or "")[:6].ljust(6, "0")))
    except ValueError:
        return None
    zone = zone_named(semantics.time_zone)
    local = datetime.datetime.combine(date, time, zone).astimezone(datetime.timezone.utc)
    return (local - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
