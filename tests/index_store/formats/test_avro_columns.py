"""The projector gives what fastavro gives, for every record of the real tables and for drawn ones."""

from __future__ import annotations

import copy
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store import open_table
from index_store.formats.avro_columns import ColumnStatsDecoder, StatsRecord
from index_store.formats.hfile import entries
from index_store.storage.errors import FormatError
from index_store.table.metadata_table import Records
from tests.index_store.conftest import TABLES
from tests.index_store.synthetic import V9_SCHEMA, stats_value
from tests.sampling import examples, share

V6_SCHEMA = copy.deepcopy(V9_SCHEMA)
_stats = next(field for field in V6_SCHEMA["fields"] if field["name"] == "ColumnStatsMetadata")["type"][1]
_stats["fields"] = [field for field in _stats["fields"] if field["name"] not in ("isTightBound", "valueType")]


@pytest.mark.parametrize("name", share(TABLES, 3, seed=6))
def test_real_records_decode_as_fastavro_does(hudi_table, name):
    metadata = open_table(hudi_table(name)).metadata
    seen = 0
    for group in metadata.groups("column_stats"):
        for layer in metadata.layers(group):
            if not isinstance(layer, Records):
                continue
            decoder = ColumnStatsDecoder(layer.hfile.schema)
            for block in layer.hfile.blocks():
                for _, start, end in entries(block):
                    decoded, expected = (read(block, start, end) for read in (decoder._decode, decoder._by_reference))
                    assert repr(decoded) == repr(expected)  # NaN equals NaN
                    seen += 1
    assert seen > 10


NUMBERS = st.integers(-(2**63), 2**63 - 1)
WRAPPED = st.one_of(
    st.none(),
    st.tuples(st.just("LongWrapper"), NUMBERS),
    st.tuples(st.just("IntWrapper"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("DoubleWrapper"), st.floats(allow_nan=False)),
    st.tuples(st.just("BooleanWrapper"), st.booleans()),
    st.tuples(st.just("StringWrapper"), st.text(max_size=300)),
    st.tuples(st.just("BytesWrapper"), st.binary(max_size=40)),
    st.tuples(st.just("DateWrapper"), st.integers(-(10**6), 10**6)),
    st.tuples(st.just("FloatWrapper"), st.floats(width=32, allow_nan=False)),
)
COUNTS = st.none() | st.integers(0, 2**40)


def as_stored(bound):
    if bound is None:
        return "", None
    return bound[0], bound[1].encode() if isinstance(bound[1], str) else bound[1]


@settings(max_examples=examples(39, at_night=2000))
@given(
    st.lists(
        st.tuples(
            st.text(max_size=200),
            st.text(max_size=80),
            WRAPPED,
            WRAPPED,
            COUNTS,
            COUNTS,
            st.booleans(),
            st.none() | st.tuples(st.integers(0, 20), st.none() | st.just("10,2")),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_drawn_records_come_back(drawn):
    decoder = ColumnStatsDecoder(V9_SCHEMA)
    for name, column, lo, hi, rows, nulls, deleted, kind in drawn:
        value = stats_value(name, column, lo, hi, rows, nulls, deleted=deleted, value_type=kind)
        expected = StatsRecord(
            name.encode(),
            column.encode(),
            *as_stored(lo),
            *as_stored(hi),
            rows,
            nulls,
            deleted,
            False,
            kind[0] if kind else 0,
            (kind[1] or "").encode() if kind else b"",
            200,
        )
        assert decoder.decode(b"xyz" + value + b"tail", 3, 3 + len(value)) == expected


def test_the_schema_of_version_6_has_fewer_fields():
    value = stats_value("f.parquet", "c", ("IntWrapper", 1), ("IntWrapper", 2), 10, 0, schema=V6_SCHEMA)
    record = ColumnStatsDecoder(V6_SCHEMA).decode(value, 0, len(value))
    assert record == StatsRecord(b"f.parquet", b"c", "IntWrapper", 1, "IntWrapper", 2, 10, 0, False, False, 0, b"", 200)


def test_a_schema_in_another_order_goes_through_fastavro():
    schema = copy.deepcopy(V9_SCHEMA)
    stats = next(field for field in schema["fields"] if field["name"] == "ColumnStatsMetadata")["type"][1]
    stats["fields"].append(stats["fields"].pop(0))
    value = stats_value("f.parquet", "c", ("StringWrapper", "a"), ("StringWrapper", "b"), 10, 0, schema=schema)
    decoder = ColumnStatsDecoder(schema)
    assert not decoder._fast
    assert decoder.decode(value, 0, len(value)) == StatsRecord(
        b"f.parquet", b"c", "StringWrapper", b"a", "StringWrapper", b"b", 10, 0, False, False, 0, b"", 200
    )


def test_a_schema_without_statistics_is_refused():
    with pytest.raises(FormatError, match="no column statistics"):
        ColumnStatsDecoder({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]})


@settings(max_examples=examples(58, at_night=3000))
@given(st.data())
def test_damaged_records_are_a_format_error_or_another_record(data):
    decoder = ColumnStatsDecoder(V9_SCHEMA)
    value = bytearray(
        stats_value(
            "f" * 70, "column", ("LongWrapper", 10**15), ("LongWrapper", 10**16), 1000, 3, value_type=(16, None)
        )
    )
    for _ in range(data.draw(st.integers(1, 3))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(value)))
    for part in (bytes(value), bytes(value[:cut])):
        with suppress(FormatError):
            decoder.decode(part, 0, len(part))
