"""C7: ranges of texts that are read as dates or moments, against the reference of rows and a reader of patterns."""

from __future__ import annotations

import datetime
import json
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions.java_patterns import date_form, read_moment
from evaluator.functions.text_moments import days_cast, days_read
from evaluator.language import expression as ex
from evaluator.language.epoch import DAY, EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DATE, STRING, TIMESTAMP_LTZ, Type
from evaluator.reference.row_oracle import value_of
from evaluator.reference.row_texts import cast_text
from handler.sql import parse
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples

LEGACY = Semantics.named("spark-legacy", "UTC")
ZONES = ("UTC", "Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo")
PATTERNS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy/M/d", "yyyy-MM-dd HH:mm:ss", "yyyyMMddHH", "yyyy-MM-dd'T'HH:mm:ssX")

#: What real Hive answered.
ANSWERS = Path(__file__).parents[2] / "handler" / "data" / "hive_date_texts.json.xz"

_NUMBERS = st.integers(0, 33).flatmap(
    lambda n: st.sampled_from([f"{n:02}", f"{n:02}", f"{n:02}", str(n), f"{n:03}", f" {n}"])
)
_YEARS = st.sampled_from(["2020", "2020", "2020", "2021", "2019", "20201", "202", "0020", "+2020"])
_SEPARATORS = st.sampled_from(["-", "-", "-", "-", "/", "", " -", "\u0663"])
_ENDS = st.sampled_from(
    ["", "", "", " ", "\x7f", "T", "T10:00", " 10:30:59.5", "x", "0", " 25:00", "-", "Z", "T10:00:00+18:00", "\u0663"]
)
_ODD = st.builds(
    lambda y, a, m, b, d, end: y + a + m + b + d + end, _YEARS, _SEPARATORS, _NUMBERS, _SEPARATORS, _NUMBERS, _ENDS
)
_ISO = st.dates(datetime.date(2019, 12, 20), datetime.date(2021, 1, 10)).flatmap(
    lambda day: st.sampled_from([f"{day}", f"{day}T10:00:00Z", f"{day} 23:30:00", f"{day:%Y-%m}", f"{day:%Y%m%d}"])
)
#: Texts like dates, most of them good ones.
TEXTS = st.one_of(_ISO, _ISO, _ODD, st.builds(str.__add__, _ISO, _ENDS))


def day_of(text: str) -> int | None:
    """The day as which CAST reads a text; 10,000 and more for a year behind 9999."""
    try:
        return cast_text(text, DATE, LEGACY)
    except UnsupportedError:
        return 1 << 40


def shown(days: tuple[int, int] | None) -> list[str] | None:
    return days and [str(datetime.date.fromordinal(day + EPOCH_ORDINAL)) for day in days]


@pytest.mark.parametrize(
    ("lo", "hi", "cast", "read"),
    [
        ("2026-05-05", "2026-05-20", ["2026-05-01", "2026-05-20"], ["2026-05-01", "2026-05-31"]),
        ("2026-05-28", "2026-06-10", ["2026-05-01", "2026-06-10"], ["2026-01-01", "2026-06-30"]),
        ("2026-09-28", "2026-10-04", ["2026-01-01", "2026-10-04"], ["2026-01-01", "2026-10-31"]),
        ("2026-01-28", "2026-02-10", ["2026-01-01", "2026-02-10"], ["2026-01-01", "2026-12-31"]),
        ("2026-05-05", "2026-05-05 23:59", ["2026-05-05"] * 2, ["2026-05-05"] * 2),
        ("2026-05-05T01", "2026-05-05T23", ["2026-05-05"] * 2, ["2026-05-05"] * 2),
        ("2026-02-01", "2026-02-31", ["2026-02-01", "2026-02-28"], ["2026-02-01", "2026-02-28"]),
        ("2026-13-01", "2026-13-20", None, None),
        ("2025-12-31", "2026-01-02", None, None),
        ("", "2026-01-02", None, None),
        ("1582-01-01", "1582-01-02", None, None),
    ],
)
def test_the_days_of_texts_of_one_year(lo: str, hi: str, cast: list[str] | None, read: list[str] | None) -> None:
    form = date_form("yyyy-MM-dd")
    assert form is not None
    assert (shown(days_cast(lo, hi)), shown(days_read(lo, hi, form))) == (cast, read)


