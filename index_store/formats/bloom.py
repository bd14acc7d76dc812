"""Hudi's bloom filters, as base files and the metadata table hold them: base64 of Hadoop's form.

    SIMPLE        version i32 (-1), hashes k i32, hash type i8 (1 Murmur), bits m i32, then the bits
    DYNAMIC_V0    the same head, then keys per row i32, keys in the last row i32, rows i32, and each row as a SIMPLE one

Bit i is ``byte[i >> 3] >> (i & 7) & 1``. The k positions of a key are chained: ``h = murmur2(key, h)``, from 0 on, and
the position is ``|h| mod m``. Murmur2 takes the tail bytes as signed and from the key's end. A key is in a dynamic
filter when it is in one row. A filter of Hudi's defaults is 431 KB of text: it stays text, of which each bit is one bit
of one character. Source: Hudi ``SimpleBloomFilter``, ``InternalDynamicBloomFilter``,
docs/facts/hudi-record-and-secondary-index.md#bloom-filters.
"""

from __future__ import annotations

import binascii
import struct
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluator.language.records import record
from index_store.storage.errors import FormatError

__all__ = ["BloomFilter", "bits_of_text", "murmur2", "positions"]

_HEAD = struct.Struct(">iibi")
_ROWS = struct.Struct(">iii")
_MURMUR = 1
_MASK = 0xFFFFFFFF
#: Positions of a key. Hudi takes 30 for one false answer in a billion.
MAX_HASHES = 128
#: Bytes of a filter's text: one of a billion bits has 167 MB.
MAX_TEXT = 256 << 20
#: Rows of a dynamic filter. Hudi ends at two for its defaults.
MAX_ROWS = 4096
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: By character; all bits are set in what is none of base64, which so rules nothing out.
_SIX_BITS = [_ALPHABET.find(character) & 63 if character in _ALPHABET else 63 for character in range(256)]
_SIX_BITS_BY_BYTE = np.array(_SIX_BITS, np.uint8)


@record
class BloomFilter:
    """A filter of one or more rows of ``bits`` bits; ``hashes`` positions are set for each key.

    ``text`` is base64; ``rows`` are the bytes behind it at which each row's bits start.
    """

    hashes: int
    bits: int
    text: bytes
    rows: tuple[int, ...]

    @classmethod
    def parse(cls, text: bytes | str, kind: str) -> BloomFilter:
        """Read the heads of a filter of this type code. Raises FormatError."""
        if not isinstance(text, (bytes, str)) or not isinstance(kind, str):
            raise FormatError("a bloom filter that is no text")
        raw = text.encode("ascii", "replace") if isinstance(text, str) else text
        if len(raw) > MAX_TEXT:
            raise FormatError(f"a bloom filter of {len(raw)} bytes")
        length = len(raw) // 4 * 3 - raw[-2:].count(b"=")
        _, hashes, hash_type, bits = head = _HEAD.unpack(_decoded(raw, 0, _HEAD.size))
        if hash_type != _MURMUR or not 0 < hashes <= MAX_HASHES or bits <= 0 or len(raw) % 4:
            raise FormatError("a bloom filter of an unknown kind")
        size, count, first = (bits + 7) // 8, 1, 0
        if kind == "DYNAMIC_V0":
            count = _ROWS.unpack(_decoded(raw, _HEAD.size, _ROWS.size))[2]
            first = _HEAD.size + _ROWS.size
        elif kind != "SIMPLE":
            raise FormatError(f"a bloom filter of type {kind} is not supported")
        if not 0 < count <= MAX_ROWS or first + count * (_HEAD.size + size) != length:
            raise FormatError("a bloom filter's length does not fit its bits")
        starts = range(first, length, _HEAD.size + size)
        if any(_HEAD.unpack(_decoded(raw, start, _HEAD.size)) != head for start in starts):
            raise FormatError("the rows of a dynamic bloom filter differ")
        return cls(hashes, bits, raw, tuple(start + _HEAD.size for start in starts))

    def might_contain(self, key: bytes) -> bool:
        """False when the key was never added. The key must not be empty."""
        places = positions(key, self.hashes, self.bits)
        return any(all(self._bit(start, place) for place in places) for start in self.rows)

    def _bit(self, start: int, place: int) -> int:
        place = 8 * (start + (place >> 3)) + 7 - (place & 7)  # base64 has the highest bit of a byte first
        return _SIX_BITS[self.text[place // 6]] >> 5 - place % 6 & 1


def bits_of_text(text: bytes, start: int, places: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """The bits at these positions of the row that starts behind so many decoded bytes, 0 or 1 each."""
    at = (places ^ 7) + np.int64(8 * start)  # base64 has the highest bit of a byte first
    character, bit = np.divmod(at, 6)
    bits: npt.NDArray[np.uint8] = _SIX_BITS_BY_BYTE[np.frombuffer(text, np.uint8)[character]]
    bits >>= (5 - bit).astype(np.uint8)
    bits &= 1
    return bits


@lru_cache(4096)
def positions(key: bytes, hashes: int, bits: int) -> tuple[int, ...]:
    """The positions of a key's bits in a row of so many bits: equal in all filters of one size."""
    found = []
    hashed = 0
    for _ in range(hashes):
        hashed = murmur2(key, hashed)
        signed = hashed - (1 << 32) if hashed >> 31 else hashed
        found.append(abs(signed) % bits)
    return tuple(found)


def _decoded(text: bytes, start: int, length: int) -> bytes:
    first = start // 3
    try:
        part = binascii.a2b_base64(text[4 * first : 4 * (-(-(start + length) // 3))])
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"a bloom filter cannot be decoded: {error}") from error
    found = part[start - 3 * first : start - 3 * first + length]
    if len(found) != length:
        raise FormatError("a bloom filter is cut off")
    return found


def murmur2(data: bytes, seed: int) -> int:
    """Hadoop's ``MurmurHash.hash(byte[], int)``, as an unsigned 32 bit number."""
    factor = 0x5BD1E995
    length = len(data)
    hashed = (seed ^ length) & _MASK
    whole = length & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * factor & _MASK
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
