"""Texts as engines read them where another text is NULL: CAST to a date, and in Spark to a timestamp.

Sources: Spark ``SparkDateTimeUtils.stringToDate`` and ``parseTimestampString``; Hive ``DateParser``. Both were asked:
``tests/handler/spark/test_text_moments.py``, ``tests/hive/grids/date_texts.py``.
"""

from __future__ import annotations

import calendar
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
_OF_HIVE = re.compile(r"([0-9]+)-([0-9]{1,2})-([0-9]{1,2})(?![0-9]).*", re.DOTALL)
_OF_HIVE_3 = re.compile(r"([0-9]+)-(-?[0-9]{1,2})-(-?[0-9]{1,2})(?![0-9]).*", re.DOTALL)
_TIME = r"[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:[.]([0-9]*))?)?"
_MOMENT = re.compile(rf"[+]?([0-9]{{4,6}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:{_TIME})?)?)?")


def reads_text(source: Type, target: Type, semantics: Semantics) -> bool:
    """Whether a cast is one that is computed here."""
    is_text = source.kind in (Kind.STRING, Kind.VARCHAR)
    is_read = target == DATE or (target.kind is Kind.TIMESTAMP_LTZ and semantics.functions_of_spark)
    return is_text and is_read and semantics.unreadable_rows_are_null


def cast_text(text: str, target: Type, semantics: Semantics) -> int | None:
    """The day, or the instant in microseconds. Raises UnsupportedError for a text with a zone, or beyond year 9999."""
    if not semantics.functions_of_spark:
        return _day_in_hive(text.strip(_TRIMMED), any_number=semantics.dates_of_any_number)
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


def _day_in_hive(text: str, *, any_number: bool) -> int | None:
    """Hive 3 takes any numbers, and counts on. Both leave out what stands behind the day, Hive 3 not always."""
    match = (_OF_HIVE_3 if any_number else _OF_HIVE).fullmatch(text)
    if match is None:
        return None
    year, month, day = map(int, match.groups())
    if not 1 < year < 9980:
        raise UnsupportedError(f"the year {year} has no row form")
    if not any_number and (not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    years, rest = divmod(month - 1, 12)
    if year + years < 1:
        raise UnsupportedError(f"the year {year + years} has no row form")
    return datetime.date(year + years, rest + 1, 1).toordinal() - EPOCH_ORDINAL + day - 1


def _instant(date: datetime.date, match: re.Match[str], semantics: Semantics) -> int | None:
    hour, minute, second = (int(part or 0) for part in match.groups()[3:6])
    try:
        time = datetime.time(hour, minute, second, int((match[7] or "")[:6].ljust(6, "0")))
    except ValueError:
        return None
    zone = zone_named(semantics.time_zone)
    local = datetime.datetime.combine(date, time, zone).astimezone(datetime.timezone.utc)
    return (local - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
