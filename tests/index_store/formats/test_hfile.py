"""HFiles: what is written is read, and damage is a FormatError, never anything else."""

from __future__ import annotations

import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.formats import inflate as inflate_module
from index_store.formats.hfile import HFile, entries
from index_store.formats.inflate import inflate
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import GZ, NONE, hfile
from tests.sampling import examples

KEYS = st.binary(min_size=1, max_size=40)
RECORDS = st.dictionaries(KEYS, st.binary(max_size=300), max_size=60)


def read(data, prefixes=None):
    return [
        (key, block[start:end])
        for block in HFile.open(Bytes(data)).blocks(prefixes)
        for key, start, end in entries(block)
    ]


class NotInMemory:
    """A source that counts what is read."""

    def __init__(self, data):
        self.data, self.read = data, 0

    @property
    def size(self):
        return len(self.data)

    def read_at(self, offset, length):
        self.read += length
        return self.data[offset : offset + length]


@settings(max_examples=60)
@given(RECORDS, st.sampled_from([GZ, NONE]), st.integers(50, 2000), st.sampled_from([0, 1]), st.integers(1, 3))
def test_records_come_back_in_the_order_of_their_keys(records, codec, block_size, checksum, levels):
    data = hfile(records.items(), codec=codec, block_size=block_size, checksum=checksum, levels=levels)
    assert read(data) == sorted(records.items())
    assert HFile.open(Bytes(data)).entry_count == len(records)


@settings(max_examples=60)
@given(
    RECORDS,
    st.lists(st.binary(min_size=1, max_size=3), min_size=1, max_size=3),
    st.integers(50, 600),
    st.integers(1, 3),
)
def test_no_key_with_a_prefix_is_missed(records, prefixes, block_size, levels):
    found = dict(read(hfile(records.items(), block_size=block_size, levels=levels), prefixes))
    wanted = {key for key in records if any(key.startswith(prefix) for prefix in prefixes)}
    assert wanted <= set(found)


def test_a_prefix_reads_few_blocks():
    records = [(b"%02d-%04d" % (i // 100, i), bytes(100)) for i in range(5000)]
    source = NotInMemory(hfile(records, codec=NONE, block_size=4096))
    hfile_read = HFile.open(source)
    source.read = 0
    found = [key for block in hfile_read.blocks([b"07-"]) for key, _, _ in entries(block) if key.startswith(b"07-")]
    assert len(found) == 100
    assert source.read < source.size / 20


@settings(max_examples=examples(29, at_night=1500))
@given(st.data(), st.sampled_from([GZ, NONE]), st.integers(1, 2))
def test_flipped_bytes_are_a_format_error_or_harmless(data, codec, levels):
    records = [(b"key-%03d" % i, bytes([i]) * i) for i in range(60)]
    good = hfile(records, codec=codec, block_size=800, checksum=1, levels=levels)
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        bad[data.draw(st.integers(0, len(bad) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(FormatError):
        read(bytes(bad))


@settings(max_examples=60)
@given(st.integers(0, 6000))
def test_a_cut_file_is_a_format_error(length):
    data = hfile([(b"key-%03d" % i, bytes([i]) * i) for i in range(60)])
    with pytest.raises(FormatError):
        read(data[: min(length, len(data) - 1)])


@pytest.mark.parametrize(("codec", "name"), [(0, "LZO"), (5, "BZIP2"), (77, "77")])
def test_codecs_that_are_not_supported_are_named(codec, name):
    with pytest.raises(FormatError, match=f"codec {name} is not supported"):
        inflate(codec, b"x", 1)


@pytest.mark.parametrize(("codec", "name"), [(3, "SNAPPY"), (4, "LZ4"), (6, "ZSTD")])
def test_codecs_of_the_optional_package_are_named_when_it_is_missing(codec, name, monkeypatch):
    monkeypatch.setattr(inflate_module, "_cramjam", None)
    with pytest.raises(FormatError, match=f"codec {name} needs the package cramjam"):
        inflate(codec, b"x", 1)


@pytest.mark.parametrize(("codec", "framed"), [(3, True), (4, True), (6, False), (6, True)])
def test_codecs_of_the_optional_package_are_read(codec, framed):
    """ZSTD stands alone (Hadoop's codec) or in Hadoop's block stream (HBase's own codec since 2.5)."""
    cramjam = pytest.importorskip("cramjam")
    plain = b"columnar " * 500
    if not framed:
        data = bytes(cramjam.zstd.compress(plain[:2000])) + bytes(cramjam.zstd.compress(plain[2000:]))
    else:
        pack = {
            3: cramjam.snappy.compress_raw,
            4: lambda p: cramjam.lz4.compress_block(p, store_size=False),
            6: cramjam.zstd.compress,
        }[codec]
        chunks = [bytes(pack(part)) for part in (plain[:2000], plain[2000:])]
        data = len(plain).to_bytes(4, "big") + b"".join(len(c).to_bytes(4, "big") + c for c in chunks)
    assert inflate(codec, data, len(plain)) == plain
    for wrong in (data[:-3], data[:8], b"", bytes(len(data))):
        with pytest.raises(FormatError):
            inflate(codec, wrong, len(plain))


def test_a_block_that_grows_beyond_its_header_is_refused():

    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = stream.compress(bytes(10**7)) + stream.flush()
    with pytest.raises(FormatError):
        inflate(1, bomb, 1000)
    with pytest.raises(FormatError, match="uncompressed bytes"):
        inflate(1, bomb, 1 << 40)
    with pytest.raises(FormatError, match="claims 200000000 bytes in"):
        inflate(1, bomb[:5000], 200_000_000)


@pytest.mark.parametrize("codec", [3, 4, 6])
def test_chunks_that_grow_beyond_their_block_are_refused(codec):
    cramjam = pytest.importorskip("cramjam")
    plain = bytes(10**6)
    packed = {
        3: cramjam.snappy.compress_raw,
        4: lambda p: cramjam.lz4.compress_block(p, store_size=False),
        6: cramjam.zstd.compress,
    }[codec](plain)
    chunk = len(bytes(packed)).to_bytes(4, "big") + bytes(packed)
    for claimed in (1000, 10**6 - 1):
        with pytest.raises(FormatError):
            inflate(codec, claimed.to_bytes(4, "big") + chunk, claimed)
    with pytest.raises(FormatError):
        inflate(codec, bytes(packed), 1000)
    assert inflate(codec, (10**6).to_bytes(4, "big") + chunk, 10**6) == plain


def test_a_block_that_is_stored_as_it_is_has_the_size_that_its_header_says():
    assert inflate(2, b"abc", 3) == b"abc"
    for size in (2, 4):
        with pytest.raises(FormatError, match="its header says"):
            inflate(2, b"abc", size)


@settings(max_examples=40)
@given(st.binary(max_size=5000), st.sampled_from(["isal", "zlib"]))
def test_gz_blocks_are_read_alike_with_and_without_isal(plain, library):
    stream = zlib.compressobj(6, zlib.DEFLATED, 31)
    data = stream.compress(plain) + stream.flush()
    with pytest.MonkeyPatch.context() as patch:
        if library == "zlib":
            patch.setattr(inflate_module, "_zlib", zlib)
        assert inflate(1, data, len(plain)) == plain
        for size in (len(plain) + 1, len(plain) - 1):
            with pytest.raises(FormatError):
                inflate(1, data, size)
        with pytest.raises(FormatError):
            inflate(1, data[:-8] + bytes(byte ^ 1 for byte in data[-8:-4]) + data[-4:], len(plain))
