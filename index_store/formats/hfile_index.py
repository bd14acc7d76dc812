"""The end of an HFile: trailer, block index of any number of levels, meta index and file info.

    root data index | meta index | file info | trailer (4096 bytes)

    root entry       offset i64, size i32, key length (Hadoop varint), key; 16 bytes follow when there are levels below
    below the root   count i32, count + 1 places i32, then entries: offset i64, size i32, key

HBase writes levels below the root among the data blocks, Hudi's own writer only the root. Blocks of a level, and
their keys, are in ascending order in the file. An index in any other order is refused as damage: a block that two
entries name could otherwise be walked without end. Source: ``hudi-io/hfile_format.md``, HBase
``HFileBlockIndex``, ``FixedFileTrailer``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import pairwise

from evaluator.language.records import record
from index_store.formats.hfile_blocks import HEADER, Blocks, hadoop_varint
from index_store.formats.protobuf import delimited, message
from index_store.storage.byte_source import ByteSource
from index_store.storage.errors import FormatError

__all__ = ["IndexEntry", "Tail", "read_tail"]

TRAILER_SIZE = 4096
#: HBase's index of a terabyte has four levels at its default sizes.
MAX_LEVELS = 12
#: Bytes of the index and what follows it, and of a block: a file with holes may claim the whole of itself.
MAX_TAIL = MAX_BLOCK = 256 << 20
#: Meta blocks, and entries of the file info. Writers make about ten: compressed ones may claim millions.
MAX_NAMES = 10_000
#: Behind the entries of a root that has levels below: where the file's middle key is (offset, size, place).
MIDDLE = 16
_HEAD = struct.Struct(">qi")


@record
class IndexEntry:
    """A block: where it is, its size on disk with header, and a key not above its first one."""

    offset: int
    size: int
    key: bytes


@record
class Tail:
    """The content of an HFile's end. ``metas``: the offset of each named meta block."""

    codec: int
    entry_count: int
    index: tuple[IndexEntry, ...]
    metas: Mapping[bytes, IndexEntry]
    info: Mapping[bytes, bytes]


def read_tail(source: ByteSource) -> Tail:
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
    fields = dict(message(*delimited(trailer, 8)))

    def number(field: int, default: int = 0) -> int:
        value = fields.get(field, default)
        if not isinstance(value, int):
            raise FormatError(f"field {field} of the HFile trailer is not a number", end)
        return value

    codec, load = number(12, 2), number(2)
    if not 0 <= load <= end or not load <= number(1) <= end:
        raise FormatError("the HFile trailer points outside of the file", end)
    if end - load > MAX_TAIL:
        raise FormatError(f"an HFile with an index of {end - load} bytes", end)
    tail = Blocks(source.read_at(load, end - load), load, codec)
    levels, root = number(8, 1), tail.payload(load, b"IDXROOT2")
    if not 1 <= levels <= MAX_LEVELS:
        raise FormatError(f"an index of {levels} levels", end)
    index = tuple(_Walk(source, codec, end, levels).entries(_root(root, number(5), end, MIDDLE if levels > 1 else 0)))
    if any(one.key > two.key for one, two in pairwise(index)):
        raise FormatError("the keys of the block index are not in order", load)
    if number(7) < len(index):
        raise FormatError("the HFile has fewer entries than blocks", end)
    metas = {}
    if number(6) > MAX_NAMES:
        raise FormatError(f"an HFile with {number(6)} meta blocks", end)
    if number(6):
        place = tail.after(load)
        metas = {entry.key: entry for entry in _root(tail.payload(place, b"IDXROOT2"), number(6), end)}
    return Tail(codec, number(7), index, metas, _file_info(tail.payload(number(1), b"FILEINF2")))


def _root(data: bytes, count: int, end: int, rest: int = 0) -> Iterator[IndexEntry]:
    """The entries of a root block, which are all that is in it but for a rest. Keys as they are stored."""
    position = 0
    for _ in range(count):
        if position + 13 > len(data):
            raise FormatError("the block index ends too early")
        offset, size = _HEAD.unpack_from(data, position)
        length, position = hadoop_varint(data, position + 12)
        key = data[position : position + length] if length >= 0 else b""
        if length < 0 or len(key) != length:
            raise FormatError("the block index ends inside a key")
        position += length
        yield _entry(offset, size, key, end)
    if len(data) - position not in (0, rest):
        raise FormatError("the block index is longer than the trailer says")


class _Walk:
    """Walks from the root down and keeps the last entry of each level, so that a file is walked once at most."""

    def __init__(self, source: ByteSource, codec: int, end: int, levels: int) -> None:
        self._source = source
        self._codec = codec
        self._end = end
        self._last = [-1] * levels

    def entries(self, root: Iterator[IndexEntry]) -> Iterator[IndexEntry]:
        for entry in root:
            yield from self._descend(entry, len(self._last) - 1)

    def _descend(self, entry: IndexEntry, below: int) -> Iterator[IndexEntry]:
        if entry.offset <= self._last[below]:
            raise FormatError("the blocks of an index are not in order", entry.offset)
        self._last[below] = entry.offset
        if not below:
            content = int.from_bytes(entry.key[:2], "big")
            if len(entry.key) < content + 2:
                raise FormatError("the block index has a broken key", entry.offset)
            yield IndexEntry(entry.offset, entry.size, entry.key[2 : 2 + content])
            return
        data = Blocks(self._source.read_at(entry.offset, entry.size), entry.offset, self._codec).payload(
            entry.offset, b"IDXLEAF2", b"IDXINTE2"
        )
        count = int.from_bytes(data[:4], "big")
        base = 4 + 4 * (count + 1)
        if base > len(data):
            raise FormatError("an index block ends too early", entry.offset)
        for start, stop in pairwise(struct.unpack_from(f">{count + 1}i", data, 4)):
            if not 0 <= start <= stop - 12 or base + stop > len(data):
                raise FormatError("an index block has a wrong place in it", entry.offset)
            offset, size = _HEAD.unpack_from(data, base + start)
            yield from self._descend(_entry(offset, size, data[base + start + 12 : base + stop], self._end), below - 1)


def _entry(offset: int, size: int, key: bytes, end: int) -> IndexEntry:
    if offset < 0 or size < HEADER.size or offset + size > end:
        raise FormatError("the block index points outside of the file", max(offset, 0))
    if size > MAX_BLOCK:
        raise FormatError(f"the block index has a block of {size} bytes", offset)
    return IndexEntry(offset, size, key)


def _file_info(data: bytes) -> dict[bytes, bytes]:
    if data[:4] != b"PBUF":
        raise FormatError("the HFile info is not in protobuf form")
    found: dict[bytes, bytes] = {}
    for _, pair in message(*delimited(data, 4)):
        if isinstance(pair, bytes):
            fields = dict(message(pair, 0, len(pair)))
            key, value = fields.get(1, b""), fields.get(2, b"")
            if isinstance(key, bytes) and isinstance(value, bytes):
                found[key] = value
        if len(found) > MAX_NAMES:
            raise FormatError(f"an HFile with more than {MAX_NAMES} entries of information")
    return found
