"""C7: numbers of several types in one condition, beside 2^24, 2^53 and 2^63, where doubles and floats are rounded.

Spark's answers to such conditions are in ``tests/handler/planning/test_spark_edges.py``.
"""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.literal import nearest_float
from evaluator.language.outcome import FALSE, TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, FLOAT, INT, Kind, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from tests.sampling import examples

D20, D18 = decimal_type(20, 0), decimal_type(18, 2)
SCHEMA = Schema(
    [
        Field("i", INT),
        Field("l", BIGINT),
        Field("f", FLOAT),
        Field("d", DOUBLE),
        Field("d20", D20),
        Field("d18", D18),
    ]
)
EDGES = [sign * (1 << bits) for bits in (24, 53, 62) for sign in (1, -1)]
INTEGERS = st.builds(lambda edge, step: edge + step, st.sampled_from([0, 0, *EDGES]), st.integers(-4, 4))
P53 = 1 << 53


def number(value, of):
    """An integer in the value form of a type; None where the type does not hold it."""
    match of.kind:
        case Kind.FLOAT:
            return nearest_float(float(value))
        case Kind.DOUBLE:
            return float(value)
        case Kind.DECIMAL:
            return Decimal(value) if abs(value) < 10 ** (of.precision - of.scale) else None
        case _:
            low, high = of.integer_range()
            return value if low <= value <= high else None


def numbers(of):
    """Numbers of a type beside the edges, with digits behind the point where it has some."""
    whole = INTEGERS.map(lambda n: number(n, of)).filter(lambda n: n is not None)
    return whole | whole.map(lambda n: n + Decimal("0.25")) if of == D18 else whole


TYPES = (INT, BIGINT, FLOAT, DOUBLE, D20, D18)
LITERALS = (
    st.sampled_from(TYPES).flatmap(lambda of: numbers(of).map(lambda n: ex.Literal(n, of)))
    | st.sampled_from([FLOAT, DOUBLE]).map(lambda of: ex.Literal(1.5, of))
    | st.sampled_from([*TYPES, Type(Kind.VOID)]).map(lambda of: ex.Literal(None, of))
    | INTEGERS.map(lambda n: ex.Literal(Decimal(n) + Decimal("1e-9"), decimal_type(30, 9)))
)


def outcomes_of(expression, field, parts, engine="spark"):
    """The outcomes of slices, given by their values."""
    present = [[value for value in part if value is not None] for part in parts]
    statistics = from_values(
        field.type,
        [min(part, default=None) for part in present],
        [max(part, default=None) for part in present],
        [len(part) - len(kept) for part, kept in zip(parts, present, strict=True)],
        [len(part) for part in parts],
    )
    bound = bind(expression, SCHEMA, Semantics.named(engine, "UTC"))
    return evaluate(bound, len(parts), [StatisticsProvider("rows", {field.name: statistics})]).outcomes.tolist()


@settings(max_examples=examples(78, at_night=4000))
@given(data=st.data())
def test_a_list_of_mixed_numbers_holds_the_value_of_every_row(data):
    field = data.draw(st.sampled_from(list(SCHEMA)))
    column = ex.Column((field.name,))
    members = tuple(data.draw(st.lists(LITERALS, min_size=1, max_size=4)))
    filter_ = data.draw(st.sampled_from([ex.In(column, members), ex.Not(ex.In(column, members))]))
    # Beside the members, so that they meet.
    near = [
        number(int(m.value) + step, field.type) for m in members if m.value is not None for step in (-2, -1, 0, 1, 2)
    ]
    pool = numbers(field.type) | st.none() | st.sampled_from([None, *near])
    parts = data.draw(st.lists(st.lists(pool, min_size=1, max_size=3), min_size=1, max_size=4))

    outcomes = outcomes_of(filter_, field, parts)

    for part, actual in zip(parts, outcomes, strict=True):
        for value in part:
            try:
                answer = value_of(filter_, {field.name: value}, SCHEMA, Semantics.named("spark", "UTC"))
            except UnsupportedError:
                continue
            assert actual & outcome.of_value(answer), f"{filter_} is {answer} on {value!r}"


