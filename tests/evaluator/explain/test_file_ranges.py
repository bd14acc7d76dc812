"""Ranges of a column in the file slices, placed on a line."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.explain.file_ranges import MAX_RANGES, constants_of, file_ranges, most_known
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.types import DOUBLE, INT, STRING, decimal_type
from evaluator.statistics.columns import from_values
from tests.evaluator.short_forms import SPARK, col, lit


def test_numbers_stand_by_value_in_the_order_of_their_lower_bounds():
    found = file_ranges("i", from_values(INT, lo=[50, 0, 20], hi=[100, 10, 60]), [25])
    assert found.slices.tolist() == [1, 2, 0]
    assert found.lo.tolist() == [0.0, 0.2, 0.5]
    assert found.hi.tolist() == [0.1, 0.6, 1.0]
    assert [(mark.at, mark.text) for mark in found.marks] == [(0.25, "25")]
    assert (found.least, found.greatest, found.by_rank) == ("0", "100", False)
    assert found.typical_width == pytest.approx(0.4)


def test_texts_stand_by_rank_and_a_constant_between_two_of_them():
    found = file_ranges("s", from_values(STRING, lo=["a", "m"], hi=["c", "z"]), ["m", "d"])
    assert found.by_rank
    assert found.lo.tolist() == pytest.approx([0.0, 2 / 3])
    assert [mark.at for mark in found.marks] == pytest.approx([2 / 3, 1.5 / 3])


def test_numbers_of_which_nearly_all_lie_close_together_stand_by_rank():
    lo, hi = [*range(50)], [*range(1, 50), 10**9]
    found = file_ranges("i", from_values(INT, lo=lo, hi=hi))
    assert found.by_rank
    assert found.hi.max() == 1.0


def test_slices_without_both_bounds_are_counted():
    found = file_ranges("i", from_values(INT, lo=[1, None, 3], hi=[2, 5, 4]))
    assert (found.known, found.unknown) == (2, 1)
    assert file_ranges("i", from_values(INT, lo=[None], hi=[5])) is None


def test_of_many_slices_evenly_spaced_ones_are_drawn():
    values = list(range(100_000))
    found = file_ranges("i", from_values(INT, lo=values, hi=values))
    assert (len(found.lo), found.known) == (MAX_RANGES, 100_000)
    assert (found.lo[0], found.lo[-1]) == (0.0, 1.0)
    assert np.diff(found.lo).max() < 2 / MAX_RANGES


@pytest.mark.parametrize(
    ("lo", "hi"), [([float("nan"), 1.0], [2.0, 3.0]), ([float("-inf")], [float("inf")]), ([1.0], [1.0]), ([0.0], [0.0])]
)
def test_every_place_is_on_the_line(lo, hi):
    found = file_ranges("d", from_values(DOUBLE, lo=lo, hi=hi), [float("inf"), -1e308, float("nan")])
    for places in (found.lo, found.hi):
        assert ((places >= 0) & (places <= 1)).all()
    assert all(-0.05 <= mark.at <= 1.05 for mark in found.marks)


def test_a_constant_of_another_form_is_left_out_and_the_ranges_are_drawn():
    found = file_ranges("s", from_values(STRING, lo=["a"], hi=["b"]), [5])
    assert found.marks == ()
    assert found.known == 1


def test_wide_decimals_are_drawn():
    column = decimal_type(30, 2)
    found = file_ranges("d", from_values(column, lo=[Decimal("1.50"), Decimal("3")], hi=[Decimal("2"), Decimal("9")]))
    assert (found.least, found.greatest) == ("1.50", "9.00")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (ex.Compare(">", col("i"), lit(5, INT)), ("i", (5,))),
        (ex.Compare(">", lit(5, INT), col("i")), ("i", (5,))),
        (ex.In(col("i"), (lit(1, INT), lit(3, INT))), ("i", (1, 3))),
        (ex.IsNull(col("i")), None),
        (ex.Compare(">", col("i"), col("j")), None),
    ],
)
def test_the_constants_of_a_condition_on_a_bare_column(expression, expected):
    schema = Schema([Field("i", INT), Field("j", INT)])
    found = constants_of(bind(expression, schema, SPARK).leaves[0].test)
    assert (found if found is None else (found[0], tuple(int(value) for value in found[1]))) == expected


def test_the_kind_that_knows_most_slices_is_drawn():
    few = StatisticsProvider("few", {"i": from_values(INT, lo=[1, None], hi=[2, None])})
    most = StatisticsProvider("most", {"i": from_values(INT, lo=[1, 2], hi=[2, 3])})
    assert most_known([few, most], "i")[0] == "most"
    assert most_known([few], "j") is None
