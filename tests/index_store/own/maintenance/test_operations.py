"""An index of a real table, from its first commit to its last: refreshed, rebuilt and optimized it says the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pyarrow import parquet

from index_store import open_table
from index_store.own.maintenance.operations import create, optimize, refresh, vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import version_files
from tests.index_store.conftest import TABLES
from tests.index_store.format_tables import FORMAT_TABLES, unpack_format_table
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import commit_by_commit, instants
from tests.sampling import share


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def carried_over_every_commit(path: Path, folders: Path, *, each: int = 1) -> Counter[str]:
    """Refresh after each commit, and compare with an index made anew after each n-th and the last; what happened."""
    folder, happened, seen = Folder.at(folders / "index"), Counter[str](), Toy()
    last = len(instants(path)) - 1
    for number, _ in enumerate(commit_by_commit(path, folders / "aside")):
        table = open_table(path)
        if not version_files(folder):
            create(folder, table, DEFINITION, seen)
        else:
            before = set(seen.built)
            change = refresh(folder, table, seen)
            happened["gone"] += change.gone
            happened["built"] += change.built
            happened["committed"] += change.committed
            happened["built twice"] += len(seen.built) - len(before | set(seen.built))
            happened["tombstones"] += OwnIndex.open(folder).version.tombstones
        index = OwnIndex.open(folder)
        expected = {path for one in table.slices() for path in one.files if (Path(table.path) / path).exists()}
        assert {name for name, _ in answers(index)} == expected
        assert index.instant == table.slices().instant
        for (name, size), said in answers(index).items():
            assert (Path(table.path) / name).stat().st_size == size
            if name.endswith(".parquet"):
                assert said["rows"][0] == parquet.read_metadata(Path(table.path) / name).num_rows
        if number % each == 0 or number == last:
            fresh = Folder.at(folders / f"fresh{number}")
            create(fresh, open_table(path), DEFINITION, Toy())
            assert answers(OwnIndex.open(fresh)) == answers(index)
        if number % 3 == 1:
            said = answers(index)
            optimize(folder)
            assert answers(OwnIndex.open(folder)) == said
            assert OwnIndex.open(folder).version.delta is None
        if number % 4 == 2:
            said = answers(index)
            refresh(folder, open_table(path), Toy(), full=True)
            assert answers(OwnIndex.open(folder)) == said
            vacuum(folder, timedelta(0))
            assert len(version_files(folder)) == 1
            assert answers(OwnIndex.open(folder)) == said
    return happened


@pytest.mark.parametrize("name", share(TABLES, 9, seed=8))
def test_refreshed_rebuilt_and_optimized_indexes_say_the_same_after_every_commit(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path
) -> None:
    happened = carried_over_every_commit(hudi_copy(name), tmp_path, each=2)
    assert happened["built twice"] == 0


@pytest.mark.parametrize("name", share(FORMAT_TABLES, 28, seed=8))
def test_so_they_do_whatever_happened_to_the_table(name: str, tmp_path: Path) -> None:
    """Archiving, restores, dead writers, compactions, clustering, changed schemas, upgrades."""
    happened = carried_over_every_commit(unpack_format_table(name, tmp_path / "table"), tmp_path, each=4)
    assert happened["built twice"] == 0
    assert happened["committed"] >= 1, happened
