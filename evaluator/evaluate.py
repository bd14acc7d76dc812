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

from evaluator import outcome, small
from evaluator.bind import BoundExpression, BoundLeaf, Instruction
from evaluator.columns import ColumnStatistics, Parts, array_dtype, filler, lanes_of
from evaluator.descent import descend
from evaluator.interval import UNKNOWN, Interval
from evaluator.leaves import Comparison, Fixed, Test, test_outcome
from evaluator.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.outcome import Outcomes
from evaluator.planes import formula_of, needs_itself, polarities
from evaluator.ranges import MaskedBound, Range, masked_range_of, range_of
from evaluator.schema import Field
from evaluator.search import DEEPEST, depth_of, search
from evaluator.single_bounds import Where
from evaluator.types import Kind

__all__ = ["Evaluation", "LeafAnswer", "MayHold", "Source", "evaluate", "evaluate_slice", "interval_at"]

#: Distinct inputs for which one function is computed, at about 15 microseconds each.
FUNCTION_INPUTS = 200_000
#: Up to here each slice is asked by itself.
_FEWEST_TO_DESCEND = 64

Mask = npt.NDArray[np.bool_]
#: ``(k,) int64`` numbers of slices, ascending.
Rows = npt.NDArray[np.int64]
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

    def take(self, rows: npt.NDArray[Any], columns: Sequence[str]) -> Source:
        """The statistics of some columns in some slices."""
        return Source(self.name, {name: self.statistics[name].take(rows) for name in columns
                                  if name in self.statistics})


class LeafAnswer:
    """What one leaf of the filter is in every slice; computed when it is asked for.

    outcomes    ``(n,) uint8``: the answers of all sources intersected
    by_source   as each source gave them, if it had something to say
    """

    def __init__(self, answers: _Answers, leaf: BoundLeaf) -> None:
        self._answers = answers
        self._leaf = leaf

    @cached_property
    def by_source(self) -> Mapping[str, Outcomes]:
        return self._answers.by_source(self._leaf)

    @cached_property
    def outcomes(self) -> Outcomes:
        return self._answers.of(self._leaf, self.by_source)


