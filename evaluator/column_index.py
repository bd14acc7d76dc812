"""Everything that makes one column of many slices fast to search: codes, the interval index and blocks.

``ColumnStatistics.indexed`` builds it once, at about a second per column of two million slices; it holds 22 bytes per
slice. The answers are those of the statistics, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.codes import ABOVE, BELOW, MOST_EDGES, BoundCodes, Coder, Codes
from evaluator.interval_index import IntervalIndex

if TYPE_CHECKING:
    from evaluator.columns import ColumnStatistics

__all__ = ["SLICES_PER_BLOCK", "Blocks", "ColumnIndex"]

SLICES_PER_BLOCK = 1024


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
    def of(cls, statistics: ColumnStatistics, most_edges: int = MOST_EDGES,
           slices_per_block: int = SLICES_PER_BLOCK) -> ColumnIndex:
        """Code and sort the bounds of a column."""
        lo_known, hi_known = statistics.usable_bounds
        known = np.concatenate((statistics.lo[lo_known], statistics.hi[hi_known]))
        coder = Coder.of(statistics.type, known, most_edges)
        lo = _codes(coder, statistics.lo, lo_known, BELOW)
        hi = _codes(coder, statistics.hi, hi_known, ABOVE)
        empty = ~statistics.may_be_value
        lo[empty], hi[empty] = ABOVE, BELOW
        lower = BoundCodes.of(lo)
        return cls(coder, lower, BoundCodes.of(hi), IntervalIndex.of(lower, hi), Blocks.of(lo, hi, slices_per_block))

    @cached_property
    def clustered(self) -> bool:
        """True when blocks are narrow enough to be worth a look before their slices."""
        return self.blocks.spread < 0.25


def _codes(coder: Coder, values: npt.NDArray[Any], known: npt.NDArray[np.bool_], unknown: np.uint16) -> Codes:
    codes: Codes = np.full(len(values), unknown, np.uint16)
    codes[known] = coder.codes(values[known])
    return codes
