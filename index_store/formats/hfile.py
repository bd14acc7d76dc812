"""HFile version 3, the file format of Hudi's metadata table: sorted keys, compressed blocks, an index of first keys.

    data blocks | meta blocks | root data index | meta index | file info | trailer (4096 bytes)

    block    magic[8], on-disk size i32, uncompressed size i32, previous i64, checksum type i8, bytes per checksum i32,
             on-disk size with header i32, then the payload and its checksums
    entry    key length i32, value length i32, (content length i16, content, 10 bytes), value, MVCC varint

Every length is checked against the bytes there are; damage is a FormatError, whatever it looks like. GZ blocks carry a
CRC of their own, which is checked; the block checksums are checked where they are CRC32.
Source: ``hudi-io/hfile_format.md`` and hudi.md 1.4. Index levels below the root are walked (HBase writes them).
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from index_store.errors import FormatError
from index_store.formats.inflate import inflate
from index_store.storage import ByteSource

__all__ = ["HFile", "IndexEntry", "StoredBlock", "after_prefix", "entries"]

TRAILER_SIZE = 4096
HEADER = struct.Struct(">8siiqBii")
_KEY_LENGTHS = struct.Struct(">iih")
_INDEX_HEAD = struct.Struct(">qi")
_READ_AT_ONCE = 8 << 20


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A data block: where it is, its size on disk with header, and a key not above its first one."""

    offset: int
    size: int
    key: bytes


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block's payload as it is stored: its place in the file, and how many bytes it has when it is inflated."""

    offset: int
    codec: int
    data: memoryview
    size: int

    def inflated(self) -> bytes:
        """The ``size`` bytes of the block. Raises FormatError."""
        try:
            return inflate(self.codec, self.data, self.size)
        except FormatError as error:
            raise FormatError(error.why, self.offset) from error


@dataclass(frozen=True, slots=True)
class HFile:
    """An open HFile: its index and its file info. Data blocks are read on demand."""

    source: ByteSource
    codec: int
    entry_count: int
    index: tuple[IndexEntry, ...]
    info: dict[bytes, bytes]

    @classmethod
    def open(cls, source: ByteSource) -> HFile:
        """Read trailer, index and file info. Raises FormatError."""
        if source.size < TRAILER_SIZE:
            raise FormatError(f"an HFile of {source.size} bytes is too short")
        end = source.size - TRAILER_SIZE
        trailer = source.read_at(end, TRAILER_SIZE)
        if trailer[:8] != b'TRABLK"$':
            raise FormatError("the HFile trailer is missing", end)
        version = struct.unpack(">I", trailer[-4:])[0]
        if version & 0xFFFFFF != 3:
            raise FormatError(f"HFile version {version & 0xFFFFFF} is not supported")
        fields = dict(_message(*_delimited(trailer, 8)))
        def number(field: int, default: int = 0) -> int:
            value = fields.get(field, default)
            if not isinstance(value, int):
                raise FormatError(f"field {field} of the HFile trailer is not a number", end)
            return value
        codec = number(12, 2)
        load = number(2)
        if not 0 <= load <= end or not load <= number(1) <= end:
            raise FormatError("the HFile trailer points outside of the file", end)
        tail = _Blocks(source.read_at(load, end - load), load, codec)
        levels, count = number(8, 1), number(5)
        index = tuple(_index(source, codec, tail.payload(load, b"IDXROOT2"), count, levels, end)) if count else ()
        info = _file_info(tail.payload(number(1), b"FILEINF2"))
        return cls(source, codec, number(7), index, info)

    @property
    def schema(self) -> Any:
        """The Avro schema of the values, as JSON data. Raises FormatError when there is none."""
        try:
            return json.loads(self.info[b"schema"])
        except (KeyError, ValueError) as error:
            raise FormatError("the HFile carries no Avro schema") from error

    def blocks(self, prefixes: Sequence[bytes] | None = None) -> Iterator[bytes]:
        """The uncompressed data blocks that may hold a key with one of the prefixes (None: all), in file order."""
        for block in self.stored_blocks(prefixes):
            yield block.inflated()

    def stored_blocks(self, prefixes: Sequence[bytes] | None = None) -> Iterator[StoredBlock]:
        """The same blocks as they are stored, their headers checked."""
        wanted = range(len(self.index)) if prefixes is None else self._holding(prefixes)
        for run in self._runs(wanted):
            first, last = self.index[run[0]], self.index[run[-1]]
            blocks = _Blocks(self.source.read_at(first.offset, last.offset + last.size - first.offset), first.offset,
                             self.codec)
            for i in run:
                yield blocks.stored(self.index[i].offset, b"DATABLK*", b"DATABLKE")

    def block(self, number: int) -> StoredBlock:
        """One data block, by its number in the index."""
        entry = self.index[number]
        return _Blocks(self.source.read_at(entry.offset, entry.size), entry.offset, self.codec).stored(
            entry.offset, b"DATABLK*", b"DATABLKE")

    def _holding(self, prefixes: Sequence[bytes]) -> list[int]:
        keys = [entry.key for entry in self.index]
        found: set[int] = set()
        for prefix in prefixes:
            first = max(0, bisect_left(keys, prefix) - 1)
            found.update(range(first, bisect_left(keys, after_prefix(prefix)) if prefix else len(keys)))
        return sorted(found)

    def _runs(self, wanted: Sequence[int]) -> Iterator[list[int]]:
        """Blocks that lie one behind the other are read with one call."""
        run: list[int] = []
        for i in wanted:
            entry = self.index[i]
            if run and (self.index[run[-1]].offset + self.index[run[-1]].size != entry.offset
                        or entry.offset + entry.size - self.index[run[0]].offset > _READ_AT_ONCE):
                yield run
                run = []
            run.append(i)
        if run:
            yield run


