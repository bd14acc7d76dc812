"""A schema's NOT NULL, and files without a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import column_names
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import INT
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import ColumnStatistics, from_values
from tests.evaluator.short_forms import SPARK, col, letters, lit, outcome_of, stats
from tests.evaluator.strategies import SCHEMA, exact_statistics, filters, slices, weakened
from tests.sampling import examples

REQUIRED = Schema([Field("id", INT, nullable=False), Field("i", INT)])


def of_required(expression: ex.HudiExpression, *known: ColumnStatistics) -> str:
    providers = [StatisticsProvider("column_stats", {"id": one}) for one in known]
    return letters(int(evaluate(bind(expression, REQUIRED, SPARK), 1, providers).outcomes[0]))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (ex.IsNull(col("id")), "F"),
        (ex.Not(ex.IsNull(col("id"))), "T"),
        (ex.Compare(">=", col("id"), lit(30, INT)), "T"),
        (ex.Compare("<=>", col("id"), lit(None, INT)), "F"),
        (ex.Or((ex.Compare("<", col("id"), lit(50, INT)), ex.Compare(">=", col("id"), lit(50, INT)))), "T"),
    ],
)
def test_a_required_column_whose_nulls_were_not_counted_has_none(expression: ex.HudiExpression, expected: str) -> None:
    assert of_required(expression, stats(INT, 30, 79, None, None)) == expected


def test_a_required_column_without_statistics_has_no_null() -> None:
    assert of_required(ex.IsNull(col("id"))) == "F"
    assert of_required(ex.Compare(">", col("id"), lit(5, INT))) == "TF"
    assert of_required(ex.IsNull(col("i"))) == "TF"


def test_nulls_that_were_counted_are_believed_before_the_schema() -> None:
    """Otherwise the two would leave nothing possible, and the rows would be lost."""
    assert of_required(ex.IsNull(col("id")), stats(INT, 30, 79, 3, 50)) == "TF"
    assert of_required(ex.IsNull(col("id")), stats(INT, None, None, 50, 50)) == "T"
    assert of_required(ex.IsNull(col("id")), stats(INT, 1, 9, None), stats(INT, 1, 9, 1)) == "TF"


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(14, at_night=1_000))
@given(data=st.data())
def test_outcomes_hold_every_rows_value_where_some_columns_are_required(engine: str, data: st.DataObject) -> None:
    semantics = Semantics.named(engine, "UTC")
    expression = data.draw(filters(["i", "s", "d", "dt", "ch"]))
    columns = column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=4))
    never_null = [name for name in columns if all(row[name] is not None for part in parts for row in part.rows)]
    schema = Schema([replace(field, nullable=field.name not in never_null) for field in SCHEMA])
    statistics = {name: weakened(exact_statistics(name, parts), data.draw) for name in columns}
    copies = data.draw(st.sampled_from([1, 80]))  # few slices go another way than many
    rows = np.tile(np.arange(len(parts)), copies)
    known = [StatisticsProvider("column_stats", {name: one.take(rows) for name, one in statistics.items()})]
    told, plain = (evaluate(bind(expression, one, semantics), len(rows), known) for one in (schema, SCHEMA))
    outcomes = told.outcomes
    assert ((outcomes & plain.outcomes) == outcomes).all()  # it only removes
    assert told.kept_rows.tolist() == np.flatnonzero(outcomes & outcome.TRUE).tolist()
    for index, part in enumerate(np.array(parts, object)[rows]):
        for row in part.rows:
            try:
                value = outcome.of_value(value_of(expression, row, SCHEMA, semantics))
            except UnsupportedError:
                continue
            assert value & outcomes[index], (row, letters(int(outcomes[index])))


@pytest.mark.parametrize("nulls", [None, 0])
@pytest.mark.parametrize(
    "expression",
    [
        ex.IsNull(col("i")),
        ex.Not(ex.IsNull(col("i"))),
        ex.Compare("=", col("i"), lit(5, INT)),
        ex.Compare("!=", col("i"), lit(5, INT)),
        ex.In(col("i"), (lit(1, INT), lit(2, INT))),
        ex.Compare("=", col("i"), col("i")),
    ],
)
def test_a_file_without_a_row_matches_nothing(expression: ex.HudiExpression, nulls: int | None) -> None:
    assert outcome_of(expression, {"i": stats(INT, None, None, nulls, 0)}) == ""


def test_many_files_some_of_them_without_a_row() -> None:
    rows = [0, 10] * 150
    known = {"i": from_values(INT, [1] * 300, [9] * 300, [None] * 300, rows)}
    bound = bind(ex.Or((ex.IsNull(col("i")), ex.Compare(">", col("i"), lit(0, INT)))), REQUIRED, SPARK)
    kept = evaluate(bound, 300, [StatisticsProvider("column_stats", known)]).kept_rows
    assert kept.tolist() == list(range(1, 300, 2))
