"""Columns whose declared type is not the stored one: a cell for each pair, and every reader's rows in the outcome."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.declared_types import NUMBERS, Seen, seen
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import BIGINT, INT, STRING, Kind, Type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from tests.evaluator.short_forms import HIVE, NULL, col, letters, lit, outcome_of, reasons_of, stats
from tests.sampling import examples

#: Each declared type with the stored types of which every reader shows the stored value, its own type apart.
SAME = {
    "string": ["varchar(3)", "varchar(5)"],
    "varchar(3)": [],
    "varchar(5)": ["varchar(3)"],
    "char(3)": ["varchar(3)"],
    "char(5)": ["char(3)", "varchar(3)", "varchar(5)"],
    "boolean": [],
    "tinyint": [],
    "smallint": ["tinyint"],
    "int": ["tinyint", "smallint"],
    "bigint": ["tinyint", "smallint", "int"],
    "float": [],
    "double": [],
    "decimal(10,2)": [],
    "decimal(12,2)": ["decimal(10,2)"],
    "decimal(12,4)": [],
    "decimal(9,1)": [],
    "date": [],
    "timestamp": [],
    "timestamp with local time zone": [],
    "binary": [],
    "array<int>": [],
}
#: Each declared type with the stored types of which a reader may show the first characters.
PREFIX = {
    "varchar(3)": ["string", "varchar(5)"],
    "varchar(5)": ["string"],
    "char(3)": ["string", "varchar(5)"],
    "char(5)": ["string"],
}


@pytest.mark.parametrize("stored", SAME)
@pytest.mark.parametrize("declared", SAME)
def test_each_pair_of_declared_and_stored_type_is_one_cell_of_the_table(declared: str, stored: str) -> None:
    if declared == stored or stored in SAME[declared]:
        expected = Seen.VALUE
    elif (declared, stored) == ("timestamp", "timestamp with local time zone"):
        expected = Seen.MOMENT
    else:
        expected = Seen.PREFIX if stored in PREFIX.get(declared, ()) else Seen.UNKNOWN
    assert seen(Type.parse(declared), Type.parse(stored)) is expected
    assert seen(None, Type.parse(stored)) is Seen.VALUE


def _constant(of: Type) -> ex.Literal:
    value: Any = {Kind.BOOLEAN: True, Kind.STRING: "a", Kind.VARCHAR: "a", Kind.CHAR: "a", Kind.BINARY: b"a"}.get(
        of.kind, 1
    )
    return lit(value, of)


@pytest.mark.parametrize("declared", SAME)
def test_no_operation_decides_what_is_not_known_to_be_the_stored_value(declared: str) -> None:
    declared_type = Type.parse(declared)
    column, constant = col("c", declared_type), _constant(declared_type)
    operations: list[ex.HudiExpression] = [
        *(ex.Compare(op, column, constant) for op in ("=", "!=", "<=>", "<", "<=", ">", ">=")),
        ex.Compare("=", column, col("c")),
        ex.Compare("=", ex.Cast(column, STRING), lit("a", STRING)),
        ex.Compare("=", ex.Call("coalesce", (column, constant)), constant),
        ex.In(column, (constant,)),
        ex.Not(ex.In(column, (constant, NULL))),
        ex.Like(column, "a%"),
        ex.IsNull(column),
        ex.Not(ex.IsNull(column)),
    ]
    for stored in map(Type.parse, SAME):
        if seen(declared_type, stored) is Seen.UNKNOWN:
            why = f"column c is {stored} in the table but {declared} in the filter"
            for operation in operations:
                assert reasons_of(operation, [("c", stored)], HIVE) == [why]


TEXT = ("e00012", "e00099")


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (lambda c: ex.Compare("=", c, lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare("!=", c, lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare("<=>", c, lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare("<", c, lit("e00", STRING)), "F"),
        (lambda c: ex.Compare("<=", c, lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare(">", c, lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare("=", c, lit("e01", STRING)), "F"),
        (lambda c: ex.Compare("=", c, lit("d", STRING)), "F"),
        (lambda c: ex.In(c, (lit("e00", STRING), lit("x", STRING))), "TF"),
        (lambda c: ex.In(c, (lit("d00", STRING), lit("x", STRING))), "F"),
        (lambda c: ex.Not(ex.In(c, (lit("e00", STRING), NULL))), "FN"),
        (lambda c: ex.IsNull(c), "F"),
        (lambda c: ex.Like(c, "e00"), "TF"),
        (lambda c: ex.Like(c, "e00_%"), "TF"),
        (lambda c: ex.Like(c, "e01%"), "F"),
        (lambda c: ex.Like(c, "e00%"), "T"),
        (lambda c: ex.Compare("=", ex.Call("upper", (c,)), lit("E00", STRING)), "TF"),
        (lambda c: ex.Compare("=", ex.Call("upper", (c,)), lit("F00", STRING)), "F"),
        (lambda c: ex.Compare("=", ex.Cast(c, STRING), lit("e00", STRING)), "TF"),
        (lambda c: ex.Compare("=", ex.Call("length", (c,)), lit(3, INT)), "TF"),
    ],
)
def test_a_text_declared_shorter_than_stored_may_be_its_first_characters(filter_: Any, expected: str) -> None:
    column = col("s", Type(Kind.VARCHAR, 3))
    assert outcome_of(filter_(column), {"s": stats(STRING, *TEXT)}, HIVE) == expected


def test_keys_of_a_text_declared_shorter_than_stored_are_looked_up_in_no_index() -> None:
    column, schema = col("s", Type(Kind.VARCHAR, 3)), Schema([Field("s", STRING)])
    for filter_ in (
        ex.Compare("=", column, lit("e00", STRING)),
        ex.In(column, (lit("e00", STRING),)),
        ex.Compare("=", ex.Call("lower", (column,)), lit("e00", STRING)),
    ):
        bound = bind(filter_, schema, HIVE)
        assert [leaf.lookup for leaf in bound.leaves] == [None] * len(bound.leaves)
        assert all(leaf.reason is None for leaf in bound.leaves)


@pytest.mark.parametrize("declared", [INT, None])
def test_a_field_of_a_struct_declared_in_another_letter_case_may_be_read_as_null(declared: Type | None) -> None:
    schema = Schema([Field("st", Type(Kind.OTHER, name="struct<Xy:int>")), Field("st.Xy", INT)])
    bound = bind(ex.Compare("=", ex.Column(("ST", "xy"), declared), lit(1, INT)), schema, HIVE)
    assert [leaf.reason for leaf in bound.leaves] == [
        "column ST.xy is st.Xy in the table: it may be read as NULL" if declared else None
    ]


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (lambda t: ex.IsNull(t), "TF"),
        (lambda t: ex.Compare("=", t, lit(1_572_847_175_555_000, Type(Kind.TIMESTAMP))), "TFN"),
        (lambda t: ex.Compare("<", t, lit(1_572_847_175_555_000, Type(Kind.TIMESTAMP))), "TFN"),
        (lambda t: ex.Compare("<", t, lit(1_572_847_175_554_000, Type(Kind.TIMESTAMP))), "FN"),
        (lambda t: ex.Compare(">", t, lit(1_572_847_175_555_514, Type(Kind.TIMESTAMP))), "FN"),
    ],
)
def test_an_instant_declared_as_a_timestamp_may_be_null_or_lose_its_microseconds(filter_: Any, expected: str) -> None:
    """Hudi's readers under Hive 3.1.3: NULL from base files, 2019-11-04 05:59:35.555 from log files."""
    stored = Type.parse("timestamp with local time zone")
    moment = stats(stored, 1_572_847_175_555_514, 1_572_847_175_555_514)
    assert outcome_of(filter_(col("t", Type(Kind.TIMESTAMP))), {"t": moment}, HIVE) == expected


