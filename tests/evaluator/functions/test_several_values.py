"""C7: functions of single values over ranges: each single value's result lies in the range of the results."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions.base import Argument
from evaluator.functions.single_values import of_single_values, result_of_single_values
from evaluator.language.interval import Interval
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import INT, STRING, Type
from handler.sql import parse
from tests.evaluator.short_forms import outcome_of, stats
from tests.sampling import examples

LEGACY = Semantics.named("spark-legacy", "UTC")
_WORDS = st.text("ab-\u00e9\U0001f600 1", max_size=4)
_TEXTS = st.builds(lambda start, ends: [start + end for end in ends], _WORDS, st.lists(_WORDS, min_size=1, max_size=4))
_NUMBERS = st.lists(st.integers(-30, 120), min_size=1, max_size=3)
_YEARS = st.lists(st.integers(2019, 2021), min_size=1, max_size=2)
_SEARCHED = st.text("ab-1", max_size=3)
_DATES = st.lists(st.dates().map(lambda day: f"{day.replace(year=2020):%Y%m%d}"), min_size=1, max_size=4)
#: Function, and how its arguments are drawn: the values of a range, or a constant.
CASES = {
    "replace": [_TEXTS, _SEARCHED, _WORDS],
    "translate": [_TEXTS, _SEARCHED, _SEARCHED],
    "regexp_replace": [_TEXTS, st.sampled_from(["a", "a+", "[ab]", "[^a-b1]+", "-", "ab", "aa-"]), _WORDS],
    "split_part": [_TEXTS, st.sampled_from(["-", "a", "ab", "--", ""]), st.integers(-1, 3)],
    "lpad": [_NUMBERS, st.integers(-1, 4), st.sampled_from(["0", "0", "0", "x", ""])],
    "make_date": [_YEARS, st.lists(st.integers(-1, 14), min_size=1, max_size=3), _NUMBERS],
    "concat_ws": [st.sampled_from(["-", "", "a"]), _TEXTS, _NUMBERS, _TEXTS],
    "to_date": [_DATES, st.just("yyyyMMdd")],
    "to_timestamp": [_DATES, st.just("yyyyMMdd")],
    "unix_timestamp": [_DATES, st.just("yyyyMMdd")],
}


def type_of(value: object) -> Type:
    return INT if isinstance(value, int) else STRING


def interval_of(name: str, values: list[list[object]], engine: str) -> Interval:
    semantics = Semantics.named(engine, "UTC")
    arguments = [
        Argument(type_of(one[0]), Interval(min(one), max(one), null=False))  # type: ignore[type-var]
        for one in values
    ]
    result = result_of_single_values(name, [one.type for one in arguments], semantics)
    return of_single_values(name, arguments, result, semantics)


@pytest.mark.parametrize("engine", ["spark-legacy", "spark-ansi", "hive4"])
@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
@settings(max_examples=examples(15, at_night=2_000), deadline=None)
def test_each_result_lies_in_the_range_of_all(name: str, engine: str, data: st.DataObject) -> None:
    if engine == "hive4" and name not in ("replace", "translate", "regexp_replace", "lpad", "concat_ws"):
        return
    values = [data.draw(how) for how in CASES[name]]
    values = [one if isinstance(one, list) else [one] for one in values]
    whole = interval_of(name, values, engine)
    for _ in range(4):
        chosen = [[data.draw(st.sampled_from(one))] for one in values]
        one = interval_of(name, chosen, engine)
        if one.value and one.is_point:
            assert whole.value
            assert whole.lo is None or whole.lo <= one.lo, (chosen, one, whole)
            assert whole.hi is None or one.lo <= whole.hi, (chosen, one, whole)


CONDITIONS = [
    ("replace(s, 'user-', '') = '0020'", "user-0011", "user-0019", "F"),
    ("regexp_replace(s, '[-/]', '') >= '202601'", "2025-01", "2025-09", "F"),
    ("regexp_replace(s, 'user-', '') = '0020'", "user-0011", "user-0019", "F"),
    ("regexp_replace(s, 'user-', '', 1) = '0020'", "user-0011", "user-0019", "F"),
    ("regexp_replace(s, 'user.', '') = '0020'", "user-0011", "user-0019", "TFN"),
    ("translate(s, '-', '') < '2026'", "2026-01", "2026-09", "F"),
    ("translate(s, 'a', 'x') = 'c'", "ab\u00e9", "ab\u00e9", "F"),  # one text is known as far as a range of such texts
    ("translate(s, 'a', 'b') = 'b'", "\u017f", "\u017f", "TF"),
    ("translate(s, 'a', 'b') = 'b'", "AB", "\u017f", "TF"),
    ("split_part(s, '-', 2) > '0019'", "user-0011", "user-0019", "F"),
    ("substr(s, 6) = '0020'", "user-0011", "user-0019", "F"),
    ("substr(s, 6, 3) = '002'", "user-0011", "user-0019", "F"),
    ("substr(s, 6, 3) = '001'", "user-0011", "user-0019", "T"),
    ("lpad(i, 4, '0') = '0020'", 11, 19, "F"),
    ("lpad(cast(i as string), 4, '0') = '0020'", 11, 19, "F"),
    ("concat('a', i) = 'a20'", 11, 19, "F"),
    ("from_utc_timestamp(s, 'Europe/Berlin') >= '2026-06-02'", "2026-05-01", "2026-05-31", "FN"),
    ("equal_null(s, 'c')", "a", "b", "F"),
    ("concat_ws('-', 'a', i) = 'a-20'", 11, 19, "F"),
    ("make_date(i, 1, 1) > date '2030-01-01'", 2020, 2025, "F"),
    ("make_date(2020, i, 31) > date '2030-01-01'", 1, 13, "FN"),
    ("to_date(s, 'yyyyMMdd') >= '2026-06-01'", "20260501", "20260531", "FN"),
    ("to_timestamp(s, 'yyyyMMdd') >= '2026-06-01'", "20260501", "20260531", "FN"),
    ("unix_timestamp(s, 'yyyyMMdd') > 1790000000", "20260501", "20260531", "FN"),
    ("to_date(s) >= '2026-06-01'", "2026-05-01", "2026-05-31", "FN"),
    ("year(s) = 2025", "2026-05-01", "2026-05-31", "FN"),
    ("hour(s) = 7 AND year(s) = 2025", "2026-05-01", "2026-05-31", "FN"),
    ("datediff(s, '2026-06-01') > 0", "2026-05-01", "2026-05-31", "FN"),
    ("date_format(s, 'yyyy-MM') = '2026-07'", "2026-05-10", "2026-05-21", "FN"),
    ("s >= timestamp '2026-06-02 00:00:00'", "2026-05-01 10:00:00", "2026-05-31 11:00:00", "FN"),
    ("cast(s as timestamp) >= '2026-06-02'", "2026-05-01T10:00:00Z", "2026-05-31T11:00:00Z", "FN"),
]


@pytest.mark.parametrize(("text", "lo", "hi", "expected"), CONDITIONS)
def test_ranges_are_decided_without_ansi(text: str, lo: object, hi: object, expected: str) -> None:
    known = {"s": stats(STRING, lo, hi, nulls=0)} if isinstance(lo, str) else {"i": stats(INT, lo, hi, nulls=0)}
    assert outcome_of(parse(text, "spark-legacy"), known, LEGACY) == expected


def test_a_day_that_is_an_error_is_not_skipped() -> None:
    known = {"i": stats(INT, 1, 31, nulls=0)}
    outcomes = [
        outcome_of(parse(text, "spark-ansi"), known, Semantics.named("spark-ansi", "UTC"))
        for text in ("make_date(2020, 2, i) > date '2030-01-01'", "make_date(2000 + i, 2, 28) > date '2040-01-01'")
    ]
    assert outcomes == ["TFN", "F"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_null_argument_makes_concat_ws_shorter(engine: str) -> None:
    known = {"s": stats(STRING, "a", "b", nulls=1), "u": stats(STRING, "c", "c", nulls=1)}
    condition = parse("concat_ws('-', s, u) = 'c'", "spark")
    assert "T" in outcome_of(condition, known, Semantics.named(engine, "UTC"))


def test_texts_of_two_zones_keep_their_distance() -> None:
    """A day of the pattern is another one where the session is at the other end of the world."""
    known = {"s": stats(STRING, "2026-05-01T00:00:00-11", "2026-05-01T23:00:00-11")}
    condition = parse("to_date(s, \"yyyy-MM-dd'T'HH:mm:ssX\") = '2026-05-02'", "spark-legacy")
    assert "T" in outcome_of(condition, known, Semantics.named("spark-legacy", "Pacific/Kiritimati"))