LIT = ex.Literal
LISTS = [
    ("l", P53, [LIT(1.5, DOUBLE), LIT(P53 + 1, BIGINT)]),
    ("l", P53 + 1, [LIT(None, DOUBLE), LIT(P53, BIGINT)]),
    ("l", (1 << 24) + 1, [LIT(0.5, FLOAT), LIT(1 << 24, BIGINT)]),
    ("i", (1 << 24) + 1, [LIT(0.5, FLOAT), LIT(1 << 24, INT)]),
    ("d20", Decimal(P53 + 1), [LIT(0.5, FLOAT), LIT(P53, BIGINT)]),
    ("d20", Decimal(P53 + 1), [LIT(P53, BIGINT), LIT(1e3, DOUBLE), LIT(Decimal("1.5"), decimal_type(2, 1))]),
    ("i", 5, [LIT(1.5, DOUBLE), LIT(Decimal("5.00000000000000000001"), decimal_type(21, 20))]),
    ("d20", Decimal(5), [LIT(1.5, DOUBLE), LIT(Decimal("5.000000000000000001"), decimal_type(19, 18))]),
]


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "spark-legacy"])
@pytest.mark.parametrize(("name", "value", "members"), LISTS, ids=range(len(LISTS)))
def test_one_double_or_float_rounds_the_whole_list(name, value, members, engine):
    field = SCHEMA.resolve(name, case_sensitive=False)
    in_list = ex.In(ex.Column((name,)), tuple(members))

    assert outcomes_of(in_list, field, [[value]], engine)[0] & TRUE
    assert outcomes_of(ex.Not(in_list), field, [[value]], engine)[0] & FALSE


def test_a_mixed_list_still_skips_what_no_rounding_reaches():
    field = SCHEMA.resolve("l", case_sensitive=False)
    in_list = ex.In(ex.Column(("l",)), (LIT(1.5, DOUBLE), LIT(5, INT), LIT(P53 + 1, BIGINT)))

    assert outcomes_of(in_list, field, [[4], [5], [6, P53 - 100], [P53 + 1], [P53 + 100]]) == [
        FALSE,
        TRUE,
        FALSE,
        TRUE,
        FALSE,
    ]


def test_a_cast_to_double_rounds_the_constant_too():
    near_five = LIT(Decimal("5.00000000000000000001"), decimal_type(21, 20))
    for name in ("i", "l"):
        field = SCHEMA.resolve(name, case_sensitive=False)
        filter_ = ex.Compare("=", ex.Cast(ex.Column((name,)), DOUBLE), near_five)
        assert outcomes_of(filter_, field, [[5], [8]])[0] & TRUE
        assert outcomes_of(filter_, field, [[5], [8]])[1] == FALSE


def test_decimals_without_a_common_decimal_may_be_rounded():
    field = SCHEMA.resolve("d20", case_sensitive=False)
    filter_ = ex.Compare("=", ex.Column(("d20",)), LIT(Decimal("5.00000000000000000001"), decimal_type(21, 20)))

    assert outcomes_of(filter_, field, [[Decimal(5)]])[0] & TRUE
    assert outcomes_of(filter_, field, [[Decimal(7)]])[0] == FALSE


def test_bounds_of_mixed_numbers_are_not_decided_in_hive_where_doubles_leave_numbers_out():
    field = SCHEMA.resolve("l", case_sensitive=False)
    column = ex.Column(("l",))
    for high, decided in ((P53 + 1, False), (100, True)):
        between = ex.And((ex.Compare(">=", column, LIT(1.5, DOUBLE)), ex.Compare("<=", column, LIT(high, BIGINT))))
        assert (outcomes_of(between, field, [[P53 + 2]], "hive4")[0] == FALSE) is decided


P24 = 1 << 24


def _between(name, low, high):
    column = ex.Column((name,))
    return ex.And((ex.Compare(">=", column, low), ex.Compare("<=", column, high)))


def _nullif(name, other):
    column = ex.Column((name,))
    return ex.If(ex.Compare("=", column, other), LIT(None, Type(Kind.VOID)), column)


