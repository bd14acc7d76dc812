"""The answers of index kinds for leaves over many slices, as arrays (contract C6).

Each source is a view that makes the ranges of its columns once. A leaf is what all views say of it, intersected; a leaf
over several columns is also evaluated on the columns of all views together. Functions of one column descend through
groups of slices (``evaluation.hierarchical``); functions of several are computed once per distinct pair of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import BoundLeaf, Comparison, Fixed, Test, expression_keys, test_outcome
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.hierarchical import descend
from evaluator.evaluation.one_slice import interval_of, interval_of_row, outcome_of_test, rows_of
from evaluator.language import outcome
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.outcome import Outcomes
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, array_dtype, filler
from evaluator.statistics.ranges import MaskedBound, Range, masked_range_of
from evaluator.statistics.stored_bounds import Bounds

__all__ = ["FUNCTION_INPUTS", "Answers"]

#: Distinct inputs for which a function of several columns is computed, at about 15 microseconds each.
FUNCTION_INPUTS = 200_000
#: Up to here each slice is asked by itself.
_MIN_TO_DESCEND = 64


class Answers:
    """The answers of all sources for n slices: one view per source, ranges of columns made once."""

    def __init__(
        self, sources: Sequence[StatisticsProvider], n: int, allowed: Callable[[str, BoundLeaf], Outcomes | None]
    ) -> None:
        self._n = n
        self._views = [_ProviderView(source, n) for source in sources]
        self._allowed = allowed

    def by_source(self, leaf: BoundLeaf) -> Mapping[str, Outcomes]:
        """What each source says of a leaf, by its statistics and by the keys that it was asked for."""
        found: dict[str, Outcomes] = {}
        for view in self._views if leaf.columns else ():
            said = [
                answer for answer in (view.answer(leaf), self._allowed(view.source.name, leaf)) if answer is not None
            ]
            if said:
                found[view.source.name] = said[0] if len(said) == 1 else said[0] & said[1]
        return found

    def of(self, leaf: BoundLeaf, by_source: Mapping[str, Outcomes]) -> Outcomes:
        """The intersection, with what several sources say together of a leaf over several columns."""
        if not leaf.columns:
            return _broadcast(test_outcome(leaf.test, _unknown_range), self._n)
        total: Outcomes | None = None
        for answer in by_source.values():
            total = answer if total is None else total & answer
        known = any(name in view.source.statistics for view in self._views for name in leaf.columns)
        if total is None or not known or (len(leaf.columns) > 1 and len(self._views) > 1):
            joint = _JointView(self._views, self._n)
            answer = _broadcast(test_outcome(leaf.test, joint.range_of), self._n)
            total = answer if total is None else total & answer
        return total

    def by_statistics(self, leaf: BoundLeaf) -> Outcomes:
        """The outcomes of a leaf without keys."""
        found = {view.source.name: answer for view in self._views if (answer := view.answer(leaf)) is not None}
        return self.of(leaf, found)


def _broadcast(answer: Any, n: int) -> Outcomes:
    if isinstance(answer, np.ndarray) and answer.shape == (n,):
        return answer
    return np.full(n, answer, np.uint8)


def _holds_function(test: Test) -> bool:
    operands = (
        (test.left, test.right)
        if isinstance(test, Comparison)
        else (() if isinstance(test, Fixed) else (test.operand,))
    )
    return any(isinstance(operand, BoundFunction) for operand in operands)


def _unknown_range(operand: BoundOperand) -> Range:
    """A constant, or a column of which nothing is known, the same in every slice."""
    interval = operand.interval if isinstance(operand, BoundConstant) else UNKNOWN
    return masked_range_of(interval, _filler_of(operand))


def _filler_of(operand: BoundOperand) -> object:
    return filler(operand.type)


class _ProviderView:
    """One source during one evaluation: ranges of columns are made once."""

    def __init__(self, source: StatisticsProvider, n: int) -> None:
        self.source = source
        self._n = n
        self._ranges: dict[str, Range] = {}

    def answer(self, leaf: BoundLeaf) -> Outcomes | None:
        """The outcomes of a leaf from this source's statistics alone, or None when it knows none of the columns."""
        of_expression = self._by_expression(leaf.test) if self.source.expressions else None
        of_columns = self._by_columns(leaf)
        if of_expression is None or of_columns is None:
            return of_columns if of_expression is None else of_expression
        return of_expression & of_columns

    def _by_expression(self, test: Test) -> Outcomes | None:
        """The outcomes of a test of a function, of which this source has statistics."""
        found: Outcomes | None = None
        for key in expression_keys(test):
            statistics = self.source.expressions.get(key)
            if statistics is not None:
                said = _broadcast(test_outcome(test, _results_of(statistics)), self._n)
                found = said if found is None else found & said
        return found

    def _by_columns(self, leaf: BoundLeaf) -> Outcomes | None:
        if not any(name in self.source.statistics for name in leaf.columns):
            return None
        if len(leaf.columns) == 1 and self._n > _MIN_TO_DESCEND and _holds_function(leaf.test):
            result = self._by_descent(leaf)
        else:
            result = _broadcast(test_outcome(leaf.test, self.range_of), self._n)
        known = self.source.statistics[leaf.columns[0]] if len(leaf.columns) == 1 else None
        if known is not None and known.parts is not None:
            result = result & self._by_part(leaf, known.parts)
        return result

    def _by_descent(self, leaf: BoundLeaf) -> Outcomes:
        name = leaf.columns[0]
        return descend(self.source.statistics[name], lambda interval: outcome_of_test(leaf.test, {name: interval}))

    def _by_part(self, leaf: BoundLeaf, parts: PartStatistics) -> Outcomes:
        """A leaf over one column, file by file; a slice may be what any of its files may be."""
        view = _ProviderView(
            StatisticsProvider(self.source.name, {leaf.columns[0]: parts.statistics}), len(parts.statistics)
        )
        united = np.full(self._n, outcome.UNKNOWN, np.uint8)
        united[parts.slice_of] = outcome.EMPTY
        np.bitwise_or.at(
            united, parts.slice_of, _broadcast(test_outcome(leaf.test, view.range_of), len(parts.statistics))
        )
        return united

    def knows(self, column: BoundColumn) -> bool:
        return column.field.name in self.source.statistics

    def range_of(self, operand: BoundOperand) -> Range:
        return _array_range(operand, self.column_range, self.statistics_of, self._n)

    def statistics_of(self, column: BoundColumn) -> ColumnStatistics | None:
        return self.source.statistics.get(column.field.name)

    def column_range(self, column: BoundColumn) -> Range:
        name = column.field.name
        if name not in self._ranges:
            statistics = self.statistics_of(column)
            self._ranges[name] = _unknown_range(column) if statistics is None else _range_of_statistics(statistics)
        found = self._ranges[name]
        return replace(found, null=True) if column.is_nested else found


