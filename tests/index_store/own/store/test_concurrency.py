"""Refreshers, optimizers and readers at the same time: nothing that anybody built is lost, nobody reads half of it."""

from __future__ import annotations

import multiprocessing
import shutil
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from index_store import open_table
from index_store.own.maintenance.operations import create, drop, optimize, refresh, vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError, latest_versions, version_files
from index_store.storage.errors import TableError
from tests.index_store.object_store import ObjectStore, running
from tests.index_store.own.folders import Killed, OwnNames
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away


class Share(Toy):
    """Builds only the files of its share, as if the others were not to be read from where it runs."""

    def __init__(self, number: int, of: int) -> None:
        super().__init__()
        self.number, self.of = number, of

    def build(self, files):
        return super().build([one for one in files if zlib.crc32(one.path.encode()) % self.of == self.number])


@pytest.fixture(scope="module")
def table_and_index(hudi_table, tmp_path_factory) -> tuple[Path, Path]:
    """A table and an index of its first commit."""
    root = tmp_path_factory.mktemp("concurrency")
    table = Path(shutil.copytree(hudi_table("1.1.1_main_mor"), root / "table"))
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[0])
    create(Folder.at(root / "index"), open_table(table), DEFINITION, Toy())
    bring_back(table, root / "aside", names[-1])
    return table, root / "index"


def everything(table: Path, tmp_path: Path) -> dict:
    folder = Folder.at(tmp_path / "everything")
    create(folder, open_table(table), DEFINITION, Toy())
    return answers(OwnIndex.open(folder))


def refresh_share(index: str, table: str, number: int, of: int, start: object) -> None:
    """What one process does."""
    opened = open_table(table)
    start.wait(60)
    refresh(Folder.at(index), opened, Share(number, of))


