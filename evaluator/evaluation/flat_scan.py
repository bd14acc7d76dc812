"""The kept slices of a few thousand: the rule table run on the arrays of all bounds, and the masks combined.

    filter           a = 5 AND NOT (b < 3)
    mask of a = 5    (a.lo <= 5) & (5 <= a.hi)
    mask of b >= 3   3 <= b.hi                              NOT is pushed down to the leaf
    kept             mask of a = 5 & mask of b >= 3

A comparison of some thousand bounds takes a microsecond or two. Choosing what to compare first, as a search does
(``evaluation.formula_search``), takes longer than to compare everything.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import possible_value
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.binding.truth_values import TruthValue
from evaluator.language.interval import UNKNOWN
from evaluator.statistics.columns import ColumnStatistics, filler
from evaluator.statistics.ranges import MaskedBound, Range, masked_range_of

__all__ = ["MAX_SLICES", "scan"]

Mask = npt.NDArray[np.bool_]
#: Up to here everything is compared.
MAX_SLICES = 4_096


def scan(bound: BoundExpression, n: int, statistics: Sequence[Mapping[str, ColumnStatistics]]) -> npt.NDArray[np.int64]:
    """The slices in which TRUE is possible, ``(k,) int64``, ascending, given each provider's statistics by column.

    Every leaf looks at one column and at constants (``binding.leaves.is_plain``).
    """
    views = [_View(by_name) for by_name in statistics]

    def leaf(index: int, sought: TruthValue) -> Any:
        of_leaf = bound.leaves[index]
        knowing = [view for view in views if any(name in view.statistics for name in of_leaf.columns)]
        return _all([possible_value(of_leaf.test, view.range_of, sought) for view in knowing or (_NOTHING,)])

    mask = bound.program.fold_sought(leaf=leaf, conjoin=_all, disjoin=_any)
    if not isinstance(mask, np.ndarray) or mask.shape != (n,):
        return np.arange(n if mask else 0, dtype=np.int64)
    return mask.nonzero()[0]


def _all(masks: Sequence[Any]) -> Any:
    return reduce(operator.and_, masks) if masks else True


def _any(masks: Sequence[Any]) -> Any:
    return reduce(operator.or_, masks) if masks else False


class _View:
    """One provider's statistics during one scan: the range of a column is made once."""

    __slots__ = ("_ranges", "statistics")

    def __init__(self, statistics: Mapping[str, ColumnStatistics]) -> None:
        self.statistics = statistics
        self._ranges: dict[str, Range] = {}

    def range_of(self, operand: BoundOperand) -> Range:
        """The bounds of a column in all slices; a constant, or a column that is not known, is the same in every one."""
        if isinstance(operand, BoundConstant):
            interval = operand.interval
            is_open = interval.lo is None or interval.hi is None
            return masked_range_of(interval, filler(operand.type) if is_open else None)
        assert isinstance(operand, BoundColumn)
        name = operand.field.name
        if name not in self._ranges:
            self._ranges[name] = self._made(operand)
        found = self._ranges[name]
        return Range(found.lo, found.hi, True, found.value) if operand.is_nested else found

    def _made(self, column: BoundColumn) -> Range:
        statistics = self.statistics.get(column.field.name)
        if statistics is None:
            return masked_range_of(UNKNOWN, filler(column.type))
        lo_unknown, hi_unknown = statistics.unknown_bounds
        return Range(
            MaskedBound(statistics.lo, lo_unknown),
            MaskedBound(statistics.hi, hi_unknown),
            statistics.any_null,
            statistics.any_value,
        )


_NOTHING = _View({})
