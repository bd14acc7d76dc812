"""Slices that are stored as arrays are the slices that they were, whatever their files are called."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index_store.snapshots import stored_slices
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.private_folder import PrivateFolder
from index_store.snapshots.stored_slices import ChangedSlices, StoredSlices, slice_arrays
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.slice_paths import slice_paths
from tests.sampling import examples

PARTITIONS = st.sampled_from(["", "day=1", "day=10", "day=2/hour=3", "é", "\ud800"])
#: Identifiers of which some begin alike, as those of one bulk insert do.
UUIDS = st.sampled_from(
    [f"{head}-0000-4000-8000-{tail:012x}" for head in ("00000001", "fffffff0", "80000000") for tail in (1, 2**47)]
) | st.uuids(version=4).map(str)
PLAIN_IDS = st.sampled_from(["00000001", "f-é", "a", "0", "\ud800", "0" * 36, "00000000-0000"])


@st.composite
def many_slices(draw: st.DrawFn) -> list[FileSlice]:
    """Slices of distinct file groups: with base files, log files or both; names by Hudi's pattern, or any."""
    ids = UUIDS.map(lambda one: one + "-0") | UUIDS.map(lambda one: one + "-12")
    ids = draw(st.sampled_from([ids, ids, UUIDS, PLAIN_IDS, ids | PLAIN_IDS]))
    groups = draw(st.sets(st.tuples(PARTITIONS, ids), max_size=12))
    has_own_names = draw(st.booleans())
    files = draw(st.sampled_from(["base", "base", "both", "logs"]))
    slices = []
    for partition, file_id in groups:
        prefix = f"{partition}/" if partition else ""
        begin = file_id if has_own_names or draw(st.booleans()) else "other"
        number, instant = draw(st.integers(0, 10**6)), draw(st.sampled_from(["20260101000000000", "20260102030405678"]))
        base: str | None = f"{prefix}{begin}_{number}-10-100_{instant}.parquet"
        logs = [f"{prefix}.{begin}_{instant}.log.{version}_{number}-1-1" for version in range(draw(st.integers(0, 3)))]
        if files == "base":
            logs = []
        elif files == "logs" or draw(st.booleans()):
            base, logs = None, logs or [f"{prefix}.{begin}_{instant}.log.1_0-0-0"]
        slices.append(FileSlice(partition, file_id, base, tuple(logs)))
    if draw(st.booleans()):
        return draw(st.permutations(slices))
    return sorted(slices, key=lambda one: (one.partition, one.file_id))


def stored(folder: Path, slices: list[FileSlice]) -> StoredSlices:
    file = PrivateFolder(folder / "slices").file("slices.arrays")
    write_arrays(file, slice_arrays(slices), {})
    return StoredSlices(ArraysFile.open(file, {}))


@pytest.fixture(params=[0, 20_000], ids=["packed", "plain"])
def threshold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(stored_slices, "_PACKED_FROM", request.param)
    monkeypatch.setattr(stored_slices, "_AT_ONCE", 5)
    return int(request.param)


def paths_of(items: Any, rows: Any, log_files: bool) -> list[str] | str:
    try:
        paths: list[str] = slice_paths(FileSlices(None, "", items), rows, "root", log_files=log_files).to_pylist()
    except Exception as error:  # a name that is not UTF-8
        return str(error)
    return paths


@settings(max_examples=examples(23, at_night=6000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), slices=many_slices(), others=many_slices())
def test_slices_are_what_they_were(
    threshold: int, tmp_path: Path, data: st.DataObject, slices: list[FileSlice], others: list[FileSlice]
) -> None:
    del threshold
    n = len(slices)
    found = stored(tmp_path, slices)
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=9)) if n else [], np.int64)
    absent = [(one.partition, one.file_id) for one in others] + [
        ("", ""),
        ("none", "00000001-0000-4000-8000-00000000000g"),
    ]
    row_of = {(one.partition, one.file_id): row for row, one in enumerate(slices)}
    asked = data.draw(st.permutations([*row_of, *absent]))
    for one in (found, pickle.loads(pickle.dumps(found))):
        assert len(one) == n
        assert list(one) == slices
        assert [one[row] for row in range(n)] == slices
        assert one[1:4] == slices[1:4]
        assert one.some(rows) == [slices[row] for row in rows.tolist()]
        assert one.rows_of(asked).tolist() == [row_of.get(group, -1) for group in asked]
        counts = [len(slice_.files) for slice_ in slices]
        assert one.files_before(np.arange(n + 1)).tolist() == [sum(counts[:row]) for row in range(n + 1)]
        for log_files in (True, False):
            for some in (rows, np.arange(n)):
                wanted = FileSlices(None, "", tuple(slices))
                assert paths_of(one, some, log_files) == paths_of(wanted.items, some, log_files)


@settings(max_examples=examples(14, at_night=1000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), slices=many_slices(), others=many_slices())
def test_changed_slices_are_those_that_live_and_those_of_the_delta(
    threshold: int, tmp_path: Path, data: st.DataObject, slices: list[FileSlice], others: list[FileSlice]
) -> None:
    del threshold
    gone = data.draw(st.sets(st.integers(0, len(slices) - 1))) if slices else set()
    whole = [one for row, one in enumerate(slices) if row not in gone] + others
    delta = stored(tmp_path / "delta", others) if data.draw(st.booleans()) else others
    found = ChangedSlices(stored(tmp_path / "base", slices), np.array(sorted(gone), np.int64), delta)
    rows = np.array(data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=9)) if whole else [], np.int64)
    assert list(found) == whole
    assert found.some(rows) == [whole[row] for row in rows.tolist()]
    assert paths_of(found, rows, True) == paths_of(tuple(whole), rows, True)


def bulk(count: int) -> list[FileSlice]:
    """Slices of one bulk insert after another: file ids that differ in their numbers only."""
    return [
        FileSlice(
            f"day={row // 40:03d}", file_id, f"day={row // 40:03d}/{file_id}_{row}-1-10_20260101000000000.parquet"
        )
        for row in range(count)
        for file_id in [f"{row // 8:08x}-1111-4000-8000-000000000000-{row % 8}"]
    ]


def test_many_slices_take_a_few_bytes_each(tmp_path: Path) -> None:
    slices = bulk(30_000)
    found = stored(tmp_path, slices)
    size = sum(path.stat().st_size for path in tmp_path.rglob("slices.arrays"))
    assert size < 20 * len(slices)
    assert list(found) == slices
    groups = [(one.partition, one.file_id) for one in slices[::7]]
    assert found.rows_of(groups).tolist() == list(range(0, len(slices), 7))


def test_slices_out_of_order_are_found_by_hash(tmp_path: Path) -> None:
    slices = bulk(30_000)[::-1]
    found = stored(tmp_path, slices)
    groups = [(one.partition, one.file_id) for one in slices[::7]]
    assert found.rows_of(groups).tolist() == list(range(0, len(slices), 7))


@pytest.mark.parametrize("name", ["file_ids", "bases", "log_starts", "partition", "groups", "group_rows"])
def test_arrays_that_do_not_fit_together_are_refused(tmp_path: Path, name: str) -> None:
    arrays, others = slice_arrays(bulk(5)), slice_arrays(bulk(6))
    file = PrivateFolder(tmp_path / "slices").file("slices.arrays")
    write_arrays(file, {**arrays, name: others[name]}, {})
    with pytest.raises(UnusableError, match="fit together"):
        StoredSlices(ArraysFile.open(file, {}))
