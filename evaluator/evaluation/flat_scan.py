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
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import possible_value
from evaluator.binding.operands import BoundColumn, BoundOperand
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.column_ranges import ColumnRanges, range_in_every_slice
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.ranges import Range

__all__ = ["MAX_SLICES", "scan"]

Mask = npt.NDArray[np.bool_]
#: Up to here everything is compared.
MAX_SLICES = 4_096


def scan(bound: BoundExpression, n: int, statistics: Sequence[Mapping[str, ColumnStatistics]]) -> npt.NDArray[np.int64]:
    """The slices in which TRUE is possible, ``(k,) int64``, ascending, given each provider's statistics by column.

    Every leaf looks at one column and at constants (``binding.leaves.is_plain``).
    """
    views = [ColumnRanges(by_name) for by_name in statistics]

    def leaf(index: int, sought: TruthValue) -> Any:
        of_leaf = bound.leaves[index]
        knowing = [view for view in views if any(name in view.statistics for name in of_leaf.columns)]
        return _all([possible_value(of_leaf.test, partial(_range_of, view), sought) for view in knowing or (_NOTHING,)])

    mask = bound.program.fold_sought(leaf=leaf, conjoin=_all, disjoin=_any)
    if not isinstance(mask, np.ndarray) or mask.shape != (n,):
        return np.arange(n if mask else 0, dtype=np.int64)
    return mask.nonzero()[0]


def _all(masks: Sequence[Any]) -> Any:
    return reduce(operator.and_, masks) if masks else True


def _any(masks: Sequence[Any]) -> Any:
    return reduce(operator.or_, masks) if masks else False


def _range_of(ranges: ColumnRanges, operand: BoundOperand) -> Range:
    return ranges.of_column(operand) if isinstance(operand, BoundColumn) else range_in_every_slice(operand)


_NOTHING = ColumnRanges({})
