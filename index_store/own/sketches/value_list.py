"""``value_list(limit=50)``: every value of a file that has few. Answers =, !=, IN, NOT IN and LIKE of any shape.

    stored 'oslo', 'rome'     city = 'bonn'        FALSE
                              city NOT IN ('rome')  TRUE or FALSE
                              city LIKE '%x%'       FALSE
                              city LIKE '%o%'       TRUE: the file is fully matched, unless there are NULLs

Each value is a part of the file with both bounds the value, so a leaf has the union of its outcomes on these values. A
file with more than ``limit`` values, with more than 16 KB of them, or with nanoseconds, is unknown. A NaN is a part
without bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import filler
from evaluator.statistics.stored_bounds import Bounds
from index_store.own.sketches.base import Batch, FileBounds, FileParts, Sketch, SketchStatistics, Stored, flatten_lists
from index_store.own.sketches.values import decoded

__all__ = ["MAX_BYTES", "ValueList", "bounds_of_parts", "make"]

#: A list of more bytes is not stored.
MAX_BYTES = 16 << 10
_MOST = 10_000


def make(options: Mapping[str, str]) -> Sketch:
    """``value_list(limit=50)``. Raises ValueError for another option or a limit out of 1 to 10,000."""
    given = dict(options)
    limit = int(given.pop("limit", "50"))
    if given or not 0 < limit <= _MOST:
        raise ValueError(f"value_list has the option limit, from 1 to {_MOST}")
    return ValueList(limit)


class ValueList:
    """All values of a file, up to a limit."""

    name = "value_list"
    fields: tuple[pa.Field, ...] = (pa.field("values", pa.list_(pa.large_binary())),)
    from_footers = False
    is_filter = False
    skips_files = True

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.text = f"value_list(limit={limit})"

    def why_not(self, of: Type) -> str:
        return "" if of.kind is not Kind.OTHER else f"values of type {of} are not compared"

    def collect(self) -> _Collector:
        return _Collector(self.limit)

    def decode(self, stored: Stored) -> SketchStatistics:
        lists = stored.columns["values"]
        file, values = flatten_lists(lists)
        points = decoded(values, stored.type)
        sure = ~np.isnan(points) if stored.type.kind.is_fractional else np.ones(len(file), np.bool_)
        parts = FileParts(file, FileBounds(points, points, sure, sure), lists.is_valid().to_numpy(zero_copy_only=False))
        return SketchStatistics(bounds=bounds_of_parts(parts, stored), parts=parts)


class _Collector:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: set[bytes] | None = set()
        self._size = 0

    def add(self, batch: Batch) -> None:
        if self._values is None:
            return
        if batch.is_rounded or len(batch.distinct) > self._limit or _size(batch.distinct_bytes) > MAX_BYTES:
            self._values = None
            return
        self._values.update(batch.distinct_bytes.to_pylist())
        if len(self._values) > self._limit or sum(map(len, self._values)) > MAX_BYTES:
            self._values = None

    def stored(self) -> Mapping[str, Any]:
        return {"values": None if self._values is None else sorted(self._values)}


def _size(values: pa.Array) -> int:
    return int(pc.sum(pc.binary_length(values)).as_py() or 0)


def bounds_of_parts(parts: FileParts, stored: Stored) -> FileBounds:
    """The bounds of each file over its parts. A file without parts has none."""
    n = len(stored)
    count = np.bincount(parts.file, minlength=n)
    starts = np.cumsum(count) - count
    has = count > 0
    sides: list[Any] = []
    for which, bound, known in (
        ("lo", parts.bounds.lo, parts.bounds.lo_known),
        ("hi", parts.bounds.hi, parts.bounds.hi_known),
    ):
        unsure = np.bincount(parts.file, weights=~known, minlength=n) > 0
        best = _extreme(bound, starts, has, which == "lo", stored.type)
        sides.append((best, has & ~unsure))
    (lo, lo_known), (hi, hi_known) = sides
    return FileBounds(lo, hi, lo_known, hi_known)


def _extreme(bound: Bounds, starts: Any, has: Any, least: bool, of: Type) -> Any:
    values = np.asarray(bound)
    extremes = np.full(len(has), filler(of), values.dtype)
    if len(values):
        reduce = np.minimum if least else np.maximum
        extremes[has] = reduce.reduceat(values, starts[has])
    return extremes
