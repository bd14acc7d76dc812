"""Comparisons of one pair of columns are judged together: exactly what the orders of two values can make of them.

Pitfall P3 is described in docs/facts/pitfalls.md#p3.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, col, letters, outcome_of, stats
from tests.sampling import examples

HIVE4 = Semantics.named("hive4", "UTC")

TABLE = [
    ("x < y OR x >= y", 0, "T"),
    ("x < y OR x >= y", 2, "TN"),
    ("x < y AND x > y", 0, "F"),
    ("x < y AND y < x", 2, "FN"),
    ("NOT (x < y OR y <= x)", 0, "F"),
    ("x = y AND x != y", 0, "F"),
    ("x = y OR x < y OR x > y", 0, "T"),
    ("x <= y AND x >= y AND x != y", 0, "F"),
    ("x < y AND (x > y OR x = y)", 0, "F"),
    ("x < y AND x > 3 AND x > y", 0, "F"),
    ("x < y OR x > 300 OR x >= y", 0, "T"),
    ("NOT (x < y AND x > 300 AND x > y)", 0, "T"),
    ("x < y AND x IS NOT NULL AND x > y", 2, "FN"),
    ("x <=> y AND x < y", 2, "FN"),
    ("x <=> y OR x < y OR x > y", 0, "T"),
    ("x <=> y OR x < y OR x > y", 2, "TN"),
    ("NOT (x <=> y) AND x <= y AND x >= y", 0, "F"),
    ("x < y OR x > y", 0, "TF"),
    ("x < y OR y < 5", 0, "TF"),
]


@pytest.mark.parametrize("engine", [SPARK, HIVE, HIVE4], ids=["spark", "hive", "hive4"])
@pytest.mark.parametrize(("text", "nulls", "expected"), TABLE, ids=lambda value: str(value))
def test_comparisons_of_one_pair_are_judged_together(text: str, nulls: int, expected: str, engine: Semantics) -> None:
    known = {"x": stats(INT, 0, 9, nulls), "y": stats(BIGINT, 0, 9)}
    assert outcome_of(parse(text, engine.engine), known, engine) == expected


#: Ends that touch: leaf by leaf both members may be TRUE, together only where less (or equal) is possible.
TOUCHING = [
    ("x <= y AND x != y", (5, 9), (0, 5), "F"),
    ("x >= y AND x != y", (0, 5), (5, 9), "F"),
    ("x >= y AND y >= x", (5, 9), (0, 5), "TF"),
    ("x <= y AND x >= y", (5, 9), (0, 4), "F"),
    ("x < y OR x = y", (0, 5), (5, 9), "T"),
    ("NOT (x > y) AND NOT (x = y)", (5, 9), (0, 5), "F"),
]


@pytest.mark.parametrize(("text", "of_x", "of_y", "expected"), TOUCHING, ids=lambda value: str(value))
def test_ends_that_touch_leave_equal_values(text, of_x, of_y, expected) -> None:
    assert outcome_of(parse(text, "spark"), {"x": stats(INT, *of_x), "y": stats(INT, *of_y)}) == expected


@pytest.mark.parametrize(
    ("of_x", "of_y"),
    [
        (STRING, STRING),
        (DATE, DATE),
        (DATE, TIMESTAMP),
        (decimal_type(9, 2), decimal_type(9, 2)),
        (decimal_type(38, 0), BIGINT),
        (INT, decimal_type(9, 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", [SPARK, HIVE4], ids=["spark", "hive4"])
def test_bounds_need_not_be_known(of_x: Type, of_y: Type, engine: Semantics) -> None:
    known = {"x": stats(of_x, None, None), "y": stats(of_y, None, None)}
    assert "T" not in outcome_of(parse("x < y AND x > y", "spark"), known, engine)
    assert "F" not in outcome_of(parse("x < y OR x >= y", "spark"), known, engine)


@pytest.mark.parametrize("of", [FLOAT, DOUBLE])
def test_nan_has_an_order_in_spark_only(of: Type) -> None:
    """P3: a NaN that is neither less than y nor at least y makes NOT of both TRUE."""
    expression = parse("NOT (x < y) AND NOT (x >= y)", "spark")
    known = {"x": stats(of, None, None), "y": stats(of, 0.0, 1.0)}
    assert outcome_of(expression, known, SPARK) == "F"
    assert outcome_of(expression, known, HIVE4) == "TF"


def test_functions_of_columns_are_a_pair_in_spark() -> None:
    known = {"x": stats(INT, 0, 9), "y": stats(INT, 0, 9)}
    expression = parse("x + 1 < y AND x + 1 > y", "spark")
    assert outcome_of(expression, known) == "F"
    assert outcome_of(expression, known, HIVE4) == "TF"
    assert outcome_of(parse("x + 1 < y AND x + 2 > y", "spark"), known) == "TF"


@pytest.mark.parametrize(
    ("side", "in_hive"),
    [
        ("CAST(x AS bigint)", "F"),
        ("CAST(x AS int)", "F"),
        ("CAST(y AS int)", "TF"),
        ("CAST(x + 1 AS bigint)", "TF"),
        ("CAST(t AS date)", "TF"),
    ],
)
def test_columns_in_another_type_are_a_pair_in_hive_where_each_value_stays(side: str, in_hive: str) -> None:
    known = {
        "x": stats(INT, 0, 9),
        "y": stats(BIGINT, 0, 9),
        "d": stats(DATE, 0, 9),
        "t": stats(TIMESTAMP, 0, 9 * 86_400_000_000),
    }
    other = {"d": "t", "t": "d"}.get(side[5], "y")
    text = f"{side} < {other} AND {side} > {other}"
    assert outcome_of(parse(text, "spark"), known, SPARK) == "F"
    assert outcome_of(parse(text, "spark"), known, HIVE4) == in_hive


@pytest.mark.parametrize("text", ["x + rand() < y AND x + rand() > y", "x * rand() < y AND x * rand() >= y"])
def test_two_random_numbers_are_not_one_value(text: str) -> None:
    known = {"x": stats(DOUBLE, 0.0, 9.0), "y": stats(DOUBLE, 0.0, 9.0)}
    assert "T" in outcome_of(parse(text, "spark"), known)


def test_results_of_two_conditionals_are_not_one_value() -> None:
    either = ex.Call("branches", (col("x"), col("z")))
    both = ex.And((ex.Compare("<", either, col("y")), ex.Compare(">", either, col("y"))))
    assert "T" in outcome_of(both, {name: stats(INT, 0, 9) for name in "xyz"})


def pair_trees() -> st.SearchStrategy[ex.HudiExpression]:
    sides = st.sampled_from([(col("x"), col("y")), (col("y"), col("x"))])
    leaf = st.builds(
        lambda op, pair: ex.Compare(op, *pair), st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), sides
    )

    def joined(child: st.SearchStrategy[ex.HudiExpression]) -> st.SearchStrategy[ex.HudiExpression]:
        some = st.lists(child, min_size=2, max_size=3).map(tuple)
        return st.one_of(st.builds(ex.And, some), st.builds(ex.Or, some), st.builds(ex.Not, child))

    return st.recursive(leaf, joined, max_leaves=6)


@settings(max_examples=examples(70, at_night=5_000))
@given(st.data())
def test_the_outcome_of_two_ranges_is_that_of_their_values(data: st.DataObject) -> None:
    expression = data.draw(pair_trees())
    ends = [sorted(data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))) for _ in "xy"]
    nulls = data.draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
    values = [[*range(lo, hi + 1), *[None] * null] for (lo, hi), null in zip(ends, nulls, strict=True)]
    schema = Schema([Field("x", INT), Field("y", INT)])
    united = outcome.EMPTY
    for x in values[0]:
        for y in values[1]:
            united |= outcome.of_value(value_of(expression, {"x": x, "y": y}, schema, SPARK))
    known = {
        name: from_values(INT, [lo], [hi], [null], [len(of) + 5])
        for name, (lo, hi), null, of in zip("xy", ends, nulls, values, strict=True)
    }
    got, exact = outcome_of(expression, known), letters(united)
    assert set(exact) <= set(got)
    is_null_safe = any(isinstance(node, ex.Compare) and node.op == "<=>" for node in ex.walk(expression))
    if not is_null_safe or nulls == (0, 0):
        assert got.replace("N", "") == exact.replace("N", "")


@settings(max_examples=examples(47, at_night=5_000))
@given(st.data())
def test_the_outcome_of_doubles_with_nan_holds_every_value(data: st.DataObject) -> None:
    expression = data.draw(pair_trees())
    numbers = st.sampled_from([None, -1.0, -0.0, 0.0, 2.5, math.inf, math.nan])
    rows = data.draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3))
    schema = Schema([Field("x", DOUBLE), Field("y", DOUBLE)])
    known = {}
    for at, name in enumerate("xy"):
        plain = [row[at] for row in rows if row[at] is not None]
        has_bounds = bool(plain) and not any(map(math.isnan, plain))
        lo, hi = (min(plain), max(plain)) if has_bounds else (None, None)
        known[name] = from_values(DOUBLE, [lo], [hi], [len(rows) - len(plain)], [len(rows)])
    got = outcome_of(expression, known)
    for x, y in rows:
        value = outcome.of_value(value_of(expression, {"x": x, "y": y}, schema, SPARK))
        assert set(letters(value)) <= set(got)


def test_thousands_of_slices_have_the_outcomes_of_each_alone() -> None:
    ends = [(lo, hi) for lo in range(60) for hi in range(lo, 60)]
    known = {
        "x": from_values(INT, [lo for lo, _ in ends], [hi for _, hi in ends], [0] * len(ends), [9] * len(ends)),
        "y": from_values(INT, [20] * len(ends), [40] * len(ends), [0] * len(ends), [9] * len(ends)),
    }
    bound = bind(parse("x <= y AND x != y AND x > 3", "spark"), Schema([Field("x", INT), Field("y", INT)]), SPARK)
    evaluation = evaluate(bound, len(ends), [StatisticsProvider("column_stats", known)])
    assert evaluation.keep.tolist() == [lo < 40 and hi > 3 for lo, hi in ends]
