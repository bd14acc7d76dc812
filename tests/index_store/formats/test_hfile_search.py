"""Single keys and prefixes in an HFile: the fast way finds what reading everything finds, whatever the keys are."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.formats import hfile_search
from index_store.formats.hfile import HFile
from index_store.formats.hfile_search import BlockCache, HFileSearch
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import GZ, KEY_SUFFIX, NONE, hfile
from tests.sampling import examples

TEXTS = st.text(st.sampled_from("ab\0\1\x0d$é"), min_size=1, max_size=6).map(str.encode)


def opened(data, most_bytes=1 << 20):
    return HFileSearch(HFile.open(Bytes(data)), BlockCache(most_bytes))


def value_of(search, key):
    found = search.find(key)
    return None if found is None else found[0][found[1] : found[2]]


@settings(max_examples=examples(39, at_night=2000))
@given(
    st.dictionaries(TEXTS, st.binary(max_size=60), max_size=80),
    st.lists(TEXTS, max_size=20),
    st.sampled_from([60, 300, 5000]),
    st.integers(1, 3),
    st.sampled_from([GZ, NONE]),
    st.booleans(),
)
def test_a_search_finds_what_is_there_and_nothing_else(records, others, block_size, levels, codec, small_cache):
    data = hfile(records.items(), codec=codec, block_size=block_size, levels=levels)
    search = opened(data, 1 if small_cache else 1 << 20)
    for _ in range(4):  # the first, the second and later questions of a block
        for key in [*records, *others]:
            assert value_of(search, key) == records.get(key)


@settings(max_examples=100)
@given(
    st.dictionaries(TEXTS, st.binary(max_size=60), max_size=80),
    st.lists(TEXTS, min_size=1, max_size=9),
    st.sampled_from([60, 300, 5000]),
)
def test_a_search_finds_all_keys_with_a_prefix_in_order(records, prefixes, block_size):
    search = opened(hfile(records.items(), block_size=block_size))
    for prefix in prefixes:
        found = [(key, block[start:end]) for key, block, start, end in search.starting_with(prefix)]
        assert found == sorted((key, value) for key, value in records.items() if key.startswith(prefix))


def test_a_key_that_ends_like_an_entry_is_not_taken_for_one():
    key = b"k7"
    forged = b"a" + struct.pack(">iih", len(key) + 12, 3, len(key)) + key
    for value in (b"own", b"x" * 300):
        records = {forged: b"other", b"a": value, b"b": value}
        assert value_of(opened(hfile(records.items())), key) is None
        assert value_of(opened(hfile([*records.items(), (key, b"mine")])), key) == b"mine"


@settings(max_examples=examples(58, at_night=3000))
@given(st.data())
def test_forged_keys_before_and_behind_are_not_taken_for_entries(data):
    """Keys that hold the bytes of an entry, with lengths near the right ones."""
    key = data.draw(st.sampled_from([b"k", b"k7", b"k" * 20]))
    head = st.tuples(st.integers(len(key) + 9, len(key) + 14), st.integers(0, 40)).map(
        lambda n: struct.pack(">iih", n[0], n[1], len(key)) + key
    )
    forged = st.tuples(st.sampled_from([b"", b"a", b"j\0", b"\0\0"]), head).map(b"".join)
    records = data.draw(st.dictionaries(forged, st.binary(max_size=300), min_size=1, max_size=6))
    if data.draw(st.booleans()):
        records[key] = b"mine"
    assert value_of(opened(hfile(records.items())), key) == records.get(key)


def test_the_last_of_equal_keys_counts_within_a_block_and_across_blocks():
    records = [(b"a", b"0"), *[(b"k", b"%d" % i) for i in range(9)], (b"z", b"0")]
    for block_size in (40, 80, 5000):
        search = opened(hfile(records, block_size=block_size))
        assert [value_of(search, b"k") for _ in range(4)] == [b"8"] * 4


def test_keys_of_another_writer_are_found_too():
    """HBase files of other programs have other bytes behind the key's content."""
    data = bytearray(hfile([(b"k%02d" % i, b"v%d" % i) for i in range(30)], codec=NONE))
    assert data.count(KEY_SUFFIX) > 30
    position = data.index(b"k05" + KEY_SUFFIX)
    data[position + 3 : position + 13] = b"\0\0\0\1\x8f\x01\x02\x03\x04\x04"
    search = opened(bytes(data))
    assert [value_of(search, b"k05") for _ in range(4)] == [b"v5"] * 4
    assert value_of(search, b"k06") == b"v6"


def test_blocks_are_kept_up_to_a_limit_and_files_do_not_share_them():
    many = [hfile([(b"k%04d" % i, b"%d-%d" % (file, i)) for i in range(2000)], block_size=1000) for file in range(3)]
    cache = BlockCache(5000)
    searches = [HFileSearch(HFile.open(Bytes(data)), cache) for data in many]
    for i in range(0, 2000, 37):
        for file, search in enumerate(searches):
            assert value_of(search, b"k%04d" % i) == b"%d-%d" % (file, i)
            assert sum(len(block.data) for block in cache._blocks.values()) == cache._bytes <= 5000
    for search in searches:
        cache.forget(search)
    assert cache._bytes == 0
    assert not cache._blocks


def test_damage_is_a_format_error():
    data = bytearray(hfile([(b"k%04d" % i, bytes(50)) for i in range(500)], block_size=2000))
    data[60] ^= 255
    with pytest.raises(FormatError):
        opened(bytes(data)).find(b"k0001")
    assert value_of(opened(bytes(data)), b"j") is None


class Counting:
    """A source that tells what was read of it."""

    def __init__(self, data):
        self.data, self.size, self.read = data, len(data), []

    def read_at(self, offset, length):
        self.read.append(length)
        return self.data[offset : offset + length]


def test_only_one_block_is_read_for_a_key():
    source = Counting(hfile([(b"k%05d" % i, bytes(50)) for i in range(20000)], block_size=4000))
    search = HFileSearch(HFile.open(source), BlockCache(1 << 20))
    search.find(b"k00000")
    source.read.clear()
    assert search.find(b"k15003") is not None
    assert search.find(b"k15004") is not None
    assert len(source.read) == 1


def test_the_bytes_behind_a_key_are_those_that_hudi_writes(hudi_table):
    path = next((hudi_table("1.1.1_main_cow") / ".hoodie/metadata/record_index").glob("*.hfile"))
    search = opened(path.read_bytes())
    assert search._ends_as_hudi_writes()
    assert hfile_search.KEY_END == KEY_SUFFIX
