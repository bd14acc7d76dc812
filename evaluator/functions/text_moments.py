"""Ranges of texts that are read as dates or moments: the days that any text of the range may say.

The order of texts is not that of the days that they say ('2026-9' is before '2026-10'), and between '2026-05-01' and
'2026-05-31' lies '2026-05-3', the third. But all texts of a range begin like both of its ends, and where these four
digits and a hyphen are the same, the year is known. Then few spellings of a month and a day lie in the range:

    texts                             read by CAST                  read by the pattern yyyy-MM-dd
    ================================  ============================  ==============================
    '2026-05-05' .. '2026-05-20'      2026-05-01 .. 2026-05-20      2026-05-01 .. 2026-05-31
    '2026-05-28' .. '2026-06-10'      2026-05-01 .. 2026-06-10      2026-01-01 .. 2026-06-30
    '2026-05-05' .. '2026-05-05 10'   the day                       the day
    '2025-12-31' .. '2026-01-02'      nothing: '20250-1-1' lies     nothing
                                      between them

CAST reads one or two digits of a month and of a day, in every version and setting of Spark, and leaves out what stands
behind a blank or a ``T``; Hive leaves out all that stands behind the day. A pattern is read by one of two readers
(``spark.sql.legacy.timeParserPolicy``). The older one takes ``009`` for a month, and skips blanks before a number; so
a pattern tells less.

Sources: Hive ``DateParser``, Spark ``SparkDateTimeUtils.stringToDate``, Java ``SimpleDateFormat`` and
``DateTimeFormatter``; ``test_text_moments.py`` asks Spark, ``tests.hive.grids`` Hive.
"""

from __future__ import annotations

import calendar
import datetime
from functools import lru_cache

from evaluator.language.epoch import EPOCH_ORDINAL
from evaluator.language.records import record

__all__ = ["FARTHEST_ZONE", "DateForm", "days_cast", "days_read", "nearest_day"]

Days = tuple[int, int]

#: No zone is farther from UTC, in microseconds.
FARTHEST_ZONE = 18 * 3_600_000_000

_FIRST_YEAR, _LAST_YEAR = 1600, 9980
#: What a reader that trims leaves out behind a text: blanks and controls of ASCII.
_TRIMMED = (("", "!"), ("\x7f", "\x80"))
_NO_DIGIT = (("", "0"), (":", "\U0010ffff"))
#: Numbers as CAST reads them, with what they are.
_MONTHS, _DAYS = (
    [(number, f"{number:02}") for number in range(1, most + 1)] + [(number, str(number)) for number in range(1, 10)]
    for most in (12, 31)
)
#: Numbers of two digits with a sign, as Hive 3 reads them.
_MOST = 99
_ANY = [(int(text), text) for n in range(_MOST + 1) for text in {f"{n:02}", str(n), f"-{n:02}", f"-{n}"}]
#: Characters of a text behind its year that are compared.
_COMPARED = 5


@record
class DateForm:
    """A pattern that begins with ``yyyy``, ``MM`` and ``dd``: the texts between them.

    ``day_is_closed``: another number follows the day at once, so that it has two digits. ``has_zone``: a zone is read,
    too, so that the session may show the moment on another day.
    """

    after_year: str
    after_month: str
    day_is_closed: bool
    has_zone: bool


def days_cast(lo: str, hi: str, *, any_number: bool = False) -> Days | None:
    """The first and the last day as which CAST may read a text of a range; None where they are not known.

    ``any_number``: of a month and a day, as Hive 3 takes them: '2026-13-00' is the day before 2027-01-01.
    """
    year = _year(lo, hi, "-")
    if year is None:
        return None
    lo, hi = lo[5 : 5 + _COMPARED], hi[5 : 5 + _COMPARED]
    if any_number:
        if lo[:3] != hi[:3]:  # of two months: fewer pairs to remember, as each takes long
            lo, hi = lo[: _COMPARED - 1], hi[: _COMPARED - 1]
        numbers = _numbers_of_year(lo, hi)
        return None if numbers is None else tuple(_counted(year, *end) for end in numbers)  # type: ignore[return-value]
    ends = _days_of_year(lo, hi)
    return None if ends is None else (nearest_day(year, *ends[0]), nearest_day(year, *ends[1]))