class Evaluation:
    """The outcome of a filter in n slices, worked out as far as it is asked for.

    ``kept_rows`` comes first and looks at as few bounds as it can; the other values of the kept slices follow, and what
    every leaf is in every slice is there for people. All of it is one evaluation: nothing is found out twice.
    """

    def __init__(self, bound: BoundExpression, n: int, sources: Sequence[Source]) -> None:
        self.bound = bound
        self.n = n
        self._sources = sources
        self._held: dict[tuple[int, str], Mask] = {}  # by leaf (its id) and source
        answering = [source for source in sources if source.may_hold is not None]
        self._asks_keys = bool(answering) and any(leaf.lookup is not None for leaf in bound.leaves)

    @cached_property
    def _everywhere(self) -> _Answers:
        return _Answers(self._sources, self.n, self._allowed)

    @cached_property
    def leaves(self) -> tuple[LeafAnswer, ...]:
        """What each leaf of the filter is, in the order of ``bound.leaves``."""
        return tuple(LeafAnswer(self._everywhere, leaf) for leaf in self.bound.leaves)

    @cached_property
    def kept_rows(self) -> Rows:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        rows = self._searched()
        if not len(rows) or not self._asks_keys:
            return rows
        asked = [(index, leaf, source) for index, leaf in enumerate(self.bound.leaves) if leaf.lookup is not None
                 for source in self._sources if source.may_hold is not None]
        negated = {step.operand: under_not for step, under_not in
                   zip(self.bound.program, polarities(self.bound.program), strict=True) if step.operation == "leaf"}
        for index, leaf, source in asked:
            if not negated[index]:
                self._look_up(index, leaf, source, rows)
        if not self._held:
            return rows
        return _where(rows, self.outcomes_at(rows) & outcome.TRUE)

    @cached_property
    def keep(self) -> Mask:
        """``(n,) bool``: TRUE is possible."""
        kept: Mask = np.zeros(self.n, np.bool_)
        kept[self.kept_rows] = True
        return kept

    @cached_property
    def fully_matched_rows(self) -> Rows:
        """``(k,) int64``, ascending: the kept slices in which nothing but TRUE is possible."""
        return _where(self.kept_rows, self.outcomes_at(self.kept_rows) == outcome.TRUE)

    @cached_property
    def fully_matched(self) -> Mask:
        """``(n,) bool``: nothing but TRUE is possible."""
        matched: Mask = np.zeros(self.n, np.bool_)
        matched[self.fully_matched_rows] = True
        return matched

    @cached_property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        if self._asks_keys:
            _ = self.kept_rows  # keys are looked up for the slices that statistics leave, once
        if not self._held and self._few is not None:
            return self._few
        return _run(self.bound.program, [answer.outcomes for answer in self.leaves], self.n)

    def outcomes_at(self, rows: Rows) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        if (not self._asks_keys and (len(rows) * 2 > self.n or "outcomes" in self.__dict__)) or (
                not self._held and self._few is not None):
            found: Outcomes = self.outcomes[rows]
            return found
        return _run(self.bound.program, [self.leaf_at(index, rows) for index in range(len(self.bound.leaves))],
                    len(rows))

    def _searched(self) -> Rows:
        """The slices that statistics leave."""
        if self.n <= small.MOST_SLICES:
            return self._few_kept()
        leaves = self.bound.leaves
        rest = [needs_itself(leaf.test) or self._has_parts(leaf) for leaf in leaves]
        formula = formula_of(self.bound, [source.statistics for source in self._sources], rest)
        if depth_of(formula) > DEEPEST:
            found = _run(self.bound.program, [answer.outcomes for answer in self.leaves], self.n)
            return np.flatnonzero(found & outcome.TRUE)
        return search(formula, self.n, self._rest)

    # -- a few slices, by statistics alone

    @cached_property
    def _few(self) -> Outcomes | None:
        """The outcomes of a few slices; None when there are many."""
        if self.n > small.MOST_SLICES:
            return None
        ones = small.ones_of(self.n)
        leaves = [sum(self._lanes(index, value, ones) << value for value in range(3))
                  for index in range(len(self.bound.leaves))]
        lanes = small.run(self.bound.program, leaves, ones)
        return np.frombuffer(lanes.to_bytes(self.n, "little"), np.uint8)

    def _few_kept(self) -> Rows:
        program = self.bound.program
        negated, ones = polarities(program), small.ones_of(self.n)
        leaves = [0] * len(self.bound.leaves)
        for step, under_not in zip(program, negated, strict=True):
            if step.operation == "leaf":
                leaves[step.operand] = self._lanes(step.operand, 1 if under_not else 0, ones)
        lanes = small.run_keep(program, negated, leaves, ones)
        return np.flatnonzero(np.frombuffer(lanes.to_bytes(self.n, "little"), np.bool_))

    def _lanes(self, index: int, value: int, ones: int) -> int:
        """Where leaf ``index`` can be TRUE (``value`` 0), FALSE (1) or NULL (2)."""
        leaf = self.bound.leaves[index]
        if len(leaf.columns) <= 1:
            knowing = self._sources
            if len(knowing) > 1 and leaf.columns:
                knowing = [source for source in knowing if leaf.columns[0] in source.statistics]
            if len(knowing) == 1:
                lanes = small.can_be(value, leaf.test, knowing[0].statistics, ones)
                if lanes is not None:
                    return lanes
        return lanes_of(self._everywhere.by_statistics(leaf) >> np.uint8(value) & np.uint8(1))

    def _has_parts(self, leaf: BoundLeaf) -> bool:
        return len(leaf.columns) == 1 and any(
            s.statistics[leaf.columns[0]].parts is not None for s in self._sources if leaf.columns[0] in s.statistics)

    def _rest(self, index: int, negated: bool, where: Where) -> Mask:
        wanted = outcome.FALSE if negated else outcome.TRUE
        if isinstance(where, slice) and where.stop - where.start == self.n:
            found = self._everywhere.by_statistics(self.bound.leaves[index])
        else:
            found = self.leaf_at(index, np.arange(where.start, where.stop) if isinstance(where, slice) else where)
        possible: Mask = (found & wanted) != 0
        return possible

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        leaf, answer = self.bound.leaves[index], self.leaves[index]
        if "outcomes" in answer.__dict__ and not self._asks_keys:
            known: Outcomes = answer.outcomes[rows]
            return known
        some = _Answers([source.take(rows, leaf.columns) for source in self._sources], len(rows),
                        lambda name, of: None if (held := self._allowed(name, of)) is None else held[rows])
        return some.of(leaf, some.by_source(leaf))

    def _allowed(self, source: str, leaf: BoundLeaf) -> Outcomes | None:
        held = self._held.get((id(leaf), source))
        return None if held is None else np.where(held, np.uint8(outcome.UNKNOWN),
                                                  np.uint8(outcome.FALSE | outcome.NULL))

    def _look_up(self, index: int, leaf: BoundLeaf, source: Source, rows: Rows) -> None:
        """Ask a source for the keys of a leaf, in the slices where all else leaves it open."""
        assert leaf.lookup is not None
        assert source.may_hold is not None
        open_rows = rows
        if any(step.operation == "or" for step in self.bound.program):  # else what is kept is open at every leaf
            open_rows = _where(rows, self.leaf_at(index, rows) & outcome.TRUE)
        if len(open_rows):
            candidates: Mask = np.zeros(self.n, np.bool_)
            candidates[open_rows] = True
            found = source.may_hold(leaf.lookup.column, leaf.lookup.values, candidates)
            if found is not None:
                self._held[id(leaf), source.name] = found | ~candidates


