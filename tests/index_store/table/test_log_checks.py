"""A damaged block of the metadata table's log files is noticed, and loses no file (C4, C10)."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import pytest

from index_store import TableError, open_table
from index_store.formats.log_file import COMMAND, DELETE, HFILE_DATA, read_log_blocks
from index_store.indexed_table import IndexedTable
from index_store.table.file_slices import parse_log_name
from index_store.table.table import FROM_LISTING, FROM_METADATA
from tests.index_store.synthetic import INSTANT, delete_content, files_value, hfile, log_block, write_table
from tests.torture.memory_storage import MemoryStorage
from tests.torture.tables import subject

#: Three table versions, copy-on-write and merge-on-read.
REAL = (
    "0.15.0_replaced_mor",
    "0.15.0_main_cow",
    "1.0.2_archived_mor",
    "1.1.1_evol_cow",
    "1.1.1_nonpart_mor",
    "1.2.0_evolved_cow",
)


@cache
def files_of(name):
    return dict(subject(name, 0).files)


@cache
def slices_of(name):
    slices = IndexedTable(MemoryStorage(files_of(name))).slices()
    assert (slices.source, slices.note) == (FROM_METADATA, "")
    return slices.items


def damaged(name, path, data):
    """The slices of a real table with other bytes in one file, as the metadata table and the listing give them."""
    storage = MemoryStorage(files_of(name))
    storage.replaced[path] = data
    return IndexedTable(storage).slices()


def logs_of(name, partition="files"):
    """The first and the last of the log files that are on top of the partition's base files."""
    metadata = IndexedTable(MemoryStorage(files_of(name))).metadata
    found = [f".hoodie/metadata/{log}" for group in metadata.groups(partition) for log in group.log_files]
    return found[:1] + found[1:][-1:]


@pytest.mark.parametrize("name", REAL)
def test_no_digit_of_an_instant_in_a_block_loses_a_file(name):
    """The hole that was there: a changed digit made a block uncommitted, and its files vanished without a word."""
    rnd = random.Random(name)
    noticed = 0
    for path in logs_of(name):
        data = files_of(name)[path]
        for instant in {block.instant for block in read_log_blocks(data) if block.type == HFILE_DATA}:
            start = data.index(instant.encode())
            for offset in range(start, start + len(instant)):
                digit = rnd.choice([one for one in b"0123456789" if one != data[offset]])
                slices = damaged(name, path, data[:offset] + bytes((digit,)) + data[offset + 1 :])
                assert slices.items == slices_of(name), (path, offset, digit)
                noticed += slices.source == FROM_LISTING and bool(slices.note)
    assert noticed >= 15


@pytest.mark.parametrize("name", REAL)
def test_no_other_block_type_loses_a_file(name):
    for path in logs_of(name):
        data = files_of(name)[path]
        kinds = [block.type for block in read_log_blocks(data)]
        assert set(kinds) <= {HFILE_DATA, DELETE, COMMAND}
        for kind in range(8):
            if kind != kinds[0]:
                slices = damaged(name, path, data[:18] + kind.to_bytes(4, "big") + data[22:])
                assert slices.items == slices_of(name), (path, kind)
                assert slices.source == FROM_LISTING, (path, kind)


@pytest.mark.parametrize("name", REAL)
def test_every_byte_of_a_block_header_and_of_its_lengths_is_safe(name):
    rnd = random.Random(name)
    path = max(logs_of(name), key=lambda log: parse_log_name(log.rpartition("/")[2]).version)
    data = files_of(name)[path]
    for offset in (*range(60), *range(len(data) - 12, len(data))):
        changed = data[:offset] + bytes((data[offset] ^ rnd.randint(1, 255),)) + data[offset + 1 :]
        assert damaged(name, path, changed).items == slices_of(name), offset


