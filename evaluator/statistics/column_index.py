"""Everything that makes one column of many slices fast to search: codes, the interval index and blocks.

``ColumnStatistics.indexed`` builds it once, at about a second per column of two million slices; it holds 22 bytes per
slice. The answers are those of the statistics, bit for bit.

``parts`` takes an index apart into arrays that can be written to a file, and ``from_parts`` makes one of such arrays,
which may be views of a file mapped into memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Type
from evaluator.statistics.codes import ABOVE, BELOW, MAX_EDGES, BoundCodes, Coder, Codes
from evaluator.statistics.interval_index import IntervalIndex
from evaluator.statistics.stored_bounds import Bounds, concatenated, taken

if TYPE_CHECKING:
    from evaluator.statistics.columns import ColumnStatistics

__all__ = ["SLICES_PER_BLOCK", "Blocks", "ColumnIndex", "Part"]

SLICES_PER_BLOCK = 1024

#: What an index is stored as.
Part = npt.NDArray[Any] | bytes | int

#: The arrays of an index by their owners. All have one axis.
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
class Blocks:
    """The least lower and the greatest upper code of each run of ``size`` slices, ``(blocks,)``."""

    size: int
    lo: Codes
    hi: Codes

    @classmethod
    def of(cls, lo: Codes, hi: Codes, size: int) -> Blocks:
        """Aggregate."""
        starts = np.arange(0, len(lo), size)
        if not len(starts):
            return cls(size, lo, hi)
        return cls(size, np.minimum.reduceat(lo, starts), np.maximum.reduceat(hi, starts))

    @property
    def spread(self) -> float:
        """The mean share of all codes that a block spans: near 0 where the layout follows the column, 1 at random."""
        if not len(self.lo):
            return 1.0
        widths = self.hi.astype(np.int64) - self.lo
        return float(widths.mean()) / max(1, int(self.hi.max()) - int(self.lo.min()))


@dataclass(frozen=True, eq=False)
class ColumnIndex:
    """Codes of both bounds of a column, sorted by either, with the interval index and the blocks."""

    coder: Coder
    lo: BoundCodes
    hi: BoundCodes
    intervals: IntervalIndex
    blocks: Blocks

    @classmethod
    def of(
        cls,
        statistics: ColumnStatistics,
        most_edges: int = MAX_EDGES,
        slices_per_block: int = SLICES_PER_BLOCK,
        coder: Coder | None = None,
    ) -> ColumnIndex:
        """Code and sort the bounds of a column, with the edges of another index where its ``coder`` is given."""
        lo_known, hi_known = statistics.usable_bounds
        if coder is None:
            known = concatenated([taken(statistics.lo, lo_known), taken(statistics.hi, hi_known)])
            coder = Coder.of(statistics.type, known, most_edges)
        lo = _codes(coder, statistics.lo, lo_known, BELOW)
        hi = _codes(coder, statistics.hi, hi_known, ABOVE)
        empty = ~statistics.may_be_value
        lo[empty], hi[empty] = ABOVE, BELOW
        lower = BoundCodes.of(lo)
        return cls(coder, lower, BoundCodes.of(hi), IntervalIndex.of(lower, hi), Blocks.of(lo, hi, slices_per_block))

    def parts(self) -> dict[str, Part]:
        """All that the index consists of, by name."""
        found: dict[str, Part] = {
            "edges": self.coder.edges,
            "prefix": self.coder.prefix,
            "key_bytes": self.coder.key_bytes,
            "blocks.size": self.blocks.size,
        }
        for owner, held in (("lo", self.lo), ("hi", self.hi), ("intervals", self.intervals), ("blocks", self.blocks)):
            found |= {f"{owner}.{name}": getattr(held, name) for name in _DTYPES[owner]}
        return found

    @classmethod
    def from_parts(cls, column_type: Type, parts: Mapping[str, Part]) -> ColumnIndex:
        """An index of what ``parts`` gave; the arrays may be read only, and are not copied.

        Raises ValueError where a part is missing or has not its dtype or length. What stands in the arrays is not
        looked at: whoever keeps them has to see that they are those of the statistics.
        """
        prefix, key_bytes, size = parts.get("prefix"), parts.get("key_bytes"), parts.get("blocks.size")
        edges, codes = parts.get("edges"), parts.get("lo.codes")
        if not (isinstance(prefix, bytes) and isinstance(key_bytes, int) and isinstance(size, int) and size > 0):
            raise ValueError("an index has a prefix, the bytes of its keys and the size of its blocks")
        if not (isinstance(edges, np.ndarray) and isinstance(codes, np.ndarray)):
            raise ValueError("an index has edges and codes")
        n, blocks = len(codes), -(-len(codes) // size)

        def arrays(owner: str, **of_length: int) -> dict[str, npt.NDArray[Any]]:
            return {
                name: _checked(parts, f"{owner}.{name}", dtype, of_length.get(name))
                for name, dtype in _DTYPES[owner].items()
            }

        lo, hi = (BoundCodes(**arrays(owner, codes=n, order=n, offsets=int(ABOVE) + 2)) for owner in ("lo", "hi"))
        for bound in (lo, hi):
            if bound.offsets[0] != 0 or bound.offsets[-1] != n:
                raise ValueError(f"the offsets of codes end at {bound.offsets[-1]}, not at {n}")
        narrow, wide = (len(_checked(parts, f"intervals.{name}", np.int32)) for name in ("order", "wide"))
        if narrow + wide > n:
            raise ValueError(f"an interval index of {narrow + wide} slices, of {n}")
        intervals = IntervalIndex(
            **arrays(
                "intervals", order=narrow, lo=narrow, hi=narrow, reach=narrow, wide=wide, wide_lo=wide, wide_hi=wide
            )
        )
        return cls(
            Coder(column_type, edges, prefix, key_bytes),
            lo,
            hi,
            intervals,
            Blocks(size, **arrays("blocks", lo=blocks, hi=blocks)),
        )

    @cached_property
    def clustered(self) -> bool:
        """True when blocks are narrow enough to be worth a look before their slices."""
        return self.blocks.spread < 0.25


def _codes(coder: Coder, values: Bounds, known: npt.NDArray[np.bool_], unknown: np.uint16) -> Codes:
    codes: Codes = np.full(len(values), unknown, np.uint16)
    codes[known] = coder.codes(taken(values, known))
    return codes


def _checked(
    parts: Mapping[str, Part], name: str, dtype: type[np.generic], length: int | None = None
) -> npt.NDArray[Any]:
    array = parts.get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
        raise ValueError(f"{name} of an index is an array of {np.dtype(dtype)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} of an index holds {length:,} numbers, not {len(array):,}")
    return array