def entries(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The entries of an uncompressed data block: key, and where the value starts and ends."""
    position, end = 0, len(data)
    unpack = _KEY_LENGTHS.unpack_from
    while position < end:
        if position + 10 > end:
            raise FormatError("a data block ends inside an entry", position)
        key_length, value_length, content = unpack(data, position)
        value = position + 8 + key_length
        after = value + value_length
        if content < 0 or key_length < content + 2 or value_length < 0 or after >= end:
            raise FormatError("an entry's length does not fit its block", position)
        yield data[position + 10:position + 10 + content], value, after
        marker = data[after]                             # MVCC: a Hadoop varint, one byte (0) in what Hudi writes
        position = after + 1 if marker < 128 or marker >= 144 else after + 1 + _varint_tail(marker)


def after_prefix(prefix: bytes) -> bytes:
    """The smallest key above every key that starts with the prefix."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes((stem[-1] + 1,)) if stem else b"\xff" * 64


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Bytes of the file from ``start`` on, in which whole blocks are found by their offset in the file."""

    data: bytes
    start: int
    codec: int

    def payload(self, offset: int, *magics: bytes) -> bytes:
        return self.stored(offset, *magics).inflated()

    def stored(self, offset: int, *magics: bytes) -> StoredBlock:
        at = offset - self.start
        if at < 0 or at + HEADER.size > len(self.data):
            raise FormatError("a block lies outside of the file", offset)
        magic, size, plain, _, checksum, per_checksum, with_header = HEADER.unpack_from(self.data, at)
        if magic not in magics:
            raise FormatError(f"expected a block {magics[0]!r}, found {magic!r}", offset)
        if not HEADER.size <= with_header <= HEADER.size + size or at + HEADER.size + size > len(self.data):
            raise FormatError("a block's size does not fit the file", offset)
        if checksum == 1 and per_checksum > 0:
            self._check(at, with_header, size, per_checksum, offset)
        return StoredBlock(offset, self.codec, memoryview(self.data)[at + HEADER.size:at + with_header], plain)

    def _check(self, at: int, with_header: int, size: int, step: int, offset: int) -> None:
        sums = self.data[at + with_header:at + HEADER.size + size]
        for i, start in enumerate(range(at, at + with_header, step)):
            crc = zlib.crc32(self.data[start:min(start + step, at + with_header)])
            if sums[4 * i:4 * i + 4] != crc.to_bytes(4, "big"):
                raise FormatError("a block's checksum is wrong", offset)


def _index(source: ByteSource, codec: int, root: bytes, count: int, levels: int, end: int) -> Iterator[IndexEntry]:
    position = 0
    if not 1 <= levels <= 5:
        raise FormatError(f"an index of {levels} levels")
    for _ in range(count):
        if position + 13 > len(root):
            raise FormatError("the block index ends too early")
        offset, size = _INDEX_HEAD.unpack_from(root, position)
        length, position = _hadoop_varint(root, position + 12)
        key = root[position:position + length]
        if length < 0 or len(key) != length:
            raise FormatError("the block index ends inside a key")
        position += length
        yield from _descend(source, codec, _entry(offset, size, key, end), levels - 1, end)


def _descend(source: ByteSource, codec: int, entry: IndexEntry, levels: int, end: int) -> Iterator[IndexEntry]:
    if not levels:
        yield entry
        return
    data = _Blocks(source.read_at(entry.offset, entry.size), entry.offset, codec).payload(
        entry.offset, b"IDXLEAF2", b"IDXINTE2")
    count = int.from_bytes(data[:4], "big")
    base = 4 + 4 * (count + 1)
    if base > len(data):
        raise FormatError("an index block ends too early", entry.offset)
    places = struct.unpack_from(f">{count + 1}i", data, 4)
    for start, stop in pairwise(places):
        if not 0 <= start <= stop - 12 or base + stop > len(data):
            raise FormatError("an index block has a wrong place in it", entry.offset)
        offset, size = _INDEX_HEAD.unpack_from(data, base + start)
        below = _entry(offset, size, data[base + start + 12:base + stop], end)
        yield from _descend(source, codec, below, levels - 1, end)


def _entry(offset: int, size: int, key: bytes, end: int) -> IndexEntry:
    if offset < 0 or size < HEADER.size or offset + size > end:
        raise FormatError("the block index points outside of the file", max(offset, 0))
    content = int.from_bytes(key[:2], "big")
    if len(key) < content + 2:
        raise FormatError("the block index has a broken key", offset)
    return IndexEntry(offset, size, key[2:2 + content])


def _file_info(data: bytes) -> dict[bytes, bytes]:
    if data[:4] != b"PBUF":
        raise FormatError("the HFile info is not in protobuf form")
    found: dict[bytes, bytes] = {}
    for _, pair in _message(*_delimited(data, 4)):
        if isinstance(pair, bytes):
            fields = dict(_message(pair, 0, len(pair)))
            key, value = fields.get(1, b""), fields.get(2, b"")
            if isinstance(key, bytes) and isinstance(value, bytes):
                found[key] = value
    return found


def _delimited(data: bytes, position: int) -> tuple[bytes, int, int]:
    length, start = _protobuf_varint(data, position)
    if start + length > len(data):
        raise FormatError("a protobuf message ends too early", position)
    return data, start, start + length


def _message(data: bytes, position: int, end: int) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: number, and an int or bytes."""
    while position < end:
        tag, position = _protobuf_varint(data, position)
        if tag & 7 == 0:
            value, position = _protobuf_varint(data, position)
            yield tag >> 3, value
        elif tag & 7 == 2:
            length, position = _protobuf_varint(data, position)
            if position + length > end:
                raise FormatError("a protobuf field ends too early", position)
            yield tag >> 3, data[position:position + length]
            position += length
        elif tag & 7 in (1, 5):
            position += 8 if tag & 7 == 1 else 4
        else:
            raise FormatError("a protobuf field of unknown kind", position)


def _protobuf_varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise FormatError("a varint does not end", position)


def _varint_tail(marker: int) -> int:
    """How many bytes follow the first one of a Hadoop varint of more than one byte."""
    signed = marker - 256
    return -112 - signed if signed >= -120 else -120 - signed


def _hadoop_varint(data: bytes, position: int) -> tuple[int, int]:
    """Hadoop's ``WritableUtils.readVInt``, which differs from protobuf's from 128 on."""
    marker = data[position]
    if marker < 128 or marker >= 144:
        return (marker if marker < 128 else marker - 256), position + 1
    count = _varint_tail(marker)
    magnitude = int.from_bytes(data[position + 1:position + 1 + count], "big")
    return (magnitude if marker - 256 >= -120 else ~magnitude), position + 1 + count

