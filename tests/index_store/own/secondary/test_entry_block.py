"""Single blocks: the entries that Arrow reads, and none of a damaged block. What stays in memory is bounded."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.own.secondary import sorted_table
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.entry_block import BlockCache, EntryBlock
from index_store.own.secondary.search import Search
from index_store.own.secondary.sorted_table import LARGEST_BLOCK, SortedTable, SortedWriter, rows_in
from index_store.own.store.folder import Folder
from index_store.storage.errors import FormatError, TableError
from tests.index_store.own.secondary.test_runs import batch_of, expected_of

KEYS = st.sampled_from([b"", b"\0", b"a", b"aa", b"b", b"\xff", b"x" * 70, b"x" * 70 + b"y"])
ENTRY = st.tuples(KEYS, st.binary(max_size=3), st.integers(0, 2**31 - 1), st.booleans())


def written(folder: Folder, entries, rows: int) -> SortedTable:
    with SortedWriter(folder, "table", ENTRIES, block_rows=rows) as writer:
        writer.write(batch_of(expected_of(entries, "key")))
    return SortedTable.open(folder, writer.stored)


@given(st.lists(ENTRY, min_size=1, max_size=40), st.integers(1, 20), KEYS, st.none() | KEYS)
def test_a_block_has_the_entries_that_arrow_reads(tmp_path_factory, entries, rows, lo, hi):
    table = written(Folder.at(tmp_path_factory.mktemp("block")), entries, rows)
    every = range(len(table.rows))
    for block, batch in zip(table.entry_blocks(every), table.read(every), strict=True):
        assert block.rows == batch.num_rows
        chosen = range(*rows_in(batch.column("key"), lo, hi))
        found = block.rows_in(lo, hi)
        assert list(found) == list(chosen)
        inside = batch.slice(chosen.start, len(chosen))
        live = [one["group"] for one in inside.to_pylist() if not one["deleted"]]
        assert block.live_groups(found).tolist() == live
        assert block.any_deleted(found) == (len(live) < len(chosen))


def message(batch: pa.RecordBatch, codec: str | None = "zstd") -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()[batch.schema.serialize().size : -8]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"key": pa.array([b"a", None, b"c"])}, "other columns", id="a NULL"),
        pytest.param({"deleted": pa.array([b"a", b"b", b"c"])}, "other columns", id="a column of another type"),
        pytest.param({"group": pa.array([1, 2, 3], pa.int16())}, "more entries than values", id="short numbers"),
    ],
)
def test_a_block_of_other_columns_is_an_error(change, why):
    columns = {"key": [b"a", b"b", b"c"], "record": [b"r"] * 3, "group": [1, 2, 3], "deleted": [False] * 3}
    arrays = {name: pa.array(values, ENTRIES.field(name).type) for name, values in columns.items()}
    assert EntryBlock(message(pa.record_batch(arrays)), 3, LARGEST_BLOCK).rows_in(b"b", None) == range(1, 3)
    for rows in (2, 4, 1 << 40):
        with pytest.raises(FormatError, match="entries than the index says"):
            EntryBlock(message(pa.record_batch(arrays)), rows, LARGEST_BLOCK)
    with pytest.raises(FormatError, match="inflates"):
        EntryBlock(message(pa.record_batch(arrays)), 3, 10)
    with pytest.raises(FormatError, match=why):
        EntryBlock(message(pa.record_batch({**arrays, **change})), 3, LARGEST_BLOCK)


@pytest.mark.parametrize("ends", [[0, 1, 9], [0, 2, 1], [-1, 1, 2], [2, 1, 0]])
def test_keys_outside_of_their_block_are_an_error(ends):
    keys, others = pa.array([b"a", b"b"]), (pa.array([1, 2], pa.int32()), pa.array([False, True]))
    data = message(pa.RecordBatch.from_arrays([keys, keys, *others], schema=ENTRIES), None)
    assert EntryBlock(data, 2, LARGEST_BLOCK).rows == 2
    stored = struct.pack("<3i", 0, 1, 2)
    place = data.index(stored)
    hostile = data[:place] + struct.pack("<3i", *ends) + data[place + len(stored) :]
    with pytest.raises(FormatError, match="outside"):
        EntryBlock(hostile, 2, LARGEST_BLOCK)


def test_a_flipped_byte_hides_no_entry_from_a_look_up(tmp_path):
    folder = Folder.at(tmp_path)
    table = written(folder, [(b"%03d" % number, b"r", number, False) for number in range(40)], 10)
    wanted = [(b"%03d" % number, b"%03d\0" % number) for number in range(0, 40, 9)]
    path = tmp_path / "table"
    data = path.read_bytes()
    for place in range(4, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(TableError, match="damaged"):
            [Search(folder, [table.stored]).groups([one]) for one in wanted]


def test_a_block_that_inflates_to_much_is_not_read(tmp_path, monkeypatch):
    """The digests of a hostile index are right: it was written so."""
    with monkeypatch.context() as patched:
        patched.setattr(sorted_table, "LARGEST_BLOCK", 1 << 40)
        table = written(Folder.at(tmp_path), [(bytes(LARGEST_BLOCK), b"r", 0, False), (b"\1", b"r", 0, False)], 1)
    before = pa.total_allocated_bytes()
    with pytest.raises(TableError, match="inflates to"):
        Search(table.folder, [table.stored]).groups([(b"", None)])
    assert pa.total_allocated_bytes() == before


def test_a_block_in_memory_is_not_read_again(tmp_path):
    folder = Folder.at(tmp_path)
    table = written(folder, [(b"%03d" % number, b"r", number, False) for number in range(100)], 10)
    searched = Search(folder, [table.stored])
    wanted = [(b"%03d" % number, b"%03d\0" % number) for number in range(100)]
    for _ in range(2):
        assert [searched.groups([one]).tolist() for one in wanted] == [[number] for number in range(100)]
        assert searched.blocks_read == 10
    (tmp_path / "table").unlink()
    assert searched.groups([wanted[7], wanted[42]]).tolist() == [7, 42]
    with pytest.raises(TableError):
        Search(folder, [table.stored])


def test_the_blocks_in_memory_have_a_limit(tmp_path):
    table = written(Folder.at(tmp_path), [(b"%03d" % number, b"r", number, False) for number in range(100)], 10)
    blocks = list(table.entry_blocks(range(10)))
    assert len({block.nbytes for block in blocks}) == 1
    cache = BlockCache(4 * blocks[0].nbytes)
    for _ in range(2):  # twice: a block that is there takes no place again
        for number, block in enumerate(blocks):
            cache.keep("one", number, block)
            cache.keep("one", number, block)
            assert cache.get("one", 0) is blocks[0] or number == 0  # the first is used all the time
    assert [number for number in range(10) if cache.get("one", number)] == [0, 7, 8, 9]
    assert cache.get("other", 9) is None
    small = BlockCache(blocks[0].nbytes - 1)
    small.keep("one", 0, blocks[0])
    assert small.get("one", 0) is None