def days_read(lo: str, hi: str, form: DateForm) -> Days | None:
    """The same of texts that are read by a pattern."""
    year = _year(lo, hi, form.after_year)
    if year is None:
        return None
    at = 4 + len(form.after_year)
    first, last = lo[at:], hi[at:]
    month = _same(first, last, form.after_month)
    if month is None:
        return nearest_day(year, 1, 1), nearest_day(year, _last_month(first, last), 31)
    if not 1 <= month <= 12:
        return None
    at = 2 + len(form.after_month)
    day = _same(first[at:], last[at:], "")
    if (
        day is None
        or not 1 <= day <= 31
        or not (form.day_is_closed or _no_digit_follows(first[at + 2 :], last[at + 2 :]))
    ):
        return nearest_day(year, month, 1), nearest_day(year, month, 31)
    return nearest_day(year, month, day), nearest_day(year, month, day)


def _year(lo: str, hi: str, separator: str) -> int | None:
    """The year with which all texts of a range begin, before this text."""
    start = lo[: 4 + len(separator)]
    if not hi.startswith(start) or start[4:] != separator:
        return None
    year = _number(start[:4], 4)
    return year if year is not None and _FIRST_YEAR <= year <= _LAST_YEAR else None


def _same(lo: str, hi: str, separator: str) -> int | None:
    """The number of two digits with which all texts of a range begin, before this text."""
    start = lo[: 2 + len(separator)]
    return _number(start[:2], 2) if hi.startswith(start) and start[2:] == separator else None


def _number(text: str, length: int) -> int | None:
    return int(text) if len(text) == length and text.isascii() and text.isdigit() else None


def _no_digit_follows(lo: str, hi: str) -> bool:
    """Whether no text of a range begins with a digit: with another one behind them, two are not the number."""
    return hi[:1] < "0" or (lo[:1] == hi[:1] and lo.isascii() and not lo[:1].isdigit())


def _last_month(lo: str, hi: str) -> int:
    """The last month of texts that begin with one, from '02' on: what is below may be more, as 012 is."""
    first, last = _number(lo[:2], 2), _number(hi[:2], 2)
    return 12 if first is None or last is None or first < 2 else max(1, min(last, 12))


def nearest_day(year: int, month: int, day: int) -> int:
    """The day, or the nearest one of the month."""
    number = max(1, min(day, calendar.monthrange(year, month)[1]))
    return datetime.date(year, month, number).toordinal() - EPOCH_ORDINAL


@lru_cache(maxsize=1 << 14)
def _days_of_year(lo: str, hi: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The first and the last month and day that a text of a range may say: ``5``, ``5-5``, ``05-05``; None without any.

    Both ends may be cut off behind some characters.
    """
    said = []
    for month, text in _MONTHS:
        if any(_meets(lo, hi, text + first, text + end) for first, end in _TRIMMED):
            said.append((month, 1))
        start = text + "-"
        if lo < start and text + "-:" <= hi:
            said += [(month, 1), (month, 31)]
        elif _meets(lo, hi, start, text + "."):
            said += [
                (month, day)
                for day, spelled in _DAYS
                if any(_meets(lo, hi, start + spelled + first, start + spelled + end) for first, end in _NO_DIGIT)
            ]
    return (min(said), max(said)) if said else None


@lru_cache(maxsize=1 << 14)
def _numbers_of_year(lo: str, hi: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The least and the greatest month, and day, of texts of a range, whatever numbers they are; None without any."""
    months, days = [], []
    for month, text in _ANY:
        start = text + "-"
        if lo < start and (start + ":")[: len(hi)] <= hi:
            months.append(month)
            days += [-_MOST, _MOST]
        elif _meets(lo, hi, start, text + "."):
            said = [
                day
                for day, spelled in _ANY
                if any(_meets(lo, hi, start + spelled + first, start + spelled + end) for first, end in _NO_DIGIT)
            ]
            months += [month] * bool(said)
            days += said
    return ((min(months), min(days)), (max(months), max(days))) if months else None


def _counted(year: int, month: int, day: int) -> int:
    """The day with a number, counted from the beginning of the month with a number."""
    years, rest = divmod(month - 1, 12)
    return datetime.date(year + years, rest + 1, 1).toordinal() - EPOCH_ORDINAL + day - 1


def _meets(lo: str, hi: str, start: str, end: str) -> bool:
    """Whether a text from ``start`` on and below ``end`` may be in a range whose ends are cut off."""
    return start[: len(hi)] <= hi and lo < end
