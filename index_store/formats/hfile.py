"""HFile version 3, the file format of Hudi's metadata table: sorted keys, compressed blocks, an index of first keys.

    data blocks | meta blocks | root data index | meta index | file info | trailer (4096 bytes)

    entry    key length i32, value length i32, (content length i16, content, 10 bytes), value, MVCC varint

Every length is checked against the bytes there are, and checksums where there are any (``checksums``; GZ blocks have a
CRC of their own): every damage is a FormatError. Source: ``hudi-io/hfile_format.md`` of Hudi
and docs/facts/hudi-metadata-table.md#hfile.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.language.records import record
from index_store.formats.bounded.json_text import parse_schema as bounded_schema
from index_store.formats.hfile_blocks import Blocks, StoredBlock, varint_tail
from index_store.formats.hfile_index import IndexEntry, read_tail
from index_store.storage.byte_source import ByteSource
from index_store.storage.errors import FormatError
from index_store.storage.ranged_file import AT_A_TIME, RangedFile

__all__ = ["HFile", "IndexEntry", "StoredBlock", "after_prefix", "entries", "parse_schema"]

_KEY_LENGTHS = struct.Struct(">iih")
_READ_AT_ONCE = 8 << 20


def parse_schema(text: bytes) -> Any:
    """The Avro schema that an HFile carries, as JSON data. Raises FormatError when it carries none."""
    return bounded_schema(text, "the Avro schema of an HFile")


@record
class HFile:
    """An open HFile: its index and its file info. Data blocks are read on demand."""

    source: ByteSource
    codec: int
    entry_count: int
    index: tuple[IndexEntry, ...]
    info: Mapping[bytes, bytes]
    metas: Mapping[bytes, IndexEntry]

    @classmethod
    def open(cls, source: ByteSource) -> HFile:
        """Read trailer, index and file info. Raises FormatError."""
        tail = read_tail(source)
        return cls(source, tail.codec, tail.entry_count, tail.index, tail.info, tail.metas)

    @property
    def schema(self) -> Any:
        """The Avro schema of the values, as JSON data. Raises FormatError when there is none."""
        return parse_schema(self.info.get(b"schema", b""))

    def meta(self, name: bytes) -> bytes | None:
        """The content of a meta block, such as ``bloomFilter``; None when there is none of that name."""
        entry = self.metas.get(name)
        if entry is None:
            return None
        return Blocks(self.source.read_at(entry.offset, entry.size), entry.offset, self.codec).payload(
            entry.offset, b"METABLKc"
        )

    def blocks(self, prefixes: Sequence[bytes] | None = None) -> Iterator[bytes]:
        """The uncompressed data blocks that may hold a key with one of the prefixes (None: all), in file order."""
        for block in self.stored_blocks(prefixes):
            yield block.inflated()

    def stored_blocks(self, prefixes: Sequence[bytes] | None = None) -> Iterator[StoredBlock]:
        """The same blocks as they are stored, their headers checked."""
        wanted = range(len(self.index)) if prefixes is None else self._holding(prefixes)
        for run in self._expected(list(self._runs(wanted))):
            first, last = self.index[run[0]], self.index[run[-1]]
            blocks = Blocks(
                self.source.read_at(first.offset, last.offset + last.size - first.offset), first.offset, self.codec
            )
            for i in run:
                yield blocks.stored(self.index[i].offset, b"DATABLK*", b"DATABLKE")

    def block(self, number: int) -> StoredBlock:
        """One data block, by its number in the index."""
        entry = self.index[number]
        return Blocks(self.source.read_at(entry.offset, entry.size), entry.offset, self.codec).stored(
            entry.offset, b"DATABLK*", b"DATABLKE"
        )

    def _holding(self, prefixes: Sequence[bytes]) -> list[int]:
        keys = [entry.key for entry in self.index]
        found: set[int] = set()
        for prefix in prefixes:
            first = max(0, bisect_left(keys, prefix) - 1)
            found.update(range(first, bisect_left(keys, after_prefix(prefix)) if prefix else len(keys)))
        return sorted(found)

    def _expected(self, runs: Sequence[list[int]]) -> Iterator[list[int]]:
        """The runs; those of a large remote file are fetched some at a time, in parallel."""
        for i in range(0, len(runs), AT_A_TIME):
            some = runs[i : i + AT_A_TIME]
            if isinstance(self.source, RangedFile):
                self.source.expect(
                    [
                        (
                            self.index[run[0]].offset,
                            self.index[run[-1]].offset + self.index[run[-1]].size - self.index[run[0]].offset,
                        )
                        for run in some
                    ]
                )
            yield from some

    def _runs(self, wanted: Sequence[int]) -> Iterator[list[int]]:
        """Adjacent blocks, which are read with one call."""
        run: list[int] = []
        for i in wanted:
            entry = self.index[i]
            if run and (
                self.index[run[-1]].offset + self.index[run[-1]].size != entry.offset
                or entry.offset + entry.size - self.index[run[0]].offset > _READ_AT_ONCE
            ):
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
        yield data[position + 10 : position + 10 + content], value, after
        marker = data[after]  # MVCC: a Hadoop varint, one byte (0) in what Hudi writes
        position = after + 1 if marker < 128 or marker >= 144 else after + 1 + varint_tail(marker)


def after_prefix(prefix: bytes) -> bytes:
    """The smallest key above every key that starts with the prefix."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes((stem[-1] + 1,)) if stem else b"\xff" * 64
