"""The outcomes of leaves over many slices, as arrays, from the statistics of all providers (contract C6).

    provider          i < 5          city = 'oslo'
    column_stats      {true, false}  {true, false, null}
    partition values                 {false}
    outcome           {true, false}  {false}                 the intersection

Each provider becomes a view that makes the ranges of its columns once. A leaf over several columns is also evaluated on
the columns of all views together. A function of one column is evaluated for groups of slices first
(``evaluation.hierarchical``). A function of several columns is computed once per distinct combination of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.interval_evaluation import interval_of, outcome_of_test
from evaluator.binding.leaves import BoundLeaf, Comparison, Fixed, Test, expression_keys, test_outcome
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, columns_of
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.column_ranges import ColumnRanges, range_in_every_slice, range_of_statistics
from evaluator.evaluation.hierarchical import evaluate_groups
from evaluator.evaluation.slice_intervals import interval_of_row, rows_of
from evaluator.language import outcome
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.outcome import Outcomes
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, array_dtype, filler
from evaluator.statistics.ranges import MaskedBound, Range
from evaluator.statistics.stored_bounds import Bounds

__all__ = ["MAX_FUNCTION_INPUTS", "LeafEvaluator"]

#: Distinct inputs for which a function of several columns is computed, at about 15 microseconds each.
MAX_FUNCTION_INPUTS = 200_000
#: Up to this number of slices a function is evaluated for each slice by itself.
_MAX_ONE_BY_ONE = 64


class LeafEvaluator:
    """Evaluates leaves in n slices by statistics: one view per provider, ranges of columns made once."""

    def __init__(self, providers: Sequence[StatisticsProvider], n: int) -> None:
        self._n = n
        self._views = [_ProviderView(provider, n) for provider in providers]

    def by_provider(self, leaf: BoundLeaf) -> Mapping[str, Outcomes]:
        """The outcomes of a leaf by each provider's statistics alone, of those that know a column of it."""
        by_provider: dict[str, Outcomes] = {}
        for view in self._views if leaf.columns else ():
            outcomes = view.outcomes(leaf)
            if outcomes is not None:
                by_provider[view.provider.name] = outcomes
        return by_provider

    def intersected(self, leaf: BoundLeaf, by_provider: Mapping[str, Outcomes]) -> Outcomes:
        """The intersection. A leaf over several columns is also evaluated on the columns of all providers together."""
        if not leaf.columns:
            return _broadcast(test_outcome(leaf.test, range_in_every_slice), self._n)
        total: Outcomes | None = None
        for outcomes in by_provider.values():
            total = outcomes if total is None else total & outcomes
        is_known = any(name in view.provider.statistics for view in self._views for name in leaf.columns)
        if total is None or not is_known or (len(leaf.columns) > 1 and len(self._views) > 1):
            joint = _JointView(self._views, self._n)
            outcomes = _broadcast(test_outcome(leaf.test, joint.range_of), self._n)
            total = outcomes if total is None else total & outcomes
        return total

    def outcomes(self, leaf: BoundLeaf) -> Outcomes:
        """``(n,) uint8``: the outcomes of a leaf by all providers."""
        return self.intersected(leaf, self.by_provider(leaf))


def _broadcast(outcomes: Any, n: int) -> Outcomes:
    if isinstance(outcomes, np.ndarray) and outcomes.shape == (n,):
        return outcomes
    return np.full(n, outcomes, np.uint8)


def _holds_function(test: Test) -> bool:
    operands = (
        (test.left, test.right)
        if isinstance(test, Comparison)
        else (() if isinstance(test, Fixed) else (test.operand,))
    )
    return any(isinstance(operand, BoundFunction) for operand in operands)


class _ProviderView:
    """One provider during one evaluation: ranges of columns are made once."""

    def __init__(self, provider: StatisticsProvider, n: int) -> None:
        self.provider = provider
        self._n = n
        self.ranges = ColumnRanges(provider.statistics)

    def outcomes(self, leaf: BoundLeaf) -> Outcomes | None:
        """The outcomes of a leaf by this provider's statistics alone, or None when it knows none of the columns."""
        of_expression = self._by_expression(leaf.test) if self.provider.expressions else None
        of_columns = self._by_columns(leaf)
        if of_expression is None or of_columns is None:
            return of_columns if of_expression is None else of_expression
        return of_expression & of_columns

    def _by_expression(self, test: Test) -> Outcomes | None:
        """The outcomes of a test of a function, of which this provider has statistics."""
        total: Outcomes | None = None
        for key in expression_keys(test):
            statistics = self.provider.expressions.get(key)
            if statistics is not None:
                outcomes = _broadcast(test_outcome(test, _results_of(statistics)), self._n)
                total = outcomes if total is None else total & outcomes
        return total

    def _by_columns(self, leaf: BoundLeaf) -> Outcomes | None:
        if not any(name in self.provider.statistics for name in leaf.columns):
            return None
        if len(leaf.columns) == 1 and self._n > _MAX_ONE_BY_ONE and _holds_function(leaf.test):
            result = self._by_groups(leaf)
        else:
            result = _broadcast(test_outcome(leaf.test, self.range_of), self._n)
        parts = self.provider.statistics[leaf.columns[0]].parts if len(leaf.columns) == 1 else None
        return result if parts is None else result & self._by_file(leaf, parts)

    def _by_groups(self, leaf: BoundLeaf) -> Outcomes:
        name = leaf.columns[0]
        return evaluate_groups(
            self.provider.statistics[name], lambda interval: outcome_of_test(leaf.test, {name: interval})
        )

    def _by_file(self, leaf: BoundLeaf, parts: PartStatistics) -> Outcomes:
        """A leaf over one column, file by file; a slice can have every value that one of its files can have."""
        view = _ProviderView(
            StatisticsProvider(self.provider.name, {leaf.columns[0]: parts.statistics}), len(parts.statistics)
        )
        united = np.full(self._n, outcome.UNKNOWN, np.uint8)
        united[parts.slice_of] = outcome.EMPTY
        np.bitwise_or.at(
            united, parts.slice_of, _broadcast(test_outcome(leaf.test, view.range_of), len(parts.statistics))
        )
        return united

    def knows(self, column: BoundColumn) -> bool:
        return column.field.name in self.provider.statistics

    def range_of(self, operand: BoundOperand) -> Range:
        return _array_range(operand, self.ranges.of_column, self.statistics_of, self._n)

    def statistics_of(self, column: BoundColumn) -> ColumnStatistics | None:
        return self.provider.statistics.get(column.field.name)


