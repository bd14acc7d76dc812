"""A snapshot that is carried from commit to commit says what a table read whole says: on real tables, bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from index_store import Table, open_table
from index_store.snapshots import (
    Snapshot,
    SnapshotCache,
    column_file,
    keep_slices,
    open_snapshot,
    stored_slices,
    with_snapshot,
)
from index_store.snapshots.arrays_file import UnusableError
from tests.index_store.conftest import TABLES
from tests.index_store.format_tables import FORMAT_TABLES, unpack_format_table
from tests.index_store.snapshots.rewinding import commit_by_commit
from tests.sampling import share

STORED = ("column_stats", "partition_values")
#: Commits that cannot be carried over: rollbacks, index builds, changed schemas; and the first of each table.
ANEW = {
    "0.15.0_main_cow": 4,
    "0.15.0_nan_cow": 1,
    "1.0.2_main_cow": 2,
    "1.0.2_sec_cow": 4,
    "1.0.2_sec_mor": 5,
    "1.1.1_evol_cow": 3,
    "1.1.1_expr_cow": 6,
    "1.1.1_main_cow": 2,
    "1.1.1_main_mor": 2,
    "1.1.1_sec_cow": 5,
    "1.1.1_sec_mor": 4,
}


@pytest.mark.parametrize("name", share(TABLES, 20))
def test_a_snapshot_carried_over_every_commit_equals_the_table_read_whole(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path
) -> None:
    ways = carry_over_every_commit(hudi_copy(name), tmp_path)
    assert ways["anew"] == ANEW.get(name, 1), ways


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor"])
@pytest.mark.nightly
def test_so_does_one_that_is_packed_whatever_its_size(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_file, "_PACKED_FROM", 0)
    monkeypatch.setattr(stored_slices, "_PACKED_FROM", 0)
    carry_over_every_commit(hudi_copy(name), tmp_path)


@pytest.mark.parametrize("name", share(FORMAT_TABLES, 39))
def test_so_it_does_whatever_happened_to_the_table(name: str, tmp_path: Path) -> None:
    """Archiving, restores, dead writers, compactions, clustering, changed schemas, upgrades."""
    ways = carry_over_every_commit(unpack_format_table(name, tmp_path / "table"), tmp_path)
    assert ways["carried over"] >= 2, ways


def carry_over_every_commit(path: Path, folder: Path) -> Counter[str]:
    """Compare after each commit; counts how the snapshot came about."""
    cache, ways = SnapshotCache(folder / "cache", min_slices=0), Counter[str]()
    for _ in commit_by_commit(path, folder / "aside"):
        snapshot = open_snapshot(open_table(path), cache)
        table = open_table(path)
        if table.metadata is None or not table.metadata_is_current:
            assert snapshot is None
            continue
        if snapshot is None:
            snapshot = keep_slices(table, table.slices(), cache)
            if snapshot is None:
                ways["not kept"] += 1
                continue
            ways["anew"] += 1
            read_all(open_table(path), snapshot)
        else:
            ways["carried over"] += 1
        check(table, snapshot)
        again = open_snapshot(open_table(path), cache)
        assert again is not None
        assert again.manifest == snapshot.manifest
    return ways


def read_all(table: Table, snapshot: Snapshot) -> None:
    """Ask for every column, as filters over the time would."""
    for kind in with_snapshot(table.kinds(table.slices()), snapshot):
        if kind.name in STORED:
            kind.provide(RequiredStatistics(bounds=tuple(table.schema)))


def check(table: Table, snapshot: Snapshot) -> None:
    slices = table.slices()
    place = {(one.partition, one.file_id): row for row, one in enumerate(slices)}
    assert {(one.partition, one.file_id): one for one in snapshot.slices} == {
        (one.partition, one.file_id): one for one in slices
    }
    assert snapshot.slices.instant == slices.instant
    order = np.array([place[one.partition, one.file_id] for one in snapshot.slices], np.intp)
    columns = [column for column in table.schema if column.type.kind is not Kind.OTHER]
    for kind in table.kinds(slices):
        if kind.name in STORED:
            whole = kind.provide(RequiredStatistics(bounds=tuple(columns))).statistics
            for column in columns:
                try:
                    kept = snapshot.column(kind.name, column)
                except UnusableError:  # it is read anew when it is asked for
                    continue
                if kept.base is None:
                    assert column.name not in whole
                    continue
                layers = snapshot.layers
                found = (
                    kept.base
                    if layers is None or kept.delta is None
                    else (layers.join_statistics(kept.base, kept.delta))
                )
                assert_same(found, whole[column.name].take(order))


def assert_same(found: ColumnStatistics, expected: ColumnStatistics) -> None:
    assert found.type == expected.type
    for name in ("lo_known", "hi_known", "null_count", "row_count", "trust"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    for side in ("lo", "hi"):
        known = getattr(expected, f"{side}_known")
        assert np.asarray(getattr(found, side))[known].tolist() == np.asarray(getattr(expected, side))[known].tolist()
    parts, expected_parts = _sorted_parts(found), _sorted_parts(expected)
    assert parts == expected_parts


def _sorted_parts(one: ColumnStatistics) -> list[tuple[object, ...]]:
    """What each file of a slice says, in an order of its own: files of a slice have none."""
    if one.parts is None:
        return []
    of = one.parts.statistics
    rows = zip(
        one.parts.slice_of.tolist(),
        np.asarray(of.lo).tolist(),
        np.asarray(of.hi).tolist(),
        of.lo_known.tolist(),
        of.hi_known.tolist(),
        of.null_count.tolist(),
        of.row_count.tolist(),
        strict=True,
    )
    return sorted(
        (
            (at, lo if lo_known else None, hi if hi_known else None, nulls, count)
            for at, lo, hi, lo_known, hi_known, nulls, count in rows
        ),
        key=repr,
    )
