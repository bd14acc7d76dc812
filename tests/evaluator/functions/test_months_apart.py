"""months_between and next_day of ranges hold their values on every day, with the ends of months and of days."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.epoch import DAY, LAST_DAY
from evaluator.language.interval import Interval, point
from evaluator.language.types import DATE, DOUBLE, STRING, TIMESTAMP
from evaluator.reference.row_functions import call
from tests.evaluator.short_forms import SPARK
from tests.sampling import examples

#: Days around the ends of months of each length, in a leap year and after it.
DAYS = [
    (datetime.date(year, month, 1) - datetime.date(1970, 1, 1)).days + step
    for year, months in ((2020, (1, 2, 3, 4, 5)), (2021, (1, 2, 3)))
    for month in months
    for step in (-3, -2, -1, 0, 1, 2)
]
MOMENTS = st.builds(
    lambda day, micros: day * DAY + micros, st.sampled_from(DAYS), st.sampled_from((0, 1_000_000, DAY // 2, DAY - 1))
)


def between(first: Interval, second: Interval) -> Interval:
    arguments = [Argument(TIMESTAMP, first), Argument(TIMESTAMP, second)]
    return FUNCTIONS["months_between"].compute(arguments, DOUBLE, SPARK)


def months(later: int, earlier: int) -> float:
    value = call("months_between", [(later, TIMESTAMP), (earlier, TIMESTAMP)], DOUBLE)
    assert isinstance(value, float)
    return value


@settings(max_examples=examples(400, at_night=20_000))
@given(ends=st.lists(MOMENTS, min_size=2, max_size=2).map(sorted), inner=st.lists(MOMENTS, min_size=1), other=MOMENTS)
def test_months_between_a_range_and_a_moment_hold_every_value(ends: list[int], inner: list[int], other: int) -> None:
    lo, hi = ends
    wide, turned = (
        between(Interval(lo, hi, null=False), point(other)),
        between(point(other), Interval(lo, hi, null=False)),
    )
    for moment in (lo, hi, *(one for one in inner if lo <= one <= hi)):
        assert wide.lo <= months(moment, other) <= wide.hi
        assert turned.lo <= months(other, moment) <= turned.hi


@pytest.mark.parametrize("first", DAYS[::2])
def test_months_between_two_days_lie_within_a_day_of_their_value(first: int) -> None:
    for second in DAYS:
        known = between(point(first * DAY), point(second * DAY))
        value = months(first * DAY, second * DAY)
        assert known.lo <= value <= known.hi
        assert known.hi - known.lo < 0.28, "twice four days of a month, and two hours"


@pytest.mark.parametrize("name", ["MO", "tue", "Wednesday", "th", "FRI", "sat", "SUNDAY"])
@pytest.mark.parametrize("span", [0, 1, 6, 7, 20])
def test_next_day_of_a_range_has_the_ends_of_its_days(name: str, span: int) -> None:
    for lo in range(18_262, 18_276):
        arguments = [Argument(DATE, Interval(lo, lo + span, null=False)), Argument(STRING, point(name))]
        known = FUNCTIONS["next_day"].compute(arguments, DATE, SPARK)
        values = [call("next_day", [(day, DATE), (name, STRING)], DATE) for day in range(lo, lo + span + 1)]
        assert (known.lo, known.hi) == (min(values), max(values))  # type: ignore[type-var]


@pytest.mark.parametrize(("day", "is_known"), [(LAST_DAY - 8, True), (LAST_DAY - 7, False), (LAST_DAY, False)])
def test_next_day_is_known_within_the_calendar(day: int, is_known: bool) -> None:
    arguments = [Argument(DATE, point(day)), Argument(STRING, point("MO"))]
    assert FUNCTIONS["next_day"].compute(arguments, DATE, SPARK).is_bounded is is_known
