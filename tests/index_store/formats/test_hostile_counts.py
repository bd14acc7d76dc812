"""Readers of a table's bytes with counts and lengths that lie: an error, in little memory and time.

tests/index_store/formats/bounded has those of Avro, JSON and Parquet in general.
"""

from __future__ import annotations

import base64
import json
import struct
from contextlib import suppress
from typing import Any

import pytest

from evaluator.language.types import Kind
from index_store.formats.avro_columns import ColumnStatsDecoder
from index_store.formats.bloom import MAX_HASHES, BloomFilter
from index_store.formats.file_map import FileMapReader
from index_store.formats.hfile import HFile
from index_store.formats.hfile_index import MAX_BLOCK, MAX_NAMES, MAX_TAIL, MIDDLE, TRAILER_SIZE, _file_info
from index_store.formats.log_file import deleted_keys
from index_store.formats.record_location import LocationDecoder
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from index_store.table.table_schema import MAX_PRECISION, from_avro
from tests.index_store.memory import refused, varint
from tests.index_store.synthetic import V9_SCHEMA, hadoop_varint, hfile, protobuf_varint


def deletes(records: bytes) -> bytes:
    return struct.pack(">ii", 3, len(records)) + records


def test_a_delete_block_that_leads_back_to_its_start_ends() -> None:
    """A text of a negative length put the reader back, and a count of 2 ** 62 kept it there."""
    key = varint(1) + varint(1) + b"k" + varint(0) + varint(7)
    for length in range(-20, 0):
        refused(lambda length=length: deleted_keys(deletes(varint(1 << 62) + key + varint(length))), FormatError)


def test_a_delete_block_ends_where_its_length_says() -> None:
    key = varint(1) + varint(1) + b"k" + varint(0) + varint(0)
    assert deleted_keys(deletes(varint(2) + key + key + b"\0")) == ["k", "k"]
    for records in (varint(1) + key + b"\0" + key + b"\0", varint(1) + key, varint(1 << 40) + key + b"\0"):
        refused(lambda records=records: deleted_keys(deletes(records)), FormatError)


@pytest.mark.parametrize("count", [1 << 40, 1 << 62, -(1 << 62)])
def test_a_map_of_files_with_a_count_beyond_its_bytes(count: int) -> None:
    head = varint(1) + b"k" + varint(2) + varint(1)
    for tail in (b"", b"\0" * 20, varint(4) + b"name" + varint(5) + b"\0"):
        value = head + varint(count) + (varint(9) if count < 0 else b"") + tail
        refused(lambda value=value: FileMapReader(V9_SCHEMA).read(value, [(0, len(value))]), FormatError)


def test_a_text_of_negative_length_in_front_of_a_map_of_files() -> None:
    value = varint(-3) + b"key" + varint(2) + varint(1) + b"\0"
    refused(lambda: FileMapReader(V9_SCHEMA).read(value, [(0, len(value))]), FormatError)


def with_types(name: str, **types: Any) -> Any:
    """The schema of metadata records in which fields of one record have other types."""
    schema = json.loads(json.dumps(V9_SCHEMA))

    def change(one: Any) -> None:
        if isinstance(one, list):
            for part in one:
                change(part)
        elif isinstance(one, dict):
            if one.get("name") == name:
                for field in one["fields"]:
                    if field["name"] in types:
                        field["type"] = types[field["name"]]
                        field.pop("default", None)
            for part in one.values():
                change(part)

    change(schema)
    return schema


@pytest.mark.parametrize("kind", ["string", "double", ["null", "long"], {"type": "array", "items": "int"}])
def test_fields_of_other_types_are_an_error_or_unknown(kind: Any) -> None:
    """The writer's schema is part of the bytes: it may declare a count as text."""
    value = bytes(200)
    for record, fields in (
        ("HoodieMetadataColumnStats", ("fileName", "valueCount", "nullCount", "maxValue", "isDeleted", "valueType")),
        ("HoodieMetadataFileInfo", ("size", "isDeleted")),
        ("HoodieRecordIndexInfo", ("fileId", "fileIndex", "fileIdHighBits", "fileIdEncoding")),
    ):
        for field in fields:
            schema = with_types(record, **{field: kind})
            files = FileMapReader(schema)
            readers = (
                ColumnStatsDecoder(schema).decode,
                lambda *record, files=files: files.read(record[0], [record[1:]]),
                LocationDecoder(schema).decode,
            )
            for branches in range(8):
                data = varint(1) + b"k" + varint(2) + b"\0" * branches + b"\2" * 40 + value
                for end in range(3, len(data), 7):
                    for read in readers:
                        with suppress(FormatError):
                            read(data, 0, end)


def test_the_information_of_an_hfile_has_few_entries() -> None:
    pairs = b"".join(b"\x0a\x0a\x0a\x04" + struct.pack(">i", number) + b"\x12\x02ok" for number in range(3 * MAX_NAMES))
    length = bytes((len(pairs) & 127 | 128, len(pairs) >> 7 & 127 | 128, len(pairs) >> 14))
    assert _file_info(b"PBUF\x0c" + pairs[:12]) == {bytes(4): b"ok"}
    assert "entries" in refused(lambda: _file_info(b"PBUF" + length + pairs), FormatError)


