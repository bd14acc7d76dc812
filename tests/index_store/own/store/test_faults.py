"""A process that dies at any step of any operation leaves the last good version, and no more than vacuum removes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from index_store import open_table
from index_store.own.maintenance.operations import create, drop, optimize, refresh, vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError
from index_store.storage.errors import TableError
from tests.index_store.own.folders import outlives_its_writers
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away
from tests.sampling import share

OPERATIONS: dict[str, Callable[[Folder, Path], object]] = {
    "create": lambda folder, table: create(folder, open_table(table), DEFINITION, Toy()),
    "refresh": lambda folder, table: refresh(folder, open_table(table), Toy()),
    "full refresh": lambda folder, table: refresh(folder, open_table(table), Toy(), full=True),
    "optimize": lambda folder, _: optimize(folder),
    "vacuum": lambda folder, _: vacuum(folder, timedelta(0)),
    "drop": lambda folder, _: drop(folder),
}


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


@pytest.fixture(scope="module")
def table_and_index(hudi_table, tmp_path_factory) -> tuple[Path, Path]:
    """A table with an index of three versions, and two commits that the index does not know yet."""
    root = tmp_path_factory.mktemp("faults")
    table = Path(shutil.copytree(hudi_table("1.1.1_main_mor"), root / "table"))
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[0])
    folder = Folder.at(root / "index")
    create(folder, open_table(table), DEFINITION, Toy())
    refresh(folder, open_table(table), Toy(), full=True)
    bring_back(table, root / "aside", names[-3])
    refresh(folder, open_table(table), Toy())
    bring_back(table, root / "aside", names[-1])
    return table, root / "index"


def said_by(path: Path) -> dict | None:
    try:
        return answers(OwnIndex.open(Folder.at(path)))
    except NoIndexError:
        return None


@pytest.mark.parametrize(
    ("after", "atomic"),
    [(False, True), (True, True), (False, False)],
    ids=["before", "after", "before, and names are own"],
)
@pytest.mark.parametrize("operation", share(OPERATIONS, 12))
def test_whatever_step_it_dies_at_the_last_good_version_reads(
    operation: str, after: bool, atomic: bool, table_and_index: tuple[Path, Path], tmp_path: Path
) -> None:
    steps = outlives_its_writers(
        OPERATIONS[operation], said_by, operation, *table_and_index, tmp_path, after=after, atomic=atomic
    )
    assert steps >= 2


def test_an_error_of_the_disk_is_told_and_nothing_is_left(table_and_index, tmp_path):
    table, prepared = table_and_index
    place = Path(shutil.copytree(prepared, tmp_path / "index"))
    files = sorted(place.rglob("*"))

    class FullDisk(Folder):
        def publish(self, temporary, file):
            assert temporary.exists()

            def write():
                raise OSError(28, "No space left on device")

            return self.storage.change(file, write)

    with pytest.raises(TableError, match=r"index/.*cannot be written.*No space left"):
        refresh(FullDisk(Folder.at(place).storage), open_table(table), Toy())
    assert sorted(place.rglob("*")) == files


def test_a_builder_that_fails_leaves_nothing(table_and_index, tmp_path):
    table, prepared = table_and_index
    place = Path(shutil.copytree(prepared, tmp_path / "index"))
    files = sorted(place.rglob("*"))

    class Failing(Toy):
        def build(self, files):
            yield from list(super().build(files))[:1]
            raise TableError("x.parquet", "the network is gone")

    with pytest.raises(TableError, match="the network is gone"):
        refresh(Folder.at(place), open_table(table), Failing(batch=1))
    assert sorted(place.rglob("*")) == files
