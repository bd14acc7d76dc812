"""Keys that are looked for together in Bloom filters: the bits of all of them at once.

The keys of a join may be 17,000, which are 800,000 look-ups in 48 filters. The hashes of all keys are computed at once
and kept for the other filters, as many of them as some key still needs. Few keys are looked for one by one, which is
faster for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from index_store.formats.bloom import BloomFilter, bits_of_text

__all__ = ["ProbedKeys"]

#: Fewer keys are looked for one by one.
TOGETHER_FROM = 12
_FACTOR = np.uint32(0x5BD1E995)
_Words = npt.NDArray[np.uint32]
_Places = npt.NDArray[np.int32]


class ProbedKeys:
    """Keys to look for in many filters. None of them is empty."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys
        self._hashes = _chained_hashes(keys) if len(keys) >= TOGETHER_FROM else iter(())
        self._hashed: list[_Words] = []
        self._places: dict[int, list[_Places]] = {}

    def any_in(self, bloom: BloomFilter) -> bool:
        """False when none of the keys was ever added to the filter."""
        if len(self._keys) < TOGETHER_FROM:
            return any(bloom.might_contain(key) for key in self._keys)
        return any(self._any_in_row(bloom, start) for start in bloom.rows)

    def _any_in_row(self, bloom: BloomFilter, start: int) -> bool:
        left = None  # all keys
        for number in range(bloom.hashes):
            places = self._places_of(number, bloom.bits)
            places = places if left is None else places[left]
            found = np.flatnonzero(bits_of_text(bloom.text, start, places))
            if not found.size:
                return False
            left = found if left is None else left[found]
        return True

    def _places_of(self, number: int, bits: int) -> _Places:
        """The positions by a hash of all keys in a row of so many bits."""
        known = self._places.setdefault(bits, [])
        while len(known) <= number:
            if len(known) == len(self._hashed):
                self._hashed.append(next(self._hashes))
            signed = self._hashed[len(known)].view(np.int32).astype(np.int64)
            known.append((np.abs(signed) % bits).astype(np.int32))
        return known[number]


def _chained_hashes(keys: Sequence[bytes]) -> Iterator[_Words]:
    """``h = murmur2(key, h)`` of all keys, from 0 on, without an end."""
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    groups = [_OfOneLength(np.flatnonzero(lengths == length), keys) for length in np.unique(lengths).tolist()]
    hashed = np.zeros(len(keys), np.uint32)
    while True:
        hashed = hashed.copy()
        for group in groups:
            hashed[group.rows] = group.hashed(hashed[group.rows])
        yield hashed


class _OfOneLength:
    """Keys of one length, and what ``murmur2`` makes of their bytes, whatever the seed."""

    def __init__(self, rows: npt.NDArray[np.intp], keys: Sequence[bytes]) -> None:
        self.rows = rows
        self._length = len(keys[rows[0]])
        raw = np.frombuffer(b"".join(keys[row] for row in rows.tolist()), np.uint8).reshape(len(rows), self._length)
        whole = self._length & ~3
        self._words = []
        for word in np.ascontiguousarray(raw[:, :whole]).view("<u4").T:
            mixed = word.astype(np.uint32) * _FACTOR
            self._words.append((mixed ^ mixed >> np.uint32(24)) * _FACTOR)
        self._tail: _Words | None = None
        if self._length > whole:
            signed = raw[:, whole:][:, ::-1].view(np.int8).astype(np.int32).view(np.uint32)
            self._tail = np.bitwise_xor.reduce(signed << np.arange(0, 8 * signed.shape[1], 8, dtype=np.uint32), axis=1)

    def hashed(self, seeds: _Words) -> _Words:
        """``murmur2`` of each key with its seed."""
        hashed: _Words = seeds ^ np.uint32(self._length)
        for word in self._words:
            hashed = hashed * _FACTOR ^ word
        if self._tail is not None:
            hashed = (hashed ^ self._tail) * _FACTOR
        hashed = (hashed ^ hashed >> np.uint32(13)) * _FACTOR
        hashed ^= hashed >> np.uint32(15)
        return hashed
