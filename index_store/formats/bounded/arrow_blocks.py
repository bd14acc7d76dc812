"""What an Arrow IPC message inflates to, read from its metadata before anything is inflated.

A compressed buffer starts with the size that it claims to inflate to (8 bytes, little-endian, -1: as it is), and Arrow
takes memory for that size. The claims are added up. The metadata of a message is a Flatbuffers table:

    Message       version, kind of header, header, length of the body
    RecordBatch   rows, nodes, buffers (offset and length in the body, 16 bytes each), compression

Source: the Arrow columnar format, "Serialization and Interprocess Communication"; ``Message.fbs``, ``Schema.fbs``.
"""

from __future__ import annotations

import struct

import pyarrow as pa

from index_store.storage.errors import FormatError

__all__ = ["check_batches"]

_HEADER, _BUFFERS, _COMPRESSION = 2, 2, 3
_U16, _U32, _I32, _CLAIM, _BUFFER = (struct.Struct(f"<{form}") for form in ("H", "I", "i", "q", "qq"))


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


def _claimed(metadata: memoryview, body: memoryview) -> int:
    """The bytes that the buffers of a record batch have when they are inflated, and at least those of the body."""
    message = _U32.unpack_from(metadata)[0]
    header = _field(metadata, message, _HEADER)
    batch = header + _U32.unpack_from(metadata, header)[0]
    place = _field(metadata, batch, _BUFFERS)
    if not place or not _field(metadata, batch, _COMPRESSION):
        return len(body)
    start = place + _U32.unpack_from(metadata, place)[0]
    count = _U32.unpack_from(metadata, start)[0]
    if start + _U32.size + count * _BUFFER.size > len(metadata):
        raise FormatError("an Arrow message has fewer buffers than it claims")
    total = len(body)
    for number in range(count):
        offset, length = _BUFFER.unpack_from(metadata, start + _U32.size + number * _BUFFER.size)
        if offset < 0 or length < 0 or offset + length > len(body):
            raise FormatError("a buffer of an Arrow message lies outside of it")
        if length >= _CLAIM.size:
            total += max(0, _CLAIM.unpack_from(body, offset)[0])
    return total


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
