"""Residuals: TRUE on a row exactly when the filter is, whatever the rows, the statistics and the filter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.leaves import IntervalSets
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.explain.residual import is_complete, residuals
from evaluator.explain.source_filter import source_filter
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE, INT, STRING
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import ColumnStatistics, from_values
from tests.evaluator.short_forms import SPARK, col, lit, stats
from tests.evaluator.strategies import SCHEMA, TYPES, exact_statistics, filters, slices, weakened
from tests.sampling import examples

T, F, N = ex.Constant(True), ex.Constant(False), ex.Constant(None)
SEMANTICS = [Semantics.named("spark", "UTC"), Semantics.named("hive", "Europe/Berlin")]


def scalar_residual(
    node: ex.HudiExpression, negated: bool, intervals: Mapping[str, Interval], schema: Schema, semantics: Semantics
) -> ex.HudiExpression:
    """The same in the obvious way: one slice, leaf by leaf, with recursion."""
    match node:
        case ex.Not(child=child):
            left = scalar_residual(child, not negated, intervals, schema, semantics)
            return {T: F, F: T}.get(left, ex.Not(left))
        case ex.And(children=children) | ex.Or(children=children):
            deciding, neutral = (F, T) if isinstance(node, ex.And) else (T, F)
            parts = [scalar_residual(child, negated, intervals, schema, semantics) for child in children]
            if deciding in parts:
                return deciding
            open_parts = tuple(part for part in parts if part != neutral)
            return neutral if not open_parts else open_parts[0] if len(open_parts) == 1 else type(node)(open_parts)
        case leaf:
            result = evaluate_slice(bind(leaf, schema, semantics), intervals)
            if negated:
                return F if result == FALSE else leaf if result & FALSE else T
            return T if result == TRUE else leaf if result & TRUE else F


@pytest.mark.parametrize("semantics", SEMANTICS, ids=["spark", "hive"])
@settings(max_examples=examples(28, at_night=2_000))
@given(data=st.data())
def test_the_residual_is_true_exactly_where_the_filter_is(semantics: Semantics, data: st.DataObject) -> None:
    expression = data.draw(filters(list(TYPES)))
    columns = ex.column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=5))
    statistics = {name: weakened(exact_statistics(name, parts), data.draw) for name in columns}
    bound = bind(expression, SCHEMA, semantics)
    evaluation = evaluate(bound, len(parts), [StatisticsProvider("column_stats", statistics)])
    kept = np.flatnonzero(evaluation.keep)

    actual = residuals(evaluation, kept)

    assert len(actual.group_of) == len(kept)
    assert len(actual.expressions) == len(set(actual.group_of.tolist()))
    for place, index in enumerate(kept.tolist()):
        residual = actual.expressions[actual.group_of[place]]
        intervals = {name: interval_at(s, index) for name, s in statistics.items()}
        is_matched = evaluate_slice(bound, intervals) == TRUE  # conditions on one column may be so together only
        assert residual == (T if is_matched else scalar_residual(bound.expression, False, intervals, SCHEMA, semantics))
        [alone] = residuals(evaluation, np.array([index])).expressions
        assert residual == alone, "alone and among others the residual differs"
        for row in parts[index].rows:
            try:
                value = value_of(expression, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            if any(isinstance(part, ex.Unknown | ex.Opaque) for part in ex.walk(residual)):
                continue  # conditions that are one test of the engine are not decided, and have no value on a row
            left = value_of(residual, row, SCHEMA, semantics)
            assert (left is True) == (value is True), f"{expression} is {value}, but {residual} is {left} on {row}"


def leaves_of(node: ex.HudiExpression) -> list[ex.HudiExpression]:
    match node:
        case ex.And(children=children) | ex.Or(children=children):
            return [leaf for child in children for leaf in leaves_of(child)]
        case ex.Not(child=child):
            return leaves_of(child)
        case leaf:
            return [leaf]


@settings(max_examples=examples(19, at_night=1_000))
@given(data=st.data())
def test_a_written_leaf_is_one_leaf_however_it_is_bound(data: st.DataObject) -> None:
    expression = data.draw(filters(list(TYPES)))
    bound = bind(expression, SCHEMA, SPARK)
    written = source_filter(bound)
    assert [leaf.node for leaf in written.leaves] == leaves_of(expression)
    assert [place for leaf in written.leaves for place in leaf.bound] == [
        number for number, leaf in enumerate(bound.leaves) if not isinstance(leaf.test, IntervalSets)
    ]
    assert all(bound.leaves[leaf.bound[0]].node == leaf.node for leaf in written.leaves)


def one_residual(expression: ex.HudiExpression, statistics: Mapping[str, ColumnStatistics]) -> ex.HudiExpression:
    bound = bind(expression, Schema([Field(name, s.type) for name, s in statistics.items()]), SPARK)
    evaluation = evaluate(bound, 1, [StatisticsProvider("column_stats", statistics)])
    [result] = residuals(evaluation, np.array([0])).expressions
    return result


X_IS_5 = ex.Compare("=", col("x"), lit(5, INT))
Y_IS_5 = ex.Compare("=", col("y"), lit(5, INT))
NULLS = {"none": 0, "some": 3, "all": 10}


@pytest.mark.parametrize(
    ("bounds", "nulls", "plain", "negated"),
    [
        ((1, 9), "none", X_IS_5, ex.Not(X_IS_5)),
        ((5, 5), "none", T, F),
        ((6, 9), "none", F, T),
        ((5, 5), "some", X_IS_5, F),  # under NOT, {true, null} is as good as {true}
        ((6, 9), "some", F, ex.Not(X_IS_5)),  # ... but {false, null} is not as good as {false}
        ((None, None), "all", F, F),
    ],
    ids=str,
)
def test_null_is_false_in_a_where_clause_and_true_under_not(
    bounds: tuple[int, int], nulls: str, plain: ex.HudiExpression, negated: ex.HudiExpression
) -> None:
    statistics = {"x": stats(INT, *bounds, nulls=NULLS[nulls])}
    assert one_residual(X_IS_5, statistics) == plain
    assert one_residual(ex.Not(X_IS_5), statistics) == negated
    assert one_residual(ex.Not(ex.Not(X_IS_5)), statistics) == (plain if plain in (T, F) else ex.Not(ex.Not(X_IS_5)))


@pytest.mark.parametrize(
    ("x", "expression", "expected"),
    [
        ((5, 5), ex.And((X_IS_5, Y_IS_5)), Y_IS_5),
        ((5, 5), ex.Or((X_IS_5, Y_IS_5)), T),
        ((6, 9), ex.And((X_IS_5, Y_IS_5)), F),
        ((6, 9), ex.Or((X_IS_5, Y_IS_5)), Y_IS_5),
        ((6, 9), ex.Not(ex.And((X_IS_5, Y_IS_5))), T),
        ((6, 9), ex.Not(ex.Or((X_IS_5, Y_IS_5))), ex.Not(Y_IS_5)),
        ((1, 9), ex.Or((X_IS_5, Y_IS_5, F)), ex.Or((X_IS_5, Y_IS_5))),
        ((1, 9), ex.And(()), T),
        ((1, 9), ex.Or(()), F),
        ((1, 9), N, F),
        ((1, 9), ex.Not(N), F),
    ],
    ids=str,
)
def test_a_decided_leaf_leaves_the_tree(
    x: tuple[int, int], expression: ex.HudiExpression, expected: ex.HudiExpression
) -> None:
    assert one_residual(expression, {"x": stats(INT, *x), "y": stats(INT, 1, 9)}) == expected


def test_the_written_leaf_comes_back_without_what_it_implies() -> None:
    upper = ex.Compare("=", ex.Call("upper", (col("s"),)), lit("A", STRING))
    assert one_residual(upper, {"s": stats(STRING, "A", "b")}) == upper
    assert one_residual(ex.Not(upper), {"s": stats(STRING, "A", "b")}) == ex.Not(upper)


def test_a_list_that_is_bound_as_several_tests_comes_back_whole() -> None:
    listed = ex.In(col("l"), (lit(2.0**60, DOUBLE), lit(7, INT)))
    assert len(bind(listed, Schema([Field("l", INT)]), SPARK).leaves) >= 1
    assert one_residual(listed, {"l": stats(INT, 1, 9)}) == listed
    assert one_residual(ex.And((listed, ex.Not(listed))), {"l": stats(INT, 7, 7)}) == F


def test_slices_share_their_residuals() -> None:
    n = 10_000
    lows = np.arange(n) % 4
    statistics = {"x": from_values(INT, lows.tolist(), [2 + int(low == 1) for low in lows], [0] * n, [5] * n)}
    expression = ex.And((ex.Compare(">=", col("x"), lit(1, INT)), ex.Compare("<=", col("x"), lit(2, INT))))
    bound = bind(expression, Schema([Field("x", INT)]), SPARK)
    evaluation = evaluate(bound, n, [StatisticsProvider("column_stats", statistics)])
    actual = residuals(evaluation, np.arange(n))
    by_low = {low: actual.expressions[actual.group_of[low]] for low in range(4)}
    assert by_low == {0: expression.children[0], 1: expression.children[1], 2: T, 3: F}
    assert (actual.group_of == np.tile(actual.group_of[:4], n // 4)).all()


def test_ten_thousand_levels_and_ten_thousand_children() -> None:
    open_leaf = ex.Compare("<", col("x"), lit(3, INT))
    deep: ex.HudiExpression = open_leaf
    for _ in range(5_000):
        deep = ex.Not(ex.And((deep, ex.Compare("<", col("x"), lit(9, INT)))))
    statistics = {"x": stats(INT, 1, 5)}
    bound = bind(deep, Schema([Field("x", INT)]), SPARK)
    actual = residuals(evaluate(bound, 1, [StatisticsProvider("column_stats", statistics)]), np.array([0]))
    assert sum(isinstance(node, ex.Compare) for node in ex.walk(actual.expressions[0])) == 1
    wide = ex.Or(tuple(ex.Compare("=", col("x"), lit(value, INT)) for value in range(10_000)))
    left = one_residual(wide, statistics)
    assert isinstance(left, ex.Or)
    assert len(left.children) == 5


@pytest.mark.parametrize(
    ("residual", "complete"),
    [
        (X_IS_5, True),
        (ex.And((X_IS_5, ex.Unknown("?"))), False),
        (ex.Compare("=", ex.Opaque("?"), lit(5, INT)), False),
        (ex.Compare("=", ex.Call("branches", (col("x"), lit(5, INT))), lit(5, INT)), False),
        (ex.Compare("=", ex.Call("coalesce", (col("x"), lit(5, INT))), lit(5, INT)), True),
    ],
    ids=str,
)
def test_what_was_not_understood_makes_a_residual_incomplete(residual: ex.HudiExpression, complete: bool) -> None:
    assert is_complete(residual) is complete