TEXTS = st.text("ab \u00e9\U0001f600", max_size=6)
CONSTANTS = TEXTS.map(lambda text: lit(text, STRING))


@st.composite
def filters_of(draw: st.DrawFn, column: ex.Column) -> ex.HudiExpression:
    operand: ex.Operand = draw(
        st.sampled_from([column, column, ex.Call("upper", (column,)), ex.Call("substr", (column, lit(2, INT)))])
    )
    leaf: ex.HudiExpression = draw(
        st.one_of(
            st.builds(
                lambda op, c: ex.Compare(op, operand, c), st.sampled_from(["=", "!=", "<", ">=", "<=>"]), CONSTANTS
            ),
            st.lists(CONSTANTS, min_size=1, max_size=3).map(lambda cs: ex.In(operand, tuple(cs))),
            st.text("ab%_", max_size=4).map(lambda pattern: ex.Like(operand, pattern)),
            st.just(ex.IsNull(operand)),
        )
    )
    return ex.Not(leaf) if draw(st.booleans()) else leaf


@settings(max_examples=examples(58, at_night=3000))
@given(data=st.data())
def test_the_outcome_holds_the_value_of_each_row_as_every_reader_shows_it(data: st.DataObject) -> None:
    """Oracle: a row is evaluated with its whole text, its first characters, and these padded and trimmed (CHAR)."""
    length = data.draw(st.integers(1, 4))
    declared = Type(data.draw(st.sampled_from([Kind.VARCHAR, Kind.CHAR])), length)
    filter_ = data.draw(filters_of(col("s", declared)))
    slices = data.draw(st.lists(st.lists(st.none() | TEXTS, min_size=1, max_size=4), min_size=1, max_size=3))
    semantics = Semantics.named(data.draw(st.sampled_from(ENGINES)), "UTC")
    present = [[text for text in texts if text is not None] for texts in slices]
    known = from_values(
        STRING,
        [min(texts, default=None) for texts in present],
        [max(texts, default=None) for texts in present],
        [len(texts) - len(some) for texts, some in zip(slices, present, strict=True)],
        [len(texts) for texts in slices],
    )
    bound = bind(filter_, Schema([Field("s", STRING)]), semantics)
    outcomes = evaluate(bound, len(slices), [StatisticsProvider("column_stats", {"s": known})]).outcomes.tolist()
    for index, texts in enumerate(slices):
        assert outcomes[index] == evaluate_slice(bound, {"s": interval_at(known, index)})
        for text in texts:
            for shown in {None} if text is None else _readings(text, declared):
                try:
                    value = value_of(filter_, {"s": shown}, Schema([Field("s", STRING)]), semantics)
                except UnsupportedError:
                    continue  # some texts beside CHAR have no row form
                assert outcomes[index] & outcome.of_value(value), f"{filter_} on {shown!r}: {letters(outcomes[index])}"