class _JointView:
    """All sources together, for a leaf over several columns: each column from the first source that knows it."""

    def __init__(self, views: Sequence[_ProviderView], n: int) -> None:
        self._views = views
        self._n = n

    def _view_of(self, column: BoundColumn) -> _ProviderView | None:
        return next((view for view in self._views if view.knows(column)), None)

    def range_of(self, operand: BoundOperand) -> Range:
        return _array_range(operand, self._column_range, self._statistics_of, self._n)

    def _column_range(self, column: BoundColumn) -> Range:
        view = self._view_of(column)
        return _unknown_range(column) if view is None else view.column_range(column)

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
            return _unknown_range(operand)
        case BoundFunction():
            return _function_range(operand, statistics_of, n)


def _range_of_statistics(statistics: ColumnStatistics) -> Range:
    lo_unknown, hi_unknown = statistics.unknown_bounds
    return Range(
        MaskedBound(statistics.lo, lo_unknown),
        MaskedBound(statistics.hi, hi_unknown),
        statistics.any_null,
        statistics.any_value,
    )


def _results_of(statistics: ColumnStatistics) -> Callable[[BoundOperand], Range]:
    """Statistics of what a function yields, in the form in which functions yield it (``language.interval``)."""

    def yielded(bounds: Bounds) -> Bounds:
        if statistics.type.kind.is_fractional:
            return bounds
        whole = bounds if bounds.dtype == object else bounds.astype(object)
        if statistics.type.kind is not Kind.DECIMAL:
            return whole
        scaled = np.empty(len(whole), object)
        scaled[:] = [Fraction(int(value), 10**statistics.type.scale) for value in whole.tolist()]
        return scaled

    results = _range_of_statistics(replace(statistics, lo=yielded(statistics.lo), hi=yielded(statistics.hi)))

    def range_of(operand: BoundOperand) -> Range:
        return results if isinstance(operand, BoundFunction) else _unknown_range(operand)

    return range_of


def _function_range(
    function: BoundFunction, statistics_of: Callable[[BoundColumn], ColumnStatistics | None], n: int
) -> Range:
    """A function over columns, once for each distinct input; the results are spread over the slices.

    Inputs beyond ``FUNCTION_INPUTS`` are unknown: a slow answer would cost more than it saves.
    """
    known = {column.field.name: statistics_of(column) for column in _columns(function)}
    columns = [(name, statistics) for name, statistics in known.items() if statistics is not None]
    places: dict[Any, int] = {}
    which = np.zeros(n, np.intp)
    if columns:
        rows = zip(*(rows_of(statistics) for _, statistics in columns), strict=True)
        which[:] = [places.setdefault(row, len(places)) for row in rows]
        which[which >= FUNCTION_INPUTS] = min(len(places), FUNCTION_INPUTS)
    else:
        places[()] = 0
    results: list[Interval] = []
    for key in islice(places, FUNCTION_INPUTS):
        at = {name: interval_of_row(statistics, row) for (name, statistics), row in zip(columns, key, strict=True)}
        results.append(interval_of(function, at, ordinal=False))
    results.append(UNKNOWN)  # for the inputs that are too many
    fill = _filler_of(function)
    dtype = array_dtype(function.type) if function.type.kind.is_fractional else np.dtype(object)

    def spread(values: Sequence[Any], of: Any) -> npt.NDArray[Any]:
        distinct = np.empty(len(values), of)
        distinct[:] = values
        return distinct[which]

    lo = MaskedBound(
        spread([fill if r.lo is None else r.lo for r in results], dtype),
        spread([r.lo is None for r in results], np.bool_),
    )
    hi = MaskedBound(
        spread([fill if r.hi is None else r.hi for r in results], dtype),
        spread([r.hi is None for r in results], np.bool_),
    )
    return Range(lo, hi, spread([r.null for r in results], np.bool_), spread([r.value for r in results], np.bool_))


def _columns(function: BoundFunction) -> list[BoundColumn]:
    found: list[BoundColumn] = []
    stack: list[BoundOperand] = [function]
    while stack:
        match stack.pop():
            case BoundColumn() as column:
                found.append(column)
            case BoundFunction(arguments=arguments):
                stack.extend(arguments)
            case _:
                pass
    return found
