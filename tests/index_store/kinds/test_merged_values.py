"""No merged row has a value that its files are said not to hold: real tables of every merge rule, and drawn logs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.schema import Field
from evaluator.language.types import INT, STRING
from index_store import open_table
from index_store.kinds.record_keys.stored_values import StoredValues
from index_store.table.merge_rule import merges_to_stored_values
from tests.handler.spark.true_rows import reads, true_rows, unpack
from tests.index_store.format_tables import reads_of, unpack_format_table
from tests.index_store.kinds.test_stored_values import KEY, avro, parquet_bytes, plain, written
from tests.index_store.own.secondary.test_true_rows import value_form
from tests.index_store.synthetic import delete_content
from tests.sampling import share

#: Every table of which Hudi's reader read merged rows, and read them rightly.
MERGED = tuple(
    name
    for name, streams in sorted(reads().items())
    if ("_mor" in name or name.startswith("merging_")) and streams.get("snapshot") and "archived_saved" not in name
)


def columns_of(table, values):
    return [one for one in table.schema.fields if values._is_stored(one) and not one.name.startswith("_hoodie")]


@pytest.mark.parametrize("name", share(MERGED, 20))
def test_every_value_of_a_merged_row_is_in_a_file_of_its_slice(name, tmp_path):
    table = open_table(unpack(name, tmp_path))
    assert merges_to_stored_values(table.properties)
    slices, values, read = table.slices(), StoredValues(table), true_rows(name, "snapshot")
    group_of = {one.file_id: number for number, one in enumerate(slices)}
    names = read["_hoodie_file_name"].to_pylist() if "_hoodie_file_name" in read.schema.names else [None] * len(read)
    groups = [str(one).partition("_")[0] for one in names]
    files = {number: one.files for number, one in enumerate(slices)}
    seen = ruled_out = 0
    for column in columns_of(table, values):
        if column.name not in read.schema.names:
            continue
        held_in = {}
        for group, value in zip(groups, map(value_form, read[column.name].to_pylist()), strict=True):
            if value is None or (column.type.kind.is_text and not isinstance(value, str)):
                continue
            if value not in held_in:
                held_in[value] = values.look_up(column, [value], files).slices
                ruled_out += len(slices) - len(held_in[value])
            number = group_of.get(group)  # a table may leave out the column of file names
            assert held_in[value] if number is None else number in held_in[value], (column.name, value)
            seen += 1
    assert seen
    assert ruled_out or len(slices) == 1 or "evolved" in name or "reused" in name


def test_a_payload_of_the_users_own_makes_a_value_that_no_file_holds(tmp_path):
    """``pay_sum`` adds ``i`` up. To rule slices out by the values of their files would lose a row that Spark read."""
    table = open_table(unpack_format_table("0.15.0_pay_sum_mor", tmp_path))
    assert not merges_to_stored_values(table.properties)
    read = reads_of(tmp_path)[0]
    [(group, rows)] = read["filters"]["i >= 9202"].items()
    file_id = read["groups"][int(group)][1]
    [one] = [one for one in table.slices() if one.file_id == file_id]
    column = table.schema.resolve("i", case_sensitive=True)
    assert rows == 1
    assert not StoredValues(table).look_up(column, range(9202, 30_000), {0: one.files}).slices


# -- drawn logs

S, N = Field("s", STRING), Field("i", INT)
POOL = ["a", "b", "c", "d", "e", "f", "g", "h"]
KEYS = st.sampled_from(["k1", "k2", "k3"])
TEXTS = st.none() | st.sampled_from(POOL)
NUMBERS = st.none() | st.integers(0, 7)
ORDER = st.integers(0, 3)
UPDATE = st.tuples(st.just("update"), KEYS, ORDER, TEXTS, NUMBERS)
BLOCKS = st.one_of(
    UPDATE,
    st.tuples(st.just("only s"), KEYS, ORDER, TEXTS, st.none()),
    st.tuples(st.just("only i"), KEYS, ORDER, st.none(), NUMBERS),
    st.tuples(st.just("delete"), KEYS, ORDER, st.none(), st.none()),
    st.tuples(st.just("rolled back"), KEYS, ORDER, TEXTS, NUMBERS),
    st.tuples(st.just("parquet"), KEYS, ORDER, TEXTS, NUMBERS),
)


def columns_of_rows(rows):
    texts, numbers = [row[0] for row in rows.values()], [row[1] for row in rows.values()]
    return {KEY.name: list(rows), "s": pa.array(texts, pa.string()), "i": pa.array(numbers, pa.int32())}


def block_of(kind, key, text, number):
    match kind:
        case "delete":
            return plain(1, delete_content([key]))
        case "only s":
            return avro({KEY.name: key, "s": text}, partial="true")
        case "only i":
            return avro({KEY.name: key, "i": number}, partial="true")
        case "parquet":
            return plain(5, parquet_bytes(columns_of_rows({key: (text, number)})))
    return avro({KEY.name: key, "s": text, "i": number}) + (plain(0) if kind == "rolled back" else b"")


def merged(base, blocks, rule):
    """The rows that a rule leaves: key -> (order, s, i). In the plainest way that Hudi's readers merge."""
    rows = {key: (0, *row) for key, row in base.items()}
    for kind, key, order, text, number in blocks:
        old = rows.get(key)
        if kind == "rolled back" or (rule != "commit time" and old is not None and order < old[0]):
            continue
        if rule == "first of equal" and old is not None and order == old[0]:
            continue
        if kind == "delete":
            rows.pop(key, None)
            continue
        s = old[1] if old is not None and kind == "only i" else text
        i = old[2] if old is not None and kind == "only s" else number
        if rule == "no NULL over a value" and old is not None:
            s, i = (old[1] if s is None else s), (old[2] if i is None else i)
        rows[key] = (order, s, i)
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return unpack("1.1.1_sec_mor", tmp_path_factory.mktemp("drawn"))


@pytest.mark.parametrize("rule", ["commit time", "event time", "first of equal", "no NULL over a value"])
@given(
    base=st.dictionaries(KEYS, st.tuples(TEXTS, NUMBERS), max_size=3),
    blocks=st.lists(BLOCKS, min_size=1, max_size=6),
)
def test_drawn_logs_hold_every_value_that_a_merge_may_choose(folder: Path, rule, base, blocks):
    table = open_table(folder)
    stored = None
    if base:
        stored = parquet_bytes(columns_of_rows(base))
    files = written(table, *(block_of(kind, key, text, number) for kind, key, _, text, number in blocks), base=stored)
    values = StoredValues(table)
    rows = merged(base, blocks, rule)
    versions = list(base.values()) + [(text, number) for *_, text, number in blocks]
    for place, (column, pool) in enumerate(((S, POOL), (N, range(8)))):
        needed = {row[1 + place] for row in rows.values()} - {None}
        stored_somewhere = {version[place] for version in versions} - {None}
        for value in pool:
            held = bool(values.look_up(column, [value], files).slices)
            assert held or value not in needed, (column.name, value)
            assert held == (value in stored_somewhere)
