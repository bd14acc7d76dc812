"""Record keys in log files: all of them, of every kind of block, within limits, and damage is an error."""

from __future__ import annotations

import io
import json
import struct

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator.language.schema import Field
from evaluator.language.types import STRING
from index_store import StatsError, TableError, open_table
from index_store.formats.log_file import read_log_blocks
from index_store.kinds.record_keys import logged_keys, record_index
from index_store.kinds.record_keys.logged_keys import read_logged_keys
from index_store.storage.errors import FormatError
from tests.index_store.conftest import TABLES
from tests.index_store.rows import rows_of
from tests.index_store.synthetic import delete_content, log_block

KEY = Field("_hoodie_record_key", STRING)
NULLABLE = ["null", "string"]
META = [{"name": name, "type": NULLABLE} for name in ("_hoodie_commit_time", "_hoodie_commit_seqno", KEY.name)]
WITH_LOGS = [name for name in (*TABLES, "keys/1.1.1_rli_mor", "keys/1.1.1_rli_part_mor") if name.endswith("_mor")]


def avro_block(keys, fields=META, version=3):
    schema = {"type": "record", "name": "r", "fields": [*fields, {"name": "v", "type": "long"}]}
    content = struct.pack(">ii", version, len(keys))
    for key in keys:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {KEY.name: key, "v": 300})
        content += struct.pack(">i", len(out.getvalue())) + out.getvalue()
    block = log_block(3, content, "1")
    text = json.dumps(schema).encode()  # one more header: the schema
    at = block.index(struct.pack(">i", 1) + struct.pack(">ii", 0, 1))
    return grown(block, at, struct.pack(">i", 2), struct.pack(">ii", 2, len(text)) + text)


def grown(block, at, count, more):
    body = block[14:at] + count + more + block[at + 4 : -8]
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


def keys_of(data):
    return list(logged_keys._keys(data))


@pytest.mark.parametrize("name", WITH_LOGS)
def test_all_keys_of_real_log_files_are_found_with_their_slices(hudi_table, name):
    path = hudi_table(name)
    table = open_table(path)
    slices = table.slices()
    found = read_logged_keys(table, slices, partitioned=True)
    expected, base = {}, 0
    for place, one in enumerate(slices):
        for file in one.log_files:
            for row in rows_of(path / file):
                expected.setdefault((one.partition, row[KEY.name]), set()).add(place)
            for block in read_log_blocks((path / file).read_bytes()):
                if block.type == 1:
                    for key in logged_keys.deleted_keys(block.content):
                        expected.setdefault((one.partition, key), set()).add(place)
    for place, one in enumerate(slices):
        if one.base_file and one.log_files:
            for row in rows_of(path / one.base_file):
                if (one.partition, row[KEY.name]) in expected:
                    expected[one.partition, row[KEY.name]].add(place)
                    base += 1
    assert found.slices_of == expected
    assert found.base_rows == base
    assert expected or not any(one.log_files for one in slices)


@pytest.mark.parametrize(
    "fields", [META, META[2:], [META[0], META[2]], [*META[:2], {"name": KEY.name, "type": "string"}]]
)
def test_keys_of_avro_blocks_of_any_schema(fields):
    keys = ["k1", "ü" * 100, "id:a,n:5"]
    assert keys_of(avro_block(keys, fields) + avro_block(["last"])) == [*keys, "last"]


def test_keys_of_parquet_and_delete_blocks():
    out = io.BytesIO()
    parquet.write_table(pa.table({KEY.name: ["a", "b"], "v": [1, 2]}), out)
    assert keys_of(
        log_block(5, out.getvalue(), "1")
        + log_block(1, delete_content(["c"]), "1")
        + log_block(0, b"", "2", "1")
        + log_block(6, b"x", "1")
    ) == ["a", "b", "c"]
    other = io.BytesIO()
    parquet.write_table(pa.table({"v": [1]}), other)
    for data in (log_block(5, other.getvalue(), "1"), log_block(5, b"no parquet", "1"), log_block(2, b"", "1")):
        with pytest.raises(FormatError):
            keys_of(data)


@pytest.mark.parametrize("cut", range(1, 12))
def test_damaged_avro_blocks_are_format_errors(cut):
    block = avro_block(["k1", "k2"])
    [whole] = read_log_blocks(block)
    for content in (whole.content[:-cut], whole.content[: 8 + cut], b"\0" * cut):
        with pytest.raises(FormatError):
            list(logged_keys._avro_keys(content, whole.schema))
    for schema in ("", "{", "[]", '{"fields": 5}'):
        with pytest.raises(FormatError):
            list(logged_keys._avro_keys(whole.content, schema))


def test_records_without_a_key_and_other_versions_are_format_errors():
    for block in (avro_block([None]), avro_block([None], META[:2]), avro_block(["k"], version=0)):
        with pytest.raises(FormatError):
            keys_of(block)


@pytest.mark.parametrize("limit", ["LOG_BYTES", "KEYS", "BASE_ROWS"])
def test_nothing_is_known_beyond_the_limits(hudi_table, monkeypatch, limit):
    monkeypatch.setattr(logged_keys, limit, 1)
    table = open_table(hudi_table("keys/1.1.1_rli_mor"))
    slices = table.slices()
    assert read_logged_keys(table, slices, partitioned=False) is None
    kind = record_index.make(table, slices)
    assert kind.might_contain(KEY, ["k001"]) is None
    assert kind.coverage([KEY]).columns[KEY.name].usable == 0


def test_a_log_file_that_cannot_be_read_is_an_error(hudi_copy):
    path = hudi_copy("keys/1.1.1_rli_mor")
    table = open_table(path)
    slices = table.slices()
    log = path / next(one.log_files[0] for one in slices if one.log_files)
    log.write_bytes(log.read_bytes()[:-3])
    with pytest.raises(TableError, match="log block"):
        read_logged_keys(table, slices, partitioned=False)
    with pytest.raises(StatsError, match="log block"):
        record_index.make(table, slices).might_contain(KEY, ["k001"])


def test_a_key_in_two_rows_is_noticed_beside_log_files(hudi_table, monkeypatch):
    """As if another base file had the key of a row too: one row more than keys."""
    table = open_table(hudi_table("keys/1.1.1_rli_mor"))
    slices = table.slices()
    kind = record_index.make(table, slices)
    assert kind.keys_are_unique
    for wrong in (kind.rows + 1, kind.rows - 1):
        other = record_index.make(table, slices)
        monkeypatch.setitem(other.__dict__, "rows", wrong)
        assert other.might_contain(KEY, ["k001"]) is None


def test_a_key_of_a_log_file_is_kept_wherever_it_stands(hudi_table):
    path = hudi_table("keys/1.1.1_rli_mor")
    table = open_table(path)
    slices = table.slices()
    kind = record_index.make(table, slices)
    for (_, key), places in kind.logged.slices_of.items():
        mask = kind.might_contain(KEY, [key])
        assert places <= set(np.flatnonzero(mask))
    assert len(kind.logged.slices_of) == 6
