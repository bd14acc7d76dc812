"""The listing (RFC-15): what the metadata table says is what the directories hold, and nobody lists a directory."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store import TableError, open_table
from index_store.formats.log_file import DELETE, HFILE_DATA
from index_store.table.file_slices import file_id_of
from index_store.table.files_partition import PartitionFiles, read_files, read_partitions
from index_store.table.listing import FROM_LISTING, FROM_METADATA, Listing
from tests.index_store.conftest import TABLES
from tests.index_store.recording_store import RecordingStore
from tests.index_store.replay import commits
from tests.index_store.synthetic import INSTANT, NONE, delete_content, files_value, hfile, log_block, write_table
from tests.sampling import share

LATER, DONE = "20260102000000000", "20260102000010000"
DATA_FILE = re.compile(r".*\.parquet|\..*\.log\.\d+_[-\d]+")


def on_disk(path):
    """Partition -> (name, size) of the files that commits say they wrote, as the directories hold them."""
    written = {
        stat["path"]
        for *_, metadata in commits(path)
        for stats in metadata["partitionToWriteStats"].values()
        for stat in stats
    }
    found = {}
    for file in path.rglob("*"):
        place = file.relative_to(path).as_posix()
        if not place.startswith(".hoodie/") and file.is_file() and DATA_FILE.fullmatch(file.name):
            assert place in written, "every data file of these tables is committed"
            found.setdefault(place.rpartition("/")[0], []).append((file.name, file.stat().st_size))
    return {partition: sorted(files) for partition, files in found.items()}


def listed(table):
    return {partition: [(file.name, file.size) for file in table.files(partition)] for partition in table.partitions()}


def without_metadata(path):
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        "".join(line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions" not in line)
    )


@pytest.mark.parametrize("name", share(TABLES, 3, seed=14))
def test_the_listing_is_what_the_directories_hold(hudi_table, name):
    path = hudi_table(name)
    table = open_table(path)
    expected = on_disk(path)
    assert table.partitions() == tuple(sorted(expected))
    assert listed(table) == expected
    assert (table.listing.source, table.listing.note) == (FROM_METADATA, "")
    if name.endswith("_mor") and "bucket_ch_resized" not in name:
        assert any(".log." in file for files in expected.values() for file, _ in files)


@pytest.mark.parametrize("name", share(TABLES, 3, seed=15))
def test_all_partitions_together_are_the_same_as_one_by_one(hudi_table, name):
    one_by_one, together = open_table(hudi_table(name)), open_table(hudi_table(name))
    expected = listed(one_by_one)
    assert {
        partition: [(file.name, file.size) for file in files] for partition, files in together.listing.load().items()
    } == expected
    assert listed(together) == expected
    assert {partition: dict(files) for partition, files in expected.items()} == together.metadata.files()


@pytest.mark.parametrize("name", share(TABLES, 3, seed=16))
def test_no_directory_of_the_table_is_listed(hudi_table, name):
    path = hudi_table(name)
    store = RecordingStore()
    table = open_table(path, filesystem=store.filesystem)
    assert listed(table) == on_disk(path)
    assert len(table.file_slices()) > 0
    folders = {call.path.removeprefix(f"{path}/").partition("/")[0] for call in store.of("list")}
    assert folders == {".hoodie"}
    assert len(store.of("list")) <= (6 if name.startswith("0.15") else 4)  # version 6 is looked for after version 8


def test_one_partition_reads_its_own_record_only(tmp_path):
    root = tmp_path / "table"
    write_table(root, 1)
    names = {
        f"p{i:04d}": {f"{i:08x}-0-0-0-{n}-0_0-0-0_{INSTANT}.parquet": 100 + n for n in range(50)} for i in range(2000)
    }
    records = [(key.encode(), files_value(sizes, 2)) for key, sizes in names.items()]
    base = root / ".hoodie/metadata/files" / f"files-0000-0_0-1-1_{INSTANT}.hfile"
    base.write_bytes(hfile([*records, (b"__all_partitions__", files_value(list(names), 1))], codec=NONE))
    assert base.stat().st_size > 4_000_000
    assert len(open_table(root).partitions()) == 2000
    from index_store.formats import hfile as reader

    inflated = []
    original = reader.StoredBlock.inflated
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader.StoredBlock, "inflated", lambda block: inflated.append(block.size) or original(block))
        files = open_table(root).files("p1234")
    assert [(file.name, file.size) for file in files] == sorted(names["p1234"].items())
    assert sum(inflated) < 400_000


@pytest.mark.parametrize("name", share(TABLES, 3, seed=17))
def test_without_a_metadata_table_directories_are_listed(hudi_copy, name):
    path = hudi_copy(name)
    without_metadata(path)
    expected = on_disk(path)
    for files in expected:
        token = "0-0-0_20991231000000000"
        (path / files / f"00000000-0000-0000-0000-000000000000-0_{token}.parquet").write_bytes(b"nobody committed this")
        (path / files / "notes.txt").write_bytes(b"no data file")
    table = open_table(path)
    assert listed(table) == expected
    assert (table.listing.source, table.listing.note) == (FROM_LISTING, "")
    whole = open_table(path)
    whole.listing.load()
    assert listed(whole) == expected


def test_without_a_metadata_table_one_partition_lists_one_directory(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    without_metadata(path)
    store = RecordingStore()
    table = open_table(path, filesystem=store.filesystem)
    assert len(table.files("p=p1")) == len(on_disk(path)["p=p1"])
    assert [call.path for call in store.of("list") if ".hoodie" not in call.path] == [f"{path}/p=p1"]


def test_a_lagging_metadata_table_is_not_used_and_it_is_said(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    last = open_table(path).timeline.last.requested
    for commit in (path / ".hoodie/metadata/.hoodie/timeline").glob(f"{last}*"):
        commit.unlink()
    table = open_table(path)
    assert listed(table) == on_disk(path)
    assert table.listing.source == FROM_LISTING
    assert f"does not know the commit {last}" in table.listing.note


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_broken_metadata_table_is_not_used_and_it_is_said(hudi_copy, damage):
    path = hudi_copy("1.1.1_main_mor")
    file = max((path / ".hoodie/metadata").glob("files/.files-0000-0_2*"))
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    else:
        file.unlink()
    for read in (
        lambda table: table.partitions(),
        lambda table: table.files("p=p0"),
        lambda table: table.listing.load(),
    ):
        table = open_table(path)
        read(table)
        assert table.listing.source == FROM_LISTING
        assert file.name in table.listing.note
        assert listed(table) == on_disk(path)


def test_a_partition_that_is_none_is_an_error(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    for _ in range(2):
        with pytest.raises(TableError, match="there is no partition p=p9"):
            open_table(path).files("p=p9")
        without_metadata(path)


def test_a_table_without_commits_has_no_partitions(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    for folder in (".hoodie/timeline", ".hoodie/metadata/.hoodie/timeline"):
        for file in (path / folder).glob("*commit*"):
            file.unlink()
    assert open_table(path).partitions() == ()


# -- records on top of each other


@pytest.fixture
def layered(tmp_path):
    """A table of two files in its base record, and a function that puts log blocks on top."""
    root = tmp_path / "table"
    write_table(root, 2)
    for folder, action in ((".hoodie/timeline", "commit"), (".hoodie/metadata/.hoodie/timeline", "deltacommit")):
        (root / folder / f"{LATER}_{DONE}.{action}").write_text("{}")

    def put(*blocks):
        log = root / ".hoodie/metadata/files" / f".files-0000-0_{LATER}.log.1_0-1-1"
        log.write_bytes(b"".join(blocks))
        return open_table(root)

    return put


def record(sizes, key=b".", kind=2):
    return log_block(HFILE_DATA, hfile([(key, files_value(sizes, kind))]), LATER)


def base_name(n):
    return f"{n:08x}-0000-4000-8000-{n:012x}-0_{n}-10-100_{INSTANT}.parquet"


NEW = f"00000009-0000-4000-8000-000000000009-0_0-1-1_{LATER}.parquet"


def test_a_later_record_adds_files_and_sizes_only_grow(layered):
    table = layered(record({NEW: 7, base_name(0): 5, base_name(1): 5000}))
    assert listed(table) == {"": [(base_name(0), 1000), (base_name(1), 5000), (NEW, 7)]}


def test_a_later_record_removes_files(layered):
    assert listed(layered(record({base_name(0): None}))) == {"": [(base_name(1), 1000)]}


def test_a_removed_file_may_come_back(layered):
    assert listed(layered(record({base_name(0): None}), record({base_name(0): 3}))) == {
        "": [(base_name(0), 3), (base_name(1), 1000)]
    }


def test_an_empty_record_removes_the_partitions_files(layered):
    empty = log_block(HFILE_DATA, hfile([(b".", b"")]), LATER)
    assert listed(layered(empty)) == {"": []}
    assert listed(layered(empty, record({NEW: 7}))) == {"": [(NEW, 7)]}


def test_a_delete_block_in_files_has_no_checksum_and_the_directories_are_listed(layered):
    """Hudi writes none there: one whose key was changed would take away the files of another partition."""
    table = layered(log_block(DELETE, delete_content(["."]), LATER))
    assert table.slices().source == "file listing"
    assert "a delete block removes the record of ." in table.slices().note
    with pytest.raises(TableError, match="a delete block"):
        read_files(table.metadata)


def test_a_partition_comes_and_goes(layered):
    both = record([".", "x=1"], b"__all_partitions__", 1)
    assert listed(layered(both, record({NEW: 7}, b"x=1"))) == {
        "": [(base_name(0), 1000), (base_name(1), 1000)],
        "x=1": [(NEW, 7)],
    }
    gone = record({"x=1": None}, b"__all_partitions__", 1)
    assert layered(both, gone).partitions() == ("",)


def test_blocks_of_pending_instants_do_not_count(layered):
    block = log_block(HFILE_DATA, hfile([(b".", files_value({NEW: 7}, 2))]), "20260103000000000")
    root = Path(layered(block).path)
    (root / ".hoodie/metadata/.hoodie/timeline/20260103000000000.deltacommit.inflight").write_text("")
    table = open_table(root)
    assert len(table.files("")) == 2
    assert table.listing.note == ""


def test_a_missing_list_of_partitions_falls_back(layered):
    table = layered(log_block(HFILE_DATA, hfile([(b"__all_partitions__", b"")]), LATER))
    assert table.partitions() == ()
    assert "list of partitions is missing" in table.listing.note


# -- names and columns


names = st.one_of(
    st.from_regex(r"[^._\n][^_\n]{0,8}_[0-9]{1,3}-[0-9]-[0-9]_[0-9]{1,17}\.(parquet|orc|hfile|csv)", fullmatch=True),
    st.from_regex(r"\.[a-f0-9._-]{1,9}_[0-9]{1,17}\.log\.[0-9](_[0-9]-[0-9]-[0-9])?(\.cdc|\.crc)?", fullmatch=True),
    st.text(st.characters(max_codepoint=0x24F), max_size=20),
)


@given(st.dictionaries(st.sampled_from(("", "p=1", "p=2")), st.sets(names, max_size=6)))
def test_a_column_of_names_is_read_as_each_name_is(found):
    every_instant = SimpleNamespace(is_committed=lambda _: True, pending_compactions=())
    listing = Listing(SimpleNamespace(), every_instant, 9, None)
    files = listing._committed({one: PartitionFiles.of(dict.fromkeys(some, 1)) for one, some in found.items()})
    assert {one: [file.name for file in some] for one, some in files.items()} == {
        one: [name for name in sorted(some) if file_id_of(name)] for one, some in found.items()
    }


def test_columns_are_a_sequence_of_files():
    files = PartitionFiles.of({"b": 2, "a": 1, "c": 3})
    assert [(file.name, file.size) for file in files] == [("a", 1), ("b", 2), ("c", 3)]
    assert (files[1].name, files[-1].size, len(files), files.bytes) == ("b", 3, 3, 6)
    assert [file.name for file in files[1:]] == ["b", "c"]
    assert repr(files) == "PartitionFiles(3 files, 6 bytes)"


def test_a_partition_is_named_by_its_path_or_as_people_read_it(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    without_metadata(path)
    (path / "p=p0").rename(path / "p=a%2Fb")
    plain = open_table(path)
    assert plain.listing.decoded("p=a%2Fb") == "p=a%2Fb"
    with pytest.raises(TableError, match="no partition p=a/b"):
        plain.listing.named("p=a/b")
    properties.write_text(
        properties.read_text().replace("partitionpath.urlencode=false", "partitionpath.urlencode=true")
    )
    table = open_table(path)
    assert table.listing.decoded("p=a%2Fb") == "p=a/b"
    assert table.listing.named("p=a/b") == table.listing.named("p=a%2Fb/") == "p=a%2Fb"
    (path / "p=p1").rename(path / "p=a%2fb")
    with pytest.raises(TableError, match="2 partitions read as p=a/b"):
        open_table(path).listing.named("p=a/b")


def test_the_list_of_partitions_alone_is_read_without_the_files(hudi_table):
    table = open_table(hudi_table("1.1.1_main_cow"))
    assert read_partitions(table.metadata) == ("p=p0", "p=p1", "p=p2")
    assert list(read_files(table.metadata, ["p=p1"])) == ["p=p1"]


class UnreadableMetadata(RecordingStore):
    """A file system that refuses to list or open what lies in a table's ``.hoodie/metadata``."""

    def __init__(self, table):
        def refuse(call):
            if "/.hoodie/metadata" in call.path:
                raise PermissionError(13, "Permission denied", call.path)

        super().__init__(refuse)
        self.table = str(table)

    def get_file_info_selector(self, selector):
        if selector.recursive and selector.base_dir.rstrip("/") in (self.table, f"{self.table}/.hoodie"):
            raise PermissionError(13, "Permission denied", f"{self.table}/.hoodie/metadata")
        return super().get_file_info_selector(selector)


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.1.1_nonpart_mor"])
def test_a_metadata_folder_that_may_not_be_read_is_not_listed_either(hudi_table, name):
    path = hudi_table(name)
    expected = open_table(path)
    table = open_table(path, filesystem=UnreadableMetadata(path).filesystem)
    found = table.slices()
    assert [(one.partition, one.files) for one in found] == [(one.partition, one.files) for one in expected.slices()]
    assert found.source == FROM_LISTING
    assert "Permission denied" in found.note
    assert listed(table) == listed(expected)
    assert table.listing.source == FROM_LISTING


def test_a_partition_that_may_not_be_listed_is_an_error(hudi_table):
    path = hudi_table("1.1.1_main_cow")

    class Unreadable(UnreadableMetadata):
        def get_file_info_selector(self, selector):
            if selector.base_dir.endswith("/p=p1"):
                raise PermissionError(13, "Permission denied", selector.base_dir)
            return super().get_file_info_selector(selector)

    table = open_table(path, filesystem=Unreadable(path).filesystem)
    for use in (table.slices, table.partitions):
        with pytest.raises(TableError, match="p=p1"):
            use()


def test_a_name_that_is_no_utf_8_is_an_error_of_the_table(hudi_table, tmp_path):
    """A listing that left it out would lose its files."""
    path = shutil.copytree(hudi_table("1.1.1_main_cow"), tmp_path / "table")
    without_metadata(path)
    folder = os.fsencode(path) + b"/p=\xff"
    os.mkdir(folder)
    with open(folder + b"/a.parquet", "wb"):
        pass
    table = open_table(path)
    for use in (table.slices, table.partitions):
        with pytest.raises(TableError, match="codec can't decode"):
            use()
