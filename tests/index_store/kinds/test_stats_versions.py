"""Columns of records give the statistics that the same records give one by one: merged, placed and in their type."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import Kind, Type
from index_store import open_table
from index_store.formats import stats_reader
from index_store.formats.hfile import HFile
from index_store.formats.stats_columns import StatsColumns, signed_numbers
from index_store.formats.stats_reader import Single, read_statistics
from index_store.kinds.column_stats import stats_versions
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.stats_versions import Versions
from index_store.storage.byte_source import Bytes
from tests.index_store.conftest import TABLES
from tests.index_store.formats.test_avro_columns import WRAPPED
from tests.index_store.formats.test_stats_reader import lockstep_of_few
from tests.index_store.synthetic import NONE, hfile, stats_key, stats_value
from tests.sampling import examples, share


def as_columns(values):
    """Records by key as the reader gives them."""
    with lockstep_of_few():
        return [part for _, part in read_statistics(HFile.open(Bytes(hfile(values.items(), codec=NONE))))]


def spread(part):
    """Columns as single records."""
    return [part] if isinstance(part, Single) else [Single(part.key(i), part.record(i)) for i in range(len(part))]


LAYER = st.dictionaries(
    st.integers(0, 9),
    st.tuples(st.sampled_from(["value", "value", "deleted", "tight", "bare"]), st.integers(0, 3)),
    max_size=8,
)


@settings(max_examples=examples(29, at_night=1500))
@given(st.lists(st.tuples(LAYER, st.lists(st.integers(0, 9), max_size=2)), max_size=4))
def test_layers_merge_as_their_records_do_one_by_one(layers):
    columns, single = Versions(), Versions()
    for records, removed in layers:
        values = {
            stats_key("c", "p", str(i)): b""
            if what == "bare"
            else stats_value(
                str(i), "c", ("LongWrapper", number), None, 9, 0, deleted=what == "deleted", tight=what == "tight"
            )
            for i, (what, number) in records.items()
        }
        for part in as_columns(values):
            columns.add(part)
            for one in spread(part):
                single.add(one)
        for key in removed:
            columns.remove(stats_key("c", "p", str(key)))
            single.remove(stats_key("c", "p", str(key)))
    found, expected = columns.latest(), single.latest()
    assert not expected.columns
    pairs = [*found.records, *(tuple(one) for part in found.columns for one in spread(part))]
    assert sorted(pairs, key=repr) == sorted(expected.records, key=repr)
    assert sorted(found.deleted) == sorted(expected.deleted)


def test_one_layer_of_plain_records_stays_as_it_is():
    values = {stats_key("c", "p", str(i)): stats_value(str(i), "c", None, None, 1, 1) for i in range(200)}
    [*parts] = as_columns(values)
    part = StatsColumns.joined(parts)
    versions = Versions([part])
    assert versions.latest().columns == (part,)
    assert stats_versions._is_plain(part)
    assert not stats_versions._is_plain(StatsColumns.joined([part, part]))


TYPES = [
    Type(Kind.BOOLEAN),
    Type(Kind.INT),
    Type(Kind.BIGINT),
    Type(Kind.FLOAT),
    Type(Kind.DOUBLE),
    Type(Kind.DATE),
    Type(Kind.TIMESTAMP),
    Type(Kind.STRING),
    Type(Kind.BINARY),
    Type(Kind.DECIMAL, 10, 2),
    Type(Kind.DECIMAL, 30, 2),
]
BOUND = WRAPPED | st.tuples(
    st.just("BytesWrapper"),
    st.integers(-(10**12), 10**12).map(lambda n: n.to_bytes(n.bit_length() // 8 + 1, "big", signed=True)),
)


@settings(max_examples=examples(29, at_night=1500))
@given(
    st.lists(
        st.tuples(
            BOUND,
            BOUND,
            st.none() | st.integers(0, 9),
            st.none() | st.integers(0, 99),
            st.none() | st.sampled_from([(4, None), (10, "10,2"), (10, "12,4"), (7, None), (6, None)]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([6, 8, 9]),
    st.booleans(),
)
def test_columns_become_the_bounds_that_their_records_become(drawn, version, alike):
    if alike:
        drawn = (
            [
                (
                    lo if lo and lo[0] == drawn[0][0][0] else None,
                    hi if hi and hi[0] == drawn[0][0][0] else None,
                    rows,
                    nulls,
                    drawn[0][4],
                )
                for lo, hi, rows, nulls, kind in drawn
            ]
            if drawn[0][0]
            else drawn
        )
    values = {
        stats_key("c", "p", f"{i}"): stats_value(f"{i}", "c", lo, hi, rows, nulls, value_type=kind)
        for i, (lo, hi, rows, nulls, kind) in enumerate(drawn)
    }
    part = StatsColumns.joined(as_columns(values))
    records = [part.record(i) for i in range(len(part))]
    again = StatsColumns.of([part.key(i) for i in range(len(part))], records, part.wrappers)
    places = np.arange(len(part))
    for column_type in TYPES:
        expected = FileStatistics.of(records, places, column_type, "micros", version)
        for found in (part, again):
            same(FileStatistics.of_columns(found, places, column_type, "micros", version), expected)


def same(found, expected):
    for one in fields(FileStatistics):
        left, right = getattr(found, one.name), getattr(expected, one.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, one.name
            assert repr(left.tolist()) == repr(right.tolist()), one.name


@given(st.lists(st.binary(max_size=8)))
def test_bytes_are_read_as_java_reads_big_integers(texts):
    expected = [int.from_bytes(text, "big", signed=True) for text in texts]
    assert signed_numbers(pa.array(texts, pa.binary())).tolist() == expected
    whole = pa.array([b"more than eight", *texts], pa.binary())
    assert signed_numbers(whole) is None
    assert signed_numbers(pa.chunked_array([whole.slice(1), pa.array([], pa.binary())])).tolist() == expected


@pytest.mark.parametrize("name", share(TABLES, 3, seed=13))
def test_real_tables_have_the_same_statistics_both_ways(hudi_table, name, monkeypatch):
    found = []
    for few in (1 << 40, 0):
        monkeypatch.setattr(stats_reader, "FEW_RECORDS", few)
        monkeypatch.setattr(stats_reader, "FEW_OF_A_COLUMN", 0)
        table = open_table(hudi_table(name))
        kinds = [kind for kind in table.kinds(table.slices()) if kind.name == "column_stats"]
        found.append(
            [
                (
                    column,
                    {
                        one.name: repr(getattr(statistics, one.name).tolist())
                        for one in fields(statistics)
                        if isinstance(getattr(statistics, one.name), np.ndarray)
                    },
                )
                for kind in kinds
                for column, statistics in kind.statistics(list(table.schema)).items()
            ]
        )
    assert found[0] == found[1]
    assert found[0] or "column_stats" not in table.available_indexes
