"""Evaluation: from a bound filter and statistics to the outcome of every slice (contracts C1, C6).

Two renderings of one rule table. ``evaluate`` takes all slices at once, as arrays, from any number of sources (one per
index kind) and intersects what they answer, leaf by leaf. ``evaluate_slice`` takes one slice as intervals. Functions
over columns are
computed once per distinct pair of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator import outcome
from evaluator.bind import BoundExpression, BoundLeaf, Instruction
from evaluator.columns import ColumnStatistics, Parts, array_dtype, filler
from evaluator.interval import UNKNOWN, Interval
from evaluator.leaves import test_outcome
from evaluator.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.outcome import Outcomes
from evaluator.ranges import MaskedBound, Range, masked_range_of, range_of
from evaluator.schema import Field
from evaluator.types import Kind

__all__ = ["Evaluation", "LeafAnswer", "MayHold", "Source", "evaluate", "evaluate_slice", "interval_at"]

#: Distinct inputs for which one function is computed, at about 15 microseconds each.
FUNCTION_INPUTS = 200_000

MayHold = Callable[[Field, Sequence[object], "npt.NDArray[np.bool_]"], "npt.NDArray[np.bool_] | None"]


@dataclass(frozen=True, slots=True)
class Source:
    """What one index kind says: statistics by column name, arrays in slice order, and look-ups of keys.

    ``may_hold(column, values, candidates)`` gives ``(n,) bool``: False where no row of the slice has any of the values;
    None: no answer. Only the candidates, ``(n,) bool``, need be looked at.
    """

    name: str
    statistics: Mapping[str, ColumnStatistics]
    may_hold: MayHold | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LeafAnswer:
    """The outcomes of one leaf: intersected, and as each source gave them (only sources that had something to say)."""

    outcomes: Outcomes
    by_source: Mapping[str, Outcomes]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The outcome of each slice, ``(n,) uint8``, and the answers of the leaves in the order of
    ``BoundExpression.leaves``.
    """

    outcomes: Outcomes
    leaves: tuple[LeafAnswer, ...]

    @cached_property
    def keep(self) -> npt.NDArray[np.bool_]:
        """``(n,) bool``: TRUE is possible."""
        kept: npt.NDArray[np.bool_] = (self.outcomes & outcome.TRUE) != 0
        return kept

    @cached_property
    def fully_matched(self) -> npt.NDArray[np.bool_]:
        """``(n,) bool``: nothing but TRUE is possible."""
        matched: npt.NDArray[np.bool_] = self.outcomes == outcome.TRUE
        return matched


def evaluate(bound: BoundExpression, n: int, sources: Sequence[Source]) -> Evaluation:
    """The outcomes of a bound filter over n slices, from what the sources know. No source at all: all is unknown."""
    views = [_SourceView(source, n) for source in sources]
    answers = tuple(_answer(leaf, n, views) for leaf in bound.leaves)
    return Evaluation(_run(bound.program, [a.outcomes for a in answers], n), answers)


def evaluate_slice(bound: BoundExpression, statistics: Mapping[str, Interval]) -> int:
    """The outcome of one slice from intervals of its columns, in the form of the columns' arrays (``interval_at``)."""

    def scalar_range(operand: BoundOperand) -> Range:
        return range_of(_interval_of(operand, statistics, ordinal=True))

    stack: list[int] = []
    for step in bound.program:
        match step.operation:
            case "leaf":
                stack.append(int(test_outcome(bound.leaves[step.operand].test, scalar_range)))
            case "not":
                stack.append(outcome.NOT_TABLE[stack.pop()])
            case operation:
                table = outcome.AND_TABLE if operation == "and" else outcome.OR_TABLE
                result = outcome.TRUE if operation == "and" else outcome.FALSE
                for _ in range(step.operand):
                    result = table[result << 3 | stack.pop()]
                stack.append(result)
    return stack[0]


def interval_at(statistics: ColumnStatistics, index: int) -> Interval:
    """One slice's statistics of a column as an interval, in the form of the arrays."""
    [row] = _rows(statistics.take(np.array([index])))
    return _interval(statistics, *row)


def _rows(statistics: ColumnStatistics) -> Iterator[tuple[Any, Any, bool, bool, bool, bool]]:
    """Slice by slice as Python values: lo, hi, lo known, hi known, may be null, may be a value."""
    return zip(statistics.lo.tolist(), statistics.hi.tolist(), statistics.lo_known.tolist(),
               statistics.hi_known.tolist(), statistics.may_be_null.tolist(), statistics.may_be_value.tolist(),
               strict=True)


