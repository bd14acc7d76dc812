"""Why not more was skipped: causes, and how much each alone keeps."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.program import And, Leaf, Not
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain.pruning_blockers import PruningBlocker, pruning_blockers
from evaluator.explain.source_filter import SourceFilter, source_filter
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BINARY, BOOLEAN, DATE, DOUBLE, INT, STRING, TINYINT, Type, decimal_type
from evaluator.statistics.columns import ColumnStatistics, from_values
from evaluator.statistics.distrust import Trust, reason
from evaluator.statistics.range_width import typical_range_width
from tests.evaluator.short_forms import SPARK, col, lit
from tests.evaluator.strategies import SCHEMA, exact_statistics, filters, slices, weakened
from tests.sampling import examples

COLUMNS = ["b", "i", "s", "dt", "d"]


def run_tree(written: SourceFilter, outcomes: list[int]) -> int:
    """The filter's outcome from its written leaves' outcomes, one slice."""
    stack: list[int] = []
    for step in written.program.steps:
        if isinstance(step, Leaf):
            stack.append(outcomes[step.index])
        elif isinstance(step, Not):
            stack.append(outcome.NOT_TABLE[stack.pop()])
        else:
            table, result = (
                (outcome.AND_TABLE, outcome.TRUE) if isinstance(step, And) else (outcome.OR_TABLE, outcome.FALSE)
            )
            for _ in range(step.arity):
                result = table[result << 3 | stack.pop()]
            stack.append(result)
    return stack[0]


@settings(max_examples=examples(23, at_night=3_000))
@given(data=st.data())
def test_alone_is_what_would_be_skipped_if_the_condition_were_impossible(data: st.DataObject) -> None:
    expression = data.draw(filters(COLUMNS))
    columns = ex.column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=6))
    statistics = {name: weakened(exact_statistics(name, parts), data.draw) for name in columns}
    source = StatisticsProvider("column_stats", statistics)
    bound = bind(expression, SCHEMA, SPARK)
    evaluation = evaluate(bound, len(parts), [source])
    written = source_filter(bound)
    rows = evaluation.kept_rows

    actual = pruning_blockers(evaluation, [source])

    per_leaf = [leaf.outcomes(evaluation, rows).tolist() for leaf in written.leaves]
    expected: dict[str, list[int]] = {}
    for number, leaf in enumerate(written.leaves):
        sought, impossible = (
            (outcome.FALSE, outcome.TRUE) if leaf.sought is TruthValue.FALSE else (outcome.TRUE, outcome.FALSE)
        )
        text = ex.to_text(
            leaf.node if sought == outcome.TRUE or isinstance(leaf.node, ex.Unknown) else ex.Not(leaf.node)
        )
        counts = expected.setdefault(text, [0, 0])
        for place in range(len(rows)):
            now = [column[place] for column in per_leaf]
            assert run_tree(written, now) & outcome.TRUE
            if now[number] & sought and now[number] != sought:
                counts[0] += 1
                now[number] = impossible
                counts[1] += not run_tree(written, now) & outcome.TRUE
    got: dict[str, list[int]] = {text: [0, 0] for text in expected}
    for one in actual:
        got[one.condition][0] += one.open
        got[one.condition][1] += one.alone
    assert got == expected
    assert [(one.alone, one.open) for one in actual] == sorted(((one.alone, one.open) for one in actual), reverse=True)


def test_the_answer_does_not_depend_on_how_many_slices_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 5_000
    rng = np.random.default_rng(4)
    lows = rng.integers(0, 50, n)
    statistics = {
        "x": from_values(INT, lows.tolist(), (lows + 20).tolist(), [0] * n, [9] * n),
        "y": from_values(INT, [None] * n, [None] * n),
    }
    expression = ex.Or((ex.Compare("<", col("x"), lit(30, INT)), ex.Compare("=", col("y"), lit(1, INT))))
    bound = bind(expression, Schema([Field("x", INT), Field("y", INT)]), SPARK)
    source = StatisticsProvider("column_stats", statistics)
    whole = pruning_blockers(evaluate(bound, n, [source]), [source])
    monkeypatch.setattr("evaluator.explain.pruning_blockers.CHUNK_BYTES", 0)
    chunked = pruning_blockers(evaluate(bound, n, [source]), [source])
    assert [(o.condition, o.cause, o.open, o.alone) for o in chunked] == [
        (o.condition, o.cause, o.open, o.alone) for o in whole
    ]
    assert whole[0].condition == "y = 1"


def the_obstacles(
    expression: ex.HudiExpression, statistics: dict[str, ColumnStatistics], n: int
) -> list[PruningBlocker]:
    schema = Schema([Field("x", INT), Field("y", INT), Field("z", INT)])
    bound = bind(expression, schema, SPARK)
    source = StatisticsProvider("column_stats", statistics)
    return list(pruning_blockers(evaluate(bound, n, [source]), [source]))


X_IS_5, Y_IS_5 = (ex.Compare("=", col(name), lit(5, INT)) for name in "xy")
WIDE = from_values(INT, [0, 0, 10], [10, 10, 20], [0, 0, 0], [5, 5, 5])
NARROW = from_values(INT, [0, 4, 990], [4, 6, 1000], [0, 0, 0], [5, 5, 5])
NOTHING = from_values(INT, [None] * 3, [None] * 3)


def doubted(trust: Trust) -> ColumnStatistics:
    return replace(NOTHING, trust=np.full(3, trust, np.uint8))


@pytest.mark.parametrize(
    ("expression", "statistics", "expected"),
    [
        (
            X_IS_5,
            {"x": WIDE},
            [("range", 2, 2, "in a typical slice x covers 50 % of its range in the table", "")],
        ),
        (
            X_IS_5,
            {"x": NARROW},
            [("range", 1, 1, "in a typical slice x covers less than 1 % of its range in the table", "")],
        ),
        (X_IS_5, {}, [("no statistics", 3, 3, "no statistics of column x", "")]),
        (X_IS_5, {"x": NOTHING}, [("no statistics", 3, 3, "the bounds are not known", "")]),
        (
            X_IS_5,
            {"x": doubted(Trust.NO_RECORD)},
            [("no statistics", 3, 3, reason(Trust.NO_RECORD), "")],
        ),
        (
            X_IS_5,
            {"x": doubted(Trust.NAN_ZERO)},
            [("not trusted", 3, 3, reason(Trust.NAN_ZERO), "")],
        ),
        (ex.Unknown("a subquery is not decided"), {}, [("not decided", 3, 3, "a subquery is not decided", "")]),
        (
            ex.IsNull(col("x")),
            {"x": NOTHING},
            [("no statistics", 3, 3, "the null counts are not known", "")],
        ),
        (
            ex.IsNull(col("x")),
            {"x": from_values(INT, [1] * 3, [9] * 3, [2] * 3, [5] * 3)},
            [("nulls", 3, 3, "x holds NULL beside values, or may", "")],
        ),
        (
            ex.Compare("=", ex.Cast(col("x"), TINYINT), lit(5, TINYINT)),
            {"x": from_values(INT, [0] * 3, [4000] * 3, [0] * 3, [5] * 3)},
            [("not decided", 3, 3, "CAST(x AS tinyint) is not decided on the bounds of most slices", "")],
        ),
        (
            ex.Compare("<", col("x"), col("y")),
            {"x": WIDE, "y": WIDE},
            [("range", 3, 3, "the ranges of x and y overlap", "")],
        ),
        (ex.Compare(">=", col("x"), lit(0, INT)), {"x": WIDE}, []),
    ],
    ids=str,
)
def test_every_cause_has_its_words(
    expression: ex.HudiExpression,
    statistics: dict[str, ColumnStatistics],
    expected: list[tuple[str, int, int, str, str]],
) -> None:
    actual = the_obstacles(expression, statistics, 3)
    assert [(o.cause, o.open, o.alone, o.reason, o.remedy) for o in actual] == expected


def test_a_condition_under_or_keeps_what_the_one_beside_it_rules_out() -> None:
    first, second, *more = the_obstacles(ex.Or((X_IS_5, Y_IS_5)), {"x": NARROW}, 3)
    assert not more
    assert (first.condition, first.open, first.alone, first.beside) == ("y = 5", 3, 2, ("x = 5",))
    assert first.sentence == ("y = 5: no statistics of column y; it alone keeps 2 file slices")
    assert (second.condition, second.open, second.alone, second.beside) == ("x = 5", 1, 0, ("y = 5",))
    assert second.sentence.endswith("in 1 file slice of those kept; y = 5, beside it under OR, would still keep them")


def test_not_turns_and_into_or() -> None:
    actual = the_obstacles(ex.Not(ex.And((X_IS_5, ex.Not(Y_IS_5)))), {"x": from_values(INT, [5], [5], [0], [1])}, 1)
    assert [(o.condition, o.alone, o.beside) for o in actual] == [("y = 5", 1, ("NOT x = 5",))]


X_IS_NOT_5 = ex.Compare("!=", col("x"), lit(5, INT))


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        (ex.Not(X_IS_5), "NOT x = 5"),
        (X_IS_NOT_5, "x != 5"),
        (ex.Not(ex.In(col("x"), (lit(3, INT), lit(5, INT)))), "NOT x IN (3, 5)"),
    ],
    ids=str,
)
def test_a_condition_keeps_its_not_and_only_one_value_rules_it_out(
    expression: ex.HudiExpression, condition: str
) -> None:
    first, *_ = the_obstacles(expression, {"x": WIDE}, 3)
    assert (first.condition, first.cause, first.remedy) == (condition, "range", "")
    assert first.reason == "a slice with more than one value of x may hold a match"


def test_a_pattern_without_a_prefix_is_ruled_out_by_one_value_only() -> None:
    schema = Schema([Field("s", STRING)])
    source = StatisticsProvider("column_stats", {"s": from_values(STRING, ["a", "c"], ["b", "d"])})
    for expression in (
        ex.Like(col("s"), "%BRASS"),
        ex.Not(ex.Like(col("s"), "%BRASS")),
        ex.Not(ex.Like(col("s"), "b%x")),
    ):
        bound = bind(expression, schema, SPARK)
        [blocker] = pruning_blockers(evaluate(bound, 2, [source]), [source])
        assert (blocker.condition, blocker.remedy) == (ex.to_text(expression), "")
        assert blocker.reason == "a slice with more than one value of s may hold a match"


def test_what_was_not_understood_is_named_once() -> None:
    [actual] = the_obstacles(ex.Unknown("a subquery is not decided"), {}, 3)
    assert actual.sentence == "a subquery is not decided; were it decided, up to 3 more file slices could be skipped"
    assert actual.to_dict() == {
        "condition": "?(a subquery is not decided)",
        "columns": [],
        "cause": "not decided",
        "reason": "a subquery is not decided",
        "open": 3,
        "alone": 3,
        "beside": [],
        "remedy": "",
    }


def test_a_list_of_two_thousand_conditions_is_explained() -> None:
    wide = ex.Or(tuple(ex.Compare("=", col("x"), lit(value, INT)) for value in range(2_000)))
    deep: ex.HudiExpression = X_IS_5
    for _ in range(2_000):
        deep = ex.Not(ex.And((deep, Y_IS_5)))
    assert len(the_obstacles(wide, {"x": WIDE}, 3)) == 21
    assert sum(o.open for o in the_obstacles(deep, {"x": NARROW}, 3)) > 0


# -- how wide a typical slice is


@pytest.mark.parametrize(
    ("column_type", "lo", "hi", "expected"),
    [
        (INT, [0, 0, 50], [100, 50, 100], 0.5),
        (INT, [0, 5, 10], [0, 5, 10], 0.0),
        (INT, [7, 7], [7, 7], 0.0),
        (INT, [None, 0], [None, 10], 1.0),
        (INT, [None], [None], None),
        (DOUBLE, [0.0, 1.0], [1.0, 4.0], 0.5),
        (DOUBLE, [-1e308, 0.0], [1e308, 1e308], 0.0),
        (BOOLEAN, [False, False], [True, False], 0.5),
        (DATE, [0, 10], [10, 100], 0.5),
        (decimal_type(30, 2), [Decimal(0), Decimal(1)], [Decimal(1), Decimal(4)], 0.5),
        (STRING, ["id-a", "id-b"], ["id-b", "id-c"], 0.5),
        (STRING, ["a", "a"], ["a", "a"], 0.0),
        (STRING, ["", "é"], ["é", "é"], 0.5),
        (BINARY, [b"\0", b"\x40"], [b"\x80", b"\xff"], 0.62),
    ],
    ids=str,
)
def test_the_typical_share_of_the_tables_range(
    column_type: Type, lo: list[Any], hi: list[Any], expected: float | None
) -> None:
    actual = typical_range_width([from_values(column_type, lo, hi)], np.arange(len(lo)))
    assert actual == (None if expected is None else pytest.approx(expected, abs=0.02))


def test_the_source_that_knows_most_is_measured() -> None:
    little = from_values(INT, [0, None, None], [100, None, None])
    much = from_values(INT, [0, 10, 20], [10, 20, 40])
    assert typical_range_width([little, much], np.arange(3)) == pytest.approx(0.25)
    assert typical_range_width([], np.arange(3)) is None
