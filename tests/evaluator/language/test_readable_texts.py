"""Texts that are read as nothing: whatever some engine reads as a number or a date is none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.readable_texts import is_unreadable, none_is_readable
from evaluator.language.semantics import Semantics
from evaluator.language.types import BOOLEAN, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, outcome_of, stats

READ = [
    *("1", "-1", "+1", " 1", "1 ", "\t1", "\x001", "\x7f1", "1e3", ".5", "5.", "1d", "1L", "0x1p3", "-.5e-3", "01"),
    *("NaN", "nan", " -nan", "Infinity", "-Infinity", "+inf", "INF", "\x01inf"),
    *("2020-01-02", "2020-1-2T10", "+2020", "T12:00", "now", "Today", "epoch", "tomorrow", "yesterday", " now "),
    *("\u0661", "\u00a01"),
]
NOT_READ = [
    *("k001", "apple-1", "id5", "x\u0661"),
    *("", " ", "abc", "plain", "k", "date", "x-y", "true", "-", "+", ".", "e", "E", "null", "--"),
]


@pytest.mark.parametrize("text", READ)
def test_what_an_engine_may_read_is_readable(text: str) -> None:
    assert not is_unreadable(text)


@pytest.mark.parametrize("text", NOT_READ)
def test_what_none_reads_is_unreadable(text: str) -> None:
    assert is_unreadable(text)


CHARACTERS = st.one_of(st.characters(max_codepoint=130), st.sampled_from("TtkniIeyo129 +-.:"))
TEXTS = st.one_of(st.sampled_from([*READ, *NOT_READ]), st.text(CHARACTERS, max_size=3))


@given(TEXTS, TEXTS, TEXTS)
def test_no_text_of_an_unreadable_range_is_readable(one: str, other: str, third: str) -> None:
    lo, text, hi = sorted((one, other, third))
    if none_is_readable(lo, hi):
        assert is_unreadable(text)
        assert none_is_readable(lo, text)
        assert none_is_readable(text, hi)


@given(st.sampled_from(READ), TEXTS)
def test_no_range_with_a_readable_text_is_unreadable(read: str, other: str) -> None:
    assert not none_is_readable(*sorted((read, other)))


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        ("apple", "cherry", True),
        ("fa", "hz", True),
        ("fa", "ia", False),
        ("k001", "k999", True),
        ("ia", "ib", False),
        ("ida", "idb", True),
        ("ina", "inz", False),
        ("apple", "zebra", False),
        ("", "apple", False),
        ("apple", "b\u00e9", True),
        ("apple", "\u00e9", False),
        ("T12:00", "T13:00", False),  # Spark reads a time of this day
        ("t1", "t1", False),
        ("te", "tez", True),
        ("n\u0661", "n\u0662", False),
    ],
)
def test_a_range_of_texts(lo: str, hi: str, expected: bool) -> None:
    assert none_is_readable(lo, hi) is expected


@pytest.mark.parametrize(
    ("condition", "engine", "expected"),
    [
        ("s = 10", "spark-legacy", "N"),
        ("s = 10", "spark", "TFN"),
        ("s = 10", "spark-ansi", "TFN"),
        ("s = 10", "hive4", "N"),
        ("s = 10", "hive3", "N"),
        ("s = 10", "hive", "TFN"),
        ("CAST(s AS DATE) > DATE'2020-01-02'", "hive4", "N"),
        ("i > 'abc'", "hive4", "TFN"),
        ("i = CAST('abc' AS INT)", "hive3", "TFN"),  # which says FALSE of i = 'abc'
        ("CAST(NULL AS STRING) = 5", "hive3", "N"),
        ("CAST(s AS INT) IS NULL", "spark-legacy", "T"),
        ("CAST(s AS DATE) > DATE'2020-01-02'", "spark-legacy", "N"),
        ("i > 'abc'", "spark-legacy", "N"),
        ("i > 'abc'", "spark", "TFN"),
        ("i <=> 'abc'", "spark-legacy", "F"),
        ("d < 'nonsense'", "spark-legacy", "N"),
        ("d < 'nonsense'", "spark", "TFN"),
        ("b = 'yes'", "spark", "F"),
        ("b = ' FALSE '", "spark", "T"),
        ("b = 'maybe'", "spark-legacy", "N"),
        ("b = 'maybe'", "spark", "TFN"),
        ("b = 'true'", "hive4", "TFN"),
    ],
)
def test_a_text_that_is_no_number_is_null_where_it_is_no_error(condition: str, engine: str, expected: str) -> None:
    known = {
        "s": stats(STRING, "apple", "cherry"),
        "i": stats(INT, 1, 9),
        "d": stats(DATE, 100, 200),
        "b": stats(BOOLEAN, 0, 0),
    }
    assert outcome_of(parse(condition, engine), known, Semantics.named(engine, "UTC")) == expected


@pytest.mark.parametrize("of", [DATE, TIMESTAMP, TIMESTAMP_LTZ], ids=str)
def test_spark_reads_a_year_and_a_month_as_their_first_day(of: Type) -> None:
    """Seen in Spark 3.5.5 and 4.1.4, with ANSI mode and without."""
    unit = 1 if of == DATE else 86_400_000_000
    known = {"x": stats(of, 18_263 * unit, 18_300 * unit)}  # 2020-01-02 .. 2020-02-08
    cases = {
        "x > '2021'": "F",
        "x >= '2020'": "T",
        "x >= '2020-1'": "T",
        "x < '2020-01'": "F",
        "x < '2020-02'": "TF",
        "x BETWEEN '2019' AND '2019-12'": "F",
        "x = '2020-13'": "TFN",
        "x = '202'": "TFN",
        "x = '2020-'": "TFN",
    }
    for text, expected in cases.items():
        assert outcome_of(parse(text, "spark"), known) == expected, text
        assert outcome_of(parse(text, "hive"), known, HIVE) in (expected, "TFN")
