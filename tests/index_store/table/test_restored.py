"""After a restore Hudi's metadata table may lack files that the table has: what savepoints keep is held against it.

The table was written by Hudi 0.15.0, upgraded by 1.0.2 and 1.2.0, and restored by 1.2.0 to a savepoint
(`python -m tests.random_tables.lives`, seed 24). The metadata table then had four of its nine files.
"""

from __future__ import annotations

import tarfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from handler import prune
from index_store import open_table
from index_store.table.listing import FROM_LISTING, FROM_METADATA
from index_store.table.listing_checks import MAX_CHECKED, missing_saved
from index_store.table.timeline import Instant, Timeline

STORED = Path(__file__).parents[2] / "data" / "restored" / "1.2.0_mor.tar.xz"


@pytest.fixture(scope="module")
def restored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("restored")
    with tarfile.open(STORED) as archive:
        archive.extractall(folder, filter="data")
    return folder / "life_24"


def test_the_files_are_those_of_the_savepoint(restored: Path) -> None:
    table = open_table(restored)
    assert table.metadata is not None
    assert sum(map(len, table.metadata.files().values())) == 4
    slices = table.slices()
    assert (len(slices), slices.source) == (9, FROM_LISTING)
    assert "which the savepoint" in slices.note
    kept: dict[str, set[str]] = defaultdict(set)
    for one in slices:
        kept[one.partition] |= {path.rpartition("/")[2] for path in one.files}
    assert missing_saved(table.timeline, lambda: {one: dict.fromkeys(names, 1) for one, names in kept.items()}) == ""
    by_partition = {one: {file.name for file in table.files(one)} for one in table.partitions()}
    assert (by_partition, table.listing.source) == (kept, FROM_LISTING)


def test_no_key_is_looked_up_in_a_record_index_that_may_lack_it(restored: Path) -> None:
    files: dict[str, set[str]] = defaultdict(set)
    for path in restored.glob("p=*/*.parquet"):
        for key in pq.read_table(path, columns=["id"])["id"].to_pylist():
            files[key].add(str(path.relative_to(restored)))
    assert len(files) == 13
    for key, needed in files.items():
        plan = prune(restored, f"id = '{key}'", "spark", time_zone="UTC")
        assert needed <= {one.base_file for one in plan.kept}
        assert "record_index" not in {kind.name for kind in plan.kinds}
        assert any("savepoint" in reason.text for reason in plan.reasons)


def test_savepoints_are_read_after_a_restore_alone(restored: Path) -> None:
    whole = open_table(restored).timeline

    def said(*instants: Instant) -> str:
        return missing_saved(Timeline(instants, storage=whole.storage), dict)

    assert "does not list p=" in said(*whole.instants)
    assert said(*(one for one in whole.instants if one.action != "restore")) == ""
    assert said(*(one for one in whole.instants if one.action != "savepoint")) == ""
    assert said(*(replace(one, size=MAX_CHECKED + 1) for one in whole.instants)) == ""


def test_a_metadata_table_that_lists_what_was_saved_is_used(restored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(restored)
    assert table.metadata is not None
    found = table.metadata.files()
    for path in restored.glob("p=*/*.parquet"):
        found[path.parent.name][path.name] = path.stat().st_size
    monkeypatch.setattr(type(table.metadata), "files", lambda _: found)
    slices = table.slices()
    assert (len(slices), slices.source, slices.note) == (9, FROM_METADATA, "")
