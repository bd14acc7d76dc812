"""HFiles of the real writers (tests/index_store/data/hfiles): every level, codec and checksum, and damage anywhere."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.formats import checksums
from index_store.formats.hfile import HFile, entries
from index_store.formats.hfile_search import BlockCache, HFileSearch
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from tests.index_store.conftest import TABLES
from tests.index_store.synthetic import protobuf_varint
from tests.sampling import share

FILES = {
    path.stem: path.read_bytes() for path in sorted((Path(__file__).parents[1] / "data" / "hfiles").glob("*.hfile"))
}
LEVELS = {
    "hbase-none-crc32c-120": 4,
    "hbase-gz-crc32c-100": 4,
    "hbase-gz-crc32-200": 3,
    "hbase-none-crc32-4000": 1,
    "hbase-none-null-200": 3,
    "hbase-snappy-crc32c-200": 3,
    "hbase-lz4-crc32c-200": 3,
    "hudi-gz": 1,
    "hudi-none": 1,
}
SUMMED = [name for name in FILES if "-crc32" in name]


class JavaRandom:
    """java.util.Random, as the writing programs use it."""

    def __init__(self, seed):
        self.seed = (seed ^ 0x5DEECE66D) & (1 << 48) - 1

    def below(self, bound):
        while True:
            self.seed = (self.seed * 0x5DEECE66D + 0xB) & (1 << 48) - 1
            bits = self.seed >> 17
            if bits - bits % bound + bound - 1 < 1 << 31:
                return bits % bound


def written():
    """The records that WriteHBase.java and WriteHudi.java make."""
    random = JavaRandom(7)
    return {b"key-%05d" % (3 * i): bytes((i + k // 4) & 255 for k in range(10 + random.below(30))) for i in range(250)}


WRITTEN = written()


def read(data):
    hfile = HFile.open(Bytes(data))
    return hfile, {key: block[start:end] for block in hfile.blocks() for key, start, end in entries(block)}


@pytest.mark.parametrize("name", FILES)
def test_real_files_hold_what_was_written(name):
    data = FILES[name]
    hfile, records = read(data)
    assert records == WRITTEN
    assert hfile.entry_count == 250
    assert protobuf_varint(8 << 3) + bytes((LEVELS[name],)) in data[-4096:]
    assert hfile.meta(b"bloomFilter").endswith(b"a meta block")
    assert hfile.meta(b"no such") is None
    assert hfile.schema == {"type": "string"}
    search = HFileSearch(hfile, BlockCache(1000))
    for key, value in WRITTEN.items():
        for _ in range(3):
            block, start, end = search.find(key)
            assert block[start:end] == value
        assert search.find(key + b"\x01") is None
        assert search.find(key[:-1]) is None
    for prefix in (b"key-0", b"key-001", b"key-00033", b"kez", b"a", b""):
        assert {key for key, *_ in search.starting_with(prefix)} == {k for k in WRITTEN if k.startswith(prefix)}
        assert {key for block in hfile.blocks([prefix]) for key, _, _ in entries(block)} >= {
            k for k in WRITTEN if k.startswith(prefix)
        }


@pytest.mark.parametrize("name", share(SUMMED, 4))
def test_with_checksums_no_flipped_byte_goes_unseen(name):
    data = FILES[name]
    tail = len(data) - 4096
    places = [*range(0, tail, 7), *range(tail, tail + 200), *range(len(data) - 12, len(data))]
    unseen = 0
    for place in places:
        bad = bytearray(data)
        bad[place] ^= 1 << place % 8
        try:
            _, records = read(bytes(bad))
        except FormatError:
            continue
        assert records == WRITTEN
        unseen += place < tail
    assert unseen <= len(places) // 50  # meta blocks are not read here


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40)
@given(data=st.data())
def test_damage_anywhere_is_a_format_error(name, data):
    bad = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.one_of(st.integers(0, len(bad) - 1), st.integers(len(bad) - 4096, len(bad) - 4000)))
        bad[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([0, 0, 0, 1, 100, 5000]))
    try:
        hfile, _ = read(bytes(bad[cut // 2 : len(bad) - cut]))
        hfile.meta(b"bloomFilter")
    except FormatError:
        pass


def test_wrong_checksums_name_their_block():
    data = bytearray(FILES["hbase-none-crc32c-120"])
    hfile = HFile.open(Bytes(bytes(data)))
    offset = hfile.index[30].offset
    data[offset + 40] ^= 1
    with pytest.raises(FormatError, match="checksum is wrong") as failure:
        read(bytes(data))
    assert failure.value.offset == offset
    data[offset + 40] ^= 1
    data[offset + 24] = 9
    with pytest.raises(FormatError, match="type 9"):
        read(bytes(data))


def test_castagnoli_is_computed_alike_with_and_without_the_package(monkeypatch):
    assert checksums.crc32c(memoryview(b"123456789")) == 0xE3069283  # the check value of the polynomial
    monkeypatch.setattr(checksums, "_google", None)
    assert checksums.crc32c(memoryview(b"123456789")) == 0xE3069283
    assert read(FILES["hbase-none-crc32c-120"])[1] == WRITTEN
    bad = bytearray(FILES["hbase-none-crc32c-120"])
    bad[40] ^= 1
    with pytest.raises(FormatError, match="checksum"):
        read(bytes(bad))
    assert read(FILES["hbase-gz-crc32c-100"])[1] == WRITTEN


@pytest.mark.parametrize("name", TABLES[:4])
def test_the_checksums_of_real_tables_are_right(hudi_table, name):
    summed = 0
    for path in (hudi_table(name) / ".hoodie/metadata").rglob("*.hfile"):
        data = path.read_bytes()
        hfile = HFile.open(Bytes(data))
        assert sum(1 for block in hfile.blocks() for _ in entries(block)) == hfile.entry_count
        summed += any(data[entry.offset + 24] == checksums.CRC32C for entry in hfile.index)
    assert summed > 0


def edited_index(change):
    """The one-level file with another root index."""
    data = FILES["hbase-none-crc32-4000"]
    hfile = HFile.open(Bytes(data))
    at = data.index(b"IDXROOT2")
    size = struct.unpack_from(">i", data, at + 8)[0]
    with_header = struct.unpack_from(">i", data, at + 29)[0]
    root = bytearray(data[at + 33 : at + with_header])
    change(root, hfile.index)
    block = bytearray(data[at : at + 33]) + root
    sums = b"".join(struct.pack(">I", zlib.crc32(block[i : i + 64])) for i in range(0, len(block), 64))
    return data[:at] + bytes(block) + sums + data[at + 33 + size :]


def test_an_index_that_names_a_block_twice_is_damage():
    def twice(root, index):
        at = root.index(struct.pack(">q", index[5].offset))
        root[at : at + 8] = struct.pack(">q", index[4].offset)

    with pytest.raises(FormatError, match="not in order"):
        read(edited_index(twice))


def test_an_index_whose_keys_are_not_in_order_is_damage():
    def swap(root, index):
        at = root.index(index[6].key)
        root[at + 4] = ord("z")

    with pytest.raises(FormatError, match="not in order"):
        read(edited_index(swap))
    assert read(edited_index(lambda *_: None))[1] == WRITTEN