@pytest.mark.parametrize("count", [2, 8])
def test_refreshers_in_processes_lose_nothing(count: int, table_and_index, index, tmp_path) -> None:
    table = table_and_index[0]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    start = context.Barrier(count)
    processes = [
        context.Process(target=refresh_share, args=(str(index), str(table), number, count, start))
        for number in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * count
    found, all_of_it = OwnIndex.open(Folder.at(index)), everything(table, tmp_path)
    assert answers(found) == all_of_it
    new = set(all_of_it) - set(answers(OwnIndex.open(Folder.at(table_and_index[1]))))
    assert found.version.number >= 1 + len({zlib.crc32(path.encode()) % count for path, _ in new})


@pytest.mark.parametrize("folder", [Folder, OwnNames])
def test_whatever_runs_at_the_same_time_readers_see_one_version(folder, table_and_index, index, tmp_path) -> None:
    table = table_and_index[0]
    before, after = answers(OwnIndex.open(Folder.at(index))), everything(table, tmp_path)
    stop = threading.Event()
    seen = []

    def read() -> None:
        known = -1
        while not stop.is_set():
            opened = OwnIndex.open(folder(Folder.at(index).storage))
            said = answers(opened)
            assert all(after.get(name, before.get(name)) == value for name, value in said.items())
            assert opened.version.number >= known
            known = opened.version.number
            seen.append(known)

    def work(number: int) -> None:
        at = folder(Folder.at(index).storage)
        match number % 4:
            case 0 | 1:
                refresh(at, open_table(table), Share(number // 4 * 2 + number % 4, 4))
            case 2:
                optimize(at)
            case _:
                vacuum(at)

    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for one in [pool.submit(work, number) for number in range(8)]:
            one.result(120)
        stop.set()
        for one in readers:
            one.result(120)
    assert answers(OwnIndex.open(Folder.at(index))) == after
    assert seen


def test_of_two_that_create_one_is_refused(table_and_index, tmp_path) -> None:
    table = table_and_index[0]
    folder = Folder.at(tmp_path / "new")

    class Meanwhile(Toy):
        def build(self, files):
            create(folder, open_table(table), DEFINITION, Toy())
            return super().build(files)

    with pytest.raises(TableError, match="another index was created here at the same time"):
        create(folder, open_table(table), DEFINITION, Meanwhile())
    with pytest.raises(TableError, match="there is an index here already"):
        create(folder, open_table(table), DEFINITION, Toy())
    assert answers(OwnIndex.open(folder)) == everything(table, tmp_path)


class Interrupted(Toy):
    """Something else happens while it builds, once."""

    def __init__(self, meanwhile) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def build(self, files):
        yield from super().build(files)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            happens()


@pytest.mark.parametrize("folder", [Folder, OwnNames])
@pytest.mark.parametrize("full", [False, True], ids=["incremental", "full"])
def test_who_comes_second_keeps_what_it_built_and_what_the_first_did(full, folder, table_and_index, index, tmp_path):
    table = table_and_index[0]
    at = folder(Folder.at(index).storage)
    builder = Interrupted(lambda: (refresh(at, open_table(table), Share(0, 2)), optimize(at)))
    change = refresh(at, open_table(table), builder, full=full)
    assert change.tries == 2
    assert len(builder.built) == len(set(builder.built)), "built twice"
    assert answers(OwnIndex.open(at)) == everything(table, tmp_path)


@pytest.mark.parametrize("folder", [Folder, OwnNames])
def test_an_optimize_that_comes_second_keeps_what_a_refresh_did(folder, table_and_index, index, tmp_path):
    """Where both get one number, the optimize knows none of the files that the refresh added."""
    table, at = table_and_index[0], folder(Folder.at(index).storage)
    refresh(at, open_table(table), Share(2, 4))
    refreshed: list[int] = []

    class Slow(folder):
        def write_version(self, number, data):
            if not refreshed:
                refreshed.append(refresh(at, open_table(table), Toy()).version.number)
            return super().write_version(number, data)

    second = optimize(Slow(at.storage))
    assert refreshed[0] < second.version.number
    assert answers(OwnIndex.open(at)) == everything(table, tmp_path)


def test_an_optimize_merges_all_refreshes_that_have_one_number(table_and_index, index, tmp_path):
    table, at = table_and_index[0], OwnNames(Folder.at(index).storage)

    class Dying(OwnNames):
        """Another refresh is done before this one writes its version and dies."""

        def write_version(self, number, data):
            refresh(at, open_table(table), Share(0, 2))
            super().write_version(number, data)
            raise Killed

    with pytest.raises(Killed):
        refresh(Dying(at.storage), open_table(table), Share(1, 2))
    assert len(latest_versions(at).versions) == 2
    optimize(at)
    assert answers(OwnIndex.open(at)) == everything(table, tmp_path)


def test_the_table_is_looked_at_again_when_another_was_first(hudi_copy, tmp_path):
    """The first saw a newer table: what vanished meanwhile must not come back with the second."""
    table = hudi_copy("1.1.1_main_mor")
    names = instants(table)
    take_away(table, tmp_path / "aside")
    bring_back(table, tmp_path / "aside", names[0])
    folder = Folder.at(tmp_path / "index")
    create(folder, open_table(table), DEFINITION, Share(0, 2))
    bring_back(table, tmp_path / "aside", names[1])

    def meanwhile() -> None:
        bring_back(table, tmp_path / "aside", names[-1])
        refresh(folder, open_table(table), Toy())

    refresh(folder, open_table(table), Interrupted(meanwhile))
    assert OwnIndex.open(folder).instant == open_table(table).slices().instant
    assert answers(OwnIndex.open(folder)) == everything(table, tmp_path)


def test_a_table_that_was_opened_long_ago_takes_nothing_back(hudi_copy, tmp_path):
    table = hudi_copy("1.1.1_main_mor")
    names = instants(table)
    take_away(table, tmp_path / "aside")
    bring_back(table, tmp_path / "aside", names[1])
    folder, long_ago = Folder.at(tmp_path / "index"), open_table(table)
    create(folder, long_ago, DEFINITION, Toy())
    bring_back(table, tmp_path / "aside", names[-1])
    refresh(folder, open_table(table), Toy())
    assert not refresh(folder, long_ago, Toy()).committed
    assert answers(OwnIndex.open(folder)) == everything(table, tmp_path)


@pytest.mark.parametrize("folder", [Folder, OwnNames])
@pytest.mark.parametrize("late", [False, True], ids=["before it writes", "while it writes"])
def test_an_index_that_was_dropped_meanwhile_stays_dropped(late, folder, table_and_index, index):
    at = folder(Folder.at(index).storage)

    class Dropping(Toy):
        def build(self, files):
            batches = list(super().build(files))
            yield from batches[:1] if late else ()
            drop(at)
            yield from batches[1:] if late else batches

    with pytest.raises(TableError, match=r"dropped meanwhile|cannot be written|no such file"):
        refresh(at, open_table(table_and_index[0]), Dropping())
    assert not version_files(at)


def test_files_that_vacuum_took_from_a_slow_builder_are_missed_before_they_are_named(table_and_index, index):
    at = Folder.at(index)
    said = answers(OwnIndex.open(at))

    class Slow(Folder):
        def write_version(self, *_):
            raise AssertionError("it must not come to that")

        def stats(self):
            vacuum(at, timedelta(0))
            return super().stats()

    with pytest.raises(TableError, match="was removed before it was committed"):
        refresh(Slow(at.storage), open_table(table_and_index[0]), Toy())
    assert answers(OwnIndex.open(at)) == said


@pytest.fixture(scope="module")
def store():
    with running() as found:
        yield found


def test_on_an_object_store_too(store: ObjectStore, table_and_index, tmp_path):
    """pyarrow overwrites objects, so versions have names of their own there, and the last one sees all the others."""
    table, prepared = table_and_index
    url = store.put(prepared, "index")

    def work(number: int) -> None:
        refresh(Folder.at(url, None, store.options), open_table(table), Share(number, 3))

    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(work, number) for number in range(3)]:
            one.result(120)
    at = Folder.at(url, None, store.options)
    assert answers(OwnIndex.open(at)) == everything(table, tmp_path)
    optimize(at)
    vacuum(at, timedelta(0))
    assert len(version_files(at)) == 1
    assert answers(OwnIndex.open(at)) == everything(table, tmp_path / "again")
    drop(at)
    with pytest.raises(NoIndexError):
        latest_versions(at)
