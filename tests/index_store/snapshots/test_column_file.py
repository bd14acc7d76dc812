"""What is stored of a column is what is read, also what is the same in all slices."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, STRING, Kind, Type
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, from_values
from evaluator.statistics.indexing import with_index
from evaluator.statistics.packed_numbers import PackedNumbers
from evaluator.statistics.stored_bounds import StoredBounds
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.snapshots import column_file
from index_store.snapshots.column_file import open_column, write_column
from index_store.snapshots.private_folder import PrivateFolder
from tests.evaluator.strategies import TYPES, exact_statistics, slices, weakened
from tests.sampling import examples

COUNTS = {
    "no NULL": ([0, 0, 0], [5, 6, 7]),
    "NULL in some": ([0, 3, 0], [5, 6, 7]),
    "NULL in all": ([1, 3, 2], [5, 6, 7]),
    "some are all NULL": ([0, 6, 0], [5, 6, 7]),
    "nothing but NULL": ([5, 6, 7], [5, 6, 7]),
    "not known": ([None, None, None], [None, None, None]),
    "not known of some": ([0, None, 0], [5, 6, None]),
    "no rows": ([0, 0, 0], [0, 0, 0]),
}
BOUNDS = {BIGINT: ([1, 2, 3], [4, 5, 6]), STRING: (["a", "b", "c"], ["d", "é", "f"])}


def stored(folder: Path, of: Type, statistics: ColumnStatistics) -> ColumnStatistics:
    """The statistics after they were written and read."""
    file, field = (PrivateFolder(folder) / "made").file("column_stats-0.arrays"), Field("c", of)
    write_column(file, "column_stats", field, 3, statistics, None)
    found = open_column(file, "column_stats", field, 3).statistics
    assert found is not None
    return found


@pytest.mark.parametrize("of", BOUNDS)
@pytest.mark.parametrize("counts", COUNTS)
def test_null_and_value_are_possible_where_they_were(tmp_path: Path, of: Type, counts: str) -> None:
    nulls, rows = COUNTS[counts]
    lo, hi = BOUNDS[of]
    statistics = from_values(of, lo=lo, hi=hi, null_count=nulls, row_count=rows)
    found = stored(tmp_path, of, statistics)
    for name in ("any_null", "any_value"):
        was, is_now = getattr(statistics, name), getattr(found, name)
        assert json.dumps(np.asarray(was).tolist()) == json.dumps(np.asarray(is_now).tolist()), name
    assert np.array_equal(found.may_be_null, statistics.may_be_null)
    assert np.array_equal(found.may_be_value, statistics.may_be_value)
    assert np.asarray(found.lo).tolist() == lo


def test_what_is_the_same_in_all_slices_is_not_counted_again(tmp_path: Path) -> None:
    statistics = from_values(BIGINT, lo=[1, 2, 3], hi=[4, 5, 6], null_count=[0, 0, 0], row_count=[5, 6, 7])
    found = stored(tmp_path, BIGINT, statistics)
    assert (found.__dict__["any_null"], found.__dict__["any_value"]) == (False, True)
    assert found.__dict__["unknown_bounds"] == (False, False)
    assert "may_be_null" not in found.__dict__


@settings(max_examples=examples(23, at_night=2000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("packed_from", [0, 20_000], ids=["packed", "plain"])
def test_a_column_of_any_type_is_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed_from: int, data: st.DataObject
) -> None:
    monkeypatch.setattr(column_file, "_PACKED_FROM", packed_from)
    name = data.draw(st.sampled_from(list(TYPES)))
    few = weakened(exact_statistics(name, data.draw(st.lists(slices([name]), min_size=1, max_size=5))), data.draw)
    n = data.draw(st.sampled_from([0, len(few), 300]))
    statistics = few.take(np.arange(n) * 7 % len(few))
    if statistics.type.kind is Kind.OTHER:
        return
    if data.draw(st.booleans()):
        parts = few.take(np.arange(n + 1) % len(few))
        statistics = replace(statistics, parts=PartStatistics(parts, np.minimum(np.arange(n + 1), max(n - 1, 0))))
    if data.draw(st.booleans()):
        statistics = with_index(statistics)
    files = files_of(few.take(np.arange(n) % len(few)), data.draw(st.integers(0, 9))) if n else None
    file, field = (PrivateFolder(tmp_path) / "made").file("column_stats-0.arrays"), Field("c", statistics.type)
    write_column(file, "column_stats", field, n, statistics, files)
    found = open_column(file, "column_stats", field, n)
    assert found.statistics is not None
    assert contents(found.statistics) == contents(statistics)
    assert bits_of(found.statistics.unknown_bounds) == bits_of(statistics.unknown_bounds)
    assert (found.files is None) == (files is None)
    if found.files is not None and files is not None:
        order = np.argsort(files.file_index, kind="stable")
        assert bits_of(found.files) == bits_of(files.take(order))


def files_of(one: ColumnStatistics, seed: int) -> FileStatistics:
    draw, m = np.random.default_rng(seed), len(one)
    return FileStatistics(
        type=one.type,
        file_index=draw.permutation(m),
        lo=one.lo,
        hi=one.hi,
        lo_known=one.lo_known,
        hi_known=one.hi_known,
        nulls=one.null_count,
        rows=one.row_count,
        trust=one.trust,
        empty=draw.random(m) < 0.5,
        null_only=draw.random(m) < 0.01,
        size=draw.integers(-1, 1 << 40, m),
    )


def contents(one: ColumnStatistics) -> list[object]:
    names = ("type", "lo", "hi", "lo_known", "hi_known", "null_count", "row_count", "trust")
    parts = None if one.parts is None else [contents(one.parts.statistics), bits_of(one.parts.slice_of)]
    index = None if one.index is None else {name: bits_of(part) for name, part in one.index.to_arrays().items()}
    return [*(bits_of(getattr(one, name)) for name in names), parts, index]


def bits_of(value: Any) -> object:
    """What tells NaN of one payload from that of another, and 0.0 from -0.0."""
    if is_dataclass(value) and not isinstance(value, Type):
        return {one.name: bits_of(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple):
        return [bits_of(one) for one in value]
    if isinstance(value, np.ndarray | PackedNumbers | StoredBounds):
        array = np.asarray(value)
        return array.tolist() if array.dtype == object else (array.dtype.str, array.tobytes())
    return value
