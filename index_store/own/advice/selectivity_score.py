"""How effective an index of a column is, from 0 to 100: how well it tells the file slices of a table apart.

    score 100    a value that one slice holds is in no other, and the index shows it
    score 0      whatever is looked for, no other slice can be left out

This is Hyperspace's score: ranges that all span what the whole column spans score 0, ranges apart from one another 100.

    what is known of a slice        overlaps another slice                               used for
    ------------------------------  ---------------------------------------------------  -------------------------
    a range                         as soon as the ranges meet: a value of it may be     min_max, expressions
                                    anywhere in it, so the score is a lower limit
    parts: values, prefixes         by the share of its parts that meet one of the       value_list, partition;
                                    other's                                              prefix_set, if no rows are
                                                                                         read
    nothing                         with every slice                                     all
    NULL in every row               with none                                            all
    whether a value may be there    by the share of its values that are found there;     bloom_filter, prefix_set
                                    they have to come from a sample of rows
    whether there is NULL or NaN    score: the share of slices without any               null_count, nan_count
    how full a filter is            by the share of absent values that it finds; values  bloom_filter, if no rows
                                    in two slices are not seen: an upper limit           are read

    score = 100 * (1 - mean overlap over all ordered pairs of two slices)
    left  = how many slices an equality leaves, on average, when its value is from one of them: for ranges a value at
            one of their ends, which do occur

Ranges are counted by sorting their ends: slices that do not meet [lo, hi] begin above hi or end below lo. So the cost
is that of sorting, and no pair is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import StoredBounds, concatenated

__all__ = [
    "ABOUT",
    "AT_LEAST",
    "AT_MOST",
    "EXACT",
    "Effectiveness",
    "codes_of",
    "of_filters",
    "of_look_ups",
    "of_nulls",
    "of_statistics",
]

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]

#: What a score is: a limit of the share of slices that equalities leave out, or that share.
AT_LEAST, AT_MOST, ABOUT, EXACT = "at least", "at most", "about", ""
#: So many comparisons of parts are made; with more parts, fewer of them are asked for, evenly spread.
_COMPARISONS = 500_000_000


@dataclass(frozen=True, slots=True)
class Effectiveness:
    """A score from 0 to 100, and the number of slices that a typical equality leaves, of ``slices``.

    basis   ``AT_LEAST`` for ranges, ``AT_MOST`` where only the fill of filters is known, ``ABOUT`` for some of the
            values, else ``EXACT``
    asked   of how many ranges, parts or values the score is the mean
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

    def scaled(self, slices: int) -> Effectiveness:
        """The same for a table of so many slices of which these are a sample."""
        others = max(self.slices - 1, 1)
        share = max(self.left - 1, 0.0) / others
        left = self.left if slices == self.slices else min(self.left, 1.0) + share * max(slices - 1, 0)
        return Effectiveness(self.score, left, slices, self.basis, self.asked)


def of_statistics(statistics: ColumnStatistics, most: int = _COMPARISONS) -> Effectiveness:
    """The score of ranges, or of parts where slices have some. ``most``: comparisons of parts that are made."""
    n = len(statistics)
    whole = _ranges(statistics)
    if n < 2:
        return Effectiveness(0.0, float(whole.slice.size), n, AT_LEAST, n)
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


def of_nulls(counts: npt.NDArray[np.int64]) -> Effectiveness:
    """``(n,)``, -1 where not known: how many values of a slice are NULL, or NaN; a search for NULL skips the rest."""
    n = len(counts)
    left = int(np.count_nonzero(counts != 0))
    return Effectiveness(100.0 * (n - left) / n if n else 0.0, float(left), n, EXACT, n)


def of_look_ups(held: Mask, home: npt.NDArray[np.intp]) -> Effectiveness:
    """``(q, n)``: in which slices each of q values may be, which are from the slices ``home`` (q,).

    Each slice that gave values counts as much as any other.
    """
    q, n = held.shape
    if n < 2 or not q:
        return Effectiveness(0.0, float(n), n, ABOUT, q)
    others = held.sum(axis=1) - held[np.arange(q), home]
    weight = 1.0 / np.bincount(home, minlength=n)[home]
    mean = float(np.average(others, weights=weight))
    return Effectiveness(100.0 * (1 - mean / (n - 1)), 1 + mean, n, ABOUT, q)


