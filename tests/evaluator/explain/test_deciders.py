"""What decided a skipped slice: the conditions that are named are enough, and the index kinds answered them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.statistics_provider import Match
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.evaluation.statistics_evaluation import outcomes_of
from evaluator.explain import deciders as module
from evaluator.explain.deciders import BY_FILTER, KEPT, TOGETHER, SkipDecision, deciders
from evaluator.language import expression as ex
from evaluator.language.outcome import TRUE, UNKNOWN
from evaluator.language.schema import Field, Schema
from evaluator.language.types import INT
from evaluator.statistics.columns import from_values
from tests.evaluator.short_forms import SPARK, col, lit
from tests.evaluator.strategies import SCHEMA, exact_statistics, filters, slices, weakened
from tests.sampling import examples

COLUMNS = ["b", "i", "s", "dt", "d"]
AB = Schema([Field("a", INT), Field("b", INT)])


@settings(max_examples=examples(39, at_night=3_000))
@given(data=st.data())
def test_the_conditions_named_are_enough_to_skip_the_slice(data: st.DataObject) -> None:
    expression = data.draw(filters(COLUMNS))
    columns = ex.column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=6))
    providers = [
        StatisticsProvider(name, {column: weakened(exact_statistics(column, parts), data.draw) for column in columns})
        for name in ("first", "second")
    ]
    bound = bind(expression, SCHEMA, SPARK)
    evaluation = evaluate(bound, len(parts), providers)
    found = deciders(evaluation, len(parts))
    assert ((found.of_slice == KEPT) == evaluation.keep).all()
    assert [int((found.of_slice == number).sum()) for number in range(len(found.counts))] == list(found.counts)
    for number, decision in enumerate(found.decisions):
        rows = np.flatnonzero(found.of_slice == number)

        def only_those_named(leaf: int, rows=rows, decision=decision):
            named = leaf in decision.conditions
            return evaluation.leaf_at(leaf, rows) if named else np.full(len(rows), UNKNOWN, np.uint8)

        assert not (outcomes_of(bound.program, only_those_named, len(rows)) & TRUE).any()
        for kind in set(decision.kinds) - {BY_FILTER, TOGETHER}:
            sought = bound.program.sought_values()
            assert any(
                ((evaluation.leaves[leaf].by_provider[kind][rows] & sought[leaf].bit) == 0).all()
                for leaf in decision.conditions
                if kind in evaluation.leaves[leaf].by_provider
            )


def decided(expression, *providers, n=3):
    bound = bind(expression, AB, SPARK)
    found = deciders(evaluate(bound, n, providers), n)
    return [None if number == KEPT else found.decisions[number] for number in found.of_slice]


def of(name, **columns):
    return StatisticsProvider(
        name, {column: from_values(INT, lo=lo, hi=hi, null_count=[0] * len(lo)) for column, (lo, hi) in columns.items()}
    )


BOTH = of("column_stats", a=([1, 5, 9], [4, 8, 12]), b=([1, 1, 50], [9, 9, 60]))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # AND: the first condition that is impossible
        (
            ex.And((ex.Compare(">", col("a"), lit(6, INT)), ex.Compare(">", col("b"), lit(20, INT)))),
            [SkipDecision((0,), ("column_stats",)), SkipDecision((1,), ("column_stats",)), None],
        ),
        # OR: all of them
        (
            ex.Or((ex.Compare(">", col("a"), lit(6, INT)), ex.Compare(">", col("b"), lit(20, INT)))),
            [SkipDecision((0, 1), ("column_stats",)), None, None],
        ),
        # a condition under NOT is impossible where it is always true
        (ex.Not(ex.Compare("<", col("a"), lit(5, INT))), [SkipDecision((0,), ("column_stats",)), None, None]),
        (ex.Constant(False), [SkipDecision((0,), (BY_FILTER,))] * 3),
    ],
)
def test_the_first_conditions_that_suffice_are_named(expression, expected):
    assert decided(expression, BOTH) == expected


def test_of_several_kinds_the_one_that_was_asked_first_is_named():
    filter_ = ex.Compare(">", col("a"), lit(6, INT))
    own = of("own", a=([1, 5, 9], [4, 6, 12]))
    first, second, third = decided(filter_, BOTH, own)
    assert (first, second, third) == (SkipDecision((0,), ("column_stats",)), SkipDecision((0,), ("own",)), None)


def test_an_index_of_whole_rows_is_named_with_its_conditions():
    filter_ = ex.And((ex.Compare(">", col("a"), lit(0, INT)), ex.Compare(">", col("b"), lit(0, INT))))

    def match(_, candidates):
        return Match(np.array([False, True, True]), (0, 1))

    rows = StatisticsProvider("rows", {}, filter_might_match=match)
    assert decided(filter_, BOTH, rows) == [SkipDecision((0, 1), ("rows",)), None, None]


def test_the_slices_are_decided_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    n = 3000
    provider = of("column_stats", a=(list(range(n)), list(range(n))))
    filter_ = ex.And((ex.Compare(">", col("a"), lit(1000, INT)), ex.Compare("<", col("a"), lit(1500, INT))))
    found = decided(filter_, provider, n=n)
    assert found[:1001] == [SkipDecision((0,), ("column_stats",))] * 1001
    assert found[1001:1500] == [None] * 499
    assert found[1500:] == [SkipDecision((1,), ("column_stats",))] * 1500
