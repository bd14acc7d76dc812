"""date_format over a range: the bounds are the least and the greatest text that a moment of the range has."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.functions.date_pattern import UNITS, fields_of, format_bounds


def moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("pattern", "lo", "hi", "expected"),
    [
        ("yyyy-MM-dd", "2019-12-31", "2020-01-04", ("2019-12-31", "2020-01-04")),
        ("MM/dd/yyyy", "2020-01-04", "2020-02-01", ("01/04/2020", "02/01/2020")),
        ("MM/dd/yyyy", "2019-12-31", "2020-01-04", ("01/01/2020", "12/31/2019")),
        ("MM/dd/yyyy", "2019-06-15", "2020-08-25", ("01/01/2020", "12/31/2019")),
        ("dd.MM", "2019-02-10", "2019-02-20", ("10.02", "20.02")),
        ("dd.MM", "2019-02-10", "2019-04-20", ("01.03", "31.03")),
        ("dd", "2020-01-04", "2020-01-09", ("04", "09")),
        ("dd", "2020-01-30", "2020-02-01", ("01", "31")),
        ("dd", "2019-02-28", "2019-03-01", ("01", "28")),
        ("MM-dd", "1899-01-01", "1903-12-31", ("01-01", "12-31")),
        ("dd MM", "1897-02-01", "1903-12-31", ("01 01", "31 12")),
        ("HH", "2020-01-04 22:00", "2020-01-05 03:00", ("00", "23")),
        ("HH", "2020-01-04 07:30", "2020-01-04 09:10", ("07", "09")),
        ("mm:ss", "2020-01-04 07:30:10", "2020-01-04 07:31:05", ("30:10", "31:05")),
        ("ss", "2020-01-04 07:30:59.500", "2020-01-04 07:31:00", ("00", "59")),
        ("MM MM", "2020-03-01", "2020-05-01", ("03 03", "05 05")),
        ("'on' dd '''%' MM", "2020-03-01", "2020-03-01", ("on 01 '% 03",) * 2),
    ],
    ids=str,
)
def test_the_bounds_are_the_extreme_texts(pattern: str, lo: str, hi: str, expected: tuple[str, str]) -> None:
    assert format_bounds(pattern, moment(lo), moment(hi)) == expected


@pytest.mark.parametrize("pattern", ["M/d/yyyy", "EEE", "yy", "hh", "yyyy[MM]", "S", "'open"])
def test_a_pattern_of_other_fields_is_not_decided(pattern: str) -> None:
    assert format_bounds(pattern, moment("2020-01-04"), moment("2020-02-01")) is None


DAYS = st.dates(datetime.date(1896, 1, 1), datetime.date(1912, 12, 31))


@given(st.permutations(UNITS[:3]), st.integers(1, 3), DAYS, st.integers(0, 500))
def test_no_day_of_a_range_has_a_lesser_or_greater_text(
    order: list[str], count: int, first: datetime.date, days: int
) -> None:
    pattern = "/".join(order[:count])
    parsed = fields_of(pattern)
    assert parsed is not None
    start = datetime.datetime.combine(first, datetime.time())
    texts = [(start + datetime.timedelta(days=n)).strftime(parsed[1]) for n in range(days + 1)]
    assert format_bounds(pattern, start, start + datetime.timedelta(days=days)) == (min(texts), max(texts))


@given(st.permutations(UNITS[2:]), st.integers(1, 4), st.integers(0, 40 * 86_400), st.integers(0, 4000))
def test_no_second_of_a_range_has_a_lesser_or_greater_text(
    order: list[str], count: int, first: int, seconds: int
) -> None:
    pattern = ":".join(order[:count])
    parsed = fields_of(pattern)
    assert parsed is not None
    start = moment("2020-01-30") + datetime.timedelta(seconds=first)
    texts = [(start + datetime.timedelta(seconds=n)).strftime(parsed[1]) for n in range(seconds + 1)]
    assert format_bounds(pattern, start, start + datetime.timedelta(seconds=seconds)) == (min(texts), max(texts))
