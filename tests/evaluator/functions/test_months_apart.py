"""months_between and next_day of ranges hold their values on every day, with the ends of months and of days."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.epoch import DAY, FIRST_GREGORIAN_DAY, LAST_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.types import BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type
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


@settings(max_examples=examples(156, at_night=20_000))
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


def day_of(text: str) -> int:
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


#: (later, earlier, months of 31 days between the least, and between the greatest)
MONTHS = [
    (("1970-01-01", "1970-01-01"), ("1970-01-01", "1970-01-01"), 0, 0),
    (("2020-03-17", "2020-03-17"), ("2020-01-01", "2020-01-01"), 2 + Fraction(16, 31), 2 + Fraction(16, 31)),
    (("2020-03-17", "2021-04-02"), ("2020-01-03", "2020-02-05"), 1 + Fraction(12, 31), 15 - Fraction(1, 31)),
    (("1582-10-15", "9999-12-30"), ("1970-01-01", "1970-01-01"), -4647 + Fraction(14, 31), 96359 + Fraction(29, 31)),
]


@pytest.mark.parametrize(("later", "earlier", "least", "most"), MONTHS)
@pytest.mark.parametrize("half", [0, DAY // 2])
def test_months_between_reach_four_days_and_two_hours_further(
    later: tuple[str, str], earlier: tuple[str, str], least: Fraction, most: Fraction, half: int
) -> None:
    first, second = ([day_of(end) * DAY for end in ends] for ends in (later, earlier))
    known = between(Interval(first[0] + half, first[1] + half, null=False), Interval(second[0], second[1], null=False))
    time = Fraction(half, DAY * 31)
    further = Fraction(98, 31 * 24)
    assert known == Interval(float(least + time - further), float(most + time + further), null=False)


@pytest.mark.parametrize(
    ("later", "earlier"),
    [((None, 5), (5, 5)), ((5, None), (5, 5)), ((5, 5), (None, 5)), ((5, 5), (5, None)), ((-(10**6), 5), (5, 5))],
)
def test_months_between_days_that_are_not_known_are_open(later: tuple[Any, Any], earlier: tuple[Any, Any]) -> None:
    arguments = [Argument(DATE, Interval(*ends, null=False)) for ends in (later, earlier)]
    assert FUNCTIONS["months_between"].compute(arguments, DOUBLE, SPARK) == Interval(null=True)


def test_months_between_without_rounding_are_the_same() -> None:
    """A third argument says whether the result is rounded."""
    function = FUNCTIONS["months_between"]
    assert function.result([DATE, TIMESTAMP, BOOLEAN]) == DOUBLE
    arguments = [Argument(DATE, Interval(18_262, 18_300, null=False)), Argument(DATE, point(18_000))]
    known = function.compute(arguments, DOUBLE, SPARK)
    assert function.compute([*arguments, Argument(BOOLEAN, point(False))], DOUBLE, SPARK) == known


@pytest.mark.parametrize(
    "types", [[DATE, TIMESTAMP], [TIMESTAMP_LTZ, DATE], [DATE, STRING], [STRING, DATE], [INT, INT]]
)
def test_only_days_and_moments_are_months_apart(types: list[Type]) -> None:
    if STRING in types or INT in types:
        with pytest.raises(UnsupportedError, match="months_between"):
            FUNCTIONS["months_between"].result(types)
    else:
        assert FUNCTIONS["months_between"].result(types) == DOUBLE


@pytest.mark.parametrize("name", ["MO", "tue", "Wednesday", "th", "FRI", "sat", "SUNDAY"])
@pytest.mark.parametrize("span", [0, 1, 6, 7, 20])
def test_next_day_of_a_range_has_the_ends_of_its_days(name: str, span: int) -> None:
    for lo in range(18_262, 18_276):
        arguments = [Argument(DATE, Interval(lo, lo + span, null=False)), Argument(STRING, point(name))]
        known = FUNCTIONS["next_day"].compute(arguments, DATE, SPARK)
        values = [call("next_day", [(day, DATE), (name, STRING)], DATE) for day in range(lo, lo + span + 1)]
        assert (known.lo, known.hi) == (min(values), max(values))  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("lo", "hi", "is_known"),
    [
        (FIRST_GREGORIAN_DAY, LAST_DAY - 8, True),
        (FIRST_GREGORIAN_DAY - 1, 0, False),
        (0, LAST_DAY - 7, False),
        (LAST_DAY, LAST_DAY, False),
        (None, 0, False),
        (0, None, False),
    ],
)
def test_next_day_is_known_within_the_calendar(lo: int | None, hi: int | None, is_known: bool) -> None:
    arguments = [Argument(DATE, Interval(lo, hi, null=False)), Argument(STRING, point("MO"))]
    known = FUNCTIONS["next_day"].compute(arguments, DATE, SPARK)
    assert known.is_bounded is is_known
    assert known.null is not is_known


@pytest.mark.parametrize("of", [DATE, TIMESTAMP, TIMESTAMP_LTZ])
def test_next_day_of_a_day_or_moment_is_a_day(of: Type) -> None:
    """2020-01-03 is a Friday."""
    assert FUNCTIONS["next_day"].result([of, STRING]) == DATE
    argument = Argument(of, point(18_264 if of == DATE else 18_264 * DAY + 5))
    known = FUNCTIONS["next_day"].compute([argument, Argument(STRING, point("MO"))], DATE, SPARK)
    assert known == point(18_267)


def test_next_day_of_text_or_to_no_day_of_the_week_is_not_decided() -> None:
    with pytest.raises(UnsupportedError, match="over text"):
        FUNCTIONS["next_day"].result([STRING, STRING])
    for name in ("XX", None):
        arguments = [Argument(DATE, point(0)), Argument(STRING, Interval(name, name, null=False))]
        with pytest.raises(UnsupportedError, match="day of the week"):
            FUNCTIONS["next_day"].compute(arguments, DATE, SPARK)