@given(st.lists(TEXTS, min_size=3, max_size=8))
@settings(max_examples=examples(600, at_night=20_000), deadline=None)
def test_every_text_between_two_says_a_day_between_theirs(texts: list[str]) -> None:
    lo, *between, hi = sorted(texts)
    days = days_cast(lo, hi)
    for text in (lo, *between, hi):
        day = day_of(text)
        assert days is None or day is None or days[0] <= day <= days[1], (lo, text, hi, shown(days))


def old_day(pattern: str, text: str) -> int | None:
    """The day as which ``SimpleDateFormat`` reads a text that begins as the pattern says: with blanks and zeros."""
    if "y-" in pattern or "y/" in pattern:
        match = re.match(rf"[ \t]*(\d+)[{pattern[4]}][ \t]*(\d+)[{pattern[4]}][ \t]*(\d+)", text)
        parts = match.groups() if match else ()
    else:
        end = 8 if len(pattern) > 8 else None
        parts = tuple(part.strip(" ") for part in (text[:4], text[4:6], re.sub(r"(?<=\d)\D.*", "", text[6:end])))
    try:
        return datetime.date(*map(int, parts)).toordinal() - EPOCH_ORDINAL
    except (ValueError, TypeError, OverflowError):
        return None


@pytest.mark.parametrize("pattern", PATTERNS)
@given(texts=st.lists(TEXTS, min_size=3, max_size=8))
@settings(max_examples=examples(70, at_night=5_000), deadline=None)
def test_every_text_between_two_is_read_as_a_day_between_theirs(pattern: str, texts: list[str]) -> None:
    separators = ("/" if "/" in pattern else "-") if pattern[4] != "M" else ""
    lo, *between, hi = sorted(re.sub(r"(?<=\d)-(?=\d)", separators, text) for text in texts)
    form = date_form(pattern)
    assert form is not None
    days = days_read(lo, hi, form)
    for text in (lo, *between, hi):
        moment = read_moment(pattern, text)
        exact = None if moment is None else moment.toordinal() - EPOCH_ORDINAL
        for day in (old_day(pattern, text), exact):
            assert days is None or day is None or days[0] <= day <= days[1], (lo, text, hi, shown(days))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("engine", ENGINES)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=5),
    target=st.sampled_from([DATE, TIMESTAMP_LTZ]),
    day=st.integers(18_240, 18_640),
    op=st.sampled_from(["<", "<=", "=", "!=", ">=", ">", "<=>"]),
)
@settings(max_examples=examples(15, at_night=400), deadline=None)
def test_every_row_has_an_outcome_of_its_slice(
    engine: str, zone: str, texts: list[str], target: Type, day: int, op: str
) -> None:
    semantics = Semantics.named(engine, zone)
    constant = lit(day, DATE) if target == DATE else lit(day * DAY, TIMESTAMP_LTZ)
    condition = ex.Compare(op, ex.Cast(col("s"), target), constant)  # type: ignore[arg-type]
    possible = outcome_of(condition, {"s": stats(STRING, min(texts), max(texts))}, semantics)
    for text in texts:
        try:
            row = value_of(condition, {"s": text}, Schema([Field("s", STRING)]), semantics)
        except (UnsupportedError, ValueError):  # a row without a form here, or an error in ANSI mode
            continue
        assert {True: "T", False: "F", None: "N"}[row] in possible, (text, row)


