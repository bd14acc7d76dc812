"""What an Arrow IPC message inflates to, read from its metadata before anything is inflated.

A compressed buffer starts with the size that it claims to inflate to (8 bytes, little-endian, -1: as it is), and Arrow
takes memory for that size. The claims are added up. The metadata of a message is a Flatbuffers table:

    Message       version, kind of header, header, length of the body
    RecordBatch   rows, nodes (rows and NULLs of a column, 16 bytes each), buffers (offset and length in the body, 16
                  bytes each), compression
    compression   codec, method

``read_batch`` gives the buffers of one batch as they are stored, for a reader that needs few of them.

Source: the Arrow columnar format, "Serialization and Interprocess Communication"; ``Message.fbs``, ``Schema.fbs``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from evaluator.language.records import frozen
from index_store.storage.errors import FormatError

__all__ = ["StoredBatch", "check_batches", "read_batch"]

#: Numbers of fields.
_KIND, _HEADER, _BODY = 1, 2, 3
_ROWS, _NODES, _BUFFERS, _COMPRESSION = 0, 1, 2, 3
_RECORD_BATCH, _CONTINUATION = 3, 0xFFFFFFFF
_CODECS = {0: "lz4", 1: "zstd"}
_U8, _U16, _U32, _I32, _CLAIM, _PAIR = (struct.Struct(f"<{form}") for form in ("B", "H", "I", "i", "q", "qq"))
_FRAME = struct.Struct("<Ii")


def check_batches(data: pa.Buffer, most: int) -> int:
    """How many record batches follow one another in ``data``, behind a schema or not.

    Raises FormatError when one of them claims more than ``most`` bytes, and for messages of other kinds.
    """
    batches = 0
    try:
        for message in pa.ipc.MessageReader.open_stream(data):
            if message.type == "schema" and not batches:
                continue
            if message.type != "record batch":
                raise FormatError(f"an Arrow message of type {message.type}")
            claimed = _claimed(memoryview(message.metadata), memoryview(message.body))
            if claimed > most:
                raise FormatError(f"an Arrow message of {message.body.size} bytes inflates to {claimed}")
            batches += 1
    except (struct.error, pa.ArrowException, OSError) as error:
        raise FormatError(f"an Arrow message cannot be read: {error}") from error
    return batches


@frozen
class StoredBatch:
    """One record batch as it is stored.

    rows       of every column
    nulls      how many NULLs each column has
    buffers    those of the columns one after the other, as they are stored
    codec      that of the buffers, by its name for Arrow; None: they are not compressed
    """

    rows: int
    nulls: tuple[int, ...]
    buffers: tuple[memoryview, ...]
    codec: str | None

    def inflated(self, numbers: Sequence[int]) -> list[bytes]:
        """The bytes of some buffers. Raises FormatError when they do not inflate to what they claim.

        One stream inflates them all, because a stream costs more than the bytes of a small buffer.
        """
        chosen = [self.buffers[number] for number in numbers]
        if self.codec is None:
            return [bytes(buffer) for buffer in chosen]
        claims = [_claim(buffer) for buffer in chosen]
        packed = b"".join([buffer[_CLAIM.size :] for buffer, claim in zip(chosen, claims, strict=True) if claim >= 0])
        try:
            stream = pa.CompressedInputStream(pa.BufferReader(packed), self.codec)
            found = [
                stream.read(claim) if claim >= 0 else bytes(buffer[_CLAIM.size :])
                for buffer, claim in zip(chosen, claims, strict=True)
            ]
            more = stream.read(1) if packed else b""
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"a buffer does not inflate: {error}") from error
        if more or any(0 <= claim != len(content) for content, claim in zip(found, claims, strict=True)):
            raise FormatError("buffers do not inflate to what they claim")
        return found


def read_batch(data: bytes | memoryview, most: int) -> StoredBatch:
    """The record batch whose message ``data`` is, with nothing before or behind it.

    Raises FormatError when it claims more than ``most`` bytes, and for anything else.
    """
    try:
        mark, length = _FRAME.unpack_from(data)
        if mark != _CONTINUATION or not 0 < length <= len(data) - _FRAME.size:
            raise FormatError("no Arrow message")
        view = memoryview(data)
        metadata, body = view[_FRAME.size : _FRAME.size + length], view[_FRAME.size + length :]
        message = _U32.unpack_from(metadata)[0]
        kind, size = _field(metadata, message, _KIND), _field(metadata, message, _BODY)
        if not kind or _U8.unpack_from(metadata, kind)[0] != _RECORD_BATCH:
            raise FormatError("an Arrow message that is no record batch")
        if (_CLAIM.unpack_from(metadata, size)[0] if size else 0) != len(body):
            raise FormatError("the body of an Arrow message has another length than it says")
        batch = _batch(metadata)
        rows = _field(metadata, batch, _ROWS)
        stored = StoredBatch(
            rows=_CLAIM.unpack_from(metadata, rows)[0] if rows else 0,
            nulls=tuple([nulls for _, nulls in _pairs(metadata, batch, _NODES)]),
            buffers=_buffers(metadata, batch, body),
            codec=_codec(metadata, batch),
        )
    except struct.error as error:
        raise FormatError(f"an Arrow message cannot be read: {error}") from error
    claimed = len(body) + (_sum_of_claims(stored.buffers) if stored.codec else 0)
    if claimed > most:
        raise FormatError(f"an Arrow message of {len(body)} bytes inflates to {claimed}")
    return stored


def _codec(metadata: memoryview, batch: int) -> str | None:
    """The codec that the compression of a record batch names; None: it has none."""
    field = _field(metadata, batch, _COMPRESSION)
    if not field:
        return None
    number = _field(metadata, field + _U32.unpack_from(metadata, field)[0], 0)
    codec = _U8.unpack_from(metadata, number)[0] if number else 0
    if codec not in _CODECS:
        raise FormatError(f"an Arrow message of codec {codec}")
    return _CODECS[codec]


def _claimed(metadata: memoryview, body: memoryview) -> int:
    """The bytes that the buffers of a record batch have when they are inflated, and those of the body."""
    batch = _batch(metadata)
    if not _field(metadata, batch, _COMPRESSION):
        return len(body)
    return len(body) + _sum_of_claims(_buffers(metadata, batch, body))


def _batch(metadata: memoryview) -> int:
    """Where the table of the record batch is in the metadata of a message."""
    header = _field(metadata, _U32.unpack_from(metadata)[0], _HEADER)
    if not header:
        raise FormatError("an Arrow message without a header")
    place: int = header + _U32.unpack_from(metadata, header)[0]
    return place


def _pairs(metadata: memoryview, batch: int, field: int) -> Iterator[tuple[int, int]]:
    """The nodes, or the buffers, of a record batch."""
    place = _field(metadata, batch, field)
    if not place:
        return iter(())
    start = place + _U32.unpack_from(metadata, place)[0]
    end = start + _U32.size + _U32.unpack_from(metadata, start)[0] * _PAIR.size
    if end > len(metadata):
        raise FormatError("an Arrow message has fewer buffers than it claims")
    return _PAIR.iter_unpack(metadata[start + _U32.size : end])


def _buffers(metadata: memoryview, batch: int, body: memoryview) -> tuple[memoryview, ...]:
    found, size = [], len(body)
    for offset, length in _pairs(metadata, batch, _BUFFERS):
        if offset < 0 or length < 0 or offset + length > size:
            raise FormatError("a buffer of an Arrow message lies outside of it")
        found.append(body[offset : offset + length])
    return tuple(found)


def _sum_of_claims(buffers: Iterable[memoryview]) -> int:
    return sum([max(0, _claim(buffer)) for buffer in buffers])


def _claim(buffer: memoryview) -> int:
    """How many bytes a buffer of a compressed batch claims to inflate to; negative: it is stored as it is."""
    if len(buffer) < _CLAIM.size:
        return -1
    claim: int = _CLAIM.unpack_from(buffer)[0]
    return claim


def _field(data: memoryview, table: int, number: int) -> int:
    """Where a field of a table is; 0 when the table does not have it."""
    fields = table - _I32.unpack_from(data, table)[0]
    if fields < 0:
        raise FormatError("a table of an Arrow message lies outside of it")
    slot = 4 + 2 * number
    if slot + _U16.size > _U16.unpack_from(data, fields)[0]:
        return 0
    inside = _U16.unpack_from(data, fields + slot)[0]
    return table + inside if inside else 0
