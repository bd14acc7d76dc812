"""Entries on disk: only the blocks asked for are read, and nothing damaged is believed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.own.secondary import sorted_table
from index_store.own.secondary.entries import ENTRIES, REVERSE
from index_store.own.secondary.runs import sort_entries
from index_store.own.secondary.sorted_table import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    LARGEST_BLOCK,
    SortedTable,
    SortedWriter,
    read_sorted,
    write_sorted,
)
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable
from index_store.storage.errors import TableError
from index_store.storage.storage import READ_WHOLE
from tests.index_store.object_store import running
from tests.index_store.own.secondary.entry_batches import entry_batch
from tests.index_store.own.secondary.test_runs import batch_of, entries_of, expected_of, many

#: What all keys of a table begin with: bounds of 64 bytes and less are kept as they are.
COMMON = st.sampled_from([b"", b"x" * 62, b"x" * 63, b"x" * 70, b"\xff" * 70])
ENDINGS = st.sampled_from([b"", b"\0", b"\xff", *(b"%02d" % number for number in range(12))])


def write(folder: Folder, entries, rows: int, schema: pa.Schema = ENTRIES) -> StoredTable:
    order = "key" if schema is ENTRIES else "group"
    with SortedWriter(folder, "table", schema, block_rows=rows) as writer:
        writer.write(batch_of(expected_of(entries, order)))
    return writer.stored


@settings(max_examples=50)
@given(
    COMMON,
    st.lists(st.tuples(ENDINGS, ENDINGS, st.integers(0, 9), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 9),
    st.lists(st.tuples(st.none() | ENDINGS, st.none() | ENDINGS), max_size=4),
)
def test_what_is_asked_for_is_found_and_little_else_is_read(tmp_path_factory, common, endings, rows, asked):
    entries = [(common + ending, *others) for ending, *others in endings]
    folder = Folder.at(tmp_path_factory.mktemp("sorted"))
    stored = write(folder, entries, rows)
    whole = expected_of(entries, "key")
    assert stored.rows == len(whole)
    assert entries_of(read_sorted(folder, stored)) == whole
    table = SortedTable.open(folder, stored)
    assert sum(table.deleted) == sum(entry[3] for entry in whole)
    every = [(common + lo if lo is not None else None, common + hi if hi is not None else None) for lo, hi in asked]
    for lo, hi in [*every, *((key, key + b"\0") for key in {entry[0] for entry in entries})]:
        wanted = [entry for entry in whole if (lo is None or lo <= entry[0]) and (hi is None or entry[0] < hi)]
        assert entries_of(read_sorted(folder, stored, lo, hi)) == wanted
        blocks = table.blocks(lo, hi)
        assert len(blocks) <= len({whole.index(entry) // rows for entry in wanted}) + 2


@settings(max_examples=50)
@given(
    st.lists(st.tuples(ENDINGS, ENDINGS, st.integers(-5, 5), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 9),
    st.integers(-6, 6),
)
def test_the_reverse_mapping_gives_the_entries_of_a_group(tmp_path_factory, entries, rows, group):
    folder = Folder.at(tmp_path_factory.mktemp("reverse"))
    stored = write(folder, entries, rows, REVERSE)
    expected = [entry for entry in expected_of(entries, "group") if entry[2] == group]
    assert entries_of(read_sorted(folder, stored, group, group + 1)) == expected


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_long_keys_with_much_in_common_are_told_apart(tmp_path, rows):
    folder = Folder.at(tmp_path)
    entries = [
        (b"https://" + b"x" * 300 + b"%03d" % (number // 2), b"%d" % number, number, False) for number in range(60)
    ]
    stored = write(folder, entries, rows)
    table = SortedTable.open(folder, stored)
    for number in range(0, 60, 2):
        key = entries[number][0]
        assert entries_of(read_sorted(folder, stored, key, key + b"\0")) == entries[number : number + 2]
        assert len(table.blocks(key, key + b"\0")) <= 3


def test_columns_that_are_not_asked_for_are_not_made(tmp_path):
    folder = Folder.at(tmp_path)
    table = SortedTable.open(folder, write(folder, [(b"a", b"r", 3, False), (b"b", b"s", 4, False)], 1))
    found = list(table.read(range(2), ["group", "deleted"]))
    assert [batch.to_pydict() for batch in found] == [
        {"group": [3], "deleted": [False]},
        {"group": [4], "deleted": [False]},
    ]


def test_a_block_ends_by_rows_and_by_bytes(tmp_path):
    folder = Folder.at(tmp_path)
    stored = write_sorted(folder, "many", sort_entries(many(5000, 1000), order="key"), ENTRIES)
    assert stored is not None
    table = SortedTable.open(folder, stored)
    assert table.rows == [BLOCK_ROWS, BLOCK_ROWS, stored.rows - 2 * BLOCK_ROWS]
    large = [(b"%03d" % number + bytes(BLOCK_BYTES // 4), b"r", 0, False) for number in range(20)]
    found = SortedTable.open(folder, write(folder, large, BLOCK_ROWS))
    assert max(found.rows) <= 4
    assert entries_of(read_sorted(folder, found.stored)) == large


def test_a_version_names_it_in_few_bytes_however_many_blocks_there_are(tmp_path):
    folder = Folder.at(tmp_path)
    stored = write(folder, [(b"%05d" % number, b"r", 0, False) for number in range(5000)], 2)
    assert len(SortedTable.open(folder, stored).rows) == 2500
    document = json.dumps(stored.to_dict())
    assert len(document) < 200
    assert StoredTable.from_dict(json.loads(document)) == stored


def test_no_entries_are_no_file(tmp_path):
    assert write_sorted(Folder.at(tmp_path), "none", iter([batch_of([])]), ENTRIES) is None
    assert list(tmp_path.rglob("*")) == []


def test_entries_out_of_order_are_refused_and_leave_no_file(tmp_path):
    folder = Folder.at(tmp_path)
    one, other = (batch_of([(key, b"r", 0, False)]) for key in (b"a", b"b"))
    for batches in ([pa.concat_batches([other, one])], [other] * BLOCK_ROWS + [one]):
        with pytest.raises(ValueError, match="not in order"):
            write_sorted(folder, "table", iter(batches), ENTRIES)
    with pytest.raises(ValueError, match="schema"):
        SortedWriter(folder, "table", pa.schema([("key", pa.string())]))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_flipped_byte_is_an_error_wherever_it_is(tmp_path):
    folder = Folder.at(tmp_path)
    stored = write(folder, [(b"%03d" % number, b"r", number, False) for number in range(40)], 10)
    path = tmp_path / "table"
    data = path.read_bytes()
    for place in range(4, len(data), 5):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(TableError, match="damaged"):
            list(read_sorted(folder, stored))


def test_a_block_that_inflates_to_much_is_not_read_and_not_written(tmp_path, monkeypatch):
    """The digests of a hostile index are right: it was written so. Zeros need some bytes on disk."""
    folder = Folder.at(tmp_path)
    bomb = [(bytes(LARGEST_BLOCK), b"r", 0, False), (b"\1", b"r", 0, False)]
    with pytest.raises(TableError, match="an entry has"):
        write(folder, bomb, 1)
    monkeypatch.setattr(sorted_table, "LARGEST_BLOCK", 1 << 40)
    stored = write(folder, bomb, 1)
    assert stored.size < BLOCK_BYTES
    monkeypatch.undo()
    before = pa.total_allocated_bytes()
    with pytest.raises(TableError, match="inflates to"):
        list(read_sorted(folder, stored))
    assert pa.total_allocated_bytes() == before


def test_a_block_of_other_entries_than_the_index_says_is_an_error(tmp_path):
    folder = Folder.at(tmp_path)
    stored = write(folder, [(b"%03d" % number, b"r", number, False) for number in range(40)], 10)
    table = SortedTable.open(folder, stored)
    assert len(list(table.read(range(4)))) == 4
    with pytest.raises(TableError, match="entries than the index says"):
        list(replace(table, rows=[10, 11, 9, 10]).read(range(4)))


@pytest.mark.parametrize("length", [-1, 0, 1 << 20, 1 << 40])
def test_an_index_of_another_length_is_not_read(tmp_path, length):
    folder = Folder.at(tmp_path)
    stored = write(folder, [(b"a", b"r", 1, False)], 10)
    with pytest.raises(TableError, match="an index of"):
        list(read_sorted(folder, replace(stored, footer=(length, stored.footer[1]))))


@pytest.mark.parametrize("change", [{"rows": 3}, {"size": 9}, {"footer": (10, "0" * 16)}, {"file": "gone"}])
def test_another_file_than_the_one_named_is_an_error(tmp_path, change):
    folder = Folder.at(tmp_path)
    stored = write(folder, [(b"a", b"r", 1, False)], 10)
    assert len(list(read_sorted(folder, stored))) == 1
    with pytest.raises(TableError):
        list(read_sorted(folder, replace(stored, **change)))


def test_in_an_object_store_the_index_and_a_block_take_a_request_each(tmp_path):
    draw = np.random.default_rng(3)
    keys = pa.array(sorted(draw.bytes(120) for _ in range(40_000)), pa.binary())
    whole = entry_batch(keys, pa.array(["r"] * len(keys)), 7)
    with running() as store:
        folder = Folder.at(f"{store.put(tmp_path, 'index')}", None, store.options)
        stored = write_sorted(folder, "entries", sort_entries([whole], order="key"), ENTRIES)
        assert stored is not None
        assert stored.size > READ_WHOLE
        folder.settle()
        store.take_requests()
        key = keys[12_345].as_py()
        found = list(read_sorted(folder, stored, key, key + b"\0"))
        fetched = [one[2] for one in store.take_requests() if one[0] == "GET"]
    assert entries_of(found) == [(key, b"r", 7, False)]
    ends = [tuple(map(int, one.removeprefix("bytes=").split("-"))) for one in fetched]
    assert len(ends) == 2  # the index, the block: each in one request
    assert all(last - first < 1 << 18 for first, last in ends)
