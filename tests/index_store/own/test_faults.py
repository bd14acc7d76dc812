"""A process that dies at any step of any operation leaves the last good version, and no more than vacuum removes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from index_store.errors import TableError
from index_store.own.folder import Folder
from index_store.own.life_cycle import create, drop, optimize, refresh, vacuum
from index_store.own.own_index import OwnIndex
from index_store.own.versions import NoIndexError, latest_versions, version_files
from index_store.table import open_table
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away


class Killed(BaseException):
    """The process is no more."""


class DyingFolder(Folder):
    """Dies before or after its n-th step; from then on nothing it is asked for happens."""

    def __init__(self, path: Path, dies_at: int, *, after: bool, atomic: bool) -> None:
        super().__init__(Folder.at(path).storage)
        self.left, self.after, self.dead, self.atomic = dies_at, after, False, atomic

    @property
    def creates_atomically(self):
        return self.atomic

    def _step(self, step, *given):
        if self.dead:
            raise Killed
        self.left -= 1
        if self.left < 0:
            self.dead = True
            if self.after:
                step(*given)
            raise Killed
        return step(*given)

    def make_room(self, file):
        return self._step(super().make_room, file)

    def publish(self, temporary, file):
        return self._step(super().publish, temporary, file)

    def link(self, temporary, file):
        return self._step(super().link, temporary, file)

    def remove(self, file):
        return self._step(super().remove, file)

    def remove_all(self):
        def half():
            for number, path in enumerate(sorted(Path(self.path).rglob("*.parquet"))):
                if number % 2:
                    path.unlink()
        return self._step(half if self.left == 0 else super().remove_all)

    @contextmanager
    def _temporary(self, directory):
        with super()._temporary(directory) as temporary:
            yield temporary
            if self.dead:
                shutil.copy(temporary, temporary.with_suffix(".stays.tmp"))


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
    monkeypatch.setattr("index_store.own.folder._force", lambda _: None)


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


@pytest.mark.parametrize(("after", "atomic"), [(False, True), (True, True), (False, False)],
                         ids=["before", "after", "before, and names are own"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_step_it_dies_at_the_last_good_version_reads(
        operation: str, after: bool, atomic: bool, table_and_index: tuple[Path, Path], tmp_path: Path) -> None:
    table, prepared = table_and_index
    run = OPERATIONS[operation]
    before = None if operation == "create" else said_by(prepared)
    done = tmp_path / "done"
    if before is not None:
        shutil.copytree(prepared, done)
    run(Folder.at(done), table)
    then = said_by(done)
    survived = []
    for step in range(100):
        place = tmp_path / f"step {step}"
        if before is not None:
            shutil.copytree(prepared, place)
        try:
            run(DyingFolder(place, step, after=after, atomic=atomic), table)
        except Killed:
            found = said_by(place)
            assert found in (before, then), f"step {step}"
            survived.append(found == then)
        else:
            break
        if not (operation in ("create", "drop") and said_by(place) == then):
            run(Folder.at(place), table)                      # it can be done again, on whatever is left
        assert said_by(place) == then
        if then is not None:
            vacuum(Folder.at(place), timedelta(0))
            assert said_by(place) == then
            version = latest_versions(Folder.at(place)).current
            files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
            assert files == {*(one.file for one in version.stored), *version_files(Folder.at(place))}
    assert len(survived) == step >= 2
    if before != then:
        assert survived == sorted(survived), "once it is done, it stays done"
        assert not survived[0]


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
