"""The search index of one column over many slices: codes of both bounds, an interval index and zone maps.

    coder        the edges that turn a bound, or a constant of a filter, into a two-byte code (``codes``)
    lo, hi       the code of either bound in every slice, and the slices sorted by it
    intervals    the slices whose range meets an interval (``interval_index``)
    zone_map     the least lower and the greatest upper code of each run of 1,024 slices

The index changes no answer: an evaluation with it equals one without it, bit for bit. ``indexing.indexed`` builds it;
this module holds the values only. An index takes 22 bytes per slice.

``to_arrays`` takes an index apart into arrays that can be written to a file. ``from_arrays`` puts one together again;
its arrays may be views of a file that is mapped into memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Type
from evaluator.statistics.codes import ABOVE, BoundCodes, Coder, Codes
from evaluator.statistics.interval_index import IntervalIndex

__all__ = ["ColumnIndex", "StoredValue", "ZoneMap"]

#: A value of which ``ColumnIndex.to_arrays`` gives several.
StoredValue = npt.NDArray[Any] | bytes | int

#: The one-dimensional arrays of a stored index, by the stored name of the structure that they belong to.
_DTYPES: Mapping[str, Mapping[str, type[np.generic]]] = {
    "lo": {"codes": np.uint16, "order": np.int32, "offsets": np.int64},
    "hi": {"codes": np.uint16, "order": np.int32, "offsets": np.int64},
    "intervals": {
        "order": np.int32,
        "lo": np.uint16,
        "hi": np.uint16,
        "reach": np.uint16,
        "wide": np.int32,
        "wide_lo": np.uint16,
        "wide_hi": np.uint16,
    },
    "blocks": {"lo": np.uint16, "hi": np.uint16},
}


@dataclass(frozen=True, slots=True, eq=False)
class ZoneMap:
    """The least lower and the greatest upper code of each run (zone) of ``size`` slices, ``(zones,) uint16`` each."""

    size: int
    lo: Codes
    hi: Codes

    @classmethod
    def of(cls, lo: Codes, hi: Codes, size: int) -> ZoneMap:
        """Aggregate the codes of all slices, ``(n,)`` each."""
        starts = np.arange(0, len(lo), size)
        if not len(starts):
            return cls(size, lo, hi)
        return cls(size, np.minimum.reduceat(lo, starts), np.maximum.reduceat(hi, starts))

    @property
    def range_width(self) -> float:
        """The mean share of all codes that a zone spans: near 0 where the layout follows the column, 1 at random."""
        if not len(self.lo):
            return 1.0
        widths = self.hi.astype(np.int64) - self.lo
        return float(widths.mean()) / max(1, int(self.hi.max()) - int(self.lo.min()))


@dataclass(frozen=True, eq=False)
class ColumnIndex:
    """Codes of both bounds of a column, sorted by either, with the interval index and the zone map."""

    coder: Coder
    lo: BoundCodes
    hi: BoundCodes
    intervals: IntervalIndex
    zone_map: ZoneMap

    def to_arrays(self) -> dict[str, StoredValue]:
        """All values that the index consists of, by their stored names."""
        arrays: dict[str, StoredValue] = {
            "edges": self.coder.edges,
            "prefix": self.coder.prefix,
            "key_bytes": self.coder.key_bytes,
            "blocks.size": self.zone_map.size,
        }
        owners = {"lo": self.lo, "hi": self.hi, "intervals": self.intervals, "blocks": self.zone_map}
        for owner, holder in owners.items():
            arrays |= {f"{owner}.{name}": getattr(holder, name) for name in _DTYPES[owner]}
        return arrays

    @classmethod
    def from_arrays(cls, column_type: Type, stored: Mapping[str, StoredValue]) -> ColumnIndex:
        """The index that ``to_arrays`` gave; the arrays may be read only, and are not copied.

        Raises ValueError where a value is missing, or an array has another dtype or length. The content of the arrays
        is not checked: the caller stores them together with the statistics that they were built from.
        """
        prefix, key_bytes, size = stored.get("prefix"), stored.get("key_bytes"), stored.get("blocks.size")
        edges, codes = stored.get("edges"), stored.get("lo.codes")
        if not (isinstance(prefix, bytes) and isinstance(key_bytes, int) and isinstance(size, int) and size > 0):
            raise ValueError("an index has a prefix, the bytes of its keys and the size of its blocks")
        if not (isinstance(edges, np.ndarray) and isinstance(codes, np.ndarray)):
            raise ValueError("an index has edges and codes")
        n, zones = len(codes), -(-len(codes) // size)

        def arrays(owner: str, **lengths: int) -> dict[str, npt.NDArray[Any]]:
            return {
                name: _checked(stored, f"{owner}.{name}", dtype, lengths.get(name))
                for name, dtype in _DTYPES[owner].items()
            }

        lo, hi = (BoundCodes(**arrays(owner, codes=n, order=n, offsets=int(ABOVE) + 2)) for owner in ("lo", "hi"))
        for bound in (lo, hi):
            if bound.offsets[0] != 0 or bound.offsets[-1] != n:
                raise ValueError(f"the offsets of codes end at {bound.offsets[-1]}, not at {n}")
        narrow, wide = (len(_checked(stored, f"intervals.{name}", np.int32)) for name in ("order", "wide"))
        if narrow + wide > n:
            raise ValueError(f"an interval index of {narrow + wide} slices, of {n}")
        intervals = IntervalIndex(
            **arrays(
                "intervals", order=narrow, lo=narrow, hi=narrow, reach=narrow, wide=wide, wide_lo=wide, wide_hi=wide
            )
        )
        coder = Coder(column_type, edges, prefix, key_bytes)
        return cls(coder, lo, hi, intervals, ZoneMap(size, **arrays("blocks", lo=zones, hi=zones)))

    @cached_property
    def clustered(self) -> bool:
        """True when the ranges of the zones are narrow enough for a look at them before their slices to pay."""
        return self.zone_map.range_width < 0.25


def _checked(
    stored: Mapping[str, StoredValue], name: str, dtype: type[np.generic], length: int | None = None
) -> npt.NDArray[Any]:
    array = stored.get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
        raise ValueError(f"{name} of an index is an array of {np.dtype(dtype)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} of an index holds {length:,} numbers, not {len(array):,}")
    return array