@pytest.mark.parametrize("name", ["0.15.0_failed_mor", "0.15.0_retried_cow", "0.15.0_restored_mor"])
def test_no_digit_of_the_instant_that_is_rolled_back_loses_a_file(name):
    rnd = random.Random(name)
    tried = 0
    for path, data in files_of(name).items():
        if path.startswith(".hoodie/metadata/files/.files") and read_log_blocks(data)[0].type == COMMAND:
            target = read_log_blocks(data)[0].target.encode()
            for start in (place for place in range(len(data)) if data.startswith(target, place)):
                for offset in range(start, start + len(target)):
                    digit = rnd.choice([one for one in b"0123456789" if one != data[offset]])
                    changed = data[:offset] + bytes((digit,)) + data[offset + 1 :]
                    found = {one.file_id: one.files for one in damaged(name, path, changed)}
                    for one in slices_of(name):  # a directory also has log files of dead writers
                        assert set(one.files) <= set(found[one.file_id]), (path, offset, digit)
                    tried += 1
    assert tried >= 17


LATER, DONE = "20260102000000000", "20260102000010000"
NEW = f"00000009-0000-4000-8000-000000000009-0_0-1-1_{LATER}.parquet"


@pytest.fixture
def table(tmp_path):
    """A table of version 6 names in its metadata table, and a function that puts a log file on top of ``files``."""
    root = tmp_path / "table"
    write_table(root, 2)
    own = root / ".hoodie/metadata/.hoodie/timeline"
    for folder, action in ((root / ".hoodie/timeline", "commit"), (own, "deltacommit")):
        (folder / f"{LATER}_{DONE}.{action}").write_text("{}")

    def put(*blocks, written=None, partition="files"):
        path = f"files/.files-0000-0_{LATER}.log.1_0-1-1"
        (root / ".hoodie/metadata" / path).write_bytes(b"".join(blocks))
        if written is not None:
            details = {"partitionToWriteStats": {partition: [{"path": path, **written}]}}
            (own / f"{LATER}_{DONE}.deltacommit").write_text(json.dumps(details))
        return open_table(root).metadata

    return put


def record(instant=LATER):
    return log_block(HFILE_DATA, hfile([(b".", files_value({NEW: 7}, 2))]), instant)


def test_a_block_of_an_instant_that_no_timeline_has_is_damage(table):
    with pytest.raises(TableError, match=r"a block of instant 60260102000000000, which is in no timeline"):
        table(record("60260102000000000")).files()


def test_an_instant_that_a_rollback_block_names_is_explained(table):
    dead = "20260103000000000"
    files = table(record(), record(dead), log_block(COMMAND, b"", DONE, target=dead)).files()
    assert NEW in files[""]


def test_a_commit_whose_block_is_missing_is_damage(table):
    with pytest.raises(TableError, match=f"no block of {LATER}, which says it wrote one"):
        table(log_block(DELETE, delete_content([]), "20260101000000000"), written={"numWrites": 1}).files()


def test_a_block_of_another_length_than_its_commit_says_is_damage(table):
    with pytest.raises(TableError, match="not as long as their commit says"):
        table(record(), written={"numWrites": 2, "numDeletes": 0}).files()
    assert NEW in table(record(), written={"numWrites": 1, "numDeletes": 0}).files()[""]


def test_a_block_in_a_file_that_its_commit_does_not_name_is_damage(table):
    with pytest.raises(TableError, match="does not say it wrote one"):
        table(record(), written={}, partition="column_stats").files()


def test_from_version_8_on_the_name_of_a_log_file_has_the_instant_of_its_blocks():
    name = "1.1.1_evol_cow"
    path = logs_of(name)[0]
    data = files_of(name)[path]
    instant = parse_log_name(path.rpartition("/")[2]).instant
    other = next(one.requested for one in IndexedTable(MemoryStorage(files_of(name))).timeline.writes)
    assert other != instant
    slices = damaged(name, path, data.replace(instant.encode(), other.encode()))
    assert slices.items == slices_of(name)
    assert f"a block of instant {other} in a log file of {instant}" in slices.note


def test_a_base_file_of_another_length_than_its_commit_says_is_damage(table):
    metadata = table(record())
    base = next(one.base_file for one in metadata.groups("files"))
    own = Path(metadata.storage.root) / f".hoodie/timeline/{INSTANT}_20260101000010000.deltacommit"
    own.write_text(json.dumps({"partitionToWriteStats": {"files": [{"path": base, "numWrites": 3}]}}))
    root = Path(metadata.storage.root).parent.parent
    with pytest.raises(TableError, match="it has 2 entries, its commit says 3"):
        open_table(root).metadata.files()
    own.write_text(own.read_text().replace("3", "2"))
    assert NEW in open_table(root).metadata.files()[""]
