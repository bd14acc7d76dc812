"""Bloom filters of real tables: no key of a file is missed, and few others are found."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.types import STRING
from index_store import StatsError, open_table
from index_store.errors import FormatError
from index_store.formats.bloom import BloomFilter, murmur2
from tests.index_store.rows import rows_of

KEY = Field("id", STRING)
TABLES = ["1.1.1_bloom_simple_cow", "1.2.0_bloom_cow"]


def kind_of(path):
    table = open_table(path)
    slices = table.slices()
    return slices, next(kind for kind in table.kinds(slices) if kind.name == "bloom_filters")


@pytest.mark.parametrize("name", TABLES)
def test_every_key_of_a_file_is_found_and_others_are_not(hudi_table, name):
    path = hudi_table(name)
    slices, kind = kind_of(path)
    stored = [{row["_hoodie_record_key"] for row in rows_of(path / one.base_file)} for one in slices]
    assert len(kind._filters) == len(slices)
    false = 0
    for n in range(500):
        mask = kind.may_hold(KEY, [f"k{n:04d}"])
        for i, keys in enumerate(stored):
            if f"k{n:04d}" in keys:
                assert mask[i]
            else:
                false += mask[i]
    assert false <= 2
    assert kind.may_hold(KEY, ["nothing", sorted(stored[0])[0]])[0]
    assert kind.may_hold(Field("s", STRING), ["a"]) is None
    assert kind.coverage([KEY]).columns["id"].usable == len(slices)
    assert not kind.needs(Needs(bounds=(KEY,), nulls=(KEY,)))


@pytest.mark.parametrize("name", TABLES)
def test_filters_are_those_of_the_parquet_footers(hudi_table, name):
    path = hudi_table(name)
    slices, kind = kind_of(path)
    for i, one in enumerate(slices):
        metadata = parquet.read_metadata(path / one.base_file).metadata
        code = metadata.get(b"hoodie_bloom_filter_type_code", b"SIMPLE").decode()
        assert kind._filters[i] == BloomFilter.parse(metadata[b"org.apache.hudi.bloomfilter"], code)


def test_a_table_without_its_filters_is_an_error(hudi_copy):
    path = hudi_copy(TABLES[0])
    for file in (path / ".hoodie/metadata/bloom_filters").glob("*"):
        file.unlink()
    _, kind = kind_of(path)
    with pytest.raises(StatsError, match="no files"):
        kind.may_hold(KEY, ["k0001"])


def build(keys, hashes, bits, rows=1):
    filled = [bytearray((bits + 7) // 8) for _ in range(rows)]
    for i, key in enumerate(keys):
        for place in BloomFilter(hashes, bits, (b"",))._positions(key):
            filled[i % rows][place >> 3] |= 1 << (place & 7)
    head = struct.pack(">iibi", -1, hashes, 1, bits)
    if rows == 1:
        return base64.b64encode(head + filled[0]), "SIMPLE"
    data = head + struct.pack(">iii", 10, 1, rows) + b"".join(head + row for row in filled)
    return base64.b64encode(data), "DYNAMIC_V0"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(1, 12), st.integers(1, 500),
       st.integers(1, 3))
def test_what_was_put_in_is_found(keys, hashes, bits, rows):
    bloom = BloomFilter.parse(*build(keys, hashes, bits, rows))
    assert all(bloom.may_hold(key) for key in keys)


GOOD = build([b"a"], 3, 64)[0]


@pytest.mark.parametrize(("text", "kind"), [
    (b"", "SIMPLE"), (b"!!", "SIMPLE"), (GOOD[:8], "SIMPLE"), (GOOD[:-8], "SIMPLE"), (GOOD, "DYNAMIC_V0"),
    (GOOD, "OTHER"),
    (base64.b64encode(struct.pack(">iibi", -1, 3, 0, 8) + b"x"), "SIMPLE"),
    (base64.b64encode(struct.pack(">iibi", -1, 0, 1, 8) + b"x"), "SIMPLE")])
def test_damaged_filters_are_a_format_error(text, kind):
    with pytest.raises(FormatError):
        BloomFilter.parse(text, kind)


def test_tail_bytes_are_signed():
    assert murmur2(b"\x80", 0) != murmur2(b"\x7f", 0)
    assert 0 <= murmur2("é".encode(), 0xFFFFFFFF) <= 0xFFFFFFFF
