"""Many keys in one pass: the groups of the one-by-one look-up, and no block that no key falls into."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluator.language.types import BIGINT, INT, STRING
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.key_merge import SortedPieces, spans_of
from index_store.own.secondary.keys import encode, encode_value
from index_store.own.secondary.runs import sort_entries
from index_store.own.secondary.search import Search
from index_store.own.secondary.sorted_table import SortedTable, SortedWriter
from index_store.own.store.folder import Folder
from index_store.storage.errors import TableError
from index_store.table.plain_values import plain_type
from tests.index_store.own.secondary.entry_batches import entry_batch
from tests.index_store.own.secondary.test_runs import batch_of, expected_of

GROUPS = 6
NUMBER = st.none() | st.integers(-3, 12)
TEXT = st.none() | st.text("ab\0", max_size=3)
#: Leading value, second value, record key, group, whether it is a tombstone.
ROW = st.tuples(NUMBER | TEXT, NUMBER, st.integers(0, 3), st.integers(0, GROUPS - 1), st.booleans())


def piece_of(value) -> bytes:
    return encode_value(value, STRING if isinstance(value, str) else INT)


def entry(row, *, composite) -> tuple[bytes, bytes, int, bool]:
    leading, second, record, group, deleted = row
    return piece_of(leading) + (encode_value(second, INT) if composite else b""), b"r%d" % record, group, deleted


def pieces(values) -> SortedPieces:
    return SortedPieces.of(pa.array([piece_of(value) for value in values], pa.binary()))


def found_by(search: Search, keys: SortedPieces, groups: int = GROUPS) -> list[int]:
    sought = np.ones(groups, np.bool_)
    search.find(keys, search.spans(keys), sought)
    return np.flatnonzero(~sought).tolist()


@given(
    st.lists(st.lists(ROW, max_size=30), min_size=1, max_size=4),
    st.integers(1, 5),
    st.lists(st.integers(-3, 12) | st.text("ab\0", max_size=3), max_size=12),
    st.booleans(),
)
@example([[(1, 1, 0, 0, False)], [(1, 1, 0, 0, True)], [(1, 1, 0, 0, False)]], 1, [1], True)
@example([[(1, 1, 0, 0, False), (1, 1, 0, 1, False)], [(1, 1, 0, 0, True)]], 1, [1], False)
@example([[("a", 1, 0, 0, False), ("a\0", 1, 0, 1, False)], [("a", 1, 0, 0, True)]], 1, ["a", "a\0"], True)
def test_one_pass_finds_what_the_look_ups_of_each_key_find(tmp_path_factory, generations, rows, values, composite):
    """Over generations with tombstones, in blocks of any size, with composite keys or plain ones."""
    folder = Folder.at(tmp_path_factory.mktemp("merge"))
    tables = []
    for number, generation in enumerate(generations):
        entries = expected_of([entry(row, composite=composite) for row in generation], "key")
        if entries:
            with SortedWriter(folder, f"{number}", ENTRIES, block_rows=rows) as writer:
                writer.write(batch_of(entries))
        tables.append(writer.stored if entries else None)
    live = expected_of(
        [entry(row, composite=composite) for generation in generations for row in generation], "key", drop_deleted=True
    )
    keys = pieces(values)
    by_scan = {group for key, _, group, _ in live if any(key.startswith(piece) for piece in keys)}
    one_by_one = {group for piece in keys for group in Search(folder, tables).groups([piece]).tolist()}
    assert found_by(Search(folder, tables), keys) == sorted(by_scan) == sorted(one_by_one)


@given(st.lists(st.integers(0, 200), max_size=60), st.lists(st.integers(-5, 205), max_size=40), st.integers(1, 7))
def test_only_blocks_that_a_key_falls_into_are_read(tmp_path_factory, held, asked, rows):
    folder = Folder.at(tmp_path_factory.mktemp("spans"))
    entries = expected_of([(encode_value(value, INT), b"r", 0, False) for value in held], "key")
    if not entries:
        return
    with SortedWriter(folder, "table", ENTRIES, block_rows=rows) as writer:
        writer.write(batch_of(entries))
    table = SortedTable.open(folder, writer.stored)
    keys = pieces(asked)
    spans = {one.block: set(keys[one.begin : one.end]) for one in spans_of(table, keys)}
    for block, (first, last) in enumerate(zip(table.firsts, table.lasts, strict=True)):
        assert spans.get(block, set()) == {key for key in keys if first <= key <= last}


def test_long_keys_whose_bounds_are_shortened_are_found(tmp_path):
    """Blocks have bounds of 64 bytes; keys that differ beyond them, or are a prefix of a composite key's bound."""
    folder, chance = Folder.at(tmp_path), random.Random(7)
    texts = ["".join(chance.choices("ab", k=chance.choice([3, 63, 64, 65, 130]))) for _ in range(150)]
    texts += ["x" * 70 + ending for ending in ("", "a", "b", "\0", "\0a")]
    rows = [(text, number, 0, place % GROUPS, False) for place, (text, number) in enumerate(product(texts, (1, None)))]
    for composite, block_rows in product((False, True), (1, 2, 7)):
        entries = expected_of([entry(row, composite=composite) for row in rows], "key")
        with SortedWriter(folder, f"{composite}{block_rows}", ENTRIES, block_rows=block_rows) as writer:
            writer.write(batch_of(entries))
        search = Search(folder, [writer.stored])
        for text in texts:
            expected = {group for key, _, group, _ in entries if key.startswith(piece_of(text))}
            assert found_by(search, pieces([text])) == sorted(expected)
        half = texts[::2]
        expected = {group for key, _, group, _ in entries if any(key.startswith(piece_of(text)) for text in half)}
        assert found_by(search, pieces(half)) == sorted(expected)


