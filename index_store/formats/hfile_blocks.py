"""Blocks of an HFile: a header of 33 bytes, the payload, and its checksums.

    header   magic[8], on-disk size i32, uncompressed size i32, previous i64, checksum type i8, bytes per checksum i32,
             on-disk size with header i32

Sizes are checked against the bytes of the file before memory is allocated.
"""

from __future__ import annotations

import struct

from evaluator.language.records import record
from index_store.formats.checksums import check
from index_store.formats.inflate import GZ, inflate
from index_store.storage.errors import FormatError

__all__ = ["HEADER", "Blocks", "StoredBlock", "hadoop_varint", "varint_tail"]

HEADER = struct.Struct(">8siiqBii")


@record
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


@record
class Blocks:
    """Bytes of the file from ``start`` on, in which whole blocks are found by their offset in the file."""

    data: bytes
    start: int
    codec: int

    def payload(self, offset: int, *magics: bytes) -> bytes:
        """The inflated bytes of the block at an offset of the file, which has one of these magics."""
        return self.stored(offset, *magics).inflated()

    def after(self, offset: int) -> int:
        """The start of the block behind the one at ``offset``, which was read before."""
        return offset + HEADER.size + int(HEADER.unpack_from(self.data, offset - self.start)[1])

    def stored(self, offset: int, *magics: bytes) -> StoredBlock:
        """The block as it is stored, header and checksums checked. Raises FormatError."""
        at = offset - self.start
        if at < 0 or at + HEADER.size > len(self.data):
            raise FormatError("a block lies outside of the file", offset)
        magic, size, plain, _, checksum, step, with_header = HEADER.unpack_from(self.data, at)
        if magic not in magics:
            raise FormatError(f"expected a block {magics[0]!r}, found {magic!r}", offset)
        if not HEADER.size <= with_header <= HEADER.size + size or at + HEADER.size + size > len(self.data):
            raise FormatError("a block's size does not fit the file", offset)
        view = memoryview(self.data)
        if checksum:
            check(
                checksum,
                view[at : at + with_header],
                view[at + with_header : at + HEADER.size + size],
                step,
                self.codec == GZ,
                offset,
            )
        return StoredBlock(offset, self.codec, view[at + HEADER.size : at + with_header], plain)


def hadoop_varint(data: bytes, position: int) -> tuple[int, int]:
    """Hadoop's ``WritableUtils.readVInt``, which differs from protobuf's from 128 on: the number, and where it ends."""
    marker = data[position]
    if marker < 128 or marker >= 144:
        return (marker if marker < 128 else marker - 256), position + 1
    count = varint_tail(marker)
    magnitude = int.from_bytes(data[position + 1 : position + 1 + count], "big")
    return (magnitude if marker - 256 >= -120 else ~magnitude), position + 1 + count


def varint_tail(marker: int) -> int:
    """How many bytes follow the first one of a Hadoop varint of more than one byte."""
    signed = marker - 256
    return -112 - signed if signed >= -120 else -120 - signed
