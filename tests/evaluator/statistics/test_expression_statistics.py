"""C6 and C9: statistics of an expression narrow the outcome of a leaf over it, which still holds every row's value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.leaves import expression_of
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain.reasons import decisions
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DATE, INT, STRING
from evaluator.reference.row_functions import call
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import ColumnStatistics, from_values
from tests.evaluator.short_forms import SPARK, col, letters, lit
from tests.evaluator.strategies import SCHEMA, TYPES, Slice, exact_statistics, leaves, slices, values_of, weakened
from tests.sampling import examples

OF_TEXT = {"lower": STRING, "upper": STRING, "trim": STRING, "length": INT}
OF_DAYS = {"year": INT, "month": INT, "day": INT}
EXPRESSIONS = {
    (name, column): of for column, family in (("s", OF_TEXT), ("dt", OF_DAYS)) for name, of in family.items()
}


def exact_expression(function, column, parts: list[Slice]) -> ColumnStatistics:
    of = EXPRESSIONS[function, column]
    result = [[call(function, [(row[column], TYPES[column])], of) for row in part.rows] for part in parts]
    present = [[value for value in values if value is not None] for values in result]
    return from_values(
        of,
        [min(values, default=None) for values in present],
        [max(values, default=None) for values in present],
        [values.count(None) for values in result],
    )


def filters_of(parts: list[Slice]):
    """What a filter of the values of each expression answers, without false positives."""

    def might_contain(lookup, candidates):
        of = EXPRESSIONS.get((lookup.function, lookup.column.name))
        if of is None:
            return None
        return ~candidates | np.array(
            [
                any(
                    call(lookup.function, [(row[lookup.column.name], lookup.column.type)], of) in lookup.values
                    for row in part.rows
                )
                for part in parts
            ]
        )

    return might_contain


@st.composite
def expression_leaves(draw):
    function, column = draw(st.sampled_from(list(EXPRESSIONS)))
    of = EXPRESSIONS[function, column]
    operand = ex.Call(function, (col(column),))
    constants = st.integers(-1, 13) | st.sampled_from([2019, 2020]) if of is INT else values_of(STRING)
    constant = constants.map(lambda value: lit(value, of))
    match draw(st.sampled_from(["compare", "compare", "mirrored", "in", "null", "like"])):
        case "compare":
            return ex.Compare(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"])), operand, draw(constant))
        case "mirrored":
            return ex.Compare(draw(st.sampled_from(["=", "<", ">="])), draw(constant), operand)
        case "in":
            return ex.In(operand, tuple(draw(st.lists(constant, min_size=1, max_size=3))))
        case "like" if of is STRING:
            return ex.Like(operand, draw(st.text("ab%_z", max_size=4)))
        case _:
            return ex.IsNull(operand)


FILTERS = st.recursive(
    expression_leaves() | leaves(["s", "dt"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda c: ex.And(tuple(c))),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: ex.Or(tuple(c))),
        inner.map(ex.Not),
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("many", [False, True], ids=["few slices", "many slices"])
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(7, at_night=600))
@given(data=st.data())
def test_every_rows_value_stays_in_the_outcome_and_nothing_is_added_to_it(engine, many, data):
    semantics = Semantics.named(engine, "UTC")
    expression = data.draw(FILTERS)
    parts = data.draw(st.lists(slices(["s", "dt", "s2"]), min_size=1, max_size=3)) * (100 if many else 1)
    columns = {name: exact_statistics(name, parts) for name in ("s", "dt") if data.draw(st.booleans())}
    known = {key: exact_expression(*key, parts) for key in EXPRESSIONS if data.draw(st.booleans())}
    if not many:
        known = {key: weakened(one, data.draw) for key, one in known.items()}
    bound = bind(expression, SCHEMA, semantics)
    own = StatisticsProvider("column_stats", columns)

    filters = filters_of(parts) if data.draw(st.booleans()) else None
    actual = evaluate(bound, len(parts), [own, StatisticsProvider("expression_index", {}, filters, known)])
    without = evaluate(bound, len(parts), [own]).outcomes

    assert (actual.keep == (actual.outcomes & outcome.TRUE > 0)).all()
    assert (actual.outcomes & ~without == 0).all()
    for part, got in zip(parts[:3], actual.outcomes.tolist(), strict=False):
        for row in part.rows:
            try:
                value = value_of(expression, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            assert got & outcome.of_value(value), f"{expression} is {value} on {row}, but {outcome.describe(got)}"


def year_is(value):
    return ex.Compare("=", ex.Call("year", (col("dt"),)), lit(value, INT))


STATED = {("year", "dt"): from_values(INT, [2019, 2020, None], [2019, 2021, None], [0, 3, None])}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (year_is(2020), ["F", "TFN", "TFN"]),
        (year_is(2019), ["T", "FN", "TFN"]),
        (ex.Not(year_is(2019)), ["F", "TN", "TFN"]),
        (ex.IsNull(ex.Call("year", (col("dt"),))), ["F", "TF", "TF"]),
        (ex.In(ex.Call("year", (col("dt"),)), (lit(2022, INT), lit(2019, INT))), ["T", "FN", "TFN"]),
        (ex.Compare("=", ex.Call("month", (col("dt"),)), lit(1, INT)), ["TFN", "TFN", "TFN"]),
        (ex.Compare("=", ex.Call("year", (col("ts"),)), lit(2022, INT)), ["TFN", "TFN", "TFN"]),
        (
            ex.Compare("=", ex.Call("year", (ex.Call("date_add", (col("dt"), lit(1, INT))),)), lit(2022, INT)),
            ["TFN", "TFN", "TFN"],
        ),
        (ex.Compare("=", col("dt"), lit(0, DATE)), ["TFN", "TFN", "TFN"]),
    ],
    ids=str,
)
def test_only_the_very_same_function_of_the_very_same_column_is_answered(expression, expected):
    bound = bind(expression, SCHEMA, SPARK)
    actual = evaluate(bound, 3, [StatisticsProvider("expression_index", {}, None, STATED)])
    assert [letters(one) for one in actual.outcomes.tolist()] == expected
    assert actual.kept_rows.tolist() == [i for i, one in enumerate(expected) if "T" in one]


def test_a_char_column_is_not_the_column_that_was_indexed():
    test = bind(year_is(2020), SCHEMA, SPARK).leaves[0].test
    assert expression_of(test) == ("year", "dt")
    function = ex.Call("length", (col("vc"),))
    [leaf] = bind(ex.Compare("=", function, lit(3, INT)), SCHEMA, SPARK).leaves
    assert expression_of(leaf.test) == ("length", "vc")


def test_taking_slices_takes_their_expressions_along():
    some = StatisticsProvider("x", {}, None, STATED).take(np.array([1]), ["dt"])
    assert some.expressions["year", "dt"].lo.tolist() == [2020]
    assert not StatisticsProvider("x", {}, None, STATED).take(np.array([1]), ["s"]).expressions


def test_the_statistics_of_an_expression_are_named_in_the_explanation():
    bound = bind(year_is(2020), SCHEMA, SPARK)
    sources = [StatisticsProvider("expression_index", {}, None, STATED)]
    [texts] = decisions(evaluate(bound, 3, sources), sources, 0, 0)
    assert (texts.kind, texts.column, texts.outcome) == ("expression_index", "year(dt)", "{false}")
    assert "2019" in texts.statistic


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(6, at_night=400))
@given(data=st.data())
def test_filters_of_what_a_function_yields_lose_no_row(engine, data):
    semantics = Semantics.named(engine, "UTC")
    parts = data.draw(st.lists(slices(["s", "dt", "s2"]), min_size=1, max_size=4))

    def leaf():
        function, column = data.draw(st.sampled_from(list(EXPRESSIONS)))
        of, operand = EXPRESSIONS[function, column], ex.Call(function, (col(column),))
        rows = [row[column] for part in parts for row in part.rows if row[column] is not None]
        yielded = [call(function, [(value, TYPES[column])], of) for value in rows]
        yielded = yielded or [7 if of is INT else "NONE" if function == "upper" else "none"]
        values = [lit(value, of) for value in data.draw(st.lists(st.sampled_from(yielded), min_size=1, max_size=2))]
        return ex.In(operand, tuple(values)) if len(values) > 1 else ex.Compare("=", operand, values[0])

    first, second = leaf(), leaf()
    expression = data.draw(
        st.sampled_from(
            [
                first,
                ex.Or((first, second)),
                ex.And((first, second)),
                ex.Not(ex.And((ex.Not(first), second))),
                ex.And((first, ex.Not(second))),
            ]
        )
    )
    asked = []
    might_contain = filters_of(parts)

    def counting(lookup, candidates):
        asked.append(lookup)
        return might_contain(lookup, candidates)

    actual = evaluate(
        bind(expression, SCHEMA, semantics), len(parts), [StatisticsProvider("expression_index", {}, counting)]
    )
    outcomes = actual.outcomes.tolist()
    assert asked or not any(leaf.lookup for leaf in actual.bound.leaves)
    for part, got in zip(parts, outcomes, strict=True):
        for row in part.rows:
            try:
                value = value_of(expression, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            assert got & outcome.of_value(value), f"{expression} is {value} on {row}, but {outcome.describe(got)}"
