"""The files whose values are looked up: how many, of which size, which are kept, and which are read side by side."""

from __future__ import annotations

import shutil
import threading

import pytest

from index_store import open_table
from index_store.kinds.record_keys import stored_values
from index_store.kinds.record_keys.stored_values import StoredValues
from index_store.storage.storage import Storage
from tests.index_store.kinds.test_stored_values import BASE, NAME, ROW, S, avro, parquet_bytes, plain
from tests.index_store.recording_store import RecordingStore


@pytest.fixture(scope="module")
def path(hudi_table, tmp_path_factory):
    """A copy of a table with the column s."""
    return shutil.copytree(hudi_table("1.1.1_sec_mor"), tmp_path_factory.mktemp("values") / "table")


@pytest.fixture
def folder(path):
    """The table's folder, with room for files of the test's own."""
    before = set(path.iterdir())
    yield path
    for file in set(path.iterdir()) - before:
        file.unlink()


def written(folder, names, content):
    for name in names:
        (folder / name).write_bytes(content)
    return list(names)


def logs_and_bases(folder, count, **columns):
    """By slice a log file with ``x$y`` and a base file with ``old``."""
    logs = written(folder, [f"{NAME}{number}" for number in range(count)], avro(ROW))
    bases = written(folder, [f"{number}{BASE}" for number in range(count)], parquet_bytes({"s": ["old"], **columns}))
    return {number: [bases[number], logs[number]] for number in range(count)}


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        ("MAX_BYTES", 10, "of the files to look into 1 are beyond the 512 files and 0 MiB that are read"),
        ("MAX_FILES", 0, "of the files to look into 1 are beyond the 0 files and 64 MiB that are read"),
    ],
)
def test_values_beyond_the_limits_are_held_and_a_reason_says_so(folder, monkeypatch, limit, value, why):
    files = logs_and_bases(folder, 1)
    monkeypatch.setattr(stored_values, limit, value)
    found = StoredValues(open_table(folder)).look_up(S, ["none"], files)
    assert found.slices == {0}
    assert found.why == why


def test_files_of_exactly_the_limit_are_read(folder, monkeypatch):
    """Of a base file the bytes of the column count, and not those of others."""
    files = logs_and_bases(folder, 1, other=["long" * 1_000])
    table = open_table(folder)
    values = StoredValues(table)
    size = (folder / NAME).with_name(f"{NAME}0").stat().st_size
    of_column = values._size(f"0{BASE}", "s")
    assert 0 < of_column < 200
    for left, held in ((0, set()), (-1, {0})):
        monkeypatch.setattr(stored_values, "MAX_BYTES", size + of_column + left)
        assert StoredValues(table).look_up(S, ["none"], files).slices == held


@pytest.mark.parametrize(("most", "held"), [(34, set()), (33, {16}), (32, {16}), (31, {15, 16})])
def test_the_last_slices_are_beyond_the_limits(folder, monkeypatch, most, held):
    """The log files of 16 slices, then their base files, then the next slices."""
    files = logs_and_bases(folder, 17)
    monkeypatch.setattr(stored_values, "MAX_FILES", most)
    assert StoredValues(open_table(folder)).look_up(S, ["none"], files).slices == held


def test_values_beyond_the_room_are_read_again(folder, monkeypatch):
    [file] = logs_and_bases(folder, 1).values()
    written(folder, file[:1], parquet_bytes({"s": ["old" * 9]}))
    monkeypatch.setattr(stored_values, "KEPT_BYTES", 40)
    values = StoredValues(open_table(folder))
    for _ in range(2):
        assert not values.look_up(S, ["none"], {0: file}).slices
        assert values.look_up(S, ["x$y"], {0: file}).slices == values.look_up(S, ["old" * 9], {0: file}).slices == {0}
        assert len(values._read) == 1
        assert 0 <= values._room < 40


def test_64_mib_of_values_are_kept_and_what_fits_exactly(folder, monkeypatch):
    files = logs_and_bases(folder, 2)
    table = open_table(folder)
    values = StoredValues(table)
    assert values._room == 64 << 20
    values.look_up(S, ["none"], {0: files[0]})
    taken = (64 << 20) - values._room
    assert 0 < taken < 100
    monkeypatch.setattr(stored_values, "KEPT_BYTES", taken)
    values = StoredValues(table)
    values.look_up(S, ["none"], {0: files[0]})
    assert (len(values._read), values._room) == (2, 0)
    values.look_up(S, ["none"], {0: files[1]})
    assert set(values._read) == {(path, "s") for path in files[1]}


def test_what_is_not_known_takes_no_room(folder):
    values = StoredValues(open_table(folder))
    assert values.look_up(S, ["none"], {0: written(folder, [NAME], plain(4, b"hfile"))}).slices == {0}
    assert len(values._read) == 1
    assert values._room == 64 << 20


def test_log_files_are_read_side_by_side_where_each_costs_a_round_trip(folder):
    logs = [file for _, file in logs_and_bases(folder, 6).values()]
    store = RecordingStore(latency=0.02)
    table = open_table(str(folder), filesystem=store.filesystem)
    values = StoredValues(table)
    values._is_stored(S)  # reads of the table itself
    store.most_at_once = 0
    assert values.look_up(S, ["x$y"], dict(enumerate([one] for one in logs))).slices == set(range(6))
    assert store.most_at_once > 2


@pytest.mark.parametrize("is_local", [True, False])
def test_base_files_are_read_side_by_side_where_each_costs_a_round_trip(folder, monkeypatch, is_local):
    threads = set()
    apply = Storage.apply

    def applied(self, path, read):
        threads.add(threading.current_thread().name.partition("_")[0])
        return apply(self, path, read)

    monkeypatch.setattr(Storage, "apply", applied)
    files = {number: [base] for number, (base, _) in logs_and_bases(folder, 3).items()}
    store = None if is_local else RecordingStore().filesystem
    values = StoredValues(open_table(str(folder), filesystem=store))
    threads.clear()
    assert values.look_up(S, ["old"], files).slices == {0, 1, 2}
    assert ("MainThread" in threads, "sargo-values" in threads) == (is_local, not is_local)