def _readings(text: str, declared: Type) -> set[str]:
    cut = text[: declared.precision]
    return {text, cut} if declared.kind is Kind.VARCHAR else {text, cut, cut.ljust(declared.precision), cut.rstrip(" ")}


INSTANT = Type(Kind.TIMESTAMP_LTZ)


@pytest.mark.parametrize(("unit", "expected"), [("micros", "F"), ("millis", "T"), ("nanos", None), ("", None)])
def test_an_instant_declared_as_bigint_is_the_number_in_the_file(unit: str, expected: str | None) -> None:
    """Hudi's Hive sync declares every timestamp so. Real Hive: tests/handler/planning/hive/test_hive_units.py."""
    assert seen(BIGINT, INSTANT, unit) is (Seen.NUMBER if expected else Seen.UNKNOWN)
    schema = Schema([Field("t", INSTANT, unit=unit)])
    bound = bind(ex.Compare("<", col("t", BIGINT), lit(1_700_000_000_001, BIGINT)), schema, HIVE)
    moment = stats(INSTANT, 1_700_000_000_000_000, 1_700_000_000_000_999)
    if expected:
        assert letters(evaluate_slice(bound, {"t": interval_at(moment, 0)})) == expected
    else:
        assert [leaf.reason for leaf in bound.leaves] == [
            f"column t is {INSTANT} in the table but bigint in the filter"
        ]
    assert [leaf.lookup for leaf in bound.leaves] == [None] * len(bound.leaves)


NUMBERS_NEAR = st.integers(-3, 3).map(lambda n: 1_700_000_000_000_000 + 500 * n) | st.integers(-5_000, 5_000)


@settings(max_examples=examples(58, at_night=3000))
@given(data=st.data())
def test_the_outcome_of_an_instant_as_a_number_holds_every_row(data: st.DataObject) -> None:
    """Oracle: a row is evaluated with the number that its file holds."""
    unit, size = data.draw(st.sampled_from(sorted(NUMBERS.items())))
    slices = data.draw(st.lists(st.lists(st.none() | NUMBERS_NEAR, min_size=1, max_size=4), min_size=1, max_size=3))
    column = col("t", BIGINT)
    constants = NUMBERS_NEAR.map(lambda n: lit(n // size, BIGINT))
    operands: list[ex.Operand] = [column, ex.Call("+", (column, lit(1, BIGINT))), ex.Cast(column, Type(Kind.STRING))]
    leaf: ex.HudiExpression = data.draw(
        st.one_of(
            st.builds(
                lambda op, of, c: ex.Compare(op, of, ex.Cast(c, STRING) if isinstance(of, ex.Cast) else c),
                st.sampled_from(["=", "!=", "<", ">=", "<=>"]),
                st.sampled_from(operands),
                constants,
            ),
            st.lists(constants, min_size=1, max_size=3).map(lambda cs: ex.In(column, tuple(cs))),
            st.just(ex.IsNull(column)),
        )
    )
    filter_ = ex.Not(leaf) if data.draw(st.booleans()) else leaf
    present = [[one // size for one in rows if one is not None] for rows in slices]
    known = from_values(
        INSTANT,
        [None if not rows else min(rows) * size for rows in present],
        [None if not rows else max(rows) * size + size - 1 for rows in present],
        [len(rows) - len(some) for rows, some in zip(slices, present, strict=True)],
        [len(rows) for rows in slices],
    )
    semantics = Semantics.named(data.draw(st.sampled_from(["hive", "hive3", "hive4"])), "UTC")
    bound = bind(filter_, Schema([Field("t", INSTANT, unit=unit)]), semantics)
    outcomes = evaluate(bound, len(slices), [StatisticsProvider("column_stats", {"t": known})]).outcomes.tolist()
    for index, rows in enumerate(slices):
        assert outcomes[index] == evaluate_slice(bound, {"t": interval_at(known, index)})
        for row in rows:
            number = None if row is None else row // size
            value = value_of(filter_, {"t": number}, Schema([Field("t", BIGINT)]), semantics)
            assert outcomes[index] & outcome.of_value(value), f"{filter_} on {number}: {letters(outcomes[index])}"