def _where(rows: Rows, flags: npt.NDArray[Any]) -> Rows:
    found: Rows = rows[flags != 0]
    return found


def evaluate(bound: BoundExpression, n: int, sources: Sequence[Source]) -> Evaluation:
    """The outcomes of a bound filter over n slices, from what the sources know. No source at all: all is unknown."""
    return Evaluation(bound, n, sources)


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


class _Answers:
    """The answers of all sources for n slices: one view per source, ranges of columns made once."""

    def __init__(self, sources: Sequence[Source], n: int, allowed: Callable[[str, BoundLeaf], Outcomes | None]) -> None:
        self._n = n
        self._views = [_SourceView(source, n) for source in sources]
        self._allowed = allowed

    def by_source(self, leaf: BoundLeaf) -> Mapping[str, Outcomes]:
        """What each source says of a leaf, by its statistics and by the keys that it was asked for."""
        found: dict[str, Outcomes] = {}
        for view in self._views if leaf.columns else ():
            said = [answer for answer in (view.answer(leaf), self._allowed(view.source.name, leaf))
                    if answer is not None]
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
    operands = (test.left, test.right) if isinstance(test, Comparison) else (
        () if isinstance(test, Fixed) else (test.operand,))
    return any(isinstance(operand, BoundFunction) for operand in operands)


def _unknown_range(operand: BoundOperand) -> Range:
    """A constant, or a column of which nothing is known, the same in every slice."""
    interval = operand.interval if isinstance(operand, BoundConstant) else UNKNOWN
    return masked_range_of(interval, _filler_of(operand))


def _filler_of(operand: BoundOperand) -> object:
    return filler(operand.type)


def _interval_of(operand: BoundOperand, statistics: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    """The interval of an operand in one slice; a column as an argument of a function is in value form.

    Functions may be nested as deeply as filters: their arguments are computed without recursion.
    """
    if not isinstance(operand, BoundFunction):
        return _known_of(operand, statistics, ordinal=ordinal)
    pending: list[tuple[BoundFunction, list[Interval]]] = [(operand, [])]
    while True:
        function, known = pending[-1]
        if len(known) < len(function.arguments):
            argument = function.arguments[len(known)]
            if isinstance(argument, BoundFunction):
                pending.append((argument, []))
            else:
                known.append(_known_of(argument, statistics, ordinal=False))
            continue
        pending.pop()
        result = function.interval(known)
        if not pending:
            return result
        pending[-1][1].append(result)


def _known_of(operand: BoundColumn | BoundConstant, statistics: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    if isinstance(operand, BoundConstant):
        return operand.interval
    interval = statistics.get(operand.field.name, UNKNOWN)
    if operand.is_nested:
        interval = interval.nullable()
    return interval if ordinal else _value_form(interval, operand)


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

    def answer(self, leaf: BoundLeaf) -> Outcomes | None:
        """The outcomes of a leaf from this source's statistics alone, or None when it knows none of the columns."""
        if not any(name in self.source.statistics for name in leaf.columns):
            return None
        if len(leaf.columns) == 1 and self._n > _FEWEST_TO_DESCEND and _holds_function(leaf.test):
            result = self._by_descent(leaf)
        else:
            result = _broadcast(test_outcome(leaf.test, self.range_of), self._n)
        known = self.source.statistics[leaf.columns[0]] if len(leaf.columns) == 1 else None
        if known is not None and known.parts is not None:
            result = result & self._by_part(leaf, known.parts)
        return result

    def _by_descent(self, leaf: BoundLeaf) -> Outcomes:
        name = leaf.columns[0]

        def ask(interval: Interval) -> int:
            def scalar_range(operand: BoundOperand) -> Range:
                return range_of(_interval_of(operand, {name: interval}, ordinal=True))
            return int(test_outcome(leaf.test, scalar_range))

        return descend(self.source.statistics[name], ask)

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
    lo_unknown, hi_unknown = statistics.unknown_bounds
    return Range(MaskedBound(statistics.lo, lo_unknown), MaskedBound(statistics.hi, hi_unknown), statistics.any_null,
                 statistics.any_value)


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