#: Conditions that Hive 4.0.1 answers so for a value; see tests/handler/planning/hive/test_hive_edges.py.
ASKED_OF_HIVE = {
    "a decimal rounds to a float at once": (
        *("f", float(P24 + 2)),
        ex.In(ex.Column(("f",)), (LIT(Decimal("16777217.000000000001"), decimal_type(20, 12)),)),
        TRUE,
    ),
    "a float rounds the other bound of a BETWEEN": (
        *("d18", Decimal("16777215.01")),
        _between("d18", LIT(0.5, FLOAT), LIT(16777215, BIGINT)),
        TRUE,
    ),
    "a bound that is not decided may round the other one": (
        *("d18", Decimal("16777215.01")),
        _between("d18", ex.Opaque("a function that is not decided"), LIT(16777215, BIGINT)),
        TRUE,
    ),
    "least rounds all of its arguments": (
        *("f", float(P53)),
        ex.Compare(
            "=",
            ex.Call("least", (ex.Column(("f",)), LIT(Decimal("9007199254740991.25"), D18))),
            LIT(float(P53), FLOAT),
        ),
        TRUE,
    ),
    "greatest rounds all of its arguments": (
        *("d20", Decimal(P53 - 1)),
        ex.Compare("<", ex.Call("greatest", (ex.Column(("d20",)), LIT(5.0, FLOAT))), LIT(P53, BIGINT)),
        FALSE,
    ),
    "a float is cast to decimal by its digits": (
        *("f", float(P53)),
        ex.Compare(">", ex.Cast(ex.Column(("f",)), D20), LIT(P53 + 1, BIGINT)),
        TRUE,
    ),
    "nullif casts a fraction to an integer": (
        *("l", 0),
        ex.IsNull(_nullif("l", LIT(0.5, FLOAT))),
        TRUE,
    ),
    "a list of numbers that are no values of the column is FALSE for NULL": (
        *("l", None),
        ex.Not(ex.In(ex.Column(("l",)), (LIT(Decimal("5.25"), decimal_type(3, 2)), LIT(float(1 << 63), DOUBLE)))),
        TRUE,
    ),
}


@pytest.mark.parametrize("engine", ["hive3", "hive"])
def test_a_list_beside_a_double_beyond_the_columns_range_holds_the_greatest_integer_in_hive_3(engine):
    field = SCHEMA.resolve("i", case_sensitive=False)
    in_list = ex.In(ex.Column(("i",)), (LIT(5, INT), LIT(float(1 << 63), DOUBLE)))

    assert outcomes_of(in_list, field, [[(1 << 31) - 1]], engine)[0] & TRUE


@pytest.mark.parametrize("engine", ["hive3", "hive4", "hive"])
@pytest.mark.parametrize("case", ASKED_OF_HIVE)
def test_numbers_that_hive_rounds_are_kept(case, engine):
    name, value, filter_, answer = ASKED_OF_HIVE[case]
    field = SCHEMA.resolve(name, case_sensitive=False)

    assert outcomes_of(filter_, field, [[value]], engine)[0] & answer


def test_bounds_of_few_digits_are_decided_beside_a_double_in_hive():
    field = SCHEMA.resolve("d18", case_sensitive=False)
    filter_ = _between("d18", LIT(1.5, DOUBLE), LIT(100, BIGINT))

    assert outcomes_of(filter_, field, [[Decimal("100.01")], [Decimal("99.99")]], "hive4") == [FALSE, TRUE]


def test_nullif_with_a_constant_of_the_columns_type_is_decided_in_hive():
    field = SCHEMA.resolve("l", case_sensitive=False)

    assert outcomes_of(ex.IsNull(_nullif("l", LIT(0, INT))), field, [[0], [5]], "hive4") == [TRUE, FALSE]


@pytest.mark.parametrize(("literal", "expected"), [(decimal_type(38, 10), "TF"), (decimal_type(38, 5), "TFN")])
@pytest.mark.parametrize("engine", ["hive", "hive3", "hive4"])
def test_hive_converts_no_decimal_of_38_digits_to_its_own_type(literal: Type, expected: str, engine: str) -> None:
    """A common type of two others may not hold a number, which is NULL then. Of one type nothing is converted.

    Hive 3 finds ``d38 <=> 99999999999999999999999999999999999999`` TRUE for NULL: the constant is NULL.
    """
    of = decimal_type(38, 10)
    known = {"x": from_values(of, [Decimal("10.5")], [Decimal("20.5")], [0], [9])}
    expression = ex.Compare("=", ex.Column(("x",)), ex.Literal(Decimal("10.5"), literal))
    bound = bind(expression, Schema([Field("x", of)]), Semantics.named(engine, "UTC"))
    [got] = evaluate(bound, 1, [StatisticsProvider("column_stats", known)]).outcomes.tolist()
    longest = ex.Compare("=", ex.Column(("x",)), ex.Literal(Decimal("9" * 28 + "." + "9" * 10), of))
    bound = bind(longest, Schema([Field("x", of)]), Semantics.named(engine, "UTC"))
    [of_longest] = evaluate(bound, 1, [StatisticsProvider("column_stats", known)]).outcomes.tolist()
    assert outcome.describe(of_longest) == "{false, null}"
    assert outcome.describe(got) == {"TF": "{true, false}", "TFN": "{true, false, null}"}[expected]
