"""Tables to which two writers wrote at once (``tests.tables.two_writers``): what counts is when a write ended."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from handler import open_table as opened
from handler import prune
from index_store import open_table
from index_store.snapshots import SnapshotCache, keep_slices, open_snapshot
from tests.index_store.snapshots.rewinding import write_by_write
from tests.index_store.snapshots.test_rewinding import check, read_all
from tests.tables.two_writers import DATA, WRITTEN_BY


@pytest.fixture(params=WRITTEN_BY)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(DATA / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "rows.json").read_text())
    return found


def test_what_ended_after_a_compaction_lies_beside_its_base_files(written: Path) -> None:
    slices = open_table(written / "table").slices()
    assert len(slices) == 6
    for one in slices:
        [log] = one.log_files
        assert one.base_file is not None
        compacted = one.base_file.rpartition("_")[2].partition(".")[0]
        assert log.rpartition("/")[2].split("_")[1].partition(".")[0] < compacted


def test_rows_are_those_of_hudi(written: Path) -> None:
    expected = [{name: row[name] for name in ("id", "ts", "amount", "p")} for row in rows(written)]
    for condition, of in (
        ("true", expected),
        ("amount >= 100000D", [row for row in expected if row["amount"] >= 100_000]),
        ("ts = 5", [row for row in expected if row["ts"] == 5]),
    ):
        plan = prune(opened(written / "table"), condition, engine="spark")
        found = [row for batch in plan.to_batches() for row in batch.to_pylist()]
        assert sorted(({name: row[name] for name in expected[0]} for row in found), key=lambda row: row["id"]) == of


def test_no_row_is_lost(written: Path) -> None:
    table, skipped = opened(written / "table"), 0
    for row in rows(written):
        for condition in (f"amount = {row['amount']}D", f"id = {row['id']} AND ts >= {row['ts']}"):
            plan = prune(table, condition, engine="spark")
            assert row["_hoodie_file_name"].partition("_")[0] in [one.file_id for one in plan.kept], condition
            skipped += len(plan.slices) - len(plan.kept)
    assert skipped > len(rows(written))


def test_a_snapshot_is_carried_over_a_write_that_began_before_it(written: Path) -> None:
    cache, carried = SnapshotCache(written / "cache", min_slices=0), []
    in_order = list(write_by_write(shutil.copytree(written / "table", written / "copy"), written / "copied"))
    assert in_order[-1] < in_order[-2]
    for instant in write_by_write(written / "table", written / "aside"):
        snapshot = open_snapshot(open_table(written / "table"), cache)
        table = open_table(written / "table")
        if snapshot is None:
            snapshot = keep_slices(table, table.slices(), cache)
            assert snapshot is not None
            read_all(table, snapshot)
        else:
            carried.append(instant)
        check(table, snapshot)
    assert carried[-2:] == in_order[-2:]
