"""A list whose members are runs of neighbours: just its members are TRUE, just the values in between are FALSE."""

from __future__ import annotations

import itertools

import pytest

from evaluator.language import expression as ex
from evaluator.language.types import DOUBLE, INT
from tests.evaluator.short_forms import NULL, col, lit, outcome_of, stats

LISTS = ([1, 2, 3, 7, 8, 9, 12, 20, 21, 22], [5, 6], [5, 7], [3, 5, 6], [3, 4, 5])


def listed(values: list[int], *, null: bool) -> ex.In:
    return ex.In(col("x"), (*(lit(value, INT) for value in values), *[NULL] * null))


@pytest.mark.parametrize("null", [False, True], ids=["values", "a NULL"])
@pytest.mark.parametrize("members", LISTS, ids=str)
def test_every_range_has_the_outcomes_of_its_values(members: list[int], null: bool) -> None:
    for lo, hi in itertools.combinations_with_replacement(range(25), 2):
        values = [value in members for value in range(lo, hi + 1)]
        wanted = "T" * any(values) + ("N" if null else "F") * (not all(values))
        assert outcome_of(listed(members, null=null), {"x": stats(INT, lo, hi)}) == wanted, (lo, hi)
        turned = wanted.translate(str.maketrans("TF", "FT"))
        assert set(outcome_of(ex.Not(listed(members, null=null)), {"x": stats(INT, lo, hi)})) == set(turned), (lo, hi)


def test_doubles_have_no_neighbours() -> None:
    numbers = ex.In(col("x"), (lit(1.0, DOUBLE), lit(2.0, DOUBLE)))
    assert outcome_of(numbers, {"x": stats(DOUBLE, 1.0, 2.0)}) == "TF"


@pytest.mark.parametrize(("runs", "on_a_run"), [(40, "T"), (64, "T"), (65, "TF")])
def test_a_list_of_many_runs_is_left_as_it_is(runs: int, on_a_run: str) -> None:
    values = [10 * number + step for number in range(1, runs + 1) for step in (0, 1)]
    assert outcome_of(listed(values, null=False), {"x": stats(INT, 12, 19)}) == "F"
    assert outcome_of(listed(values, null=False), {"x": stats(INT, 10, 11)}) == on_a_run
