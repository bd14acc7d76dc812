"""Records of the ``files`` partition as columns, against fastavro."""

from __future__ import annotations

import copy
import io
from contextlib import nullcontext
from itertools import accumulate
from unittest import mock

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.file_map import FileMapReader
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import V9_SCHEMA, files_value

#: Hudi's metadata table without meta fields (``hoodie.populate.meta.fields``).
WITHOUT_META = {
    **copy.deepcopy(V9_SCHEMA),
    "fields": [one for one in copy.deepcopy(V9_SCHEMA)["fields"] if not one["name"].startswith("_hoodie_")],
}
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


def read(schema, value):
    [found] = FileMapReader(copy.deepcopy(schema)).read(value, [(0, len(value))])
    return found


def read_as_columns(schema, *values, before=b"", after=b""):
    """Records of a block, which fastavro does not read."""
    spans, block = [], before
    for value in values:
        spans.append((len(block), len(block) + len(value)))
        block += value + after
    with mock.patch.object(FileMapReader, "_by_reference", side_effect=AssertionError("read by fastavro")):
        return FileMapReader(copy.deepcopy(schema)).read(block, spans)


def encoded_long(number):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", number)
    return out.getvalue()


def as_fastavro(schema, value):
    read = unwrap(RecordReader(copy.deepcopy(schema)).read(value).get("filesystemMetadata")) or {}
    return {name: None if info["isDeleted"] else info["size"] for name, info in read.items()}


entries = st.dictionaries(st.text(max_size=90), st.tuples(st.integers(-(2**63), 2**63 - 1), st.booleans()), max_size=30)


@pytest.mark.parametrize("schema", [V9_SCHEMA, WITHOUT_META], ids=["of Hudi", "without meta fields"])
@given(records=st.lists(entries, max_size=4), before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_columns_are_what_fastavro_reads(schema, records, before, after):
    values = [encoded(schema, found, _hoodie_record_key=before.hex() or None) for found in records]
    maps = read_as_columns(schema, *values, before=before, after=after)
    for found, value, one in zip(records, values, maps, strict=True):
        assert (
            one.changes()
            == as_fastavro(schema, value)
            == {name: None if gone else size for name, (size, gone) in found.items()}
        )
        assert list(one.names) == list(found)


@given(found=entries)
def test_fastavro_reads_a_schema_of_another_shape(found):
    value = encoded(OTHER, found)
    assert read(OTHER, value).changes() == as_fastavro(OTHER, value)


@given(kinds=st.lists(st.tuples(st.booleans(), entries), min_size=1, max_size=5))
def test_a_record_of_another_kind_among_others_of_a_block(kinds):
    values = [encoded(V9_SCHEMA, found if is_map else None, kind=2 if is_map else 3) for is_map, found in kinds]
    block = b"".join(values)
    ends = list(accumulate(map(len, values)))
    maps = FileMapReader(copy.deepcopy(V9_SCHEMA)).read(block, list(zip([0, *ends], ends, strict=False)))
    assert [one.changes() for one in maps] == [as_fastavro(V9_SCHEMA, value) for value in values]


@pytest.mark.parametrize("length", [0, 1, 63, 64, 127, 128, 8191, 8192, 20_000])
def test_a_name_of_any_length(length):
    value = encoded(V9_SCHEMA, {"n" * length: (7, False), "z": (8, True)})
    [found] = read_as_columns(V9_SCHEMA, value)
    assert found.changes() == {"n" * length: 7, "z": None}


@given(before=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9)), found=entries, data=st.data())
def test_changes_are_put_on_as_hudi_puts_them(before, found, data):
    found = {**found, **data.draw(st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(), st.booleans())))}
    value = encoded(V9_SCHEMA, {name: (size % 2**40 - 2**20, gone) for name, (size, gone) in found.items()})
    files = dict(before)
    change = read(V9_SCHEMA, value)
    change.put_on(files)
    expected = dict(before)
    for name, size in change.changes().items():
        if size is None:
            expected.pop(name, None)
        else:
            expected[name] = max(size, expected.get(name, 0))
    assert files == expected


def test_a_record_of_another_kind_has_no_entries():
    for schema in (V9_SCHEMA, WITHOUT_META):
        value = encoded(schema, None, kind=3)
        assert read(schema, value).changes() == {}


def test_a_map_in_several_blocks():
    one = files_value({"a": 1, "b": None}, 2)
    entry_a, entry_b = b"\x02a\x02\0", b"\x02b\0\x01"
    assert entry_a + entry_b in one
    at = one.index(entry_a + entry_b)
    blocks = b"\x02" + entry_a + b"\x01\x08" + entry_b  # 1 entry; then -1: one entry of 4 bytes
    value = one[: at - 1] + blocks + one[at + len(entry_a + entry_b) :]
    [found] = read_as_columns(V9_SCHEMA, value)
    assert found.changes() == {"a": 1, "b": None} == as_fastavro(V9_SCHEMA, value)


@pytest.mark.parametrize(("entries", "is_read"), [(300_000, True), (400_000, False)])
def test_a_record_of_three_bytes_an_entry_is_read_up_to_the_bound_of_fastavro(entries, is_read):
    empty = files_value({}, 2)
    head, tail = empty[:-5], empty[-4:]  # the end of the map, and no record of four other kinds
    value = head + encoded_long(entries) + b"\0\0\0" * entries + b"\0" + tail
    for reading in (read_as_columns, as_fastavro):
        with nullcontext() if is_read else pytest.raises(FormatError, match="too many"):
            reading(V9_SCHEMA, value)


@given(found=entries.filter(bool), data=st.data())
def test_damage_is_an_error_or_reads_as_fastavro_reads_it(found, data):
    value = bytearray(encoded(V9_SCHEMA, found))
    if data.draw(st.booleans()):
        value = value[: data.draw(st.integers(0, len(value) - 1))]
    else:
        value[data.draw(st.integers(0, len(value) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        changes = read(V9_SCHEMA, bytes(value)).changes()
    except FormatError:
        return
    assert changes == as_fastavro(V9_SCHEMA, bytes(value))
