"""A secondary index of a real table, from its first commit to its last: refreshed, rebuilt and optimized it says the
same, and what it says is what the files hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from evaluator.language.types import Kind
from index_store import Table, open_table
from index_store.own.maintenance.operations import vacuum
from index_store.own.maintenance.table_files import table_files
from index_store.own.secondary.operations import create, optimize, refresh
from index_store.own.secondary.slice_entries import LocalReader
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import latest_versions, version_files
from index_store.table.table_schema import META_COLUMNS
from tests.index_store.format_tables import unpack_format_table
from tests.index_store.own.secondary.answers import by, local, said_by, truth
from tests.index_store.snapshots.rewinding import commit_by_commit, instants
from tests.sampling import share

#: Both types of tables, with and without partitions, clustered, compacted, cleaned, resized, of three releases.
TABLES = (
    "1.1.1_main_cow",
    "1.1.1_main_mor",
    "0.15.0_main_cow",
    "1.0.2_sec_mor",
    "1.1.1_sec_cow",
    "1.1.1_evol_cow",
    "1.1.1_nan_cow",
    "1.1.1_nonpart_mor",
    "1.1.1_bucket_ch_resized_mor",
)
#: Archiving, restores, dead writers, compactions, clustering, changed schemas, upgrades.
FORMAT_TABLES = (
    "0.15.0_archived_mor",
    "0.15.0_cleaned_versions_cow",
    "0.15.0_retried_cow",
    "1.0.2_reused_mor",
    "1.2.0_as_version_6_mor",
    "1.2.0_cdc_mor",
    "1.2.0_evolved_mor",
    "1.2.0_partcols_cow",
    "1.2.0_replaced_mor",
    "1.2.0_upgraded_pending_mor",
    "1.2.0_widened_mor",
)


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


@pytest.fixture(autouse=True)
def _several_shards(monkeypatch):
    """Small tables, in several shards."""
    monkeypatch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 50)


class Counting(LocalReader):
    """Remembers what was read."""

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self.seen = Counter()

    def read(self, slices):
        self.seen.update(slices.column("files").to_pylist())
        return super().read(slices)


def columns_to_index(table: Table) -> tuple[str, ...]:
    """Text, if the table has some beside its keys, then a number."""
    plain = [
        one
        for one in table.schema
        if one.name not in META_COLUMNS and "." not in one.name and one.name not in table.partition_fields
    ]
    text = [one.name for one in plain if one.type.kind is Kind.STRING]
    numbers = [one.name for one in plain if one.type.kind.is_number]
    return (*text[-1:], *numbers[-1:])


def carried_over_every_commit(path: Path, folders: Path, *, each: int = 1) -> Counter[str]:
    """Refresh after each commit, and compare with an index made anew after each n-th and the last; what happened."""
    folder, happened, seen = Folder.at(folders / "index"), Counter[str](), Counter()

    def reader(table, definition):
        found = Counting(table.storage, tuple(one.on for one in definition.entries), 2)
        readers.append(found)
        return found

    readers: list[Counting] = []
    last = len(instants(path)) - 1
    columns = columns_to_index(open_table(path))
    for number, _ in enumerate(commit_by_commit(path, folders / "aside")):
        table = open_table(path)
        if not version_files(folder):
            create(folder, table, by(*columns), reader)
        else:
            before = latest_versions(folder).current
            change = refresh(folder, table, reader)
            version = latest_versions(folder).current
            happened["gone"] += change.gone
            happened["built"] += change.built
            happened["committed"] += change.committed
            if len(version.generations) > len(before.generations):
                happened["came"] += version.generations[-1].entries
                happened["went"] += version.generations[-1].tombstones
        index = OwnIndex.open(folder)
        groups, entries = said_by(folder)
        assert index.instant == table.slices().instant
        assert entries == truth(table, columns, groups)
        listed, _ = table_files(table)
        expected = {f"{one.partition}/{one.file_id}": one.files for one in table.slices()}
        assert sorted(index.files.column("path").to_pylist()) == sorted(
            file for name in groups for file in expected[name]
        )
        assert set(index.files.column("path").to_pylist()) <= set(listed.column("path").to_pylist())
        happened["not known"] += len(expected) - len(groups)
        if number % each == 0 or number == last:
            fresh = Folder.at(folders / f"fresh{number}")
            create(fresh, open_table(path), by(*columns), local)
            assert said_by(fresh) == (groups, entries)
        if number % 3 == 1:
            optimize(folder)
            assert said_by(folder) == (groups, entries)
            version = OwnIndex.open(folder).version
            assert (version.delta, len(version.generations), version.generations[0].tombstones) == (None, 1, 0)
        if number % 4 == 2:
            refresh(folder, open_table(path), local, full=True)
            assert said_by(folder) == (groups, entries)
            vacuum(folder, timedelta(0))
            assert len(version_files(folder)) == 1
            assert said_by(folder) == (groups, entries)
            assert {one.path for one in folder.stats() if not one.path.startswith("versions/")} == {
                one.file for one in OwnIndex.open(folder).version.stored
            }
    for one in readers:
        seen.update(one.seen)
    happened["read twice"] = sum(count - 1 for count in seen.values())
    return happened


@pytest.mark.parametrize("name", share(TABLES, 9, seed=9))
def test_refreshed_rebuilt_and_optimized_indexes_say_what_the_files_hold(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path
) -> None:
    happened = carried_over_every_commit(hudi_copy(name), tmp_path, each=6)
    assert happened["read twice"] == 0 or happened["not known"]
    assert happened["came"] > 0


@pytest.mark.parametrize("name", share(FORMAT_TABLES, 20, seed=9))
def test_so_they_do_whatever_happened_to_the_table(name: str, tmp_path: Path) -> None:
    happened = carried_over_every_commit(unpack_format_table(name, tmp_path / "table"), tmp_path, each=50)
    assert happened["committed"] >= 1, happened
