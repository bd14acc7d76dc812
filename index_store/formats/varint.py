"""Avro's variable-length integers: seven bits a byte, the lowest first, zig-zag."""

from __future__ import annotations

from index_store.storage.errors import FormatError

__all__ = ["read_varint"]


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The integer at a position and where it ends. Raises FormatError when it is too long, IndexError at the end."""
    byte = data[position]
    if byte < 128:  # nearly all are
        return (byte >> 1) ^ -(byte & 1), position + 1
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise FormatError("a varint does not end", position)
