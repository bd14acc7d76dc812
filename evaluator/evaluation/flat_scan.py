"""The kept slices of a few thousand: every bound that the filter tests is compared, and the masks are combined.

    filter           a = 5 AND NOT (b < 3)
    mask of a = 5    (a.lo <= 5) & (5 <= a.hi)
    mask of b >= 3   3 <= b.hi                              NOT is pushed down to the leaf
    kept             mask of a = 5 & mask of b >= 3

A comparison of some thousand bounds takes a microsecond or two. Choosing what to compare first, as a search does
(``evaluation.formula_search``), takes longer than to compare everything, and so does running the rule table on arrays:
the frequent forms of a leaf are computed by its source text (``evaluation.rendered_rules``). Flags that are the same in
all slices are left out of the text: most columns have all their bounds, and a value in every slice.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Membership, Prefix, Test, is_plain, possible_value
from evaluator.binding.operands import BoundColumn, BoundOperand
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.column_ranges import ColumnRanges, range_in_every_slice
from evaluator.evaluation.rendered_rules import BoundSymbol, FlagSymbol, Rendered, Rule, asked_of, rendered
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.ordered_bounds import OrderedBound
from evaluator.statistics.ranges import Range

__all__ = ["MAX_SLICES", "scan"]

Mask = npt.NDArray[np.bool_]
#: Up to here everything is compared: larger tables have an index (``index_store.snapshots``).
MAX_SLICES = 20_000
#: From so many members and slices on, a list is searched by the order of the lower bounds, which a column makes once.
_MANY_MEMBERS, _MANY_SLICES = 64, 2_000


def scan(
    bound: BoundExpression, n: int, statistics: Sequence[Mapping[str, ColumnStatistics]]
) -> npt.NDArray[np.int64] | None:
    """The slices in which TRUE is possible, ``(k,) int64``, ascending, given each provider's statistics by column.

    None when the bounds of one column in each slice do not say all that is known of a leaf, or an index finds them.
    """
    columns: list[list[ColumnStatistics]] = []  # of each leaf
    for leaf in bound.leaves:
        if not is_plain(leaf.test) or (isinstance(leaf.test, Prefix) and leaf.test.pattern is not None):
            return None
        of_leaf = [by_name[name] for by_name in statistics for name in leaf.columns if name in by_name]
        for column in of_leaf:
            if column.parts is not None or column.index is not None:
                return None
        columns.append(of_leaf)

    def can_be(index: int, sought: TruthValue) -> Any:
        test, of_leaf = bound.leaves[index].test, columns[index]
        if len(of_leaf) == 1:
            return _can_be(sought, test, of_leaf[0])
        return _all([_can_be(sought, test, column) for column in of_leaf or (None,)])

    mask = bound.program.fold_sought(leaf=can_be, conjoin=_all, disjoin=_any)
    if not isinstance(mask, np.ndarray) or mask.shape != (n,):
        return np.arange(n if mask else 0, dtype=np.int64)
    return mask.nonzero()[0]


def _all(masks: Sequence[Any]) -> Any:
    return reduce(operator.and_, masks) if masks else True


def _any(masks: Sequence[Any]) -> Any:
    return reduce(operator.or_, masks) if masks else False


def _can_be(value: TruthValue, test: Test, column: ColumnStatistics | None) -> Any:
    """Where a test can have this value, by one provider: ``(n,) bool``, or a bool for all slices."""
    asked = None if column is None else asked_of(test)
    if column is None or asked is None or asked[1][0] == "in" or asked[0].is_nested:
        return possible_value(test, partial(_range_of, column, _is_long(test)), value)
    _, rule, constants = asked
    lo, hi = column.lo, column.hi
    if column.ranks is not None:
        lo, hi, constants = column.ranks.lo, column.ranks.hi, [column.ranks.rank(one) for one in constants]
    elif lo.dtype == object:
        constants = [np.array(one, object) for one in constants]  # numpy would make its own fixed-width texts of them
    (lo_unknown, hi_unknown), any_value = column.unknown_bounds, column.any_value
    computed = _on_arrays(rule, lo_unknown is not False, hi_unknown is not False, any_value is not True)
    return computed[value](lo, hi, column.any_null, any_value, lo_unknown, hi_unknown, *constants)


def _is_long(test: Test) -> bool:
    return isinstance(test, Membership) and len(test.members.values) >= _MANY_MEMBERS


def _range_of(statistics: ColumnStatistics | None, is_long: bool, operand: BoundOperand) -> Range:
    """``is_long``: the test has so many members that the order of the lower bounds pays."""
    if statistics is None or not isinstance(operand, BoundColumn):
        return range_in_every_slice(operand)
    found = ColumnRanges({operand.field.name: statistics}).of_column(operand)
    if not is_long or len(statistics) < _MANY_SLICES:
        return found
    return replace(found, lo=OrderedBound(statistics.lo, found.lo.unknown, statistics.order_of_lo))


_PARAMETERS = ("lo", "hi", "null", "value", "lo_unknown", "hi_unknown")


@cache
def _on_arrays(rule: Rule, lo_unknown: bool, hi_unknown: bool, is_without_value: bool) -> Rendered:
    """The rule where some bounds are unknown, or some slices have no value, as the flags say."""
    column = Range(
        BoundSymbol("lo", "lo_unknown" if lo_unknown else ""),
        BoundSymbol("hi", "hi_unknown" if hi_unknown else ""),
        FlagSymbol("null"),
        FlagSymbol("value") if is_without_value else True,
    )
    return rendered(rule, column, BoundSymbol, _PARAMETERS, {})
