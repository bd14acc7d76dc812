"""Records decoded in lockstep are what the decoder of single records gives, on sound and on damaged bytes."""

from __future__ import annotations

import copy
import itertools
import json
import struct
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store import open_table
from index_store.formats import block_batches, stats_reader, vectorised_avro
from index_store.formats.avro_columns import ColumnStatsDecoder
from index_store.formats.hfile import HFile, entries
from index_store.formats.hfile_search import KEY_END
from index_store.formats.keys import column_id
from index_store.formats.stats_columns import NO_COUNT, StatsColumns
from index_store.formats.stats_reader import Single, read_statistics
from index_store.formats.vectorised_avro import PADDING, Cursors, Fallback, walk, words_of
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from index_store.table.metadata_table import Records
from tests.index_store.conftest import TABLES
from tests.index_store.formats.test_avro_columns import V6_SCHEMA, WRAPPED
from tests.index_store.synthetic import GZ, NONE, V9_SCHEMA, hfile, stats_key, stats_value
from tests.sampling import examples, share


@contextmanager
def lockstep_of_few():
    """Few records are taken in lockstep too, in many small batches and steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stats_reader, "FEW_RECORDS", 0)
        patch.setattr(stats_reader, "FEW_OF_A_COLUMN", 0)
        patch.setattr(stats_reader, "STEP", 50)
        patch.setattr(block_batches, "BATCH_BYTES", 3000)
        yield


@pytest.fixture
def always_lockstep():
    with lockstep_of_few():
        yield


def one_by_one(file: HFile, columns=None):
    """What the reference says, in the order of the file."""
    decoder = ColumnStatsDecoder(file.schema)
    return [
        (key[:12], key, decoder.decode(block, start, end) if end > start else None)
        for block in file.blocks(columns and sorted(columns))
        for key, start, end in entries(block)
        if columns is None or key[:12] in columns
    ]


def in_lockstep(file: HFile, columns=None):
    """The same through the reader under test, and how many of the records came as columns."""
    found, together = [], 0
    for column, part in read_statistics(file, columns):
        if isinstance(part, Single):
            found.append((column, *part))
        else:
            assert isinstance(part, StatsColumns)
            together += len(part)
            found.extend((column, part.key(i), part.record(i)) for i in range(len(part)))
    return found, together


#: Written before there was partition_stats, without partitions, or without that index.
WITHOUT_PARTITION_STATS = {
    "0.15.0_main_cow",
    "0.15.0_nan_cow",
    "1.0.2_sec_cow",
    "1.0.2_sec_mor",
    "1.1.1_bloom_simple_cow",
    "1.1.1_expr_cow",
    "1.1.1_nonpart_mor",
    "1.1.1_sec_cow",
    "1.1.1_sec_mor",
}


@pytest.mark.parametrize("name", sorted(WITHOUT_PARTITION_STATS))
def test_these_tables_have_no_partition_stats(hudi_table, name):
    assert not open_table(hudi_table(name)).metadata._names("partition_stats")


@pytest.mark.parametrize(
    ("partition", "name"),
    share(
        [
            *(("column_stats", name) for name in TABLES),
            *(("partition_stats", name) for name in TABLES if name not in WITHOUT_PARTITION_STATS),
        ],
        3,
    ),
)
def test_real_records(hudi_table, always_lockstep, name, partition):
    metadata = open_table(hudi_table(name)).metadata
    seen = fast = 0
    for group in metadata.groups(partition):
        for layer in metadata.layers(group):
            if isinstance(layer, Records):
                found, together = in_lockstep(layer.hfile)
                assert repr(found) == repr(one_by_one(layer.hfile))  # NaN equals NaN
                seen += len(found)
                fast += together
    assert seen > 0
    assert fast > 0.9 * seen, (fast, seen)


def records_of(column, bounds, schema=V9_SCHEMA, **more):
    """One record of a column for each pair of bounds; names and counts have all sizes."""
    return [
        (
            stats_key(column, "p", f"{i}"),
            stats_value("f" * (i % 9) + f"{i}.parquet", column, lo, hi, *counts, schema=schema, **more),
        )
        for i, ((lo, hi), counts) in enumerate(
            zip(bounds, itertools.cycle([(1, 0), (100, None), (None, 3), (1 << 40, 5), (70_000, 64), (None, None)]))
        )
    ]


def test_keys_of_another_size_slow_down_their_own_blocks_only(always_lockstep, monkeypatch):
    """An expression index holds records of partitions, with shorter keys, between those of files."""
    monkeypatch.setattr(block_batches, "BATCH_BYTES", 1 << 20)
    bounds = [(("IntWrapper", i), ("IntWrapper", i + 5)) for i in range(3000)]
    records = records_of("s", bounds)
    middle = sorted(key for key, _ in records)[1500]
    records += [(middle[:35] + bytes([letter]), stats_value("p=1", "s", *bounds[0], 1, 0)) for letter in b"+5A"]
    file = HFile.open(Bytes(hfile(records, block_size=4096)))
    found, together = in_lockstep(file)
    assert found == one_by_one(file)
    assert len(found) == 3003
    in_a_block = 4096 // 100
    assert 3000 - 4 * in_a_block < together < 3000


BRANCHES = {
    "BooleanWrapper": [True, False],
    "IntWrapper": [0, -1, 63, 64, -(1 << 31), (1 << 31) - 1],
    "LongWrapper": sorted(
        {sign * (1 << bits) + step for bits in range(63) for sign in (1, -1) for step in (-1, 0)}
        | {-(1 << 63), (1 << 63) - 1}
    ),
    "FloatWrapper": [0.0, -0.0, 1.5, float("inf"), -(2.0**127)],
    "DoubleWrapper": [0.0, -0.0, 0.1, 1e308, float("-inf")],
    "BytesWrapper": [b"", b"\0", b"\xff" * 9, bytes(200)],
    "StringWrapper": ["", "a", "é" * 70, "x" * 9000],
    "DateWrapper": [0, 20_000, -800_000],
    "DecimalWrapper": [b"\0", b"\x7f\xff", b"\x80" + bytes(11)],
    "TimestampMicrosWrapper": [0, 1_767_225_600_000_000],
    "LocalDateWrapper": [-1, 1],
}


def plain_schema(schema):
    """The schema without logical types, so that fastavro takes the values as they are."""
    text = json.dumps(schema)
    return json.loads(text, object_hook=lambda d: {k: v for k, v in d.items() if k != "logicalType"})


@pytest.mark.parametrize("schema", [V9_SCHEMA, V6_SCHEMA], ids=["version 9", "version 6"])
@pytest.mark.parametrize("wrapper", BRANCHES)
@pytest.mark.parametrize("with_nulls", [False, True])
def test_every_branch(always_lockstep, schema, wrapper, with_nulls):
    values = [(wrapper, value) for value in BRANCHES[wrapper]] + [None] * with_nulls
    bounds = (
        list(itertools.product(values, values))
        if len(values) < 20
        else list(zip(values, reversed(values), strict=True))
    )
    schema = plain_schema(schema)
    file = HFile.open(Bytes(hfile(records_of("c", bounds, schema), schema=schema, block_size=2000)))
    found, together = in_lockstep(file)
    assert together == len(found) == len(bounds)
    assert repr(found) == repr(one_by_one(file))
    assert {record.lo for _, _, record in found} == {
        None if one is None else one[1].encode() if isinstance(one[1], str) else one[1] for one in values
    }


RECORD = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.text(max_size=90),
    WRAPPED,
    WRAPPED,
    st.none() | st.integers(0, 2**62),
    st.none() | st.integers(0, 2**40),
    st.booleans(),
    st.booleans(),
    st.none() | st.tuples(st.integers(0, 20), st.none() | st.sampled_from(["10,2", "too long"])),
)


@settings(max_examples=60)
@given(
    st.lists(RECORD, max_size=60),
    st.lists(st.integers(0, 59), max_size=3),
    st.sampled_from([GZ, NONE]),
    st.integers(100, 5000),
    st.sampled_from([None, {"a"}, {"a", "c"}, {"absent"}]),
)
def test_drawn_records(drawn, emptied, codec, block_size, names):
    records = [
        (
            stats_key(column, "p", f"{i}"),
            b""
            if i in emptied
            else stats_value(name, column, lo, hi, rows, nulls, deleted=deleted, tight=tight, value_type=kind),
        )
        for i, (column, name, lo, hi, rows, nulls, deleted, tight, kind) in enumerate(drawn)
    ]
    file = HFile.open(Bytes(hfile(records, codec=codec, block_size=block_size)))
    columns = names and {column_id(name) for name in names}
    with lockstep_of_few():
        found, _ = in_lockstep(file, columns)
    assert found == one_by_one(file, columns)


def outcome(read, file):
    try:
        return read(file)
    except FormatError:
        return "error"


@settings(max_examples=examples(29, at_night=1500))
@given(st.data())
def test_damage_is_an_error_or_what_the_reference_reads(data):
    bounds = [(("LongWrapper", i * 10**13), ("LongWrapper", 10**16)) for i in range(30)]
    text = [(("StringWrapper", "a" * i), None) for i in range(30)]
    good = hfile(
        [*records_of("a", bounds, value_type=(16, None)), *records_of("b", text, value_type=(7, "x"))],
        codec=NONE,
        block_size=3000,
    )
    end = HFile.open(Bytes(good)).index[-1]
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, end.offset + end.size - 1))
        bad[place] = data.draw(st.sampled_from([0, 1, 2, 4, 127, 128, 255]) | st.integers(0, 255))
    file = HFile.open(Bytes(bytes(bad)))
    with lockstep_of_few():
        found = outcome(lambda file: in_lockstep(file)[0], file)
    assert found == outcome(one_by_one, file)


@pytest.mark.parametrize("few", [0, 1000])
def test_an_error_names_the_place_of_its_block(always_lockstep, monkeypatch, few):
    monkeypatch.setattr(stats_reader, "FEW_RECORDS", few)
    bounds = [(("StringWrapper", f"{i:03d}"), None) for i in range(100)]
    good = hfile(records_of("a", bounds), codec=NONE, block_size=3000)
    index = HFile.open(Bytes(good)).index
    place = good.index(b"050", index[1].offset)
    block = max(entry.offset for entry in index if entry.offset < place)
    bad = good[: place - 1] + b"\x7f" + good[place:]
    with pytest.raises(FormatError) as failure:
        in_lockstep(HFile.open(Bytes(bad)))
    assert failure.value.offset == block


def test_compressed_damage_names_its_place_too(always_lockstep):
    good = hfile(records_of("a", [(("LongWrapper", i), None) for i in range(200)]), block_size=3000)
    block = HFile.open(Bytes(good)).index[2]
    bad = bytearray(good)
    bad[block.offset + block.size // 2] ^= 255
    with pytest.raises(FormatError) as failure:
        in_lockstep(HFile.open(Bytes(bytes(bad))))
    assert failure.value.offset == block.offset


def test_fields_in_another_order_are_read_by_the_schema(always_lockstep):
    schema = copy.deepcopy(V9_SCHEMA)
    stats = next(field for field in schema["fields"] if field["name"] == "ColumnStatsMetadata")["type"][1]
    stats["fields"].append(stats["fields"].pop(0))
    stats["fields"].insert(1, stats["fields"].pop(5))
    bounds = [(("LongWrapper", i), ("LongWrapper", i + 1)) for i in range(20)]
    file = HFile.open(Bytes(hfile(records_of("c", bounds, schema, value_type=(4, None)), schema=schema)))
    found, together = in_lockstep(file)
    assert together == 20
    assert found == one_by_one(file)


def test_a_field_of_an_unknown_shape_sends_every_record_through_the_reference(always_lockstep):
    schema = copy.deepcopy(V9_SCHEMA)
    stats = next(field for field in schema["fields"] if field["name"] == "ColumnStatsMetadata")["type"][1]
    stats["fields"].append({"name": "histogram", "type": {"type": "array", "items": "long"}, "default": []})
    file = HFile.open(Bytes(hfile(records_of("c", [(("LongWrapper", 5), None)] * 3, schema), schema=schema)))
    found, together = in_lockstep(file)
    assert together == 0
    assert found == one_by_one(file)
    assert [record.lo for _, _, record in found] == [5, 5, 5]


def test_records_of_two_columns_under_one_id_are_kept_apart(always_lockstep):
    records = [
        (stats_key("a", "p", f"{i}"), stats_value("f", "a" if i % 7 else "b", None, None, 1, 1)) for i in range(60)
    ]
    file = HFile.open(Bytes(hfile(records)))
    found, _ = in_lockstep(file)
    assert found == one_by_one(file)
    assert {record.column for _, _, record in found} == {b"a", b"b"}


def test_deletions_and_bare_keys_come_in_order(always_lockstep):
    records = [
        (stats_key("a", "p", f"{i}"), stats_value("f", "a", None, None, 1, 1, deleted=i % 5 == 0)) for i in range(200)
    ]
    records = [(key, b"" if i == 77 else value) for i, (key, value) in enumerate(records)]
    file = HFile.open(Bytes(hfile(records, block_size=4000)))
    found, together = in_lockstep(file)
    assert found == one_by_one(file)
    assert 100 < together < 200
    assert [record for _, _, record in found].count(None) == 1


def varint(value, length):
    """A varint of just so many bytes, longer than it must be."""
    raw = value << 1 ^ value >> 63
    return bytes((raw >> 7 * i & 127) | (128 if i < length - 1 else 0) for i in range(length))


@pytest.mark.parametrize("length", range(1, 11))
def test_varints_of_every_length(length):
    top = 1 << min(7 * length, 64) - 1
    values = [0, -1, top - 1, -top, top >> 1, -(top >> 1), 7]
    data = b"".join(varint(value, length) + b"\x2a" for value in values) + bytes(PADDING)
    at = Cursors(words_of(np.frombuffer(data, np.uint8)), np.arange(len(values)) * (length + 1))
    skipped = at.part(np.arange(len(values)))
    assert at.number().tolist() == values
    assert at.byte().tolist() == [0x2A] * len(values)
    skipped.skip_number()
    assert skipped.byte().tolist() == [0x2A] * len(values)


def test_varints_of_all_lengths_side_by_side():
    values = [sign * (1 << bits) for bits in range(63) for sign in (1, -1)] + [NO_COUNT, -1 - NO_COUNT]
    parts = [varint(value, max(1, -(-(value << 1 ^ value >> 63).bit_length() // 7))) for value in values]
    places = np.cumsum([0, *map(len, parts)])[:-1]
    at = Cursors(words_of(np.frombuffer(b"".join(parts) + bytes(PADDING), np.uint8)), places)
    assert at.number().tolist() == values


@pytest.mark.parametrize("bad", [b"\xff" * 10 + b"\0", b"\xff" * 9 + b"\x02", b"\xff" * 12])
def test_varints_of_more_than_64_bits_bail(bad):
    at = Cursors(words_of(np.frombuffer(bad + bytes(PADDING), np.uint8)), np.array([0]))
    with pytest.raises(Fallback):
        at.number()


@pytest.mark.parametrize("length", [-1, 1000, 1 << 62])
def test_a_length_that_does_not_fit_bails(length):
    at = Cursors(words_of(np.frombuffer(varint(length, 10) + bytes(PADDING), np.uint8)), np.array([0]))
    with pytest.raises(Fallback):
        at.text()


#: Values of a few entries, some of which look like the start of an entry, or several.
LOOKALIKE = struct.pack(">ii", 20 + 12, 9) + struct.pack(">h", 20)
VALUES = st.lists(st.sampled_from([b"", b"v" * 7, LOOKALIKE, LOOKALIKE[:6], LOOKALIKE * 40, bytes(300)]), min_size=1)


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(2, 9), st.sampled_from([8, 64, 2048]))
def test_a_walk_through_divided_blocks_finds_the_entries(values, parts, searched):
    def entry(number: int, value: bytes) -> bytes:
        key = struct.pack(">h", 20) + b"%020d" % number + KEY_END
        return struct.pack(">ii", len(key), len(value)) + key + value + b"\0"

    blocks = [b"".join(itertools.starmap(entry, enumerate(some))) for some in values]
    data = np.frombuffer(b"".join(block + bytes(PADDING) for block in blocks), np.uint8)
    sizes = np.array([len(block) + PADDING for block in blocks])
    starts = np.cumsum(sizes) - sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorised_avro, "_PARTS", parts)
        patch.setattr(vectorised_avro, "_SEARCHED", searched)
        keys, begins, ends = walk(data, starts, np.cumsum(sizes) - PADDING, 20 + 12)
    expected = [
        (start + begin, start + end)
        for start, block in zip(starts.tolist(), blocks, strict=True)
        for _, begin, end in entries(block)
    ]
    assert list(zip(begins.tolist(), ends.tolist(), strict=True)) == expected
    assert (keys == begins - 30).all()


def test_a_walk_through_entries_of_several_sizes_of_key_bails():
    blocks = [HFile.open(Bytes(hfile([(key, b"v")], codec=NONE))) for key in (b"k" * 48, b"k" * 47)]
    data = b"".join(next(iter(file.blocks())) + bytes(PADDING) for file in blocks)
    one, two = (len(next(iter(file.blocks()))) for file in blocks)
    buffer = np.frombuffer(data, np.uint8)
    keys, values, ends = walk(buffer, np.array([0]), np.array([one]), 60)
    assert (keys.tolist(), values.tolist(), ends.tolist()) == ([10], [68], [69])
    with pytest.raises(Fallback):
        walk(buffer, np.array([0, one + PADDING]), np.array([one, one + PADDING + two]), 60)
