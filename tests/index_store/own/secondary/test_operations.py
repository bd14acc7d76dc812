"""A secondary index when processes die, several write at once, disks are full and memory is small: it says what the
table says, or what it said before.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from index_store import open_table
from index_store.own.maintenance.operations import drop, vacuum
from index_store.own.secondary.operations import create, optimize, refresh
from index_store.own.secondary.slice_entries import About, LocalReader
from index_store.own.store.folder import Folder
from index_store.own.store.versions import NoIndexError, Version, latest_versions, read_version, version_files
from index_store.storage.errors import StatsError, TableError
from tests.evaluator.strategies import Slice
from tests.index_store.format_tables import unpack_format_table
from tests.index_store.object_store import running
from tests.index_store.own.folders import OwnNames, outlives_its_writers
from tests.index_store.own.parquet_rows import write_parquet
from tests.index_store.own.secondary.answers import by, local, said_by
from tests.index_store.own.secondary.small_table import add_keys, small_table
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away
from tests.sampling import share

BY = by("s", "i")


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)
    monkeypatch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 25)


@pytest.fixture(scope="module")
def table_and_index(tmp_path_factory) -> tuple[Path, Path]:
    """A table with an index of two generations, and commits that the index does not know yet."""
    root = tmp_path_factory.mktemp("life")
    table = unpack_format_table("1.2.0_replaced_mor", root / "table")
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[2])
    folder = Folder.at(root / "index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 25)
        create(folder, open_table(table), BY, local)
    bring_back(table, root / "aside", names[-4])
    refresh(folder, open_table(table), local)
    bring_back(table, root / "aside", names[-1])
    assert len(latest_versions(folder).current.generations) == 2
    return table, root / "index"


def said(path: Path) -> object:
    try:
        return said_by(Folder.at(path))
    except NoIndexError:
        return None


def fresh(table: Path, place: Path) -> object:
    """What an index says that is made now."""
    create(Folder.at(place), open_table(table), BY, local)
    return said(place)


OPERATIONS: dict[str, Callable[[Folder, Path], object]] = {
    "create": lambda folder, table: create(folder, open_table(table), BY, local),
    "refresh": lambda folder, table: refresh(folder, open_table(table), local),
    "full refresh": lambda folder, table: refresh(folder, open_table(table), local, full=True),
    "optimize": lambda folder, _: optimize(folder),
    "vacuum": lambda folder, _: vacuum(folder, timedelta(0)),
    "drop": lambda folder, _: drop(folder),
}


@pytest.mark.parametrize(
    ("operation", "after", "atomic"),
    [
        *((operation, False, True) for operation in share(OPERATIONS, 12)),
        *share([("refresh", True, True), ("optimize", True, True), ("refresh", False, False)], 3),
    ],
)
def test_whatever_step_it_dies_at_the_last_good_version_reads(
    operation: str, after: bool, atomic: bool, table_and_index: tuple[Path, Path], tmp_path: Path
) -> None:
    steps = outlives_its_writers(
        OPERATIONS[operation], said, operation, *table_and_index, tmp_path, after=after, atomic=atomic
    )
    assert steps >= 1


@pytest.mark.parametrize("folder", [Folder, OwnNames])
def test_refreshers_optimizers_and_readers_at_once_lose_nothing(folder, table_and_index, index, tmp_path) -> None:
    table = table_and_index[0]
    before, after = said(index), fresh(table, tmp_path / "fresh")
    stop, seen = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            seen.append(said_by(folder(Folder.at(index).storage)) in (before, after))

    def work(number: int) -> None:
        at = folder(Folder.at(index).storage)
        if number % 3 == 2:
            optimize(at)
        else:
            refresh(at, open_table(table), local, full=number % 3 == 1)

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(6)))
    stop.set()
    reader.join()
    assert said(index) == after
    assert seen
    assert all(seen)


def test_on_an_object_store_too(table_and_index, tmp_path) -> None:
    """There versions have names of their own, and the last writer sees all the others."""
    table, prepared = table_and_index
    with running() as store:
        url = store.put(prepared, "index")
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: refresh(Folder.at(url, None, store.options), open_table(table), local), range(3)))
        at, expected = Folder.at(url, None, store.options), fresh(table, tmp_path / "fresh")
        assert said_by(at) == expected
        optimize(at)
        vacuum(at, timedelta(0))
        assert len(version_files(at)) == 1
        assert said_by(at) == expected
        drop(at)
        with pytest.raises(NoIndexError):
            latest_versions(at)


def test_who_was_not_the_first_compares_anew_and_reads_nothing_twice(table_and_index, index, tmp_path) -> None:
    """Another refresh, and an optimize, are committed while this one reads."""
    table = table_and_index[0]
    read: list[str] = []

    class Slow(LocalReader):
        def read(self, slices):
            read.extend(slices.column("files").to_pylist())
            yield from super().read(slices)
            if len(version_files(Folder.at(index))) == 2:
                refresh(Folder.at(index), open_table(table), local)
                optimize(Folder.at(index))

    change = refresh(Folder.at(index), open_table(table), lambda now, _: Slow(now.storage, ("s", "i"), 2), full=True)
    assert change.tries == 2
    assert len(read) == len(set(read)) > 0
    assert said(index) == fresh(table, tmp_path / "fresh")
    assert [read_version(Folder.at(index), file).operation for file in version_files(Folder.at(index))] == [
        "full refresh",
        "optimize",
        "refresh",
        "refresh",
        "create",
    ]


def test_an_index_dropped_meanwhile_stays_dropped(table_and_index, index) -> None:
    class Dropping(LocalReader):
        def read(self, slices):
            yield from super().read(slices)
            drop(Folder.at(index))

    with pytest.raises(NoIndexError, match="dropped meanwhile"):
        refresh(Folder.at(index), open_table(table_and_index[0]), lambda table, _: Dropping(table.storage, ("s", "i")))
    assert not version_files(Folder.at(index))


def test_two_creators_one_index(table_and_index, tmp_path) -> None:
    folder, table = Folder.at(tmp_path / "one"), open_table(table_and_index[0])

    class Late(LocalReader):
        def read(self, slices):
            yield from super().read(slices)
            create(folder, table, BY, local)

    with pytest.raises(TableError, match="created here at the same time"):
        create(folder, table, BY, lambda table, _: Late(table.storage, ("s", "i")))
    with pytest.raises(TableError, match="there is an index here already"):
        create(folder, table, BY, local)
    version = latest_versions(folder).current
    assert {one.path for one in folder.stats()} == {"versions/0000000001.json", *(one.file for one in version.stored)}


@pytest.mark.parametrize("fails_at", range(4))
def test_an_error_of_the_disk_is_told_and_nothing_is_left(fails_at: int, table_and_index, index) -> None:
    files = sorted(index.rglob("*"))
    count = iter(range(100))

    class FullDisk(Folder):
        def publish(self, temporary, file):
            def write():
                raise OSError(28, "No space left on device")

            return self.storage.change(file, write) if next(count) == fails_at else super().publish(temporary, file)

    with pytest.raises(TableError, match=r"cannot be written.*No space left"):
        refresh(FullDisk(Folder.at(index).storage), open_table(table_and_index[0]), local)
    assert [path for path in sorted(index.rglob("*")) if path.is_file()] == [path for path in files if path.is_file()]


def test_temporary_files_are_gone_after_errors_too_and_little_memory_is_enough(
    table_and_index, index, tmp_path, monkeypatch
) -> None:
    table = table_and_index[0]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    class Failing(LocalReader):
        def read(self, slices):
            yield next(iter(super().read(slices)))
            raise TableError("x.parquet", "the network is gone")

    with pytest.raises(TableError, match="the network is gone"):
        refresh(Folder.at(index), open_table(table), lambda table, _: Failing(table.storage, ("s", "i")))
    refresh(Folder.at(index), open_table(table), local, memory=256)
    optimize(Folder.at(index), memory=256)
    assert said(index) == fresh(table, tmp_path / "fresh")
    assert not list((tmp_path / "temporary").iterdir())


def test_no_room_for_temporary_files_is_told(table_and_index, index, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    before = said(index)
    with pytest.raises(TableError, match=r"nowhere: entries cannot be kept there: .*TMPDIR"):
        refresh(Folder.at(index), open_table(table_and_index[0]), local)
    assert said(index) == before


@pytest.mark.parametrize(
    ("batches", "why"),
    [
        ([], "gave 0 of"),
        ([pa.RecordBatch.from_pydict({"slice": pa.array([0], pa.int32())})], "instead of entries"),
        ([(99, b"k", b"r", None)], "not asked for"),
        ([(0, b"k", b"r", None)], "gave 0 of"),
    ],
)
def test_a_reader_that_does_not_do_its_work_is_an_error(batches, why, table_and_index, index) -> None:
    from index_store.own.secondary.slice_entries import RAW

    class Wrong:
        def read(self, _):
            for one in batches:
                yield (
                    one
                    if isinstance(one, pa.RecordBatch)
                    else pa.RecordBatch.from_pylist([dict(zip(RAW.names, one, strict=True))], RAW)
                )

    before = said(index)
    with pytest.raises(StatsError, match=why):
        refresh(Folder.at(index), open_table(table_and_index[0]), lambda *_: Wrong())
    assert said(index) == before


def test_many_generations_are_put_together(table_and_index, index, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("index_store.own.secondary.operations.MAX_GENERATIONS", 2)
    change = refresh(Folder.at(index), open_table(table_and_index[0]), local)
    assert change.operation == "refresh"
    assert len(latest_versions(Folder.at(index)).current.generations) == 1
    assert said(index) == fresh(table_and_index[0], tmp_path / "fresh")


def test_progress_is_told_from_nothing_to_all_of_it(table_and_index, index) -> None:
    told: list[tuple[str, int, int]] = []
    refresh(Folder.at(index), open_table(table_and_index[0]), local, progress=lambda *one: told.append(one))
    optimize(Folder.at(index), progress=lambda *one: told.append(one))
    assert {what for what, _, _ in told} == {"slices", "entries"}
    for what in ("slices", "entries"):
        steps = [(done, most) for one, done, most in told if one == what]
        assert all(done <= most for done, most in steps)
        assert steps[-1][0] == steps[-1][1] > 0


def test_a_version_survives_json_and_older_sargos_let_it_be(table_and_index) -> None:
    version = latest_versions(Folder.at(table_and_index[1])).current
    plain = version.to_dict()
    assert Version.from_dict(plain) == version
    assert plain["format"] == 2
    assert {one.file for one in version.stored} >= {one.groups.file for one in version.generations}


def test_what_is_known_of_a_slice_survives_its_text() -> None:
    about = About({"rows": 3, "s:type": "string", "s:min_max:lo": b"\x00\xff", "s:min_max:hi": None}, "")
    assert About.from_text(about.to_text()) == about


def test_a_file_of_the_same_name_and_another_size_is_read_again(tmp_path) -> None:
    """Work that was rolled back and ran again under the same instant."""
    rows = ({"s": "a", "i": 1}, {"s": "b", "i": 2})
    table = small_table(tmp_path / "t", [Slice(rows), Slice(rows)], ["s", "i"])
    folder = Folder.at(tmp_path / "index")
    create(folder, table, BY, local)
    path = next((tmp_path / "t").glob("g1_*.parquet"))
    write_parquet(path, [*rows, {"s": "a much longer value than before", "i": 7}], ["s", "i"], "us", 3)
    add_keys(path, ["k1", "k2", "k3"])
    change = refresh(folder, table, local)
    assert (change.built, len(change.version.generations)) == (1, 2)
    assert said(tmp_path / "index") == fresh(tmp_path / "t", tmp_path / "fresh")
    assert not refresh(folder, table, local).committed


def test_a_table_without_a_row_gets_an_index_that_grows(tmp_path) -> None:
    table = small_table(tmp_path / "t", [], ["s", "i"])
    folder = Folder.at(tmp_path / "index")
    assert create(folder, table, BY, local).built == 0
    assert said(tmp_path / "index") == ({}, set())
    assert not refresh(folder, table, local).committed
    assert not optimize(folder).committed
    path = tmp_path / "t" / "g0_0-1-0_20260101000000000.parquet"
    write_parquet(path, [{"s": "a", "i": 1}, {"s": None, "i": None}], ["s", "i"], "us", 3)
    add_keys(path, ["k1", "k2"])
    assert refresh(folder, table, local).built == 1
    assert len(said(tmp_path / "index")[1]) == 2
    path.unlink()
    with pytest.raises(TableError, match=r"it shows no file, but the index knows 1, .* a listing may be incomplete"):
        refresh(folder, table, local)
    (tmp_path / "t/.hoodie/20260102000000000.replacecommit").write_text("{}")
    change = refresh(folder, table, local)
    assert (change.built, change.gone) == (0, 1)
    assert said(tmp_path / "index") == ({}, set())
    assert optimize(folder).committed
    assert said(tmp_path / "index") == ({}, set())
