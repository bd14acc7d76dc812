"""Storage: what is asked of a file system, how often, what fails and how; with a file system that keeps a record."""

from __future__ import annotations

import threading
import traceback
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store import TableError, open_table
from index_store.formats.hfile import HFile
from index_store.storage.client import Listed
from index_store.storage.errors import FormatError
from index_store.storage.file_cache import FileCache
from index_store.storage.ranged_file import TAIL, RangedFile, joined
from index_store.storage.storage import READ_WHOLE, Storage
from tests.index_store.recording_store import RecordingStore
from tests.index_store.storage.failing_stores import Failing, quick

# -- requests


def test_a_small_file_is_read_whole_in_one_request(folder):
    store = RecordingStore()
    assert quick(store, folder).read("d/07") == bytes([7]) * 100
    assert [(call.offset, call.length) for call in store.of("read") if call.length] == [(0, 100)]


def test_files_ahead_are_on_their_way_before_they_are_asked_for(folder):
    store = RecordingStore(latency=0.01)
    storage = quick(store, folder)
    names = [entry.path for entry in storage.below("d").files()]
    below = storage.below("d")
    with below.ahead(names):
        assert [below.read(name) for name in names] == [bytes([i]) * 100 for i in range(40)]
    assert 4 <= store.most_at_once <= 16
    opened = len(store.of("open"))
    assert opened == 40
    assert [below.read(name) for name in names] == [bytes([i]) * 100 for i in range(40)]
    assert len(store.of("open")) == opened  # kept: they were listed, and will not change


def test_what_was_ahead_and_not_asked_for_leaves_no_trace(folder):
    storage = quick(RecordingStore(), folder).below("d")
    names = [entry.path for entry in storage.files()]
    with storage.ahead(names):
        pass
    assert not storage._known._ahead


def test_a_file_that_was_not_listed_is_read_anew_each_time(folder):
    storage = quick(RecordingStore(), folder)
    assert storage.read("d/01") == bytes([1]) * 100
    (folder / "d" / "01").write_bytes(b"new")
    assert storage.read("d/01") == b"new"


def test_local_disks_do_without_threads_and_copies(folder):
    storage = Storage.at(folder).below("d")
    names = [entry.path for entry in storage.files()]
    threads = threading.active_count()
    with storage.ahead(names):
        assert threading.active_count() == threads
        assert storage.read("05") == bytes([5]) * 100
    assert not storage._known.is_here(str(folder / "d" / "05"))


def test_kept_files_have_a_limit_and_the_oldest_go_first():
    known = FileCache(limit=100)
    known.listed(Listed(name, 20) for name in "abcdefg")
    for name in "abcde":
        known.keep(name, bytes(20))
    assert known.get("a") == bytes(20)
    known.keep("f", bytes(20))
    assert [name for name in "abcdef" if known.is_here(name)] == list("acdef")
    known.keep("unlisted", bytes(20))
    known.keep("g", bytes(26))  # more than a quarter
    assert not known.is_here("unlisted")
    assert not known.is_here("g")
    known.listed([Listed("c", 21), Listed("d", 20), Listed("e", 20, "another version")])
    assert known.get("c") is None
    assert known.get("d") == bytes(20)
    assert known.get("e") is None


def test_only_the_blocks_that_are_needed_of_a_large_file_are_read(large):
    path, records = large
    size = (path / "large.hfile").stat().st_size
    assert size > 2 * READ_WHOLE
    store = RecordingStore()
    with quick(store, path).open("large.hfile") as source:
        file = HFile.open(source)
        found = b"".join(file.blocks([b"007777"]))
    assert records[b"007777"] in found
    reads = [call for call in store.of("read") if call.length]
    assert len(reads) == 2  # the tail with the index, and one run of blocks
    assert sum(call.length for call in reads) <= TAIL + 3 * 70_000
    assert reads[0].offset + reads[0].length == size


def test_a_file_read_from_end_to_end_is_read_once(large):
    path, records = large
    store = RecordingStore()
    with quick(store, path).open("large.hfile") as source:
        assert sum(len(block) for block in HFile.open(source).blocks()) > 1000 * len(records)
    size = (path / "large.hfile").stat().st_size
    assert sum(call.length for call in store.of("read")) <= size + TAIL


