"""Builds the search index of a column (``column_index``) from its statistics.

    bounds of all slices  ->  edges  ->  codes  ->  sorted codes, interval index, zone map

Building takes about a second per two million slices. A table of some thousand slices is evaluated faster without an
index, and text in it by ranks (``ranks``); the owner of the statistics decides (``index_store.cached_statistics``,
``index_store.snapshots``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evaluator.statistics.codes import ABOVE, BELOW, MAX_EDGES, BoundCodes, Coder, Codes
from evaluator.statistics.column_index import ColumnIndex, ZoneMap
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.interval_index import IntervalIndex
from evaluator.statistics.ranks import Ranks
from evaluator.statistics.stored_bounds import Bounds, concatenated, is_storable, taken

__all__ = ["SLICES_PER_ZONE", "with_index", "with_ranks"]

SLICES_PER_ZONE = 1024


def with_index(
    statistics: ColumnStatistics,
    max_edges: int = MAX_EDGES,
    slices_per_zone: int = SLICES_PER_ZONE,
    coder: Coder | None = None,
) -> ColumnStatistics:
    """The same statistics with an index. Smaller edges and zones are for tests.

    ``coder``: codes by the edges of another index of the column, instead of edges drawn from these bounds.
    """
    lo_known, hi_known = statistics.usable_bounds
    if coder is None:
        known = concatenated([taken(statistics.lo, lo_known), taken(statistics.hi, hi_known)])
        coder = Coder.of(statistics.type, known, max_edges)
    lo = _codes(coder, statistics.lo, lo_known, BELOW)
    hi = _codes(coder, statistics.hi, hi_known, ABOVE)
    all_null = ~statistics.may_be_value
    lo[all_null], hi[all_null] = ABOVE, BELOW
    lower = BoundCodes.of(lo)
    index = ColumnIndex(
        coder, lower, BoundCodes.of(hi), IntervalIndex.of(lower, hi), ZoneMap.of(lo, hi, slices_per_zone)
    )
    return replace(statistics, index=index)


def with_ranks(statistics: ColumnStatistics) -> ColumnStatistics:
    """The same statistics with ranks, where the bounds are no numbers of a machine; others as they are."""
    if not is_storable(statistics.type) or statistics.ranks is not None:
        return statistics
    return replace(statistics, ranks=Ranks.of(statistics.lo, statistics.hi))


def _codes(coder: Coder, values: Bounds, known: npt.NDArray[np.bool_], code_of_unknown: np.uint16) -> Codes:
    codes: Codes = np.full(len(values), code_of_unknown, np.uint16)
    codes[known] = coder.codes(taken(values, known))
    return codes
