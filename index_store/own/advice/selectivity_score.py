"""The selectivity score of an index of a column, from 0 to 100: how well it tells the file slices of a table apart.

    score 100    a value of one slice is in no other slice, and the index shows it
    score 0      whatever value is asked for, every slice is left

    score = 100 * (1 - mean overlap over all ordered pairs of two slices)
    left  = the mean number of slices that ``column = value`` leaves, for values that occur; for ranges these are the
            ends of the ranges

    slices [1, 10], [5, 20], [30, 40]      2 of the 6 ordered pairs overlap      score 67

Hyperspace, which calls it effectiveness, scores ranges in the same way: 0 when all ranges span the whole column.

    known of a slice                overlap with another slice                           used for
    ------------------------------  ---------------------------------------------------  -------------------------
    a range                         1 when the ranges meet. A value may be anywhere in   min_max, expressions
                                    the range, so the score is a lower limit
    parts: values, prefixes         the share of its parts that meet one of the other's  value_list, partition;
                                                                                         prefix_set, if no rows are
                                                                                         read
    nothing                         1 with every slice                                   all
    NULL in every row               0 with every slice                                   all
    a filter, and sampled values    the share of its values that pass the other's        bloom_filter, prefix_set
                                    filter
    a filter, and its fill          the rate of false positives. Values that are in two  bloom_filter, if no rows
                                    slices do not show, so the score is an upper limit   are read
    counts of NULL or NaN           score: the share of slices without any               null_count, nan_count

Overlaps of ranges are counted by sorting the ends: a slice that does not meet [lo, hi] begins above hi or ends below
lo. No pair is compared, so the cost is that of sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import StoredBounds, concatenated

__all__ = [
    "ABOUT",
    "AT_LEAST",
    "AT_MOST",
    "EXACT",
    "SelectivityScore",
    "ranks_of",
    "score_of_counts",
    "score_of_filters",
    "score_of_lookups",
    "score_of_statistics",
]

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]

#: How a score relates to the share of slices that equalities skip: a lower or upper limit, an estimate, or the share.
AT_LEAST, AT_MOST, ABOUT, EXACT = "at least", "at most", "about", ""
#: At most so many comparisons of parts are made; of more parts, evenly spaced ones are compared.
_COMPARISONS = 500_000_000


@frozen
class SelectivityScore:
    """A score from 0 to 100, and the number of slices that a typical equality leaves, of ``slices``.

    basis   ``AT_LEAST`` for ranges, ``AT_MOST`` where only the fill of filters is known, ``ABOUT`` for sampled values,
            else ``EXACT``
    asked   how many ranges, parts or values the score is the mean of
    """

    score: float
    left: float
    slices: int
    basis: str = EXACT
    asked: int = 0

    @property
    def text(self) -> str:
        """``at least 83``"""
        return f"{self.basis} {self.score:.0f}".strip()

    def scaled(self, slices: int) -> SelectivityScore:
        """The score of a table of so many slices, of which these are a sample."""
        others = max(self.slices - 1, 1)
        share = max(self.left - 1, 0.0) / others
        left = self.left if slices == self.slices else min(self.left, 1.0) + share * max(slices - 1, 0)
        return SelectivityScore(self.score, left, slices, self.basis, self.asked)


def score_of_statistics(statistics: ColumnStatistics, most: int = _COMPARISONS) -> SelectivityScore:
    """The score of ranges, or of parts where slices have some. ``most``: the number of comparisons of parts."""
    n = len(statistics)
    whole = _ranges(statistics)
    if n < 2:
        return SelectivityScore(0.0, float(whole.slice.size), n, AT_LEAST, n)
    if statistics.parts is None:
        return _of_ranges(whole, n)
    in_parts = np.zeros(n, np.bool_)
    in_parts[statistics.parts.slice_of] = True
    divided = _ranges(statistics.parts.statistics)
    rest = ~in_parts[whole.slice]
    parts = _Ranges(
        *_comparable(
            [
                (whole.lo[rest], whole.hi[rest], whole.open_lo[rest], whole.open_hi[rest]),
                (divided.lo, divided.hi, divided.open_lo, divided.open_hi),
            ]
        ),
        np.concatenate([whole.slice[rest], statistics.parts.slice_of[divided.slice]]),
    )
    return _of_parts(parts, n, most)


def score_of_counts(counts: npt.NDArray[np.int64]) -> SelectivityScore:
    """The score of counts of NULL, or NaN, by slice: ``(n,)``, -1 where not known. IS NULL skips slices without any."""
    n = len(counts)
    left = int(np.count_nonzero(counts != 0))
    return SelectivityScore(100.0 * (n - left) / n if n else 0.0, float(left), n, EXACT, n)


def score_of_lookups(held: Mask, home: npt.NDArray[np.intp]) -> SelectivityScore:
    """The score of look-ups of q values. ``held`` (q, n): slices that may hold each; ``home`` (q,): its slice.

    Every slice that values come from has the same weight.
    """
    q, n = held.shape
    if n < 2 or not q:
        return SelectivityScore(0.0, float(n), n, ABOUT, q)
    others = held.sum(axis=1) - held[np.arange(q), home]
    weight = 1.0 / np.bincount(home, minlength=n)[home]
    mean = float(np.average(others, weights=weight))
    return SelectivityScore(100.0 * (1 - mean / (n - 1)), 1 + mean, n, ABOUT, q)


def score_of_filters(rates: npt.NDArray[np.float64]) -> SelectivityScore:
    """The score of filters by their rates of false positives: ``(n,)``, 1 for a slice without a filter.

    Values that are in two slices do not show in it: the score is an upper limit.
    """
    n = len(rates)
    if n < 2:
        return SelectivityScore(0.0, float(n), n, AT_MOST, n)
    mean = float(rates.sum()) / n
    return SelectivityScore(100.0 * (1 - mean), 1 + mean * (n - 1), n, AT_MOST, n)


def ranks_of(values: Any) -> npt.NDArray[np.int64]:
    """``(n,)``: the rank of each value of an Arrow array among the distinct ones; -1 for NULL."""
    encoded = values.dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    ranks: npt.NDArray[np.int64] = rank[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return ranks


@frozen(eq=False)
class _Ranges:
    """Ranges that may hold values: comparable ends, whether an end is open, and the slice of each."""

    lo: Numbers
    hi: Numbers
    open_lo: Mask
    open_hi: Mask
    slice: npt.NDArray[np.intp]

    def ends(self) -> tuple[Numbers, Numbers]:
        """The ends, with the least and greatest number for open ones."""
        if self.lo.dtype.kind == "f":
            least, greatest = -np.inf, np.inf
        else:
            least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        return np.where(self.open_lo, least, self.lo), np.where(self.open_hi, greatest, self.hi)


def _ranges(statistics: ColumnStatistics) -> _Ranges:
    """The slices, or parts, that may hold a value."""
    lo, hi = _numbers(statistics)
    lo_known, hi_known = statistics.usable_bounds
    chosen = np.flatnonzero(statistics.may_be_value)
    return _Ranges(lo[chosen], hi[chosen], ~lo_known[chosen], ~hi_known[chosen], chosen)


def _numbers(statistics: ColumnStatistics) -> tuple[Any, Any]:
    """Lower and upper bounds: numbers as they are, other values as ``_Values``."""
    if statistics.lo.dtype != object:
        return np.asarray(statistics.lo), np.asarray(statistics.hi)
    return _Values(statistics.lo, statistics), _Values(statistics.hi, statistics)


class _Values:
    """Text, binary or wide decimals: ``_comparable`` ranks them together with the other bounds."""

    dtype = np.dtype(object)

    def __init__(self, bounds: Any, of: ColumnStatistics) -> None:
        self.stored = bounds if isinstance(bounds, StoredBounds) else StoredBounds.of(bounds, of.type)
        self._of = of

    def __getitem__(self, rows: Any) -> _Values:
        return _Values(self.stored.take(rows), self._of)


def _comparable(some: list[tuple[Any, Any, Mask, Mask]]) -> tuple[Numbers, Numbers, Mask, Mask]:
    """The ends of several sets of ranges, concatenated, as numbers in the order of the values.

    A range whose ends are in the wrong order is open.
    """
    lo, hi = [one[0] for one in some], [one[1] for one in some]
    open_lo, open_hi = (np.concatenate([one[side] for one in some]) for side in (2, 3))
    if isinstance(lo[0], _Values):
        together = concatenated([one.stored for one in (*lo, *hi)])
        assert isinstance(together, StoredBounds)
        codes = ranks_of(together.array)
        low, high = codes[: len(open_lo)], codes[len(open_lo) :]
    else:
        low, high = np.concatenate(lo), np.concatenate(hi)
    inverted = (low > high) & ~open_lo & ~open_hi
    return low, high, open_lo | inverted, open_hi | inverted


def _of_ranges(whole: _Ranges, n: int) -> SelectivityScore:
    lo, hi, open_lo, open_hi = _comparable([(whole.lo, whole.hi, whole.open_lo, whole.open_hi)])
    m = len(lo)
    if not m:
        return SelectivityScore(100.0, 0.0, n, AT_LEAST, 0)
    low, high = _Ranges(lo, hi, open_lo, open_hi, whole.slice).ends()
    begin, end = np.sort(low), np.sort(high)  # in order, searching stays in the processor's cache
    meeting = np.searchsorted(begin, end, "right").sum() - np.searchsorted(end, begin, "left").sum()
    others = int(meeting) - m  # each meets itself
    known_ends = np.sort(np.concatenate([lo[~open_lo], hi[~open_hi]]))
    at_ends = np.searchsorted(begin, known_ends, "right").sum() - np.searchsorted(end, known_ends, "left").sum()
    left = (float(at_ends) + m * (2 * m - len(known_ends))) / (2 * m)
    return SelectivityScore(100.0 * (1 - others / (n * (n - 1))), float(left), n, AT_LEAST, m)


def _of_parts(parts: _Ranges, n: int, most: int) -> SelectivityScore:
    k = len(parts.slice)
    if not k:
        return SelectivityScore(100.0, 0.0, n, EXACT, 0)
    low, high = parts.ends()
    count = np.bincount(parts.slice, minlength=n)
    weight = 1.0 / count[parts.slice]
    if bool((low == high).all()):
        meeting = _slices_at(low, parts.slice)
        asked = np.arange(k)
    else:
        asked = np.unique(np.linspace(0, k - 1, min(k, max(most // k, 1))).astype(np.intp))
        meeting = np.array(
            [len(np.unique(parts.slice[(low <= high[at]) & (high >= low[at])])) for at in asked.tolist()]
        )
    mean = float(np.average(meeting - 1, weights=weight[asked]))
    with_values = np.count_nonzero(count) / n
    is_range = bool((low != high).any())
    return SelectivityScore(
        100.0 * (1 - mean * with_values / (n - 1)), 1 + mean, n, AT_LEAST if is_range else EXACT, len(asked)
    )


def _slices_at(points: Numbers, slices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """``(p,)``: the number of slices that have each point; a slice may have the same point twice."""
    order = np.lexsort((slices, points))
    value, slice_of = points[order], slices[order]
    new_value = np.concatenate([[True], value[1:] != value[:-1]])
    new = new_value | np.concatenate([[True], slice_of[1:] != slice_of[:-1]])
    group = np.cumsum(new_value) - 1
    counts = np.empty(len(points), np.intp)
    counts[order] = np.bincount(group, weights=new).astype(np.intp)[group]
    return counts