def test_blocks_that_lie_apart_are_fetched_side_by_side(large):
    path, records = large
    store = RecordingStore(latency=0.01)
    keys = [b"%06d" % i for i in range(0, 12_000, 2_000)]
    with quick(store, path).open("large.hfile") as source:
        found = b"".join(HFile.open(source).blocks(keys))
    assert all(records[key] in found for key in keys)
    assert 4 <= store.most_at_once <= 16
    assert len(store.of("open")) <= 8
    assert sum(call.length for call in store.of("read")) < (path / "large.hfile").stat().st_size


def test_expected_ranges_are_joined_and_fetched_side_by_side(large):
    path, _ = large
    data = (path / "large.hfile").read_bytes()
    store = RecordingStore(latency=0.01)
    places = [(i * 3_000_000 + j * 50_000, 1000) for i in range(4) for j in range(5)]
    with quick(store, path).open("large.hfile") as source:
        before = len(store.of("read"))
        source.expect(places)
        for offset, length in places:
            assert source.read_at(offset, length) == data[offset : offset + length]
    reads = store.of("read")[before:]
    assert sorted((call.offset, call.length) for call in reads) == [(i * 3_000_000, 201_000) for i in range(4)]


def test_a_range_outside_of_the_file_is_damage(large):
    path, _ = large
    with quick(RecordingStore(), path).open("large.hfile") as source:
        for offset, length in ((source.size - 1, 2), (-1, 1), (0, -1)):
            with pytest.raises(FormatError, match="outside of the file"):
                source.read_at(offset, length)


ranges = st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 300)), max_size=20)


@given(ranges, st.integers(0, 200), st.integers(1, 500))
def test_joined_ranges_cover_what_was_asked_and_little_more(asked, gap, largest):
    found = joined(asked, gap, largest)
    assert found == sorted(found)
    for offset, length in asked:
        assert any(start <= offset and offset + length <= start + size for start, size in found)
    for start, size in found:
        assert size <= largest or (start, size) in asked
        covered = sorted((o, n) for o, n in asked if start <= o and o + n <= start + size)
        end = start
        for offset, length in covered:
            assert offset - end <= gap
            end = max(end, offset + length)
        assert end == start + size


@given(st.binary(min_size=1, max_size=400), st.data())
def test_ranges_are_those_of_the_file_in_any_order(content, data):
    file = RangedFile(
        len(content),
        pa.BufferReader(content),
        lambda: pa.BufferReader(content),
        lambda f: f(),
        local=False,
        shared=data.draw(st.booleans()),
    )
    places = st.integers(0, len(content)).flatmap(
        lambda offset: st.tuples(st.just(offset), st.integers(0, len(content) - offset))
    )
    for asked in data.draw(st.lists(st.lists(places, max_size=4), max_size=4)):
        file.expect(asked)
        for offset, length in [*asked, data.draw(places)]:
            assert file.read_at(offset, length) == content[offset : offset + length]


def test_a_file_that_changed_or_vanished_since_it_was_listed_is_an_error(folder):
    storage = quick(RecordingStore(), folder).below("d")
    storage.files()
    (folder / "d" / "05").write_bytes(b"short")
    with pytest.raises(TableError, match=r"d/05: changed while it was read: 100 bytes, then 5"):
        storage.read("05")
    (folder / "d" / "06").write_bytes(bytes(101))
    with pytest.raises(TableError, match=r"d/06: changed while it was read: 100 bytes, then 101"), storage.open("06"):
        pass
    (folder / "d" / "07").unlink()
    with pytest.raises(TableError, match=r"d/07: no such file"):
        storage.read("07")
    with storage.ahead(["07", "08"]):
        assert storage.read("08") == bytes([8]) * 100
        with pytest.raises(TableError, match=r"d/07: no such file"):
            storage.read("07")


