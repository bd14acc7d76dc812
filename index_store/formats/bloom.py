"""Hudi's bloom filters, as base files and the metadata table hold them: base64 of Hadoop's form.

    SIMPLE        version i32 (-1), hashes k i32, hash type i8 (1 Murmur), bits m i32, then the bits
    DYNAMIC_V0    the same head, then keys per row i32, keys in the last row i32, rows i32, and each row as a SIMPLE one

Bit i is ``byte[i >> 3] >> (i & 7) & 1``. The k positions of a key are chained: ``h = murmur2(key, h)``, from 0 on, and
the position is ``|h| mod m``. Murmur2 takes the tail bytes as signed and from the key's end. A key is in a dynamic
filter when it is in one row. Source: Hudi ``SimpleBloomFilter``, ``InternalDynamicBloomFilter``, hudi.md B2.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from index_store.errors import FormatError

__all__ = ["BloomFilter", "murmur2"]

_HEAD = struct.Struct(">iibi")
_ROWS = struct.Struct(">iii")
_MURMUR = 1
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """A filter of one or more rows of ``bits`` bits; ``hashes`` positions are set for each key."""

    hashes: int
    bits: int
    rows: tuple[bytes, ...]

    @classmethod
    def parse(cls, text: bytes, kind: str) -> BloomFilter:
        """Read the base64 text of a filter of this type code. Raises FormatError."""
        try:
            data = base64.b64decode(text, validate=True)
            head = _HEAD.unpack_from(data)
            if kind == "SIMPLE":
                rows: tuple[bytes, ...] = (data[_HEAD.size:],)
            elif kind == "DYNAMIC_V0":
                rows = tuple(_rows(data, head))
            else:
                raise FormatError(f"a bloom filter of type {kind} is not supported")
        except (struct.error, binascii.Error, ValueError) as error:
            raise FormatError(f"a bloom filter cannot be decoded: {error}") from error
        _, hashes, hash_type, bits = head
        if hash_type != _MURMUR or not 0 < hashes <= 1000 or bits <= 0 or not rows:
            raise FormatError("a bloom filter of an unknown kind")
        if any(len(row) != (bits + 7) // 8 for row in rows):
            raise FormatError("a bloom filter's length does not fit its bits")
        return cls(hashes, bits, rows)

    def may_hold(self, key: bytes) -> bool:
        """False when the key was never put in. The key must not be empty."""
        positions = list(self._positions(key))
        return any(all(row[place >> 3] >> (place & 7) & 1 for place in positions) for row in self.rows)

    def _positions(self, key: bytes) -> Iterator[int]:
        hashed = 0
        for _ in range(self.hashes):
            hashed = murmur2(key, hashed)
            signed = hashed - (1 << 32) if hashed >> 31 else hashed
            yield abs(signed) % self.bits


def _rows(data: bytes, head: tuple[int, int, int, int]) -> Iterator[bytes]:
    _, _, count = _ROWS.unpack_from(data, _HEAD.size)
    size = (head[3] + 7) // 8
    position = _HEAD.size + _ROWS.size
    if count <= 0 or size <= 0 or position + count * (_HEAD.size + size) != len(data):
        raise FormatError("a dynamic bloom filter's length does not fit its rows")
    for _ in range(count):
        if _HEAD.unpack_from(data, position) != head:
            raise FormatError("the rows of a dynamic bloom filter differ")
        yield data[position + _HEAD.size:position + _HEAD.size + size]
        position += _HEAD.size + size


def murmur2(data: bytes, seed: int) -> int:
    """Hadoop's ``MurmurHash.hash(byte[], int)``, as an unsigned 32 bit number."""
    factor = 0x5BD1E995
    length = len(data)
    hashed = (seed ^ length) & _MASK
    whole = length & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i:i + 4], "little") * factor & _MASK
        k = (k ^ k >> 24) * factor & _MASK
        hashed = hashed * factor & _MASK ^ k
    tail = length - whole
    if tail:
        signed = [byte - 256 if byte > 127 else byte for byte in reversed(data[whole:])]
        for i in reversed(range(tail)):
            hashed ^= signed[i] << 8 * i & _MASK
        hashed = hashed * factor & _MASK
    hashed = (hashed ^ hashed >> 13) * factor & _MASK
    return hashed ^ hashed >> 15