@pytest.mark.parametrize("engine", ["hive3", "hive4"])
def test_hive_reads_texts_on_the_days_of_their_range(engine: str) -> None:
    """What real Hive answered (``tests/hive/grids/date_texts.py``), and the reference of rows."""
    answers = json.loads(lzma.decompress(ANSWERS.read_bytes()))[engine]
    semantics = Semantics.named(engine, "UTC")
    texts = answers["texts"]
    days = [None if text is None else day_of_answer(text) for text in answers["cast(s as date)"]]
    assert sum(day is not None for day in days) > len(days) / 5
    for text, day in zip(texts, days, strict=True):
        try:
            read = cast_text(text, DATE, semantics)
        except UnsupportedError:
            continue
        assert read == day or (engine == "hive3" and day is None), text
    for question in ("to_date(s)", "date_add(s, 0)", "add_months(s, 0)", "date_format(s, 'yyyy-MM-dd')"):
        found = [None if text is None else day_of_answer(text) for text in answers[question]]
        away = 5 if engine == "hive3" and question.startswith(("add_months", "date_format")) else 0
        for one, day in zip(found, days, strict=True):
            assert one is None or (day is not None and abs(one - day) <= away), question
    for question, expected in (("s >= date '2020-06-01'", True), ("s < date '2020-06-01'", False)):
        for answer, day in zip(answers[question], days, strict=True):
            assert answer is None or day is None or (answer == "true") == ((day >= 18_414) is expected), question
    for start in range(len(texts) - 1):
        for count in (2, 3, 10, 40):
            between = range(start, min(start + count, len(texts)))
            lo, hi = texts[between[0]], texts[between[-1]]
            ends = days_cast(lo, hi, any_number=semantics.dates_of_any_number)
            for place in between:
                day = days[place]
                assert ends is None or day is None or ends[0] <= day <= ends[1], (lo, texts[place], hi, shown(ends))


def day_of_answer(text: str) -> int:
    year, month, day = map(int, text.lstrip("+").split(" ")[0].split("-"))
    return (1 << 40) + year if year > 9999 else datetime.date(year, month, day).toordinal() - EPOCH_ORDINAL


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        ("2026-05-01", "2026-05-31", ["2026-04-30", "2026-05-31"]),  # 2026-05-0x
        ("2026-05-05", "2026-05-05 10", ["2026-05-05", "2026-05-05"]),
        ("2026-05-28", "2026-06-10", ["2026-01-21", "2026-09-07"]),
        ("2026-05-91", "2026-05-99", ["2026-07-30", "2026-08-07"]),
    ],
)
def test_any_numbers_count_on(lo: str, hi: str, expected: list[str]) -> None:
    assert shown(days_cast(lo, hi, any_number=True)) == expected


@pytest.mark.parametrize(
    "pattern",
    ["dd.MM.yyyy", "yyyy-dd-MM", "yyyy-MM", "yyMMdd", "yyyy-MMM-dd", "yyyyMd", "yyyy-MM-ddD", "'y'yyyy-MM-dd", "["],
)
def test_other_patterns_are_left_open(pattern: str) -> None:
    assert date_form(pattern) is None


@pytest.mark.parametrize("text", ["cast(s as date) < '2020-01-01'", "to_date(s, 'yyyy-MM-dd') < '2020-01-01'"])
def test_a_text_that_is_an_error_is_not_skipped(text: str) -> None:
    known = {"s": stats(STRING, "2020-07-01", "2020-08-01")}
    outcomes = [
        outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC"))  # type: ignore[arg-type]
        for engine in ("spark-legacy", "spark-ansi", "spark")
    ]
    assert outcomes == ["FN", "TFN", "TFN"]


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "spark-legacy"])
@pytest.mark.parametrize(
    "text", ["try_cast(s as date) < '2020-01-01'", "try_to_timestamp(s) < '2020-01-01'", "try_cast(s as int) = 50"]
)
def test_a_text_that_is_tried_is_null(text: str, engine: str) -> None:
    known = {"s": stats(STRING, "2020-07-01", "2020-08-01")}
    assert "T" not in outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC"))  # type: ignore[arg-type]
