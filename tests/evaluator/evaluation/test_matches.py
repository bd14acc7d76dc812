"""Matches of whole filters by an index kind: they remove TRUE and nothing else, and are requested once, at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import Match
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import column_names
from evaluator.language.outcome import TRUE, UNKNOWN
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import INT
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from tests.evaluator.strategies import SCHEMA, exact_statistics, filters, slices, weakened
from tests.sampling import examples

Mask = npt.NDArray[np.bool_]
X, Y = ex.Column(("x",)), ex.Column(("y",))
TWO = Schema([Field("x", INT), Field("y", INT)])
SPARK = Semantics.named("spark", "UTC")


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(9, at_night=600))
@given(data=st.data())
def test_outcomes_hold_every_rows_value_and_kept_are_those_with_true(engine: str, data: st.DataObject) -> None:
    """The kind knows of some of the slices that no row makes the filter TRUE, as the rows tell."""
    semantics = Semantics.named(engine, "UTC")
    expression = data.draw(filters(["i", "s", "d", "dt", "ch"]))
    columns = column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=4))
    statistics = {name: weakened(exact_statistics(name, parts), data.draw) for name in columns}
    values: list[list[int]] = []
    for part in parts:
        values.append([])
        for row in part.rows:
            try:
                values[-1].append(outcome.of_value(value_of(expression, row, SCHEMA, semantics)))
            except UnsupportedError:
                values[-1].append(UNKNOWN)
    told = np.array([data.draw(st.booleans()) or any(value & TRUE for value in some) for some in values])
    copies = data.draw(st.sampled_from([1, 80]))  # few slices go another way than many
    rows = np.tile(np.arange(len(parts)), copies)
    bound = bind(expression, SCHEMA, semantics)
    known = StatisticsProvider("a", {name: one.take(rows) for name, one in statistics.items()})
    match = StatisticsProvider("b", {}, filter_might_match=lambda _, candidates: Match(told[rows] & candidates, ()))
    plain, actual = evaluate(bound, len(rows), [known]), evaluate(bound, len(rows), [known, match])
    assert actual.kept_rows.tolist() == plain.kept_rows[told[rows][plain.kept_rows]].tolist()
    ruled_out = plain.keep & ~actual.keep
    assert (actual.outcomes == np.where(ruled_out, plain.outcomes & ~np.uint8(TRUE), plain.outcomes)).all()
    assert actual.outcomes_at(np.arange(len(rows))).tolist() == actual.outcomes.tolist()
    assert np.flatnonzero(actual.outcomes & TRUE).tolist() == actual.kept_rows.tolist()
    for row, got in zip(rows.tolist(), actual.outcomes.tolist(), strict=True):
        assert all(value == UNKNOWN or got & value for value in values[row])
    again = evaluate(bound, len(rows), [match, known])
    assert again.outcomes_at(np.arange(len(rows))).tolist() == actual.outcomes.tolist(), "asked before the kept rows"
    assert set(again.fully_matched_rows) <= set(again.kept_rows)


def both(x: int, y: int) -> BoundExpression:
    return bind(ex.And((ex.Compare("=", X, ex.Literal(x, INT)), ex.Compare("=", Y, ex.Literal(y, INT)))), TWO, SPARK)


def test_a_kind_is_asked_once_after_keys_for_what_is_left() -> None:
    asked: list[list[int]] = []

    def might_contain(lookup: Lookup, candidates: Mask) -> Mask:
        return candidates & (np.arange(6) != 1)

    def filter_might_match(bound: BoundExpression, candidates: Mask) -> Match:
        asked.append(np.flatnonzero(candidates).tolist())
        return Match(np.array([True] * 2 + [False] * 4), (0, 1))

    def nothing_to_say(bound: BoundExpression, candidates: Mask) -> None:
        asked.append(np.flatnonzero(candidates).tolist())

    x = from_values(INT, [0] * 6, [9, 9, 9, 9, 9, 3])
    actual = evaluate(
        both(5, 1),
        6,
        [
            StatisticsProvider("a", {"x": x}, might_contain),
            StatisticsProvider("b", {}, filter_might_match=filter_might_match),
            StatisticsProvider("c", {}, filter_might_match=nothing_to_say),
        ],
    )
    assert actual.kept_rows.tolist() == [0]
    assert asked == [[0, 2, 3, 4], [0]]
    assert list(actual.matches) == ["b"]
    assert actual.matches["b"].leaves == (0, 1)
    assert (~actual.matches["b"].filter_might_match).nonzero()[0].tolist() == [2, 3, 4]
    assert [bool(one & TRUE) for one in actual.outcomes.tolist()] == [True] + [False] * 5
    assert [describes(actual, number) for number in range(2)] == [[True, False, True, True, True, False], [True] * 6], (
        "leaves stay what they are"
    )
    assert len(asked) == 2


def describes(result: Evaluation, number: int) -> list[Any]:
    return ((result.leaves[number].outcomes & TRUE) != 0).tolist()


def test_where_statistics_leave_nothing_no_kind_is_asked() -> None:
    def filter_might_match(bound: BoundExpression, candidates: Mask) -> Match:
        raise AssertionError

    x = from_values(INT, [0] * 300, [4] * 300)
    actual = evaluate(
        both(5, 1),
        300,
        [StatisticsProvider("a", {"x": x}), StatisticsProvider("b", {}, filter_might_match=filter_might_match)],
    )
    assert not actual.keep.any()
    assert not actual.matches
