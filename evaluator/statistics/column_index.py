"""The search index of one column over many slices: codes of both bounds, an interval index and zone maps.

    coder        the edges that turn a bound, or a constant of a filter, into a two-byte code (``codes``)
    lo, hi       the code of either bound in every slice, and the slices sorted by it
    intervals    the slices whose range meets an interval (``interval_index``)
    zone_map     the least lower and the greatest upper code of each run of 1,024 slices

The index changes no answer: an evaluation with it equals one without it, bit for bit. ``indexing.with_index`` builds
it; this module holds the values only. An index takes 14 bytes per slice, and 18 where some slices are wide.

``to_arrays`` takes an index apart into arrays that can be written to a file. ``from_arrays`` puts one together again;
its arrays may be views of a file that is mapped into memory. Where no slice is wide, the order of the interval index is
that of the lower codes, and is not stored again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity, frozen
from evaluator.language.types import Type
from evaluator.statistics.codes import ABOVE, BoundCodes, Coder, Codes
from evaluator.statistics.interval_index import IntervalIndex

__all__ = ["ColumnIndex", "StoredValue", "ZoneMap"]

#: A value of which ``ColumnIndex.to_arrays`` gives several.
StoredValue = npt.NDArray[Any] | bytes | int

#: The one-dimensional arrays of a stored index, by the stored name of the structure that they belong to.
_DTYPES: Mapping[str, Mapping[str, type[np.generic]]] = {
    "lo": {"codes": np.uint16, "order": np.int32, "offsets": np.int32},
    "hi": {"codes": np.uint16, "order": np.int32, "offsets": np.int32},
    "intervals": {
        "order": np.int32,
        "hi": np.uint16,
        "starts": np.int32,
        "reach": np.int32,
        "wide": np.int32,
        "wide_lo": np.uint16,
        "wide_hi": np.uint16,
    },
    "blocks": {"lo": np.uint16, "hi": np.uint16},
}
_ORDER, _SHARED = "intervals.order", "intervals.shared"


@entity
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


@frozen(slots=False, eq=False)
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
        order = self.intervals.order
        arrays[_SHARED] = int(np.array_equal(order, self.lo.order[: len(order)]))
        if arrays[_SHARED]:
            del arrays[_ORDER]
        return arrays

    @classmethod
    def from_arrays(cls, column_type: Type, stored: Mapping[str, StoredValue]) -> ColumnIndex:
        """The index that ``to_arrays`` gave; the arrays may be read only, and are not copied.

        Raises ValueError where a value is missing, or an array has another dtype or length. The content of the arrays
        is not checked: the caller stores them together with the statistics that they were built from.
        """
        prefix, key_bytes, size = stored.get("prefix"), stored.get("key_bytes"), stored.get("blocks.size")
        edges, codes, shared = stored.get("edges"), stored.get("lo.codes"), stored.get(_SHARED)
        if not (isinstance(prefix, bytes) and isinstance(key_bytes, int) and isinstance(size, int) and size > 0):
            raise ValueError("an index has a prefix, the bytes of its keys and the size of its blocks")
        if shared not in (0, 1) or (shared and _ORDER in stored):
            raise ValueError("an index has the order of its intervals, or says that it is that of the lower codes")
        if not (isinstance(edges, np.ndarray) and isinstance(codes, np.ndarray)):
            raise ValueError("an index has edges and codes")
        n, zones = len(codes), -(-len(codes) // size)

        def arrays(owner: str, **lengths: int) -> dict[str, npt.NDArray[Any]]:
            return {
                name: _checked(stored, f"{owner}.{name}", dtype, lengths.get(name))
                for name, dtype in _DTYPES[owner].items()
            }

        def check_offsets(name: str, end: int) -> None:
            offsets = _checked(stored, name, np.int32, int(ABOVE) + 2)
            if offsets[0] != 0 or offsets[-1] != end:
                raise ValueError(f"the offsets of codes end at {offsets[-1]}, not at {end}")

        lo, hi = (BoundCodes(**arrays(owner, codes=n, order=n)) for owner in ("lo", "hi"))
        narrow, wide = (
            len(_checked(stored, f"intervals.{name}", dtype)) for name, dtype in (("hi", np.uint16), ("wide", np.int32))
        )
        if narrow + wide > n:
            raise ValueError(f"an interval index of {narrow + wide} slices, of {n}")
        for name, end in (
            ("lo.offsets", n),
            ("hi.offsets", n),
            ("intervals.starts", narrow),
            ("intervals.reach", narrow),
        ):
            check_offsets(name, end)
        if shared:
            stored = {**stored, _ORDER: lo.order[:narrow]}
        lengths = dict.fromkeys(("order", "hi"), narrow) | dict.fromkeys(("wide", "wide_lo", "wide_hi"), wide)
        intervals = IntervalIndex(**arrays("intervals", **lengths))
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
