"""The intervals that the members of an IN list fill, where each value of the column's type has a next one.

    i IN (1, 2, 3, 7)     TRUE: 1 to 3 or 7    FALSE: <= 0 or 4 to 6 or >= 8

The rule of a list (``evaluator.binding.rules``) finds FALSE impossible for a single value only. In a file of 1 to 3
every value is a member: the list is TRUE on all of its rows, and NOT IN on none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evaluator.binding.interval_cells import is_discrete
from evaluator.binding.leaves import IntervalSets, Piece
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.language import outcome
from evaluator.language.interval import point
from evaluator.language.types import Kind, Type
from evaluator.statistics.ranges import Members

__all__ = ["interval_sets_of", "runs_of"]

#: Lists of more intervals are left as they are: each one costs two comparisons in every slice.
_MAX_RUNS = 64

Run = tuple[int, int]


def runs_of(column: Type, members: Members) -> Sequence[Run] | None:
    """The first and the last member of each run of neighbours; None where each run is a single value, or too many."""
    if not is_discrete(column) or len(members.values) < 2:
        return None
    ends = np.flatnonzero(np.diff(members.array) != 1)
    if len(ends) == len(members.values) - 1 or len(ends) >= _MAX_RUNS:
        return None
    firsts, lasts = [0, *(ends + 1)], [*ends, len(members.values) - 1]
    return [(int(members.values[first]), int(members.values[last])) for first, last in zip(firsts, lasts, strict=True)]


def interval_sets_of(column: BoundColumn, runs: Sequence[Run], *, has_null: bool) -> IntervalSets:
    """The list as intervals of values; with a NULL member it is NULL, not FALSE, for all other values."""

    def piece(lo: int | None, hi: int | None) -> Piece:
        return Piece(_end(lo, column.type), _end(hi, column.type), False, False)

    is_boolean = column.type.kind is Kind.BOOLEAN  # a list of neighbours holds both of its values
    between = (piece(before[1] + 1, after[0] - 1) for before, after in pairwise(runs))
    gaps = () if is_boolean else (piece(None, runs[0][0] - 1), *between, piece(runs[-1][1] + 1, None))
    found = tuple(piece(*run) for run in runs)
    return IntervalSets(column, found, () if has_null else gaps, gaps if has_null else (), outcome.NULL)


def _end(value: int | None, of: Type) -> BoundConstant | None:
    return None if value is None else BoundConstant(None, point(value), of)