def test_reading_ends_when_no_group_is_sought_any_more(tmp_path):
    folder, n = Folder.at(tmp_path), 5000
    keys = encode([pa.array(np.arange(n), pa.int64())], [BIGINT])
    batch = entry_batch(keys, pa.array([str(number) for number in range(n)]), 0)
    batch = batch.set_column(2, ENTRIES.field("group"), pa.array((np.arange(n) % 4).astype(np.int32)))
    with SortedWriter(folder, "table", ENTRIES, block_rows=10) as writer:
        for one in sort_entries([batch], order="key"):
            writer.write(one)
    wanted = SortedPieces.of(keys)
    first, all_of_them = Search(folder, [writer.stored]), Search(folder, [writer.stored])
    assert found_by(first, wanted, 4) == [0, 1, 2, 3]
    assert first.blocks_read == 1
    assert found_by(all_of_them, wanted, 5) == [0, 1, 2, 3]  # no entry is in group 4
    assert all_of_them.blocks_read == n // 10


def test_a_group_that_is_not_sought_is_left(tmp_path):
    folder = Folder.at(tmp_path)
    with SortedWriter(folder, "table", ENTRIES) as writer:
        writer.write(batch_of(expected_of([(piece_of(1), b"r", group, False) for group in (0, 1, 7)], "key")))
    search, sought = Search(folder, [writer.stored]), np.array([True, False, True])
    keys = pieces([1])
    search.find(keys, search.spans(keys), sought)
    assert sought.tolist() == [False, False, True]


def test_a_damaged_block_raises(tmp_path):
    folder = Folder.at(tmp_path)
    with SortedWriter(folder, "table", ENTRIES) as writer:
        writer.write(batch_of(expected_of([(piece_of(number), b"r", 0, False) for number in range(9)], "key")))
    path = tmp_path / "table"
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableError, match="damaged"):
        found_by(Search(folder, [writer.stored]), pieces([1, 2]), 2)


def test_sorted_pieces_are_a_sequence():
    array = pa.array([b"c", b"a", b"b", b"a"], pa.binary())
    held = SortedPieces.of(array)
    assert list(held) == [b"a", b"b", b"c"]
    assert held[-1] == b"c"
    assert held[1:] == [b"b", b"c"]
    assert list(held.chosen(np.array([True, False, True]))) == [b"a", b"c"]
    assert list(SortedPieces(held.array[1:])) == [b"b", b"c"]
    assert list(SortedPieces.of(pa.array([], pa.binary()))) == []
    with pytest.raises(IndexError):
        held[3]
    assert pa.types.is_binary(SortedPieces.of(pa.array([b"x"], pa.large_binary())).array.type)
    assert plain_type(STRING) == pa.large_binary()