def _interval(statistics: ColumnStatistics, lo: Any, hi: Any, lo_known: bool, hi_known: bool, null: bool,
              value: bool) -> Interval:
    if statistics.type.kind.is_fractional and not (lo_known and hi_known and lo == lo and hi == hi):
        lo_known = hi_known = False  # NaN may be among the values: it has no place in an order
    return Interval(lo if lo_known else None, hi if hi_known else None, null, value)


def _run(program: Sequence[Instruction], leaves: Sequence[Outcomes], n: int) -> Outcomes:
    stack: list[Outcomes] = []
    for step in program:
        match step.operation:
            case "leaf":
                stack.append(leaves[step.operand])
            case "not":
                stack.append(outcome.negate(stack.pop()))
            case operation:
                parts = [stack.pop() for _ in range(step.operand)]
                stack.append(outcome.conjoin(parts, n) if operation == "and" else outcome.disjoin(parts, n))
    return stack[0]


def _answer(leaf: BoundLeaf, n: int, views: Sequence[_SourceView]) -> LeafAnswer:
    by_source: dict[str, Outcomes] = {}
    if not leaf.columns:
        return LeafAnswer(_broadcast(test_outcome(leaf.test, _unknown_range), n), by_source)
    total: Outcomes | None = None
    for view in views:
        answer = view.answer(leaf, total)
        if answer is not None:
            by_source[view.source.name] = answer
            total = answer if total is None else total & answer
    if total is None or (len(leaf.columns) > 1 and len(views) > 1):
        joint = _JointView(views, n)
        answer = _broadcast(test_outcome(leaf.test, joint.range_of), n)
        total = answer if total is None else total & answer
    return LeafAnswer(total, by_source)


def _broadcast(answer: Any, n: int) -> Outcomes:
    if isinstance(answer, np.ndarray) and answer.shape == (n,):
        return answer
    return np.full(n, int(answer), np.uint8)


def _unknown_range(operand: BoundOperand) -> Range:
    """A constant, or a column of which nothing is known, the same in every slice."""
    interval = operand.interval if isinstance(operand, BoundConstant) else UNKNOWN
    return masked_range_of(interval, _filler_of(operand))


def _filler_of(operand: BoundOperand) -> object:
    return filler(operand.type)


