"""Bloom filters of real tables: no key of a file is missed, and few others are found."""

from __future__ import annotations

import base64
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.schema import Field
from evaluator.language.types import STRING
from index_store import StatsError, open_table
from index_store.formats.bloom import BloomFilter, murmur2, positions
from index_store.formats.bloom_keys import TOGETHER_FROM, ProbedKeys
from index_store.kinds.record_keys import bloom_filters
from index_store.storage.errors import FormatError
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
    assert all(kind._filter(place) is not None for place in range(len(slices)))
    false = 0
    for n in range(500):
        mask = kind.might_contain(KEY, [f"k{n:04d}"])
        for i, keys in enumerate(stored):
            if f"k{n:04d}" in keys:
                assert mask[i]
            else:
                false += mask[i]
    assert false <= 2
    assert kind.might_contain(KEY, ["nothing", sorted(stored[0])[0]])[0]
    assert kind.might_contain(Field("s", STRING), ["a"]) is None
    assert kind.coverage([KEY]).columns["id"].usable == len(slices)
    assert not kind.requires(RequiredStatistics(bounds=(KEY,), nulls=(KEY,)))


@pytest.mark.parametrize("name", TABLES)
def test_filters_are_those_of_the_parquet_footers(hudi_table, name):
    path = hudi_table(name)
    slices, kind = kind_of(path)
    for i, one in enumerate(slices):
        metadata = parquet.read_metadata(path / one.base_file).metadata
        code = metadata.get(b"hoodie_bloom_filter_type_code", b"SIMPLE").decode()
        assert kind._filter(i) == BloomFilter.parse(metadata[b"org.apache.hudi.bloomfilter"], code)


def test_a_table_without_its_filters_is_an_error(hudi_copy):
    path = hudi_copy(TABLES[0])
    for file in (path / ".hoodie/metadata/bloom_filters").glob("*"):
        file.unlink()
    _, kind = kind_of(path)
    with pytest.raises(StatsError, match="missing"):
        kind.might_contain(KEY, ["k0001"])


def build(keys, hashes, bits, rows=1):
    filled = [bytearray((bits + 7) // 8) for _ in range(rows)]
    for i, key in enumerate(keys):
        for place in positions(key, hashes, bits):
            filled[i % rows][place >> 3] |= 1 << (place & 7)
    head = struct.pack(">iibi", -1, hashes, 1, bits)
    if rows == 1:
        return base64.b64encode(head + filled[0]), "SIMPLE"
    data = head + struct.pack(">iii", 10, 1, rows) + b"".join(head + row for row in filled)
    return base64.b64encode(data), "DYNAMIC_V0"


@settings(max_examples=60)
@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=20),
    st.integers(1, 12),
    st.integers(1, 500),
    st.integers(1, 3),
)
def test_what_was_put_in_is_found(keys, hashes, bits, rows):
    bloom = BloomFilter.parse(*build(keys, hashes, bits, rows))
    assert all(bloom.might_contain(key) for key in keys)


@settings(max_examples=60)
@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=20),
    st.binary(min_size=1, max_size=40),
    st.integers(1, 6),
    st.integers(1, 500),
    st.integers(1, 3),
)
def test_bits_in_the_text_are_those_of_the_decoded_filter(keys, key, hashes, bits, rows):
    text, kind = build(keys, hashes, bits, rows)
    data = base64.b64decode(text)
    size = (bits + 7) // 8
    expected = any(
        all(row[place >> 3] >> (place & 7) & 1 for place in positions(key, hashes, bits))
        for row in ([data[13:]] if rows == 1 else [data[25 + 13 + i * (13 + size) :][:size] for i in range(rows)])
    )
    assert BloomFilter.parse(text, kind).might_contain(key) == expected


@settings(max_examples=60)
@given(
    st.lists(st.binary(max_size=9), min_size=TOGETHER_FROM, max_size=40),
    st.lists(st.binary(max_size=9), max_size=20),
    st.integers(1, 6),
    st.integers(1, 500),
    st.integers(1, 3),
)
def test_many_keys_together_are_found_as_one_by_one(keys, stored, hashes, bits, rows):
    probed = ProbedKeys(keys)
    for held in (stored, stored[:1], keys[-1:], []):  # filters of one size share the keys' hashes
        bloom = BloomFilter.parse(*build(held, hashes, bits, rows))
        assert probed.any_in(bloom) == any(bloom.might_contain(key) for key in keys)


def test_one_of_many_keys_is_found_in_large_filters():
    keys = [b"%d" % number for number in range(-50, 3000, 7)] + ["schlüssel €".encode(), b"\xff" * 300]
    wide = BloomFilter.parse(*build(keys[:-1], 30, 60_000))
    assert not ProbedKeys([b"x%d" % number for number in range(500)]).any_in(wide)
    for key in keys[:-1:50]:
        assert ProbedKeys([*(b"x%d" % number for number in range(500)), key]).any_in(wide)
    assert not ProbedKeys([keys[-1]] * TOGETHER_FROM).any_in(wide)


def test_only_filters_of_candidates_are_read_and_few_are_kept(hudi_table, monkeypatch):
    slices, kind = kind_of(hudi_table(TABLES[1]))
    candidates = np.zeros(len(slices), np.bool_)
    candidates[3] = True
    mask = kind.might_contain(KEY, ["nothing"], candidates)
    assert set(kind._read) == {3}
    assert mask.sum() == len(slices) - 1
    kind._room = 0
    whole = kind.might_contain(KEY, ["nothing"])
    assert len(kind._read) <= 2
    assert not whole.any()
    monkeypatch.setattr(bloom_filters, "FILTERS_READ", 1)
    assert kind.might_contain(KEY, ["nothing"]).all()


def test_a_character_that_is_none_of_base64_rules_nothing_out():
    text, kind = build([b"a"], 3, 4000)
    absent = [key for key in (b"key %d" % i for i in range(50)) if not BloomFilter.parse(text, kind).might_contain(key)]
    assert len(absent) > 40
    damaged = BloomFilter.parse(text[:20] + b"!" * (len(text) - 22) + text[-2:], kind)
    assert all(damaged.might_contain(key) for key in absent)


GOOD = build([b"a"], 3, 64)[0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"", "SIMPLE"),
        (b"!!", "SIMPLE"),
        (GOOD[:8], "SIMPLE"),
        (GOOD[:-8], "SIMPLE"),
        (GOOD, "DYNAMIC_V0"),
        (GOOD, "OTHER"),
        (base64.b64encode(struct.pack(">iibi", -1, 3, 0, 8) + b"x"), "SIMPLE"),
        (base64.b64encode(struct.pack(">iibi", -1, 0, 1, 8) + b"x"), "SIMPLE"),
    ],
)
def test_damaged_filters_are_a_format_error(text, kind):
    with pytest.raises(FormatError):
        BloomFilter.parse(text, kind)


def test_tail_bytes_are_signed():
    assert murmur2(b"\x80", 0) != murmur2(b"\x7f", 0)
    assert 0 <= murmur2("é".encode(), 0xFFFFFFFF) <= 0xFFFFFFFF
