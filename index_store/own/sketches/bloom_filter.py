"""``bloom_filter(fpp=0.01)`` or ``bloom_filter(size=8KB)``: which values a file does not have. Answers = and IN.

The filter of a file is sized for the number n of its distinct values, which is counted while the rows are read:

    fpp=0.01     m = -n ln(fpp) / (ln 2)^2 bits, at most 4 MB
    size=8KB     m = 8 * 8192 bits for every file

    k = m / n * ln 2 positions, from 1 to 16; position i is (h + i * step) mod m, where h is the 64-bit hash of the
    value's bytes (``hashing``) and step = mix(h) | 1

    1,000 distinct values, fpp=0.01      m = 9,592 bits, k = 7

A file is unknown when its filter would pass more than half of all absent values, or when it has nanoseconds. The two
zeros are one value, and NaN is never looked up (P16). Values are hashed in the plain form of their type, which is the
same for all integers: filters stay valid when a column is widened.

Pitfall P16 is described in docs/facts/pitfalls.md#p16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import Kind, Type
from index_store.own.sketches.base import Batch, Mask, Sketch, SketchStatistics, Stored
from index_store.own.sketches.hashing import hashes, mix
from index_store.own.sketches.values import value_bytes

__all__ = ["BloomFilter", "make"]

_LARGEST = 4 << 20
_MAX_HASHES = 16
#: So many hashes are collected before duplicates are removed.
_MAX_UNSORTED = 1 << 22
_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20}


def make(options: Mapping[str, str]) -> Sketch:
    """``bloom_filter(fpp=0.01)`` or ``bloom_filter(size=8KB)``. Raises ValueError for other options or values."""
    given = dict(options)
    fpp, size = given.pop("fpp", None), given.pop("size", None)
    if given or (fpp is not None and size is not None):
        raise ValueError("bloom_filter has one of the options fpp and size")
    if size is not None:
        number = size.rstrip("KMB")
        unit = size[len(number) :]
        if not number.isdigit() or unit not in _UNITS or not 8 <= int(number) * _UNITS[unit] <= _LARGEST:
            raise ValueError(f"the size of a bloom filter is 8B to 4MB, not {size}")
        return BloomFilter(None, int(number) * _UNITS[unit])
    target = float(fpp or "0.01")
    if not 1e-6 <= target <= 0.5:
        raise ValueError(f"fpp of a bloom filter is 0.000001 to 0.5, not {fpp}")
    return BloomFilter(target, None)


class BloomFilter:
    """A filter of each file's values."""

    name = "bloom_filter"
    fields = (pa.field("bits", pa.large_binary()), pa.field("hashes", pa.int8()), pa.field("distinct", pa.int64()))
    from_footers = False
    is_filter = True
    skips_files = True

    def __init__(self, fpp: float | None, size: int | None) -> None:
        self.fpp, self.size = fpp, size
        self.text = f"bloom_filter(fpp={fpp:g})" if fpp is not None else f"bloom_filter(size={size}B)"

    def why_not(self, of: Type) -> str:
        return "" if of.kind not in (Kind.OTHER, Kind.BOOLEAN) else f"a bloom filter of type {of} is no use"

    def collect(self) -> _Collector:
        return _Collector(self.fpp, self.size)

    def bits_of(self, distinct: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """``(n,)``: the bits of the filters of files with so many distinct values."""
        return np.array([8 * _size(count, self.fpp, self.size) for count in distinct.tolist()], np.int64)

    def decode(self, stored: Stored) -> SketchStatistics:
        bits, counts = stored.columns["bits"], stored.columns["hashes"]
        known = bits.is_valid().to_numpy(zero_copy_only=False)
        filters = _Filters(bits.fill_null(b""), counts.fill_null(0).to_numpy(zero_copy_only=False), known)

        def might_contain(values: Sequence[object]) -> Mask:
            return filters.might_contain(
                hashes(pa.array([value_bytes(one, stored.type) for one in values], pa.large_binary()))
            )

        return SketchStatistics(might_contain=might_contain)


class _Filters:
    """The filters of many files in one buffer; a value is looked up in all of them at once."""

    def __init__(self, bits: pa.Array, counts: npt.NDArray[Any], known: Mask) -> None:
        _, offsets, content = bits.cast(pa.large_binary()).buffers()
        edges = np.frombuffer(offsets, np.int64)[bits.offset : bits.offset + len(bits) + 1]
        self._content = np.frombuffer(content or b"", np.uint8)
        self._starts = edges[:-1].copy()
        self._sizes = (np.diff(edges) * 8).astype(np.uint64)
        self._counts, self._known = counts, known

    def might_contain(self, value_hashes: npt.NDArray[np.uint64]) -> Mask:
        might_contain = ~self._known
        rows = np.flatnonzero(self._known)
        empty = rows[self._sizes[rows] == 0]  # no value at all
        rows = rows[self._sizes[rows] > 0]
        might_contain[empty] = False
        for value in value_hashes:
            left = rows[~might_contain[rows]]
            step = mix(np.array([value], np.uint64))[0] | np.uint64(1)
            for i in range(_MAX_HASHES):
                still = left[self._counts[left] > i]
                done = left[self._counts[left] <= i]
                might_contain[done] = True
                if not len(still):
                    left = still
                    break
                with np.errstate(over="ignore"):
                    at = (value + np.uint64(i) * step) % self._sizes[still]
                byte = self._content[self._starts[still] + (at >> np.uint64(3)).astype(np.int64)]
                left = still[(byte >> (at & np.uint64(7)).astype(np.uint8)) & 1 == 1]
            might_contain[left] = True
        return might_contain


class _Collector:
    def __init__(self, fpp: float | None, size: int | None) -> None:
        self._fpp, self._size = fpp, size
        self._hashes: list[npt.NDArray[np.uint64]] = []
        self._known = True

    def add(self, batch: Batch) -> None:
        self._known = self._known and not batch.is_rounded
        if self._known:
            self._hashes.append(hashes(batch.distinct_bytes))
            if sum(map(len, self._hashes[1:])) > max(len(self._hashes[0]), _MAX_UNSORTED):
                self._hashes = [_distinct(self._hashes)]

    def stored(self) -> Mapping[str, Any]:
        if not self._known:
            return {"bits": None, "hashes": None, "distinct": None}
        distinct = _distinct(self._hashes)
        n = len(distinct)
        if not n:
            return {"bits": b"", "hashes": 0, "distinct": 0}
        size = _size(n, self._fpp, self._size)
        bits = 8 * size
        count = min(max(1, round(bits / n * math.log(2))), _MAX_HASHES)
        if (1 - math.exp(-count * n / bits)) ** count > 0.5:
            return {"bits": None, "hashes": None, "distinct": n}
        content = np.zeros(bits, np.uint8)
        steps = mix(distinct) | np.uint64(1)
        with np.errstate(over="ignore"):
            for i in range(count):
                content[(distinct + np.uint64(i) * steps) % np.uint64(bits)] = 1
        return {"bits": np.packbits(content, bitorder="little").tobytes(), "hashes": count, "distinct": n}


def _size(n: int, fpp: float | None, size: int | None) -> int:
    """The bytes of a filter of n distinct values."""
    return size or min(max(8, math.ceil(-n * math.log(fpp or 0.01) / math.log(2) ** 2 / 8)), _LARGEST)


def _distinct(some: Sequence[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    """The distinct hashes, in order."""
    if not some:
        return np.zeros(0, np.uint64)
    ordered = np.sort(np.concatenate(some))
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
