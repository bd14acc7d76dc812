"""Archived instants: when they completed, from the files that the manifest names, and no guess beside them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from index_store import open_table
from index_store.storage.storage import Storage
from index_store.table.history import History
from tests.index_store.format_tables import unpack_format_table

A, B, C, D = (f"2026010{day}000000000" for day in range(1, 5))
ARCHIVED = "1.2.0_archived_mor"


def write(folder, name, **times):
    columns = {"instantTime": list(times), "completionTime": list(times.values())}
    parquet.write_table(pa.table(columns), folder / name)


def history(folder, named, version="1"):
    """A history whose manifest names files; ``_version_`` says which manifest."""
    files = [{"fileName": name, "fileLen": 1} for name in named]
    (folder / "manifest_1").write_text(json.dumps({"files": files}))
    if version:
        (folder / "_version_").write_text(version)
    return History(Storage.at(folder))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, f"{A}_{B}_0.parquet", **{A: B, B: B})
    write(tmp_path, f"{C}_{C}_1.parquet", **{C: D})
    return tmp_path


@pytest.mark.parametrize("version", ["1", ""])
def test_an_archived_instant_completed_when_the_history_says(folder, version):
    found = history(folder, [f"{A}_{B}_0.parquet", f"{C}_{C}_1.parquet"], version)
    assert [found.completion(name) for name in (A, B, C, D)] == [B, B, D, None]
    assert found.fault == ""


def test_files_that_the_manifest_does_not_name_are_not_read(folder):
    (folder / f"{B}_{D}_1.parquet").write_bytes(b"half writ")  # a compaction of the history that died
    found = history(folder, [f"{A}_{B}_0.parquet"])
    assert [found.completion(name) for name in (A, B, C)] == [B, B, None]
    assert found.fault == ""


def test_files_that_promise_the_instant_are_read_first(folder):
    (folder / f"{A}_{B}_0.parquet").write_bytes(b"damage")
    found = history(folder, [f"{A}_{B}_0.parquet", f"{C}_{C}_1.parquet"])
    assert (found.completion(C), found.fault) == (D, "")
    assert found.completion(A) is None
    assert f"{A}_{B}_0.parquet: history cannot be read" in found.fault


def test_an_upgrade_names_files_by_rows_in_no_order(tmp_path):
    write(tmp_path, f"{C}_{B}_0.parquet", **{C: D, A: B, D: D, B: C})
    found = history(tmp_path, [f"{C}_{B}_0.parquet"])
    assert [found.completion(name) for name in (A, B, C, D)] == [B, C, D, D]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        pytest.param(
            lambda folder: (folder / "manifest_1").unlink(), "manifest_1: no such file", id="manifest missing"
        ),
        pytest.param(
            lambda folder: (folder / "manifest_1").write_text("{"), "cannot be understood", id="manifest cut off"
        ),
        pytest.param(lambda folder: (folder / "manifest_1").write_text("[]"), "cannot be understood", id="a list"),
        pytest.param(lambda folder: (folder / "_version_").write_text("x"), "cannot be understood", id="no version"),
        pytest.param(lambda folder: (folder / f"{C}_{C}_1.parquet").unlink(), "no such file", id="file missing"),
        pytest.param(
            lambda folder: parquet.write_table(pa.table({"x": [1]}), folder / f"{C}_{C}_1.parquet"),
            "history cannot be read",
            id="other columns",
        ),
    ],
)
def test_what_cannot_be_read_has_no_time_and_is_said(folder, damage, why):
    found = history(folder, [f"{C}_{C}_1.parquet"])
    damage(folder)
    assert found.completion(C) is None
    assert why in found.fault


@pytest.mark.parametrize("name", ["../../x.parquet", "x.parquet", "/etc/hosts", 7])
def test_a_manifest_names_files_of_the_history_only(folder, name):
    found = history(folder, [f"{A}_{B}_0.parquet", name])
    assert found.completion(A) is None
    assert "cannot be understood" in found.fault


def test_no_history_knows_nothing_and_is_no_fault(tmp_path):
    found = History(Storage.at(tmp_path / "history"))
    assert (found.completion(A), found.fault) == (None, "")


@pytest.fixture(scope="module")
def archived(tmp_path_factory):
    return unpack_format_table(ARCHIVED, tmp_path_factory.mktemp("archived") / ARCHIVED)


def test_real_archived_instants_complete_when_hudi_says_and_count_as_committed(archived):
    timeline = open_table(archived).timeline
    rows = {}
    for path in (archived / ".hoodie/timeline/history").glob("*.parquet"):
        for row in parquet.read_table(
            path, columns=["instantTime", "completionTime", "action"], partitioning=None
        ).to_pylist():
            rows[row["instantTime"]] = row
    assert {row["action"] for row in rows.values()} >= {"deltacommit", "clean", "commit"}
    for name, row in rows.items():
        assert timeline.completion(name) == row["completionTime"] >= name
        assert row["action"] == "clean" or timeline.is_committed(name)


def test_a_damaged_history_keeps_the_log_files_that_may_be_compacted_and_says_so(tmp_path):
    table = unpack_format_table(ARCHIVED, tmp_path / "t")
    before = open_table(table).slices()
    for path in (table / ".hoodie/timeline/history").glob("*.parquet"):
        path.write_bytes(b"damage")
    after = open_table(table).slices()
    assert "may be compacted" in after.note
    assert "history cannot be read" in after.note
    assert [one.base_file for one in after] == [one.base_file for one in before]
    more = [set(one.log_files) - set(two.log_files) for one, two in zip(after, before, strict=True)]
    assert sum(map(len, more)) >= 1
    assert all(set(two.log_files) <= set(one.log_files) for one, two in zip(after, before, strict=True))


@pytest.mark.parametrize("gone", ["*.parquet", "*"])
def test_without_the_history_of_the_metadata_table_its_old_log_files_are_not_put_on_top_again(tmp_path, gone):
    table = unpack_format_table(ARCHIVED, tmp_path / "t")
    before = open_table(table).slices()
    for path in (table / ".hoodie/metadata/.hoodie/timeline/history").glob(gone):
        path.unlink()
    after = open_table(table).slices()
    assert (before.source, after.source) == ("metadata table", "file listing")
    assert "history" in after.note
    assert after.items == before.items
