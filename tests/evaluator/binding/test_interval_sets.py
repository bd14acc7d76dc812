"""Conditions on one column are judged together: exactly what some value of the range can make of them.

Pitfalls P3 and P10 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.leaves import IntervalSets
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BOOLEAN, DATE, DOUBLE, FLOAT, INT, STRING, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, NULL, SPARK, col, letters, lit, outcome_of, stats
from tests.sampling import examples

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "<=>")


def on_x(of: Type, values: list[object]) -> st.SearchStrategy[ex.HudiExpression]:
    """Trees of conditions on the column x."""
    constants = st.sampled_from(values).map(lambda value: lit(value, of))
    compared = st.builds(ex.Compare, st.sampled_from(OPERATORS), st.just(col("x")), constants)
    listed = st.builds(
        lambda members, null: ex.In(col("x"), (*members, *[NULL] * null)),
        st.lists(constants, min_size=1, max_size=3) | st.lists(constants, min_size=4, max_size=9),
        st.booleans(),
    )
    leaf = st.one_of(compared, compared, listed, st.just(ex.IsNull(col("x"))))

    def joined(child: st.SearchStrategy[ex.HudiExpression]) -> st.SearchStrategy[ex.HudiExpression]:
        some = st.lists(child, min_size=2, max_size=3).map(tuple)
        return st.one_of(st.builds(ex.And, some), st.builds(ex.Or, some), st.builds(ex.Not, child))

    return st.recursive(leaf, joined, max_leaves=6)


def of_rows(expression: ex.HudiExpression, of: Type, rows: list[object]) -> int:
    schema = Schema([Field("x", of)])
    united = outcome.EMPTY
    for value in rows:
        united |= outcome.of_value(value_of(expression, {"x": value}, schema, SPARK))
    return united


@settings(max_examples=examples(70, at_night=5_000))
@given(st.data())
def test_the_outcome_of_a_range_of_integers_is_that_of_its_values(data: st.DataObject) -> None:
    of, least, greatest = data.draw(st.sampled_from([(INT, 0, 9), (DATE, 18_000, 18_009), (BOOLEAN, 0, 1)]))
    values = [bool(v) if of == BOOLEAN else v for v in range(least, greatest + 1)]
    expression = data.draw(on_x(of, values))
    lo = data.draw(st.integers(least, greatest))
    hi = data.draw(st.integers(lo, greatest))
    nulls = data.draw(st.integers(0, 1))
    rows = [value for value in values if lo <= value <= hi]
    known = {"x": from_values(of, [rows[0]], [rows[-1]], [nulls], [len(rows) + nulls])}
    got, exact = outcome_of(expression, known), letters(of_rows(expression, of, [*rows, *[None] * nulls]))
    # x IS NOT NULL AND x = 0 stays leaf by leaf, where NULL is possible: the commonest filters cost nothing more
    assert got.replace("N", "") == exact.replace("N", "")
    assert set(exact) <= set(got)


@settings(max_examples=examples(47, at_night=5_000))
@given(st.data())
def test_the_outcome_holds_every_value_between(data: st.DataObject) -> None:
    of, values = data.draw(
        st.sampled_from(
            [
                (STRING, ["", "a", "ab", "b", "ba", "c"]),
                (DOUBLE, [-1.0, -0.5, 0.5, 1.0, 2.0]),
                (decimal_type(5, 1), [Decimal("0.0"), Decimal("0.5"), Decimal("1.0"), Decimal("1.5")]),
            ]
        )
    )
    expression = data.draw(on_x(of, values))
    rows = sorted(data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=3)))
    got = outcome_of(expression, {"x": stats(of, rows[0], rows[-1])})
    assert set(letters(of_rows(expression, of, rows))) <= set(got)


TIGHT = [
    ("x > 0 AND x < 0", INT, (-5, 5), 0, "F"),
    ("x BETWEEN 200 AND 100", INT, (0, 300), 1, "FN"),
    ("x > 5 AND x < 6", INT, (0, 9), 0, "F"),
    ("x > 5 AND x < 6", DOUBLE, (0.0, 9.0), 0, "TF"),
    ("x NOT IN (5, 6) OR x IS NULL", INT, (7, 9), 2, "T"),
    ("x IS NULL OR x > 0", INT, (1, 9), 2, "T"),
    ("x IS NULL AND x > 0", INT, (1, 9), 2, "FN"),
    ("x <= 5 OR x > 5", INT, (0, 9), 0, "T"),
    ("x <= 5 OR x > 5", INT, (0, 9), 1, "TN"),
    ("x = 1 OR x = 2", INT, (1, 2), 0, "T"),
    ("x = 1 OR x = 5", INT, (1, 5), 0, "TF"),
    ("(x < 5 OR x > 90) AND x > 7 AND x < 80", INT, (0, 200), 0, "F"),
    ("x IN (1, 100) AND x < 50", INT, (5, 200), 0, "F"),
    ("x = 3 AND NOT (x > 2)", INT, (0, 9), 0, "F"),
    ("NOT (x >= 3 AND x <= 1)", INT, (0, 9), 0, "T"),
    ("x LIKE 'a%' AND x LIKE 'b%'", STRING, ("a", "z"), 0, "F"),
    ("x LIKE 'a%' AND x NOT LIKE 'a%'", STRING, ("a", "z"), 0, "F"),
    ("x = 'a' AND x = 'b'", STRING, ("a", "z"), 0, "F"),
    ("x > 5.0D AND x < 3.0D", DOUBLE, (0.0, 9.0), 0, "F"),
    ("x <=> 3 AND x IS NULL", INT, (0, 9), 3, "F"),
    ("x NOT IN (1, NULL) OR x = 1", INT, (0, 9), 0, "TN"),
    ("x IN (3, 1, 2)", INT, (1, 3), 0, "T"),
    ("x IN (3, 1, 2)", INT, (1, 3), 2, "TN"),
    ("x IN (3, 1, 2)", INT, (0, 3), 0, "TF"),
    ("x IN (1, 2, 7, 8)", INT, (7, 8), 0, "T"),
    ("x IN (1, 2, 7, 8)", INT, (2, 7), 0, "TF"),
    ("x IN (1, 2, 7, 8)", INT, (3, 6), 0, "F"),
    ("x NOT IN (1, 2, 3)", INT, (1, 3), 0, "F"),
    ("x NOT IN (1, 2, 3)", INT, (1, 4), 0, "TF"),
    ("x IN (1, 2, 3, NULL)", INT, (2, 3), 0, "T"),
    ("x NOT IN (1, 2, 3, NULL)", INT, (1, 4), 0, "FN"),
    ("NOT (x NOT IN (1, 2))", INT, (1, 2), 0, "T"),
    ("x IN (DATE '2020-02-28', DATE '2020-03-01', DATE '2020-02-29')", DATE, (18320, 18322), 0, "T"),
    ("x IN (DATE '2020-02-28', DATE '2020-03-01')", DATE, (18320, 18322), 0, "TF"),
    ("x NOT IN (TRUE, FALSE)", BOOLEAN, (False, True), 0, "F"),
    ("x IN (TRUE, FALSE)", BOOLEAN, (None, None), 0, "T"),
    ("x > TRUE AND x > FALSE", BOOLEAN, (None, None), 0, "F"),
    ("NOT NOT x IN (TRUE, FALSE)", BOOLEAN, (None, None), 0, "T"),
    ("NOT NOT x IN (1, 2)", INT, (1, 2), 0, "T"),
    ("x IN (1.0BD, 2.0BD)", decimal_type(5, 1), (Decimal("1.0"), Decimal("2.0")), 0, "TF"),
    ("x IN (1.0D, 2.0D)", DOUBLE, (1.0, 2.0), 0, "TF"),
]


@pytest.mark.parametrize("engine", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize(("text", "of", "ends", "nulls", "expected"), TIGHT, ids=lambda value: str(value))
def test_conditions_on_one_column_are_judged_together(text, of, ends, nulls, expected, engine) -> None:
    assert outcome_of(parse(text, engine.engine), {"x": stats(of, *ends, nulls)}, engine) == expected


@pytest.mark.parametrize("of", [FLOAT, DOUBLE])
def test_nan_may_be_anything_where_bounds_are_not_known(of: Type) -> None:
    """P3: an engine that finds neither NaN >= 5 nor NaN < 5 makes both of these TRUE under NOT."""
    expression = parse("NOT (x >= 5.5D) AND NOT (x < 5.5D)", "spark")
    assert outcome_of(expression, {"x": stats(of, None, None)}) == "TF"
    assert outcome_of(expression, {"x": stats(of, 0.0, 9.0)}) == "F"
    assert outcome_of(expression, {"x": stats(of, 0.0, math.inf)}) == "F"


def test_a_condition_that_spark_folds_may_be_anything_on_null() -> None:
    """P10: x < 300 of a tinyint is TRUE for NULL, too, in Spark, and NULL in Hive."""
    assert outcome_of(parse("x < 99999999999 OR x IS NULL", "spark"), {"x": stats(INT, 0, 9, 3)}) == "T"
    assert outcome_of(parse("x > 99999999999 AND x > 5", "spark"), {"x": stats(INT, 0, 9, 3)}) == "FN"


def test_columns_and_parts_apart_keep_their_own_conditions() -> None:
    known = {"x": stats(INT, -5, 5), "y": stats(INT, 1, 9)}
    assert outcome_of(parse("x > 0 AND y = 2 AND x < 0", "spark"), known) == "F"
    assert outcome_of(parse("x > 0 AND (y = 2 AND x < 0)", "spark"), known) == "F"
    assert outcome_of(parse("NOT (x <= 0 OR y = 2 OR x > 0)", "spark"), known) == "F"
    assert outcome_of(parse("(x <= 0 OR x > 0) AND y > 0", "spark"), known) == "T"
    assert outcome_of(parse("x <= 0 OR y = 77 OR x > 0", "spark"), known) == "T"


@pytest.mark.parametrize(
    "text",
    [
        "x >= 1 AND x < 5",
        "x BETWEEN 3 AND 3",
        "x = 4 AND x IS NOT NULL",
        "x = 1 OR x = 5",
        "x < 5 OR x > 90",
        "x > 1 AND y < 2",
        "x IN (1, 3) OR x IS NOT NULL AND y = 1",
        "x NOT IN (1, 3, 5)",
    ],
)
def test_nothing_is_added_where_leaf_by_leaf_is_as_tight(text: str) -> None:
    bound = bind(parse(text, "spark"), Schema([Field("x", INT), Field("y", INT)]), SPARK)
    assert not any(isinstance(leaf.test, IntervalSets) for leaf in bound.leaves)


def test_functions_of_a_column_are_no_conditions_on_it() -> None:
    expression = parse("s >= 'a' AND cast(s AS INT) <= 5 AND s < 'A'", "spark")
    assert outcome_of(expression, {"s": stats(STRING, "!", "z")}) == "FN"


def test_a_list_beside_another_column_keeps_the_intervals_that_it_fills() -> None:
    known = {"x": stats(INT, 1, 3), "y": stats(INT, 1, 9)}
    assert outcome_of(parse("x NOT IN (1, 2, 3) OR y = 77", "spark"), known) == "F"
    assert outcome_of(parse("NOT (x NOT IN (1, 2, 3) OR y = 77)", "spark"), known) == "T"
    assert outcome_of(parse("x IN (1, 2, 3) AND y > 0", "spark"), known) == "T"


def test_a_list_of_many_intervals_is_left_as_it_is() -> None:
    members = ", ".join(f"{number}, {number + 1}" for number in range(0, 600, 3))
    bound = bind(parse(f"x IN ({members})", "spark"), Schema([Field("x", INT)]), SPARK)
    assert len(bound.leaves) == 1


def test_many_conditions_are_left_leaf_by_leaf() -> None:
    each = [f"x > {number} AND x < {number}" for number in range(200)]
    bound = bind(parse(" OR ".join(each), "spark"), Schema([Field("x", INT)]), SPARK)
    assert not any(isinstance(leaf.test, IntervalSets) for leaf in bound.leaves)


def test_thousands_of_slices_have_the_outcomes_of_each_alone() -> None:
    ends = [(lo, hi) for lo, hi in itertools.product(range(-20, 60), range(-20, 60)) if lo <= hi]
    known = from_values(INT, [lo for lo, _ in ends], [hi for _, hi in ends], [0] * len(ends), [5] * len(ends))
    expression = parse("(x < 5 OR x > 20) AND x > 7 AND x NOT IN (30, 31)", "spark")
    bound = bind(expression, Schema([Field("x", INT)]), SPARK)
    evaluation = evaluate(bound, len(ends), [StatisticsProvider("column_stats", {"x": known})])
    wanted = [any((v < 5 or v > 20) and v > 7 and v not in (30, 31) for v in range(lo, hi + 1)) for lo, hi in ends]
    assert evaluation.keep.tolist() == wanted
