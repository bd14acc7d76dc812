"""Slices of one column that differ in nothing but their bounds, sorted by them: what ``evaluation.hierarchical`` walks
down.

Apart are the slices with a lower bound unknown, an upper bound unknown, NULL possible, no value possible: at most 16
populations, mostly one or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.statistics.codes import sort_keys
from evaluator.statistics.stored_bounds import Bounds, taken

if TYPE_CHECKING:
    from evaluator.statistics.columns import ColumnStatistics

__all__ = ["SliceGroups", "slice_groups"]


@dataclass(frozen=True, slots=True, eq=False)
class SliceGroups:
    """``rows`` in the order of their lower, then upper bounds, which stand beside them; None: unknown in all."""

    rows: npt.NDArray[np.intp]
    lo: npt.NDArray[Any] | None
    hi: npt.NDArray[Any] | None
    null: bool
    value: bool


def slice_groups(statistics: ColumnStatistics) -> list[SliceGroups]:
    """Split and sort; the order of equal or very similar text is left open."""
    lo_known, hi_known = statistics.usable_bounds
    kinds = lo_known.astype(np.uint8)
    for place, flags in enumerate((hi_known, statistics.may_be_null, statistics.may_be_value), start=1):
        kinds |= flags.astype(np.uint8) << np.uint8(place)
    found = []
    for kind in np.flatnonzero(np.bincount(kinds, minlength=16)).tolist():
        rows, value = np.flatnonzero(kinds == kind), bool(kind & 8)
        sides = [
            (statistics.lo if kind & 1 and value else None, "lo"),
            (statistics.hi if kind & 2 and value else None, "hi"),
        ]
        keys = [_keys(statistics, bound, side, rows) for bound, side in reversed(sides) if bound is not None]
        if keys:
            rows = rows[np.lexsort(keys)]
        lo, hi = (None if bound is None else bound[rows] for bound, _ in sides)
        found.append(SliceGroups(rows, lo, hi, bool(kind & 4), value))
    return found


def _keys(statistics: ColumnStatistics, bound: Bounds, side: str, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    index = statistics.index
    if index is not None:
        return (index.lo if side == "lo" else index.hi).codes[rows]
    return sort_keys(statistics.type, taken(bound, rows))
