"""C1 for every sketch: whatever rows a Parquet file has, the outcome that its sketches give holds every row's value."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import column_names
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.reference.row_oracle import value_of
from index_store.own.builders.sketching import SketchPlan
from index_store.own.provider.slice_filters import SliceFilters
from index_store.own.provider.slice_statistics import might_contain as within_filters
from tests.evaluator.strategies import SCHEMA, TYPES, leaves
from tests.index_store.own.parquet_rows import (
    SKETCHES,
    awkward_files,
    known_columns,
    one_unit,
    possible,
    slice_files,
    write_parquet,
)
from tests.sampling import examples

COLUMNS = list(TYPES)
UNITS = {"us": "micros", "ms": "millis", "ns": "nanos"}
FIELDS = {field.name: field for field in SCHEMA}
_COUNT = itertools.count()


def check(
    data: st.DataObject, semantics: Semantics, root: Path, texts: tuple[str, ...], forms: st.SearchStrategy
) -> None:
    expression = data.draw(forms)
    columns = column_names(expression)
    unit = data.draw(st.sampled_from(list(UNITS)))
    files = [one_unit(data.draw(awkward_files(columns)), columns, unit) for _ in range(data.draw(st.integers(1, 4)))]
    slice_of = sorted(data.draw(st.integers(0, len(files) - 1)) for _ in files)
    slice_of = [sorted(set(slice_of)).index(one) for one in slice_of]
    folder = root / str(next(_COUNT))
    folder.mkdir()
    for j, file in enumerate(files):
        write_parquet(folder / f"{j}.parquet", file.rows, columns, unit, data.draw(st.integers(1, 4)))
    entries = [
        (name, text)
        for name in columns
        for text in {parsed.partition("(")[0]: parsed for parsed in possible(texts, TYPES[name])}.values()
    ]
    if not entries:
        return
    places = slice_files(slice_of)
    known = known_columns(folder, len(files), SketchPlan.of(entries), FIELDS, UNITS[unit])
    statistics = {name: one.statistics(places, custom_merge=False) for name, one in known.items()}

    def might_contain(lookup, candidates):
        if lookup.function or lookup.column.name not in known:
            return None
        filters = known[lookup.column.name].filters(places, custom_merge=False)
        if filters is None:
            return None
        as_kept = SliceFilters.from_arrays(filters.to_arrays())  # as a snapshot has them
        return within_filters(as_kept, lookup.values, lookup.column)

    found = evaluate(
        bind(expression, SCHEMA, semantics), places.slices, [StatisticsProvider("own_index", statistics, might_contain)]
    ).outcomes
    for file, of in zip(files, slice_of, strict=True):
        for row in file.rows:
            try:
                value = value_of(expression, row, SCHEMA, semantics)
            except UnsupportedError:
                continue
            got = int(found[of])
            assert got & outcome.of_value(value), f"{expression} is {value} on {row}, but {outcome.describe(got)}"


@pytest.mark.parametrize("sketch", SKETCHES)
@settings(max_examples=examples(5, at_night=400))
@given(data=st.data())
def test_every_rows_value_is_in_the_outcome_of_one_sketch(
    sketch: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    columns = [name for name in COLUMNS if possible([sketch], TYPES[name])]
    semantics = Semantics.named(data.draw(st.sampled_from(ENGINES)), "UTC")
    check(data, semantics, tmp_path_factory.mktemp("files"), (sketch,), leaves(columns))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(5, at_night=400))
@given(data=st.data())
def test_every_rows_value_is_in_the_outcome_of_all_sketches_together(
    engine: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    chosen = data.draw(st.permutations(SKETCHES))
    check(data, Semantics.named(engine, "UTC"), tmp_path_factory.mktemp("files"), tuple(chosen), leaves(COLUMNS))