def test_an_hfile_has_few_meta_blocks() -> None:
    """Compressed names may claim millions of entries in some kilobytes."""
    names = [b"%d" % number for number in range(MAX_NAMES + 1)]
    assert len(HFile.open(Bytes(hfile([(b"k", b"v")], metas=names[:-1]))).metas) == MAX_NAMES
    for several in (names, [b""] * 1_000_000):
        data = hfile([(b"k", b"v")], metas=several)
        assert "meta blocks" in refused(lambda data=data: HFile.open(Bytes(data)), FormatError, 16)


class WithHoles:
    """A file of zeros that ends in some bytes; ``most``: the longest piece that was read."""

    def __init__(self, size: int, end: bytes) -> None:
        self.size, self.most = size, 0
        self._end = end

    def read_at(self, offset: int, length: int) -> bytes:
        self.most = max(self.most, length)
        assert length <= MAX_TAIL
        start = self.size - len(self._end)
        return bytes(max(0, min(start - offset, length))) + self._end[max(0, offset - start) :][:length]


def trailer(**fields: int) -> bytes:
    numbers = {int(name[1:]): value for name, value in fields.items()}
    message = b"".join(protobuf_varint(field << 3) + protobuf_varint(number) for field, number in numbers.items())
    tail = b'TRABLK"$' + protobuf_varint(len(message)) + message
    return tail + bytes(4092 - len(tail)) + struct.pack(">I", 3)


def test_an_hfile_whose_index_is_the_whole_of_a_file_with_holes() -> None:
    source = WithHoles(1 << 40, trailer(_1=0, _2=0, _5=1, _7=1))
    assert "an index of" in refused(lambda: HFile.open(source), FormatError, 1)
    assert source.most == TRAILER_SIZE


@pytest.mark.parametrize("levels", [1, 2])
def test_an_hfile_whose_block_is_most_of_a_file_with_holes(levels: int) -> None:
    root = struct.pack(">qi", 0, (1 << 31) - 1) + hadoop_varint(3) + b"\0\1k" + bytes(MIDDLE if levels > 1 else 0)
    header = struct.pack(">8siiqBii", b"IDXROOT2", len(root) + 4, len(root), -1, 0, 16384, 33 + len(root))
    block = header + root + bytes(4)
    load = (1 << 40) - len(block) - TRAILER_SIZE
    source = WithHoles(1 << 40, block + trailer(_1=load, _2=load, _5=1, _7=1, _8=levels, _12=2))
    assert "a block of 2147483647 bytes" in refused(lambda: HFile.open(source), FormatError, 1)
    assert MAX_BLOCK < 1 << 31


def bloom(hashes: int, bits: int, rows: int | None = None, content: bytes = b"") -> bytes:
    head = struct.pack(">iibi", -1, hashes, 1, bits)
    more = b"" if rows is None else struct.pack(">iii", 10, 10, rows)
    return base64.b64encode(head + more + content)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (bloom(MAX_HASHES + 1, 8, content=b"\0"), "SIMPLE"),
        (bloom(10, (1 << 31) - 1, content=b"\0"), "SIMPLE"),
        (bloom(10, -8, content=b"\0"), "SIMPLE"),
        (bloom(10, 8, (1 << 31) - 1), "DYNAMIC_V0"),
        (bloom(10, 8, 5000, (struct.pack(">iibi", -1, 10, 1, 8) + b"\0") * 5000), "DYNAMIC_V0"),
        (bloom(10, 8, -1), "DYNAMIC_V0"),
        (1 << 40, "SIMPLE"),
        (None, "SIMPLE"),
        (b"", "SIMPLE"),
        (bloom(10, 8, content=b"\0"), 7),
        (bloom(10, 8, content=b"\0"), None),
    ],
    ids=range(11),
)
def test_a_bloom_filter_that_claims_more_than_it_has(text: Any, kind: Any) -> None:
    refused(lambda: BloomFilter.parse(text, kind), FormatError)


def test_a_schema_that_grows_when_its_names_are_followed() -> None:
    """Forty records, each of which has the next one twice."""
    kind: Any = {"type": "record", "name": "r0", "fields": [{"name": "leaf", "type": "int"}]}
    for level in range(1, 40):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"r{level - 1}"}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    with pytest.raises(FormatError, match="too many"):
        from_avro(json.dumps(kind))


def test_long_names_are_not_repeated_without_end() -> None:
    inner = {"type": "record", "name": "i", "fields": [{"name": f"c{i}", "type": "int"} for i in range(2000)]}
    schema = {"type": "record", "name": "r", "fields": [{"name": "x" * (1 << 20), "type": inner}]}
    assert "too long" in refused(lambda: from_avro(json.dumps(schema)), FormatError, 64)


@pytest.mark.parametrize(
    ("precision", "scale", "kind"),
    [
        (MAX_PRECISION, 2, Kind.DECIMAL),
        (MAX_PRECISION + 1, 2, Kind.OTHER),
        (2_000_000_000, 0, Kind.OTHER),
        (5, 2_000_000_000, Kind.OTHER),
        (5, -1, Kind.OTHER),
        ("5", 1, Kind.OTHER),
        (1e999, 1, Kind.OTHER),
        (None, 0, Kind.OTHER),
    ],
)
def test_a_decimal_of_more_digits_than_engines_have_is_no_decimal(precision: Any, scale: Any, kind: Kind) -> None:
    of = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    schema = from_avro(json.dumps({"type": "record", "name": "r", "fields": [{"name": "d", "type": of}]}))
    assert next(iter(schema.schema)).type.kind is kind
