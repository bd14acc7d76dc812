"""Records of the ``files`` partition as columns, against fastavro."""

from __future__ import annotations

import copy
import io

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.file_map import FileMapReader
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import V9_SCHEMA, files_value

META = [
    {"name": f"_hoodie_{name}", "type": ["null", "string"], "default": None}
    for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
]
WITH_META = {**copy.deepcopy(V9_SCHEMA), "fields": [*META, *copy.deepcopy(V9_SCHEMA)["fields"]]}
OTHER = {
    **copy.deepcopy(V9_SCHEMA),
    "fields": [{"name": "odd", "type": "double", "default": 0.0}, *copy.deepcopy(V9_SCHEMA)["fields"]],
}


def encoded(schema, entries, kind=2, **more):
    record = {"key": "", "type": kind, "odd": 1.5, "_hoodie_file_name": "x", **more, "filesystemMetadata": None}
    if entries is not None:
        record["filesystemMetadata"] = {
            name: {"size": size, "isDeleted": gone} for name, (size, gone) in entries.items()
        }
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(copy.deepcopy(schema)), record)
    return out.getvalue()


def as_fastavro(schema, value):
    read = unwrap(RecordReader(copy.deepcopy(schema)).read(value).get("filesystemMetadata")) or {}
    return {name: None if info["isDeleted"] else info["size"] for name, info in read.items()}


entries = st.dictionaries(st.text(max_size=90), st.tuples(st.integers(-(2**63), 2**63 - 1), st.booleans()), max_size=30)


@pytest.mark.parametrize("schema", [V9_SCHEMA, WITH_META, OTHER], ids=["plain", "meta fields", "another shape"])
@given(found=entries, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_columns_are_what_fastavro_reads(schema, found, before, after):
    value = encoded(schema, found)
    read = FileMapReader(copy.deepcopy(schema)).read(before + value + after, len(before), len(before) + len(value))
    assert (
        read.changes()
        == as_fastavro(schema, value)
        == {name: None if gone else size for name, (size, gone) in found.items()}
    )
    assert read.names.to_pylist() == list(found)


def test_a_record_of_another_kind_has_no_entries():
    for schema in (V9_SCHEMA, WITH_META):
        value = encoded(schema, None, kind=3)
        assert FileMapReader(copy.deepcopy(schema)).read(value, 0, len(value)).changes() == {}


def test_a_map_in_several_blocks():
    one = files_value({"a": 1, "b": None}, 2)
    entry_a, entry_b = b"\x02a\x02\0", b"\x02b\0\x01"
    assert entry_a + entry_b in one
    at = one.index(entry_a + entry_b)
    blocks = b"\x02" + entry_a + b"\x01\x08" + entry_b  # 1 entry; then -1: one entry of 4 bytes
    value = one[: at - 1] + blocks + one[at + len(entry_a + entry_b) :]
    assert (
        FileMapReader(V9_SCHEMA).read(value, 0, len(value)).changes()
        == {"a": 1, "b": None}
        == as_fastavro(V9_SCHEMA, value)
    )


@given(found=entries.filter(bool), data=st.data())
def test_damage_is_an_error_or_reads_as_fastavro_reads_it(found, data):
    value = bytearray(encoded(V9_SCHEMA, found))
    if data.draw(st.booleans()):
        value = value[: data.draw(st.integers(0, len(value) - 1))]
    else:
        value[data.draw(st.integers(0, len(value) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        read = FileMapReader(V9_SCHEMA).read(bytes(value), 0, len(value))
    except FormatError:
        return
    expected = as_fastavro(V9_SCHEMA, bytes(value))
    assert read.changes() == expected
