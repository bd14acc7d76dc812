"""The slices whose range meets ``[u, v]``, as one stretch of an array: on any layout of the table.

Sorted by lower bound, the slices with ``lo <= v`` are the first ones. The running maximum of the upper bounds in that
order never falls, so the slices with ``hi >= u`` begin behind one place. Both places are found by binary search:

    order by lo          f3   f1   f4   f0   f2
    lo                    1    3    4    7    9
    hi                    2    8    5    8   12
    reach (maximum)       2    8    8    8   12        5 <= x <= 8  ->  from f1 (reach >= 5) to f0 (lo <= 8)

What lies between is compared by code; slices of an equal code are named apart, for an exact comparison. One very wide
slice would lift the reach of all that follow, so the widest slices stand apart and are always compared: as many as make
the expected number of comparisons smallest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.statistics.codes import BoundCodes, Codes, Rows

__all__ = ["IntervalIndex"]

_SHARES = (0.0, 0.001, 0.01, 0.03, 0.1, 0.25)
_PROBES = 256


@dataclass(frozen=True, slots=True, eq=False)
class IntervalIndex:
    """Slices by code: ``order`` with ``lo``, ``hi``, ``reach`` beside it, and the ``wide`` ones apart."""

    order: Rows
    lo: Codes
    hi: Codes
    reach: Codes
    wide: Rows
    wide_lo: Codes
    wide_hi: Codes

    @classmethod
    def of(cls, lo: BoundCodes, hi: Codes) -> IntervalIndex:
        """Build from codes; slices without any value (lower code above the upper one) are left out."""
        order = lo.order[lo.codes[lo.order] <= hi[lo.order]]
        width = hi[order].astype(np.int32) - lo.codes[order]
        candidates = [cls._split(order, lo.codes, hi, width, share) for share in _SHARES]
        return min(candidates, key=lambda index: index.expected_comparisons())

    @classmethod
    def _split(cls, order: Rows, lo: Codes, hi: Codes, width: npt.NDArray[np.int32], share: float) -> IntervalIndex:
        count = int(len(order) * share)
        is_wide = np.zeros(len(order), np.bool_)
        if count:
            is_wide[np.argpartition(width, len(width) - count)[-count:]] = True
        narrow, wide = order[~is_wide], order[is_wide]
        upper = hi[narrow]
        return cls(
            narrow, lo[narrow], upper, np.maximum.accumulate(upper) if len(upper) else upper, wide, lo[wide], hi[wide]
        )

    def expected_comparisons(self) -> float:
        """The mean number of slices that a look-up of one bound's value compares."""
        if not len(self.order):
            return float(len(self.wide))
        probes = self.lo[np.linspace(0, len(self.lo) - 1, _PROBES).astype(np.intp)]
        ends = self.lo.searchsorted(probes, "right") - self.reach.searchsorted(probes, "left")
        return float(ends.mean()) + len(self.wide)

    def stretch(self, lowest: np.uint16, highest: np.uint16) -> tuple[int, int]:
        """First and last place (exclusive) of slices that may meet the codes ``lowest .. highest``."""
        start = int(self.reach.searchsorted(lowest, "left"))
        return start, max(start, int(self.lo.searchsorted(highest, "right")))

    def cost(self, lowest: np.uint16, highest: np.uint16) -> int:
        """How many slices ``meeting`` compares."""
        start, end = self.stretch(lowest, highest)
        return end - start + len(self.wide)

    def meeting(self, lowest: np.uint16, highest: np.uint16) -> tuple[Rows, Rows]:
        """The slices that certainly meet the values between two bounds of these codes, and those of an equal code.

        In no order. ``lowest`` 0 and ``highest`` 65,535 leave out that side of the test.
        """
        start, end = self.stretch(lowest, highest)
        sure_end = max(start, int(self.lo.searchsorted(highest, "left")))  # behind it the lower code is ``highest``
        upper, edge = self.hi[start:sure_end], self.hi[sure_end:end]
        near = self.order[start:sure_end]
        sure: Rows = near[upper > lowest]
        equal_hi = np.flatnonzero(upper == lowest)
        doubtful: Rows = np.concatenate((near[equal_hi], self.order[sure_end:end][edge >= lowest]))
        if not len(self.wide):
            return sure, doubtful
        allowed = (self.wide_lo <= highest) & (self.wide_hi >= lowest)
        equal = allowed & ((self.wide_lo == highest) | (self.wide_hi == lowest))
        return (np.concatenate((sure, self.wide[allowed ^ equal])), np.concatenate((doubtful, self.wide[equal])))
