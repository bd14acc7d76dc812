"""Ranks of the bounds of text, binary and wide decimals: integers that compare as the values do.

numpy compares two texts in an array of Python objects in some 15 nanoseconds, and two integers in half of one.

    lo        'b'  'a'  'd'      distinct   'a'  'b'  'c'  'd'
    hi        'c'  'a'  'd'      rank        1    3    5    7
    lo ranks   3    1    7
    hi ranks   5    1    7       constants  'b' -> 3   'bb' -> 4   'zz' -> 8

A constant between two bounds has the even number between their ranks. So ``<`` and ``<=`` of ranks are those of the
values, without the ties that codes have (``statistics.codes``), and a rule on ranks is the rule on the values. Ranks
take one sort to make, which costs as much as some 30 to 60 comparisons of objects: they are for columns that many
filters ask for (``index_store.cached_statistics``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from evaluator.statistics.stored_bounds import Bounds

__all__ = ["Ranks"]


@entity
class Ranks:
    """The bounds of a column that occur, ascending, and the rank of each slice's: ``(n,) int32``, odd numbers."""

    distinct: Sequence[Any]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]

    @classmethod
    def of(cls, lo: Bounds, hi: Bounds) -> Ranks:
        """The ranks of the bounds of n slices, ``(n,)`` each."""
        lower, upper = lo.tolist(), hi.tolist()
        distinct = sorted({*lower, *upper})
        rank_of = dict(zip(distinct, range(1, 2 * len(distinct), 2), strict=True))
        return cls(
            distinct, *(np.fromiter(map(rank_of.__getitem__, one), np.int32, len(one)) for one in (lower, upper))
        )

    def rank(self, value: Any) -> int:
        """Where a constant stands among the ranks: odd if it is one of the bounds."""
        before = bisect_left(self.distinct, value)
        return 2 * before + (before < len(self.distinct) and bool(self.distinct[before] == value))