def of_filters(rates: npt.NDArray[np.float64]) -> Effectiveness:
    """``(n,)``: the share of absent values that each slice's filter finds nevertheless; 1 where there is none.

    Values that are in two slices are not seen: an upper limit.
    """
    n = len(rates)
    if n < 2:
        return Effectiveness(0.0, float(n), n, AT_MOST, n)
    mean = float(rates.sum()) / n
    return Effectiveness(100.0 * (1 - mean), 1 + mean * (n - 1), n, AT_MOST, n)


def codes_of(values: Any) -> npt.NDArray[np.int64]:
    """``(n,)``: the rank of each value of an Arrow array among the distinct ones; -1 for NULL."""
    encoded = values.dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    ranks: npt.NDArray[np.int64] = rank[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return ranks


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Ranges that hold values: comparable ends, whether an end is not known, and whose they are."""

    lo: Numbers
    hi: Numbers
    open_lo: Mask
    open_hi: Mask
    slice: npt.NDArray[np.intp]

    def ends(self) -> tuple[Numbers, Numbers]:
        """The ends, with the least and greatest number where they are not known."""
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
    """Bounds as they are, if they are numbers of numpy."""
    if statistics.lo.dtype != object:
        return np.asarray(statistics.lo), np.asarray(statistics.hi)
    return _Values(statistics.lo, statistics), _Values(statistics.hi, statistics)


class _Values:
    """Text, binary or wide decimals, which are given numbers when all of them are together."""

    dtype = np.dtype(object)

    def __init__(self, bounds: Any, of: ColumnStatistics) -> None:
        self.stored = bounds if isinstance(bounds, StoredBounds) else StoredBounds.of(bounds, of.type)
        self._of = of

    def __getitem__(self, rows: Any) -> _Values:
        return _Values(self.stored.take(rows), self._of)


def _comparable(some: list[tuple[Any, Any, Mask, Mask]]) -> tuple[Numbers, Numbers, Mask, Mask]:
    """Ends of several sets of ranges in one row, as numbers in the same order; ends in the wrong order are open."""
    lo, hi = [one[0] for one in some], [one[1] for one in some]
    open_lo, open_hi = (np.concatenate([one[side] for one in some]) for side in (2, 3))
    if isinstance(lo[0], _Values):
        together = concatenated([one.stored for one in (*lo, *hi)])
        assert isinstance(together, StoredBounds)
        codes = codes_of(together.array)
        low, high = codes[: len(open_lo)], codes[len(open_lo) :]
    else:
        low, high = np.concatenate(lo), np.concatenate(hi)
    nonsense = (low > high) & ~open_lo & ~open_hi
    return low, high, open_lo | nonsense, open_hi | nonsense


def _of_ranges(whole: _Ranges, n: int) -> Effectiveness:
    lo, hi, open_lo, open_hi = _comparable([(whole.lo, whole.hi, whole.open_lo, whole.open_hi)])
    m = len(lo)
    if not m:
        return Effectiveness(100.0, 0.0, n, AT_LEAST, 0)
    low, high = _Ranges(lo, hi, open_lo, open_hi, whole.slice).ends()
    begin, end = np.sort(low), np.sort(high)  # in order, searching stays in the processor's cache
    meeting = np.searchsorted(begin, end, "right").sum() - np.searchsorted(end, begin, "left").sum()
    others = int(meeting) - m  # each meets itself
    known_ends = np.sort(np.concatenate([lo[~open_lo], hi[~open_hi]]))
    at_ends = np.searchsorted(begin, known_ends, "right").sum() - np.searchsorted(end, known_ends, "left").sum()
    left = (float(at_ends) + m * (2 * m - len(known_ends))) / (2 * m)
    return Effectiveness(100.0 * (1 - others / (n * (n - 1))), float(left), n, AT_LEAST, m)


def _of_parts(parts: _Ranges, n: int, most: int) -> Effectiveness:
    k = len(parts.slice)
    if not k:
        return Effectiveness(100.0, 0.0, n, EXACT, 0)
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
    return Effectiveness(
        100.0 * (1 - mean * with_values / (n - 1)), 1 + mean, n, AT_LEAST if is_range else EXACT, len(asked)
    )


def _slices_at(points: Numbers, slices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """In how many slices each point is; the same point may be in one slice twice."""
    order = np.lexsort((slices, points))
    value, whose = points[order], slices[order]
    new_value = np.concatenate([[True], value[1:] != value[:-1]])
    new = new_value | np.concatenate([[True], whose[1:] != whose[:-1]])
    group = np.cumsum(new_value) - 1
    found = np.empty(len(points), np.intp)
    found[order] = np.bincount(group, weights=new).astype(np.intp)[group]
    return found
