"""Interval look-up: the slices whose range meets ``[u, v]``, as one run of a sorted array, on any layout of the table.

In the order of the lower bounds, the slices with ``lo <= v`` come first. The running maximum of the upper bounds in
that order never falls, so all slices with ``hi >= u`` lie from one position on:

    order by lo          f3   f1   f4   f0   f2
    lo                    1    3    4    7    9
    hi                    2    8    5    8   12
    reach (maximum)       2    8    8    8   12        5 <= x <= 8  ->  from f1 (reach >= 5) to f0 (lo <= 8)

Both ends are read from tables with an entry for each code. The slices of the run are compared by code. Slices of an
equal code are returned apart, for a comparison of values. A very wide slice would raise the reach of all that follow.
So the widest slices are kept apart and always compared; their number is the one with the fewest expected comparisons.
"""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from evaluator.statistics.codes import BoundCodes, Codes, Rows, code_offsets

__all__ = ["IntervalIndex"]

_SHARES = (0.0, 0.001, 0.01, 0.03, 0.1, 0.25)
_PROBES = 256


@entity
class IntervalIndex:
    """The codes of both bounds, sorted for look-ups.

    order               ``(m,) int32``: the narrow slices by lower code
    hi                  ``(m,) uint16``: in that order, their upper codes
    starts              ``(65,537,) int32``: how many of them have a lower code below this one
    reach               ``(65,537,) int32``: where the running maximum of ``hi`` comes to this code
    wide                ``(w,) int32``: the widest slices, with ``wide_lo`` and ``wide_hi``, ``(w,) uint16``

    Slices without any value are in neither.
    """

    order: Rows
    _: KW_ONLY
    hi: Codes
    starts: Rows
    reach: Rows
    wide: Rows
    wide_lo: Codes
    wide_hi: Codes

    @classmethod
    def of(cls, lo: BoundCodes, hi: Codes) -> IntervalIndex:
        """Build from the codes of all slices; slices without any value have a lower code above the upper one."""
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
            narrow,
            hi=upper,
            starts=code_offsets(lo[narrow]),
            reach=code_offsets(np.maximum.accumulate(upper) if len(upper) else upper),
            wide=wide,
            wide_lo=lo[wide],
            wide_hi=hi[wide],
        )

    def expected_comparisons(self) -> float:
        """The mean number of comparisons of a look-up, for values taken from the bounds."""
        if not len(self.order):
            return float(len(self.wide))
        rows = np.linspace(0, len(self.order) - 1, _PROBES).astype(np.int32)
        probes = self.starts.searchsorted(rows, "right") - 1  # the lower codes of these rows of ``order``
        return float((self.starts[probes + 1] - self.reach[probes]).mean()) + len(self.wide)

    def _run(self, lowest: np.uint16, highest: np.uint16) -> tuple[int, int]:
        """Start and end (exclusive) in ``order`` of the slices that may meet the codes ``lowest .. highest``."""
        start = int(self.reach[lowest])
        return start, max(start, int(self.starts[int(highest) + 1]))

    def cost(self, lowest: np.uint16, highest: np.uint16) -> int:
        """The number of slices that ``meeting`` compares."""
        start, end = self._run(lowest, highest)
        return end - start + len(self.wide)

    def meeting(self, lowest: np.uint16, highest: np.uint16) -> tuple[Rows, Rows]:
        """The slices that certainly meet an interval whose ends have these codes, and those with an equal code.

        Both are ``(k,) int32``, in no order. ``lowest`` 0 or ``highest`` 65,535: the interval has no such end.
        """
        start, end = self._run(lowest, highest)
        sure_end = max(start, int(self.starts[highest]))  # from here on the lower code is ``highest``
        upper, edge_upper = self.hi[start:sure_end], self.hi[sure_end:end]
        certain_rows = self.order[start:sure_end]
        sure: Rows = certain_rows[upper > lowest]
        equal_hi = np.flatnonzero(upper == lowest)
        doubtful: Rows = np.concatenate((certain_rows[equal_hi], self.order[sure_end:end][edge_upper >= lowest]))
        if not len(self.wide):
            return sure, doubtful
        allowed = (self.wide_lo <= highest) & (self.wide_hi >= lowest)
        equal = allowed & ((self.wide_lo == highest) | (self.wide_hi == lowest))
        return (np.concatenate((sure, self.wide[allowed ^ equal])), np.concatenate((doubtful, self.wide[equal])))
