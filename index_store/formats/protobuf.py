"""A minimal protobuf reader: variable-length integers and length-delimited bytes, all that an HFile's trailer needs."""

from __future__ import annotations

from collections.abc import Iterator

from index_store.storage.errors import FormatError

__all__ = ["delimited", "message"]


def delimited(data: bytes, position: int) -> tuple[bytes, int, int]:
    """The message behind a length: the bytes it is in, where it starts and ends."""
    length, start = _varint(data, position)
    if start + length > len(data):
        raise FormatError("a protobuf message ends too early", position)
    return data, start, start + length


def message(data: bytes, position: int, end: int) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: number, and an int or bytes. Raises FormatError."""
    while position < end:
        tag, position = _varint(data, position)
        if tag & 7 == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
        elif tag & 7 == 2:
            length, position = _varint(data, position)
            if position + length > end:
                raise FormatError("a protobuf field ends too early", position)
            yield tag >> 3, data[position : position + length]
            position += length
        elif tag & 7 in (1, 5):
            position += 8 if tag & 7 == 1 else 4
        else:
            raise FormatError("a protobuf field of unknown kind", position)


def _varint(data: bytes, position: int) -> tuple[int, int]:
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