class _JointView:
    """All providers together, for a leaf over several columns: each column from the first provider that knows it."""

    def __init__(self, views: Sequence[_ProviderView], n: int) -> None:
        self._views = views
        self._n = n

    def _view_of(self, column: BoundColumn) -> _ProviderView | None:
        return next((view for view in self._views if view.knows(column)), None)

    def range_of(self, operand: BoundOperand) -> Range:
        return _array_range(operand, self._column_range, self._statistics_of, self._n)

    def _column_range(self, column: BoundColumn) -> Range:
        view = self._view_of(column)
        return range_in_every_slice(column) if view is None else view.ranges.of_column(column)

    def _statistics_of(self, column: BoundColumn) -> ColumnStatistics | None:
        view = self._view_of(column)
        return None if view is None else view.statistics_of(column)


def _array_range(
    operand: BoundOperand,
    column_range: Callable[[BoundColumn], Range],
    statistics_of: Callable[[BoundColumn], ColumnStatistics | None],
    n: int,
) -> Range:
    match operand:
        case BoundColumn():
            return column_range(operand)
        case BoundConstant():
            return range_in_every_slice(operand)
        case BoundFunction():
            return _function_range(operand, statistics_of, n)


def _results_of(statistics: ColumnStatistics) -> Callable[[BoundOperand], Range]:
    """The range of a function's result, from statistics of the result, in the form of ``language.interval``."""

    def yielded(bounds: Bounds) -> Bounds:
        if statistics.type.kind.is_fractional:
            return bounds
        whole = bounds if bounds.dtype == object else bounds.astype(object)
        if statistics.type.kind is not Kind.DECIMAL:
            return whole
        scaled = np.empty(len(whole), object)
        scaled[:] = [Fraction(int(value), 10**statistics.type.scale) for value in whole.tolist()]
        return scaled

    results = range_of_statistics(replace(statistics, lo=yielded(statistics.lo), hi=yielded(statistics.hi)))

    def range_of(operand: BoundOperand) -> Range:
        return results if isinstance(operand, BoundFunction) else range_in_every_slice(operand)

    return range_of


def _function_range(
    function: BoundFunction, statistics_of: Callable[[BoundColumn], ColumnStatistics | None], n: int
) -> Range:
    """A function over columns, once for each distinct input; the results are spread over the slices.

    Inputs beyond ``MAX_FUNCTION_INPUTS`` are unknown: a slow answer would cost more than it saves.
    """
    by_name = {name: statistics_of(BoundColumn(field, field.type)) for name, field in columns_of(function).items()}
    columns = [(name, statistics) for name, statistics in by_name.items() if statistics is not None]
    numbers: dict[Any, int] = {}  # of each distinct input
    input_of = np.zeros(n, np.intp)
    if columns:
        rows = zip(*(rows_of(statistics) for _, statistics in columns), strict=True)
        input_of[:] = [numbers.setdefault(row, len(numbers)) for row in rows]
        input_of[input_of >= MAX_FUNCTION_INPUTS] = min(len(numbers), MAX_FUNCTION_INPUTS)
    else:
        numbers[()] = 0
    results: list[Interval] = []
    for row in islice(numbers, MAX_FUNCTION_INPUTS):
        intervals = {
            name: interval_of_row(statistics, of_column)
            for (name, statistics), of_column in zip(columns, row, strict=True)
        }
        results.append(interval_of(function, intervals, ordinal=False))
    results.append(UNKNOWN)  # for the inputs that are too many
    fill = filler(function.type)
    dtype = array_dtype(function.type) if function.type.kind.is_fractional else np.dtype(object)

    def by_slice(values: Sequence[Any], element_type: Any) -> npt.NDArray[Any]:
        distinct = np.empty(len(values), element_type)
        distinct[:] = values
        return distinct[input_of]

    lo = MaskedBound(
        by_slice([fill if r.lo is None else r.lo for r in results], dtype),
        by_slice([r.lo is None for r in results], np.bool_),
    )
    hi = MaskedBound(
        by_slice([fill if r.hi is None else r.hi for r in results], dtype),
        by_slice([r.hi is None for r in results], np.bool_),
    )
    return Range(lo, hi, by_slice([r.null for r in results], np.bool_), by_slice([r.value for r in results], np.bool_))