def _interval_of(operand: BoundOperand, statistics: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    """The interval of an operand in one slice; a column as an argument of a function is in value form."""
    match operand:
        case BoundConstant(interval=interval):
            return interval
        case BoundColumn():
            interval = statistics.get(operand.field.name, UNKNOWN)
            if operand.is_nested:
                interval = interval.nullable()
            return interval if ordinal else _value_form(interval, operand)
        case BoundFunction(arguments=arguments):
            return operand.interval([_interval_of(a, statistics, ordinal=False) for a in arguments])


def _value_form(interval: Interval, column: BoundColumn) -> Interval:
    if column.type.kind is not Kind.DECIMAL:
        return interval
    scale = 10**column.field.type.scale
    return interval.with_bounds(*(None if bound is None else Fraction(int(bound), scale)
                                  for bound in (interval.lo, interval.hi)))


class _SourceView:
    """One source during one evaluation: ranges of columns are made once."""

    def __init__(self, source: Source, n: int) -> None:
        self.source = source
        self._n = n
        self._ranges: dict[str, Range] = {}

    def answer(self, leaf: BoundLeaf, others: Outcomes | None) -> Outcomes | None:
        """The outcomes of a leaf from this source alone, or None when it knows none of the columns.

        ``others`` is what the sources before it left: only where that is TRUE, a key need be looked up.
        """
        result: Outcomes | None = None
        if any(name in self.source.statistics for name in leaf.columns):
            result = _broadcast(test_outcome(leaf.test, self.range_of), self._n)
            known = self.source.statistics[leaf.columns[0]] if len(leaf.columns) == 1 else None
            if known is not None and known.parts is not None:
                result = result & self._by_part(leaf, known.parts)
        if leaf.lookup is not None and self.source.may_hold is not None:
            candidates = np.ones(self._n, np.bool_) if others is None else (others & outcome.TRUE) != 0
            holds = self.source.may_hold(leaf.lookup.column, leaf.lookup.values, candidates)
            if holds is not None:
                allowed = np.where(holds, np.uint8(outcome.UNKNOWN), np.uint8(outcome.FALSE | outcome.NULL))
                result = allowed if result is None else result & allowed
        return result

    def _by_part(self, leaf: BoundLeaf, parts: Parts) -> Outcomes:
        """A leaf over one column, file by file; a slice may be what any of its files may be."""
        view = _SourceView(Source(self.source.name, {leaf.columns[0]: parts.statistics}), len(parts.statistics))
        united = np.full(self._n, outcome.UNKNOWN, np.uint8)
        united[parts.slice_of] = outcome.EMPTY
        np.bitwise_or.at(united, parts.slice_of, _broadcast(test_outcome(leaf.test, view.range_of),
        len(parts.statistics)))
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

    def __init__(self, views: Sequence[_SourceView], n: int) -> None:
        self._views = views
        self._n = n

    def _view_of(self, column: BoundColumn) -> _SourceView | None:
        return next((view for view in self._views if view.knows(column)), None)

    def range_of(self, operand: BoundOperand) -> Range:
        return _array_range(operand, self._column_range, self._statistics_of, self._n)

    def _column_range(self, column: BoundColumn) -> Range:
        view = self._view_of(column)
        return _unknown_range(column) if view is None else view.column_range(column)

    def _statistics_of(self, column: BoundColumn) -> ColumnStatistics | None:
        view = self._view_of(column)
        return None if view is None else view.statistics_of(column)


def _array_range(operand: BoundOperand, column_range: Callable[[BoundColumn], Range],
                 statistics_of: Callable[[BoundColumn], ColumnStatistics | None], n: int) -> Range:
    match operand:
        case BoundColumn():
            return column_range(operand)
        case BoundConstant():
            return _unknown_range(operand)
        case BoundFunction():
            return _function_range(operand, statistics_of, n)


def _range_of_statistics(statistics: ColumnStatistics) -> Range:
    lo_unknown, hi_unknown = ~statistics.lo_known, ~statistics.hi_known
    if statistics.type.kind.is_fractional:
        # NaN may be among the values unless both bounds are known: it has no place in an order (P3).
        unknown = lo_unknown | hi_unknown | np.isnan(statistics.lo) | np.isnan(statistics.hi)
        lo_unknown = hi_unknown = unknown
    return Range(MaskedBound(statistics.lo, _uniform(lo_unknown)), MaskedBound(statistics.hi, _uniform(hi_unknown)),
                 _uniform(statistics.may_be_null), _uniform(statistics.may_be_value))


def _uniform(flags: npt.NDArray[np.bool_]) -> Any:
    """One flag for all slices when they agree: the rules then leave out a pass over the array."""
    if len(flags) < 1024:
        return flags
    count = int(np.count_nonzero(flags))
    return False if count == 0 else True if count == len(flags) else flags


def _function_range(function: BoundFunction, statistics_of: Callable[[BoundColumn], ColumnStatistics | None],
                    n: int) -> Range:
    """A function over columns, once for each distinct input; the results are spread over the slices.

    Inputs beyond ``FUNCTION_INPUTS`` are unknown: a slow answer would cost more than it saves.
    """
    known = {column.field.name: statistics_of(column) for column in _columns(function)}
    columns = [(name, statistics) for name, statistics in known.items() if statistics is not None]
    places: dict[Any, int] = {}
    which = np.zeros(n, np.intp)
    if columns:
        rows = zip(*(_rows(statistics) for _, statistics in columns), strict=True)
        which[:] = [places.setdefault(row, len(places)) for row in rows]
        which[which >= FUNCTION_INPUTS] = min(len(places), FUNCTION_INPUTS)
    else:
        places[()] = 0
    results: list[Interval] = []
    for key in islice(places, FUNCTION_INPUTS):
        at = {name: _interval(statistics, *row) for (name, statistics), row in zip(columns, key, strict=True)}
        results.append(_interval_of(function, at, ordinal=False))
    results.append(UNKNOWN)  # for the inputs that are too many
    fill = _filler_of(function)
    dtype = array_dtype(function.type) if function.type.kind.is_fractional else np.dtype(object)

    def spread(values: Sequence[Any], of: Any) -> npt.NDArray[Any]:
        distinct = np.empty(len(values), of)
        distinct[:] = values
        return distinct[which]

    lo = MaskedBound(spread([fill if r.lo is None else r.lo for r in results], dtype),
                     spread([r.lo is None for r in results], np.bool_))
    hi = MaskedBound(spread([fill if r.hi is None else r.hi for r in results], dtype),
                     spread([r.hi is None for r in results], np.bool_))
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