def test_a_log_file_that_grew_counts_as_far_as_it_was_listed(folder):
    name = ".f-0_20260101000000000.log.1_0-1-1"
    (folder / name).write_bytes(b"first")
    for storage in (quick(RecordingStore(), folder), Storage.at(folder)):
        (folder / name).write_bytes(b"first")
        storage.files()
        (folder / name).write_bytes(b"first and second")
        assert storage.read(name) == b"first"
        with storage.open(name) as source:
            assert source.read_at(0, source.size) == b"first"


def test_a_large_file_that_ends_early_is_an_error(large):
    path, _ = large
    with quick(RecordingStore(), path).open("large.hfile") as source:
        with (path / "large.hfile").open("r+b") as file:
            file.truncate(1_000_000)
        with pytest.raises(TableError, match=r"large\.hfile: cannot be read: the reply ends early: 100000 of 200000"):
            source.read_at(900_000, 200_000)


@pytest.mark.parametrize("missing", ["metadata/files/.files-0000-0_2", "metadata/column_stats/.col-stats-0000-0_2"])
def test_a_file_that_vanishes_while_a_table_is_open_skips_nothing(hudi_copy, missing):
    path = hudi_copy("1.1.1_main_mor")
    expected = open_table(path).slices()
    gone = max(path.glob(f".hoodie/{missing}*"))

    def vanish(call):
        if call.what == "open" and call.path.endswith(gone.name):
            raise FileNotFoundError(call.path)

    table = open_table(path, filesystem=RecordingStore(vanish).filesystem)
    slices = table.slices()
    assert slices.items == expected.items
    kind = next((kind for kind in table.kinds(slices) if kind.name == "column_stats"), None)
    if "column_stats" in missing:
        with pytest.raises(Exception, match=r"log\.1.*no such file"):
            kind.statistics([table.schema.resolve("i")])
    else:
        assert gone.name in slices.note


def test_an_error_of_a_client_that_is_no_oserror_is_a_table_error(folder):
    class ClientError(Exception):
        """As azure's and google's."""

    store = RecordingStore(Failing(ClientError("the account is disabled"), what=("open",)))
    with pytest.raises(TableError, match=r"d/00: cannot be read: the account is disabled") as caught:
        quick(store, folder).read("d/00")
    assert "ClientError" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(("option", "value"), [("tries", "0"), ("deadline", "-1"), ("deadline", "soon")])
def test_patience_is_a_number_above_zero(folder, option, value):
    with pytest.raises(TableError, match=f"option {option} is not"):
        Storage.at(folder, options={option: value})


def test_paths_that_files_name_are_found_inside(folder):
    storage = Storage.at(folder)
    assert storage.relative(f"{folder}/.hoodie/x") == ".hoodie/x"
    assert storage.relative(".hoodie/x") == ".hoodie/x"
    assert storage.relative("/elsewhere/x") == "/elsewhere/x"
    remote = Storage.at("s3a://bucket/t", options={"region": "us-east-1"})
    assert remote.relative("s3://bucket/t/.hoodie/x") == remote.relative("bucket/t/.hoodie/x") == ".hoodie/x"
    assert remote.relative("s3://bucket/tt/x") == "s3://bucket/tt/x"
    lake = replace(remote, root="hdfs://lake/w/t", _inside="/w/t")  # a cluster with several names
    assert lake.relative("hdfs://nn1:8020/w/t/.hoodie/x") == lake.relative("/w/t/.hoodie/x") == ".hoodie/x"
    assert lake.relative("hdfs://nn1:8020/w/tt/x") == "hdfs://nn1:8020/w/tt/x"
    assert lake.relative("s3://lake2/w/t/x") == "s3://lake2/w/t/x"
    assert storage.below("d").absolute("00") == f"{folder}/d/00"
    assert repr(storage) == f"Storage('{folder}')"


@pytest.mark.parametrize("path", ["/etc/passwd", "../d/00", "d/../../x", "d/..", "file:///etc/passwd", "s3://other/x"])
def test_a_path_that_leads_out_of_the_table_is_refused(folder, path):
    storage = Storage.at(folder).below("d")
    for ask in (storage.read, storage.exists, storage.files, storage.input_file, storage.below, storage.read_if_there):
        with pytest.raises(TableError, match="does not lie inside of it"):
            ask(path)
