"""Look-ups: the groups that a scan of all entries would find, and a bounded number of blocks for one key."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import BIGINT, INT, STRING
from index_store.own.secondary import search
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.keys import encode, encode_null, encode_value, key_range, prefix_range, ranges_of
from index_store.own.secondary.runs import sort_entries
from index_store.own.secondary.search import Search, disjoint
from index_store.own.secondary.shards import shard_count, shard_of, write_shards
from index_store.own.secondary.sorted_table import SortedWriter, write_sorted
from index_store.own.store.folder import Folder
from index_store.table.plain_values import plain_type
from tests.index_store.own.secondary.entry_batches import entry_batch
from tests.index_store.own.secondary.test_runs import batch_of, entries_of, expected_of

VALUE = st.none() | st.integers(-3, 12)
ENTRY = st.tuples(VALUE, st.integers(0, 9), st.integers(0, 5), st.booleans())
ASKED = st.tuples(VALUE, st.booleans(), VALUE, st.booleans())


def entry(row) -> tuple[bytes, bytes, int, bool]:
    return encode_value(row[0], INT), b"r%d" % row[1], row[2], row[3]


@given(
    st.lists(st.lists(ENTRY, max_size=30), min_size=1, max_size=4),
    st.integers(1, 5),
    st.lists(VALUE, max_size=4),
    st.lists(ASKED, max_size=2),
    st.sampled_from([0, 64]),
)
def test_look_ups_find_what_a_scan_finds(tmp_path_factory, generations, rows, points, asked, few):
    folder = Folder.at(tmp_path_factory.mktemp("search"))
    tables = []
    for number, generation in enumerate(generations):
        if generation:
            with SortedWriter(folder, f"{number}", ENTRIES, block_rows=rows) as writer:
                writer.write(batch_of(expected_of(map(entry, generation), "key")))
        tables.append(writer.stored if generation else None)
    live = expected_of([entry(row) for generation in generations for row in generation], "key", drop_deleted=True)
    ranges = [
        one
        for lo, lo_inclusive, hi, hi_inclusive in asked
        for one in ranges_of(INT, lo, hi, lo_inclusive=lo_inclusive, hi_inclusive=hi_inclusive)
    ]
    wanted = [*(encode_value(value, INT) for value in points), *ranges]
    expected = {
        group
        for key, _, group, _ in live
        if key in wanted or any(lo <= key and (hi is None or key < hi) for lo, hi in ranges)
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "_FEW_BLOCKS", few)
        found = Search(folder, tables).groups(wanted)
    assert found.dtype == np.int32
    assert found.tolist() == sorted(expected)


@pytest.mark.parametrize("rows", [1, 2, 3, 30])
def test_the_ends_of_a_range_are_in_it_or_not(tmp_path, rows):
    folder = Folder.at(tmp_path)
    with SortedWriter(folder, "table", ENTRIES, block_rows=rows) as writer:
        writer.write(batch_of([(encode_value(value, INT), b"r", value, False) for value in range(7)]))
    searched = Search(folder, [writer.stored])
    for lo in range(-1, 8):
        for hi in range(-1, 8):
            for lo_inclusive, hi_inclusive in product((False, True), repeat=2):
                expected = [
                    value
                    for value in range(7)
                    if (lo < value or (lo == value and lo_inclusive)) and (value < hi or (value == hi and hi_inclusive))
                ]
                ranges = ranges_of(INT, lo, hi, lo_inclusive=lo_inclusive, hi_inclusive=hi_inclusive)
                assert searched.groups(ranges).tolist() == expected


@given(st.lists(st.tuples(st.binary(max_size=2), st.none() | st.binary(max_size=2)), max_size=6), st.binary(max_size=3))
def test_disjoint_ranges_have_the_same_keys(ranges, key):
    def holds(one) -> bool:
        return one[0] <= key and (one[1] is None or key < one[1])

    found = disjoint(ranges)
    assert sum(map(holds, found)) == any(map(holds, ranges))
    assert all(one[1] is not None and one[1] < other[0] for one, other in pairwise(found))


BLOCK, BLOCKS = 8, 4883  # as many blocks as ten million entries have


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> tuple[Folder, list]:
    """4,883 blocks: keys 0, 2, 4, ..., one with 100 entries; a newer generation of 400 blocks; one with tombstones."""
    folder = Folder.at(tmp_path_factory.mktemp("large"))

    def table(name, numbers, group, *, deleted=False):
        keys = encode([pa.array(numbers, pa.int64())], [BIGINT])
        records = pa.array(
            [f"{group}-{place}" if number == 5000 else f"{number}" for place, number in enumerate(numbers)]
        )
        with SortedWriter(folder, name, ENTRIES, block_rows=BLOCK) as writer:
            for batch in sort_entries([entry_batch(keys, records, group, deleted=deleted)], order="key"):
                writer.write(batch)
        return writer.stored

    base = table("base", [*range(0, 2 * (BLOCK * BLOCKS - 99), 2), *[5000] * 99], 1)
    newer = table("newer", list(range(1, 6400, 2)), 2)
    gone = table("gone", list(range(8000, 9000, 2)), 1, deleted=True)
    assert base.rows == BLOCK * BLOCKS
    return folder, [base, newer, gone]


@pytest.mark.parametrize(
    ("number", "groups", "blocks"),
    [
        pytest.param(20_000, [1], 1, id="in the base"),
        pytest.param(20_001, [], 0, id="between two keys"),
        pytest.param(777, [2], 1, id="in the newer one"),
        pytest.param(8500, [], 2, id="deleted"),
        pytest.param(-1, [], 0, id="before all"),
        pytest.param(10**9, [], 0, id="after all"),
    ],
)
def test_one_key_among_many_blocks_reads_at_most_two_of_each_generation(large, number, groups, blocks):
    folder, tables = large
    searched = Search(folder, tables)
    assert searched.groups([encode_value(number, BIGINT)]).tolist() == groups
    assert blocks <= searched.blocks_read <= blocks + len(tables)


def test_every_key_of_the_base_reads_at_most_two_blocks(large):
    folder, tables = large
    searched = Search(folder, tables[:1])
    for number in range(0, 2 * BLOCK * BLOCKS, 302):
        before = searched.blocks_read
        searched.groups([encode_value(number, BIGINT)])
        assert searched.blocks_read - before <= 2 or number == 5000


def test_entries_of_one_key_may_fill_blocks(large):
    folder, tables = large
    searched = Search(folder, tables[:1])
    assert searched.groups([encode_value(5000, BIGINT)]).tolist() == [1]
    assert 100 // BLOCK <= searched.blocks_read <= 100 // BLOCK + 2


def test_many_keys_of_one_block_read_it_once(large):
    folder, tables = large
    searched = Search(folder, tables[:1])
    assert searched.groups(encode_value(number, BIGINT) for number in range(20_000, 20_016, 2)).tolist() == [1]
    assert searched.blocks_read <= 2


def test_composite_keys_are_found_by_their_first_columns(tmp_path):
    folder = Folder.at(tmp_path)
    rows = [("sfo", 1), ("sfo", 2), ("sfo", None), (None, 1), ("sf", 1), ("sfo\0", 1), ("zrh", 9)]
    batches = []
    for group, (city, number) in enumerate(rows):
        columns = [pa.array([city and city.encode()], plain_type(STRING)), pa.array([number], pa.int64())]
        batches.append(entry_batch(encode(columns, [STRING, INT]), pa.array(["r"]), group))
    table = write_sorted(folder, "table", sort_entries(batches, order="key"), ENTRIES)
    sfo = encode_value("sfo", STRING)
    for wanted, groups in (
        (sfo, [0, 1, 2]),
        (sfo + encode_value(2, INT), [1]),
        (sfo + encode_null(), [2]),
        (encode_null(), [3]),
        (prefix_range("sf"), [0, 1, 2, 4, 5]),
        (prefix_range("sfo"), [0, 1, 2, 5]),
        (*ranges_of(INT, 2, below=sfo), [1]),
        (*ranges_of(STRING, "sfo", lo_inclusive=False), [5, 6]),
        (key_range(b""), [0, 1, 2, 3, 4, 5, 6]),
    ):
        assert Search(folder, [table]).groups([wanted]).tolist() == groups
    assert Search(folder, [table, None]).groups([]).tolist() == []
    assert Search(folder, []).groups([sfo]).tolist() == []


@settings(max_examples=50)
@given(st.lists(st.tuples(st.none() | st.text(max_size=3), st.integers(0, 5)), max_size=40), st.integers(1, 5))
def test_all_entries_of_a_value_are_in_the_shard_that_it_says(tmp_path_factory, rows, n):
    folder = Folder.at(tmp_path_factory.mktemp("shards"))
    columns = [
        pa.array([city if city is None else city.encode() for city, _ in rows], plain_type(STRING)),
        pa.array([number for _, number in rows], pa.int64()),
    ]
    whole = entry_batch(encode(columns, [STRING, INT]), pa.array([str(place) for place in range(len(rows))]), 3)
    shards = write_shards(folder, "shard-{}".format, sort_entries([whole], order="key"), n)
    assert len(shards) == n
    assert sum(shard.rows for shard in shards if shard) == len(rows)
    for city, number in rows:
        piece = encode_value(city, STRING)
        shard = shard_of(piece, n)
        assert Search(folder, [shards[shard]]).groups([piece + encode_value(number, INT)]).tolist() == [3]
        assert all(
            Search(folder, [other]).groups([piece]).tolist() == []
            for place, other in enumerate(shards)
            if place != shard
        )


def test_shards_do_not_depend_on_the_machine():
    pieces = pa.array([encode_value(city, STRING) for city in ("austin", "chennai", "los-angeles", "sfo", None)])
    assert [shard_of(piece.as_py(), 1000) for piece in pieces] == [62, 122, 0, 714, 158]
    assert shard_of(pieces, 1000).tolist() == [62, 122, 0, 714, 158]
    assert [shard_count(entries) for entries in (0, 1, 2_000_000, 2_000_001, 10**10)] == [1, 1, 1, 2, 256]


def test_a_shard_that_cannot_be_written_leaves_no_file(tmp_path):
    folder = Folder.at(tmp_path)
    batches = [batch_of([(encode_value(key, STRING), b"r", 0, False)]) for key in ("a", "b", "c")]
    with pytest.raises(ValueError, match="not in order"):
        write_shards(folder, "shard-{}".format, [pa.concat_batches(batches), batches[0]], 2)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert entries_of(batches)[0] == (encode_value("a", STRING), b"r", 0, False)
