"""IF and CASE: the branches that a slice can take, by the condition's own outcome."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse
from tests.evaluator.short_forms import SPARK, col, lit, outcome_of, stats

LETTERS = {True: "T", False: "F", None: "N"}
ROWS = st.lists(st.tuples(*[st.none() | st.integers(-3, 3)] * 2), min_size=1, max_size=4)
OPERANDS = st.sampled_from([col("x"), col("y"), *(lit(n, INT) for n in range(-2, 3)), lit(None, INT)])
LEAVES = st.one_of(
    st.builds(ex.Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), OPERANDS, OPERANDS),
    st.builds(ex.IsNull, st.sampled_from([col("x"), col("y")])),
    st.builds(
        lambda *members: ex.In(col("x"), members),
        OPERANDS.filter(lambda o: isinstance(o, ex.Literal)),
        st.just(lit(1, INT)),
    ),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(ex.Not, inner),
        st.builds(lambda *parts: ex.And(parts), inner, inner),
        st.builds(lambda *parts: ex.Or(parts), inner, inner),
    ),
    max_leaves=3,
)
CHOICES = st.recursive(OPERANDS, lambda inner: st.builds(ex.If, CONDITIONS, inner, inner), max_leaves=4)


def statistics_of(values: list[int | None]):
    present = [value for value in values if value is not None]
    return from_values(
        INT, [min(present, default=None)], [max(present, default=None)], [len(values) - len(present)], [len(values)]
    )


@given(ROWS, CHOICES, st.sampled_from(["=", "<", ">=", "<=>"]), OPERANDS)
def test_every_row_of_a_conditional_is_in_the_outcome(rows, choice, op, other):
    schema = Schema([Field("x", INT), Field("y", INT)])
    columns = {name: statistics_of([row[i] for row in rows]) for i, name in enumerate(("x", "y"))}
    for leaf in (ex.Compare(op, choice, other), ex.IsNull(choice), ex.Not(ex.Compare(op, other, choice))):
        actual = outcome_of(leaf, columns, schema=schema)
        for x, y in rows:
            assert LETTERS[value_of(leaf, {"x": x, "y": y}, schema, SPARK)] in actual


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ex.Compare("<", col("x"), lit(10, INT)), "T"),
        (ex.Compare(">", col("x"), lit(10, INT)), "F"),
        (ex.Compare("<", col("x"), lit(2, INT)), "TF"),
        (ex.IsNull(col("x")), "F"),
        (ex.Unknown("of any kind"), "TF"),
        (ex.Compare("=", col("nowhere"), lit(1, INT)), "TF"),
        (ex.Constant(True), "T"),
        (ex.Constant(None), "F"),
        (ex.Compare("<", col("x"), lit(None, INT)), "F"),
        (ex.Not(ex.In(col("x"), (lit(9, INT), lit(None, INT)))), "F"),
        (ex.And((ex.Compare("<", col("x"), lit(10, INT)), ex.Unknown("too"))), "TF"),
        (ex.And((ex.Compare(">", col("x"), lit(10, INT)), ex.Unknown("too"))), "F"),
    ],
    ids=str,
)
def test_a_branch_is_taken_only_where_the_condition_may_be_true(condition, expected):
    leaf = ex.Compare("=", ex.If(condition, lit(1, INT), col("y")), lit(1, INT))
    assert outcome_of(leaf, {"x": stats(INT, 1, 3), "y": stats(INT, 2, 2)}) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [(ex.Constant(True), "T"), (ex.Constant(None), "F"), (ex.Unknown("of any kind"), "TFN")],
    ids=str,
)
def test_a_conditional_of_constants_is_a_constant_if_it_is_one_value(condition, expected):
    leaf = ex.Compare("=", ex.If(condition, lit(1, INT), lit(2, INT)), lit(1, INT))
    assert outcome_of(leaf, {"x": stats(INT, 1, 3)}) == expected


@pytest.mark.parametrize(
    ("column_type", "lo", "hi", "constant", "taken"),
    [
        (STRING, "a", "c", lit("d", STRING), False),
        (STRING, "a", "c", lit("b", STRING), True),
        (DOUBLE, 1.0, 2.0, lit(3, INT), False),
        (DATE, 18_000, 18_010, lit("2019-04-25", STRING), False),
        (decimal_type(10, 2), 1, 2, lit(2, INT), True),
        (decimal_type(10, 2), 1, 2, lit(3, INT), False),
    ],
    ids=str,
)
def test_the_condition_reads_constants_like_a_filter(column_type: Type, lo, hi, constant, taken):
    condition = ex.Compare(">=", col("x"), constant)
    leaf = ex.Compare("=", ex.If(condition, lit(1, INT), lit(2, INT)), lit(1, INT))
    assert ("T" in outcome_of(leaf, {"x": stats(column_type, lo, hi)})) is taken


def test_the_condition_of_many_slices_is_decided_slice_by_slice():
    from evaluator.binding.bind import bind
    from evaluator.evaluation.evaluate import StatisticsProvider, evaluate

    n = 3000
    x = from_values(INT, list(range(n)), list(range(n)), [0] * n, [1] * n)
    leaf = ex.Compare(
        "=", ex.If(ex.Compare("<", col("x"), lit(10, INT)), lit("low", STRING), lit("high", STRING)), lit("low", STRING)
    )
    actual = evaluate(bind(leaf, Schema([Field("x", INT)]), SPARK), n, [StatisticsProvider("column_stats", {"x": x})])
    assert actual.outcomes.tolist() == [TRUE] * 10 + [FALSE] * (n - 10)
    assert NULL not in actual.outcomes


@pytest.mark.parametrize(
    ("text", "of", "ends", "in_hive3", "in_hive4"),
    [
        ("if(x > 1, x, 1) = -9223372036854775808", BIGINT, (-(1 << 63), 1), "TF", "F"),
        ("if(x > 1, x, 1) = -7", BIGINT, (-7, 1), "F", "F"),
        ("if(x > 1, x, 1) = -7", BIGINT, (None, 0), "TF", "F"),
        ("if(x < 9223372036854775807, 1, 2) = 2", BIGINT, (-7, 1), "TF", "F"),
        ("if(x < 9223372036854775807, 1, 2) = 2", INT, (-7, 1), "TF", "F"),
        ("if(x < 5000000000, 1, 2) = 2", INT, (None, 1), "F", "F"),
    ],
)
def test_hive_3_compares_far_numbers_by_a_difference_that_wraps(text, of, ends, in_hive3, in_hive4) -> None:
    for engine, expected in (("hive3", in_hive3), ("hive4", in_hive4)):
        known = {"x": stats(of, *ends)}
        assert outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC")) == expected


def test_far_numbers_that_are_null_are_no_numbers() -> None:
    known = {"x": stats(BIGINT, None, None, nulls=10, rows=10)}
    assert outcome_of(parse("if(x > 1, 1, 2) = 1", "hive3"), known, Semantics.named("hive3", "UTC")) == "F"
