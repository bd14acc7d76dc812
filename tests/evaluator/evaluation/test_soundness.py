"""C1 and C9: whatever the rows, the statistics and the filter, the outcome holds every row's value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import HudiExpression, column_names
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import ColumnStatistics, PartStatistics
from tests.evaluator.strategies import SCHEMA, TYPES, exact_statistics, filters, leaves, slices, weakened
from tests.sampling import examples

NAMES = [(engine, "UTC") for engine in ENGINES] + [
    ("spark", "Europe/Berlin"),
    ("hive", "America/Los_Angeles"),
    ("hive4", "Australia/Lord_Howe"),
]
SEMANTICS = [Semantics.named(*name) for name in NAMES]
IDS = ["-".join(name) for name in NAMES]
COLUMNS = list(TYPES)


def check(data: st.DataObject, expression: HudiExpression, semantics: Semantics) -> None:
    columns = column_names(expression)
    parts = data.draw(st.lists(slices(columns), min_size=1, max_size=3))
    statistics = {name: weakened(exact_statistics(name, parts), data.draw) for name in columns}
    if columns and data.draw(st.integers(0, 9)) == 0:
        del statistics[data.draw(st.sampled_from(columns))]

    bound = bind(expression, SCHEMA, semantics)
    result = evaluate(bound, len(parts), [StatisticsProvider("column_stats", statistics)]).outcomes

    slices_of = [{name: interval_at(s, k) for name, s in statistics.items()} for k in range(len(parts))]
    scalar = [evaluate_slice(bound, intervals) for intervals in slices_of]
    assert result.tolist() == scalar, "the scalar and the vectorised path differ"
    for part, got in zip(parts, result.tolist(), strict=True):
        for row in part.rows:
            try:
                value = value_of(expression, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            assert got & outcome.of_value(value), f"{expression} is {value} on {row}, but {outcome.describe(got)}"


@pytest.mark.parametrize("semantics", SEMANTICS, ids=IDS)
@settings(max_examples=examples(19, at_night=1_600))
@given(data=st.data())
def test_every_rows_value_of_a_leaf_is_in_the_outcome(semantics: Semantics, data: st.DataObject) -> None:
    check(data, data.draw(leaves(COLUMNS)), semantics)


@pytest.mark.parametrize("semantics", SEMANTICS, ids=IDS)
@settings(max_examples=examples(9, at_night=600))
@given(data=st.data())
def test_every_rows_value_of_a_tree_is_in_the_outcome(semantics: Semantics, data: st.DataObject) -> None:
    check(data, data.draw(filters(COLUMNS)), semantics)


@settings(max_examples=examples(28, at_night=3_000))
@given(data=st.data())
def test_c3_a_merged_row_may_take_each_column_from_another_file_of_its_slice(data: st.DataObject) -> None:
    semantics = SEMANTICS[0]
    expression = data.draw(filters(["i", "s", "dec", "dt"]))
    columns = column_names(expression)
    files = data.draw(st.lists(slices(columns), min_size=2, max_size=4))
    owners = data.draw(st.lists(st.integers(0, 1), min_size=len(files), max_size=len(files)))
    slice_of = np.array(sorted(owners), np.intp)
    statistics = {
        name: replace(
            ColumnStatistics.unknown(TYPES[name], 2),
            parts=PartStatistics(weakened(exact_statistics(name, files), data.draw), slice_of),
        )
        for name in columns
    }

    actual = evaluate(bind(expression, SCHEMA, semantics), 2, [StatisticsProvider("column_stats", statistics)]).outcomes

    for index in set(slice_of.tolist()):
        rows = [row for file, of in zip(files, slice_of, strict=True) if of == index for row in file.rows]
        merged = {name: data.draw(st.sampled_from(rows))[name] for name in columns}
        try:
            value = value_of(expression, merged, SCHEMA, semantics)
        except UnsupportedError:
            continue
        assert actual[index] & outcome.of_value(value), f"{expression} is {value} on {merged}"
