"""Bounds of expressions: whatever rows a file has, and whatever the engine, the outcome holds every row's value."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind, bind_operand
from evaluator.binding.canonical_keys import canonical_key
from evaluator.binding.leaves import expression_keys
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, decimal_type
from evaluator.reference.row_oracle import value_of
from index_store.own.builders import expressions
from index_store.own.builders.expressions import Expression, from_json, to_json
from index_store.own.builders.sketching import SketchPlan
from tests.evaluator.strategies import MOMENTS, NUMBERS, SCHEMA, function_leaves
from tests.index_store.own.parquet_rows import awkward_files, known_columns, one_unit, slice_files, write_parquet
from tests.sampling import examples

UNITS = {"us": "micros", "ms": "millis"}


@pytest.mark.parametrize("inputs", [1000, 2], ids=["point by point", "in ranges"])
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(5, at_night=400))
@given(data=st.data())
def test_every_rows_value_is_in_the_outcome(engine, inputs, tmp_path_factory, monkeypatch_module, data):
    monkeypatch_module.setattr(expressions, "INPUTS", inputs)
    leaf = data.draw(function_leaves(data.draw(st.sampled_from([*NUMBERS, *MOMENTS, "s", "st.s"]))))
    operand = leaf.left if isinstance(leaf, ex.Compare) else leaf.operand
    zone = data.draw(st.sampled_from(["UTC", "Europe/Berlin"]))
    unit = data.draw(st.sampled_from(list(UNITS)))
    expression = Expression(from_json(to_json(operand)), SCHEMA, dict.fromkeys(("ts", "tz"), UNITS[unit]), zone)
    try:
        form = expression.key
    except UnsupportedError:
        return
    columns = ex.column_names(operand)
    files = [one_unit(data.draw(awkward_files(columns)), columns, unit) for _ in range(3)]
    folder = tmp_path_factory.mktemp("files")
    for j, file in enumerate(files):
        write_parquet(folder / f"{j}.parquet", file.rows, columns, unit, 2)
    plan = SketchPlan.of([("it", "min_max")], {"it": expression})
    known = known_columns(folder, 3, plan, {"it": Field(form, expression.result)}, "micros")["it"]
    semantics = Semantics.named(engine, zone)
    bound = bind(leaf, SCHEMA, semantics)
    if not known.per_file:
        return
    statistics = known.statistics(slice_files([0, 1, 1]), custom_merge=False)
    found = evaluate(bound, 2, [StatisticsProvider("own_index", {}, None, {(form, min(columns)): statistics})]).outcomes
    for file, of in zip(files, [0, 1, 1], strict=True):
        for row in file.rows:
            try:
                value = value_of(leaf, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            assert int(found[of]) & outcome.of_value(value), f"{leaf} is {value} on {row}"


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


FIELDS = Schema(
    [
        Field("City", STRING),
        Field("amount", decimal_type(10, 2)),
        Field("i", INT),
        Field("dt", DATE),
        Field("ts", TIMESTAMP_LTZ),
        Field("wall", TIMESTAMP),
        Field("l", BIGINT),
    ]
)
ONE_TENTH = ex.Literal(Decimal("1.1"), decimal_type(2, 1))


def column(name):
    return ex.Column((name,))


def form(operand, engine="spark", zone="UTC"):
    return canonical_key(bind_operand(operand, FIELDS, Semantics.named(engine, zone)))


def test_one_expression_has_one_form_however_it_is_written():
    assert (
        form(ex.Call("lcase", (column("city"),)))
        == form(ex.Call("lower", (column("CITY"),)))
        == ("lower(City string) string", "City")
    )
    assert form(ex.Call("*", (column("amount"), ONE_TENTH))) == form(ex.Call("*", (ONE_TENTH, column("amount"))))
    assert form(ex.Call("-", (column("i"), column("l")))) != form(ex.Call("-", (column("l"), column("i"))))


def test_another_constant_type_or_column_is_another_form():
    forms = {
        form(ex.Call("*", (column(name), ex.Literal(value, of))))
        for name, value, of in (
            ("amount", Decimal("1.1"), decimal_type(2, 1)),
            ("amount", Decimal("1.10"), decimal_type(3, 2)),
            ("amount", Decimal("1.2"), decimal_type(2, 1)),
            ("l", 2, INT),
            ("i", 2, INT),
            ("i", 2, BIGINT),
        )
    }
    assert len(forms) == 6


def test_a_moment_makes_the_zone_part_of_the_form():
    day = ex.Call("to_date", (column("ts"),))
    assert form(day, zone="Europe/Berlin") != form(day, zone="UTC")
    assert form(ex.Call("year", (column("dt"),)), zone="Europe/Berlin") == form(ex.Call("year", (column("dt"),)))


def test_an_interval_is_no_constant_of_an_index():
    moved = ex.Call("+", (column("d"), ex.Literal(TimeSpan("days", 30), TIME_SPAN)))
    with pytest.raises(UnsupportedError, match="constant of type interval"):
        to_json(moved)


def test_a_comparison_of_two_expressions_asks_for_no_statistics_of_one():
    left, right = ex.Call("lower", (column("city"),)), ex.Call("upper", (column("city"),))
    [leaf] = bind(ex.Compare("=", left, right), FIELDS, Semantics.named("spark", "UTC")).leaves
    assert expression_keys(leaf.test) == ()
