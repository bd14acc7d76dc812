"""The first record of an Avro container file, as Hudi keeps the details of an instant.

    "Obj" 1 | header: map of bytes, with avro.schema and avro.codec | sync marker | blocks: count, size, bytes, marker

Hudi compresses no instant. A deflated block is read up to RATIO times its size; other codecs are refused. Source: the
Avro specification, "Object Container Files"; ``TimelineMetadataUtils``.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from index_store.formats.bounded.avro_schema import AvroSchema, check_schema
from index_store.formats.bounded.avro_values import decode_value
from index_store.formats.bounded.json_text import parse_schema
from index_store.formats.varint import read_varint
from index_store.storage.errors import FormatError

__all__ = ["MAGIC", "first_record"]

MAGIC = b"Obj\x01"
_MARKER = 16
#: Blocks without records, which no writer makes: a file of zeros is nothing else.
MAX_EMPTY = 16
#: A deflated block becomes at most RATIO times as large plus SPARE bytes, and never larger than LARGEST.
RATIO, SPARE, LARGEST = 64, 1 << 20, 256 << 20


def first_record(data: bytes) -> Mapping[str, Any] | None:
    """The first record; None for a file without records. Raises FormatError."""
    try:
        header, at = _header(data)
        marker = data[at : at + _MARKER]
        at += _MARKER
        empty = 0
        while at < len(data):
            count, at = read_varint(data, at)
            size, at = read_varint(data, at)
            if count < 0 or size < 0 or at + size + _MARKER > len(data):
                raise FormatError("a block of an Avro file is cut off", at)
            if data[at + size : at + size + _MARKER] != marker:
                raise FormatError("a block of an Avro file does not end in its marker", at + size)
            if count:
                schema = _schema(header.get("avro.schema", b""))
                block = _inflated(data[at : at + size], header.get("avro.codec", b"null"))
                record = decode_value(block, schema, whole=count == 1)
                if not isinstance(record, Mapping):
                    raise FormatError("the value of an Avro file is not a record")
                return record
            at += size + _MARKER
            empty += 1
            if empty > MAX_EMPTY:
                raise FormatError("an Avro file has many blocks without records", at)
    except IndexError as error:
        raise FormatError("an Avro file is cut off") from error
    return None


def _header(data: bytes) -> tuple[dict[str, bytes], int]:
    """The header, and where it ends."""
    found: dict[str, bytes] = {}
    at = len(MAGIC)
    while True:
        count, at = read_varint(data, at)
        if count == 0:
            return found, at
        if count < 0:
            count = -count
            _, at = read_varint(data, at)
        if count > len(data) - at:
            raise FormatError("the header of an Avro file claims too many entries", at)
        for _ in range(count):
            name, at = _bytes(data, at)
            value, at = _bytes(data, at)
            found[name.decode("utf-8", "replace")] = value


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = read_varint(data, at)
    if length < 0 or at + length > len(data):
        raise FormatError("the header of an Avro file is cut off", at)
    return data[at : at + length], at + length


@lru_cache(maxsize=16)
def _schema(text: bytes) -> AvroSchema:
    """Instants of one action have one schema."""
    return check_schema(parse_schema(text))


def _inflated(data: bytes, codec: bytes) -> bytes:
    if codec in (b"null", b""):
        return data
    if codec != b"deflate":
        raise FormatError(f"the codec {codec.decode('utf-8', 'replace')[:40]!r} of an Avro file is not supported")
    most = min(len(data) * RATIO + SPARE, LARGEST)
    stream = zlib.decompressobj(-15)
    try:
        plain = stream.decompress(data, most)
    except zlib.error as error:
        raise FormatError(f"a block of an Avro file cannot be inflated: {error}") from error
    if not stream.eof:
        raise FormatError(f"a block of an Avro file of {len(data)} bytes inflates to more than {most}, or is cut off")
    return plain
