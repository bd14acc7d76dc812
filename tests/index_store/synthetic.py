"""Bytes as Hudi writes them, made by hand: HFiles, log blocks, column statistics records, and small tables.

Independent of the readers under test: lengths and layouts are written out again from the format's description.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro

from index_store.formats.keys import column_id, file_name_id, partition_id

V9_SCHEMA = json.loads((Path(__file__).parent / "data" / "metadata_record_v9.json").read_text())
KEY_SUFFIX = b"\0\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
GZ, NONE = 1, 2


def protobuf_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def hadoop_varint(value: int) -> bytes:
    if -112 <= value <= 127:
        return struct.pack("b", value)
    length = (value.bit_length() + 7) // 8
    return struct.pack("b", -112 - length) + value.to_bytes(length, "big")


def hfile(
    records: Iterable[tuple[bytes, bytes]],
    schema: Any = V9_SCHEMA,
    codec: int = GZ,
    block_size: int = 65536,
    checksum: int = 0,
    levels: int = 1,
    metas: Sequence[bytes] = (),
) -> bytes:
    """An HFile with an index of some levels (HBase writes more than one); records are sorted here.

    ``metas``: names of meta blocks, all of which are the first data block.
    """
    out = bytearray()

    def put(magic: bytes, data: bytes) -> int:
        start = len(out)
        stream = zlib.compressobj(6, zlib.DEFLATED, 31)
        payload = stream.compress(data) + stream.flush() if codec == GZ else data
        whole = 33 + len(payload)
        chunks = -(-whole // 16384)
        header = struct.pack(">8siiqBii", magic, len(payload) + 4 * chunks, len(data), -1, checksum, 16384, whole)
        block = header + payload
        sums = b"".join(struct.pack(">I", zlib.crc32(block[i : i + 16384])) for i in range(0, whole, 16384))
        out.extend(block + (sums if checksum else bytes(4 * chunks)))
        return start

    index: list[tuple[int, int, bytes]] = []
    block, first, count, raw = b"", b"", 0, 0

    def flush() -> None:
        nonlocal block, raw
        if block:
            start = put(b"DATABLK*", block)
            index.append((start, len(out) - start, first))
            raw += len(block)
            block = b""

    def index_block(below: list[tuple[int, int, bytes]], level: int) -> tuple[int, int, bytes]:
        stored = [struct.pack(">qih", start, length, len(key)) + key + KEY_SUFFIX for start, length, key in below]
        places = [sum(map(len, stored[:i])) for i in range(len(stored) + 1)]
        start = put(
            b"IDXLEAF2" if level == 1 else b"IDXINTE2",
            struct.pack(f">i{len(places)}i", len(stored), *places) + b"".join(stored),
        )
        return start, len(out) - start, below[0][2]

    parts: list[bytes] = []
    size = 0
    for key, value in sorted(records):
        if not parts:
            first = key
        stored = struct.pack(">h", len(key)) + key + KEY_SUFFIX
        entry = struct.pack(">ii", len(stored), len(value)) + stored + value + b"\0"
        parts.append(entry)
        size += len(entry)
        count += 1
        if size >= block_size:
            block = b"".join(parts)
            flush()
            parts, size = [], 0
    block = b"".join(parts)
    flush()
    for level in range(1, levels):
        index = [index_block(index[i : i + 3], level) for i in range(0, len(index), 3)]
    load = put(
        b"IDXROOT2",
        b"".join(
            struct.pack(">qi", start, length)
            + hadoop_varint(len(key) + 12)
            + struct.pack(">h", len(key))
            + key
            + KEY_SUFFIX
            for start, length, key in index
        ),
    )
    put(
        b"IDXROOT2",
        b"".join(struct.pack(">qi", *index[0][:2]) + hadoop_varint(len(name)) + name for name in metas),
    )

    def pair(key: bytes, value: bytes) -> bytes:
        body = b"\x0a" + protobuf_varint(len(key)) + key + b"\x12" + protobuf_varint(len(value)) + value
        return b"\x0a" + protobuf_varint(len(body)) + body

    info = pair(b"schema", json.dumps(schema).encode())
    info_start = put(b"FILEINF2", b"PBUF" + protobuf_varint(len(info)) + info)
    trailer = {1: info_start, 2: load, 4: raw, 5: len(index), 6: len(metas), 7: count, 8: levels, 9: 0, 12: codec}
    message = b"".join(protobuf_varint(k << 3) + protobuf_varint(v) for k, v in trailer.items())
    tail = b'TRABLK"$' + protobuf_varint(len(message)) + message
    return bytes(out) + tail + bytes(4092 - len(tail)) + struct.pack(">I", 3)


def log_block(kind: int, content: bytes, instant: str, target: str = "", schema: str = "") -> bytes:
    headers = {0: instant, **({1: target, 3: "0"} if target else {}), **({2: schema} if schema else {})}
    header = struct.pack(">i", len(headers)) + b"".join(
        struct.pack(">ii", key, len(text)) + text.encode() for key, text in headers.items()
    )
    body = struct.pack(">ii", 1, kind) + header + struct.pack(">q", len(content)) + content + struct.pack(">i", 0)
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


def avro_block(records: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], instant: str) -> bytes:
    """A data block with these records, by fastavro."""
    parsed, content = fastavro.parse_schema(dict(schema)), struct.pack(">ii", 3, len(records))
    for record in records:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, record)
        content += struct.pack(">i", len(out.getvalue())) + out.getvalue()
    return log_block(3, content, instant, schema=json.dumps(schema))


def delete_content(keys: Sequence[str], orderings: Sequence[int | None] = ()) -> bytes:
    """A delete block. ``orderings``: a long for each key; None, and by default, the integer 0 of "no value"."""

    def text(value: str) -> bytes:
        return b"\x02" + protobuf_varint(len(value.encode()) << 1) + value.encode()

    def ordering(value: int | None) -> bytes:
        if value is None:
            return b"\x04\0"
        return b"\x06" + protobuf_varint(value << 1 if value >= 0 else (-value << 1) - 1)

    values = orderings or [None] * len(keys)
    records = b"".join(
        text(key) + text("column_stats") + ordering(value) for key, value in zip(keys, values, strict=True)
    )
    data = (protobuf_varint(len(keys) << 1) + records if keys else b"") + b"\0"
    return struct.pack(">ii", 3, len(data)) + data


def wrapped(wrapper: str, value: Any) -> Any:
    return None if wrapper == "" else (f"org.apache.hudi.avro.model.{wrapper}", {"value": value})


def stats_value(
    file_name: str,
    column: str,
    lo: Any,
    hi: Any,
    rows: int | None,
    nulls: int | None,
    *,
    deleted: bool = False,
    tight: bool = False,
    value_type: tuple[int, str | None] | None = None,
    schema: Any = V9_SCHEMA,
    size: int = 200,
) -> bytes:
    """The Avro bytes of one column statistics record, by fastavro. ``lo``, ``hi``: (wrapper, value) or None."""
    stats: dict[str, Any] = {
        "fileName": file_name,
        "columnName": column,
        "minValue": wrapped(*lo) if lo else None,
        "maxValue": wrapped(*hi) if hi else None,
        "valueCount": rows,
        "nullCount": nulls,
        "totalSize": 100,
        "totalUncompressedSize": size,
        "isDeleted": deleted,
        "isTightBound": tight,
        "valueType": None if value_type is None else {"typeOrdinal": value_type[0], "additionalInfo": value_type[1]},
    }
    record: Mapping[str, Any] = {"key": "", "type": 3, "ColumnStatsMetadata": stats}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return out.getvalue()


def stats_key(column: str, partition: str, file_name: str) -> bytes:
    return column_id(column) + partition_id(partition) + file_name_id(file_name)


def files_value(names: Mapping[str, int | None] | Sequence[str], kind: int, schema: Any = V9_SCHEMA) -> bytes:
    """A record of the ``files`` partition: sizes by name (kind 2), or the partitions (kind 1); None deletes."""
    sizes = names if isinstance(names, Mapping) else dict.fromkeys(names, 0)
    record = {
        "key": "",
        "type": kind,
        "filesystemMetadata": {name: {"size": size or 0, "isDeleted": size is None} for name, size in sizes.items()},
    }
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return out.getvalue()


TABLE_SCHEMA = {
    "type": "record",
    "name": "sales",
    "fields": [
        {"name": "ts", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "amount", "type": ["null", "double"]},
        {"name": "name", "type": ["null", "string"]},
        {"name": "fee", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
    ],
}
INSTANT = "20260101000000000"
DONE = "20260101000010000"


def write_table(root: Path, files: int, base_format: str = "parquet") -> None:
    """A version 9 table of one partition: ``files`` slices, each with statistics of ts, amount, name and fee."""
    timeline, metadata = root / ".hoodie" / "timeline", root / ".hoodie" / "metadata"
    for folder in (timeline, metadata / ".hoodie" / "timeline", metadata / "files", metadata / "column_stats"):
        folder.mkdir(parents=True)
    (root / ".hoodie" / "hoodie.properties").write_text(
        "\n".join(
            (
                "hoodie.table.name=sales",
                "hoodie.table.version=9",
                "hoodie.table.type=COPY_ON_WRITE",
                "hoodie.table.metadata.partitions=files,column_stats",
                "hoodie.table.recordkey.fields=name",
            )
        )
        + "\n"
    )
    (timeline / f"{INSTANT}_{DONE}.commit").write_text(
        json.dumps({"partitionToWriteStats": {}, "extraMetadata": {"schema": json.dumps(TABLE_SCHEMA)}})
    )
    (metadata / ".hoodie" / "timeline" / f"{INSTANT}_{DONE}.deltacommit").write_text("{}")
    names = [f"{i:08x}-0000-4000-8000-{i:012x}-0_{i}-10-100_{INSTANT}.{base_format}" for i in range(files)]
    (metadata / "files" / f"files-0000-0_0-1-1_{INSTANT}.hfile").write_bytes(
        hfile([(b".", files_value(dict.fromkeys(names, 1000), 2)), (b"__all_partitions__", files_value(["."], 1))])
    )

    def fee(cents: int) -> tuple[str, bytes]:
        return "BytesWrapper", cents.to_bytes(cents.bit_length() // 8 + 1, "big", signed=True)

    records = []
    for i, name in enumerate(names):
        start = 1_767_225_600_000_000 + i * 40_000_000
        for column, lo, hi, kind in (
            ("ts", ("LongWrapper", start), ("LongWrapper", start + 30_000_000), (16, None)),
            ("amount", ("DoubleWrapper", 1.5 + i), ("DoubleWrapper", 99.25 + i), (6, None)),
            ("name", ("StringWrapper", f"shop-{i:06d}"), ("StringWrapper", f"shop-{i + 50:06d}"), (7, None)),
            ("fee", fee(100 + i), fee(100_000 + i), (10, "10,2")),
        ):
            records.append(
                (stats_key(column, "", name), stats_value(name, column, lo, hi, 100_000 + i, 0, value_type=kind))
            )
    (metadata / "column_stats" / f"col-stats-0000-0_0-1-1_{INSTANT}.hfile").write_bytes(hfile(records))
