"""Evaluation: from a bound filter and statistics to the outcome of every slice (contracts C1, C6).

The entrance to the evaluator. Which slices are kept comes first, by the cheapest way for their number:

    up to 200 slices   plain Python values                    small
    more               a search of the filter's formula       pruning_formula, formula_search

Everything else (outcomes, fully matched slices, what each leaf said) is worked out on arrays when it is asked for
(``evaluator.evaluation.leaf_outcomes``), for the slices that it is asked for. ``evaluate_slice`` answers for one slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import BoundExpression, Instruction
from evaluator.binding.leaves import BoundLeaf
from evaluator.binding.statistics_provider import Match, MightContain, StatisticsProvider
from evaluator.evaluation import small
from evaluator.evaluation.formula_search import DEEPEST, depth_of, search
from evaluator.evaluation.leaf_outcomes import Answers
from evaluator.evaluation.one_slice import evaluate_slice, interval_at
from evaluator.evaluation.pruning_formula import formula_of, needs_itself, polarities
from evaluator.evaluation.single_bounds import Where
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes
from evaluator.statistics.columns import byte_mask

__all__ = [
    "Evaluation",
    "LeafAnswer",
    "MightContain",
    "StatisticsProvider",
    "evaluate",
    "evaluate_slice",
    "interval_at",
]

Mask = npt.NDArray[np.bool_]
#: ``(k,) int64`` numbers of slices, ascending.
Rows = npt.NDArray[np.int64]


class LeafAnswer:
    """What one leaf of the filter is in every slice; computed when it is asked for.

    outcomes    ``(n,) uint8``: the answers of all sources intersected
    by_source   as each source gave them, if it had something to say
    """

    def __init__(self, answers: Answers, leaf: BoundLeaf) -> None:
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

    def __init__(self, bound: BoundExpression, n: int, sources: Sequence[StatisticsProvider]) -> None:
        self.bound = bound
        self.n = n
        self._sources = sources
        self._held: dict[tuple[int, str], Mask] = {}  # by leaf (its id) and source
        answering = [source for source in sources if source.might_contain is not None]
        self._asks_keys = bool(answering) and any(leaf.lookup is not None for leaf in bound.leaves)
        self._asks_matches = any(source.filter_might_match is not None for source in sources)
        self._matches: dict[str, Match] = {}  # by source
        self._impossible: Mask | None = None  # where one of them says that the filter is never TRUE

    @cached_property
    def _everywhere(self) -> Answers:
        return Answers(self._sources, self.n, self._allowed)

    @cached_property
    def leaves(self) -> tuple[LeafAnswer, ...]:
        """What each leaf of the filter is, in the order of ``bound.leaves``."""
        return tuple(LeafAnswer(self._everywhere, leaf) for leaf in self.bound.leaves)

    @cached_property
    def kept_rows(self) -> Rows:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        rows = self._searched()
        if len(rows) and self._asks_keys:
            rows = self._with_keys(rows)
        if len(rows) and self._asks_matches:
            rows = self._matched(rows)
        return rows

    def _with_keys(self, rows: Rows) -> Rows:
        """Those of the slices that the keys of the leaves leave."""
        asked = [
            (index, leaf, source)
            for index, leaf in enumerate(self.bound.leaves)
            if leaf.lookup is not None
            for source in self._sources
            if source.might_contain is not None
        ]
        negated = {
            step.operand: under_not
            for step, under_not in zip(self.bound.program, polarities(self.bound.program), strict=True)
            if step.operation == "leaf"
        }
        every_leaf_must_hold = all(step.operation in ("leaf", "and") for step in self.bound.program)
        left = rows
        for index, leaf, source in asked:
            if not negated[index] and len(left):
                self._look_up(index, leaf, source, left)
                if every_leaf_must_hold and (held := self._held.get((id(leaf), source.name))) is not None:
                    left = left[held[left]]
        if not self._held:
            return rows
        return _where(rows, self.outcomes_at(rows) & outcome.TRUE)

    @property
    def matches(self) -> Mapping[str, Match]:
        """By source, what it said of the filter as a whole, if it did: of the slices that all before it had left."""
        _ = self.kept_rows
        return self._matches

    def _matched(self, rows: Rows) -> Rows:
        """Those of the slices in which the whole filter can be TRUE, as far as sources say so."""
        impossible: Mask = np.zeros(self.n, np.bool_)
        for source in self._sources:
            if source.filter_might_match is None or not len(rows):
                continue
            candidates: Mask = np.zeros(self.n, np.bool_)
            candidates[rows] = True
            match = source.filter_might_match(self.bound, candidates)
            if match is not None:
                impossible[rows] |= ~match.filter_might_match[rows]
                self._matches[source.name] = replace(match, filter_might_match=match.filter_might_match | ~candidates)
                rows = rows[match.filter_might_match[rows]]
        self._impossible = impossible if self._matches else None
        return rows

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
        if self._asks_keys or self._asks_matches:
            _ = self.kept_rows  # keys are looked up for the slices that statistics leave, once
        found = self._few if not self._held else None
        if found is None:
            found = _run(self.bound.program, [answer.outcomes for answer in self.leaves], self.n)
        return self._possible(found)

    def outcomes_at(self, rows: Rows) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        if (not self._asks_keys and (len(rows) * 2 > self.n or "outcomes" in self.__dict__)) or (
            not self._held and self._few is not None
        ):
            found: Outcomes = self.outcomes[rows]
            return found
        return self._possible(
            _run(self.bound.program, [self.leaf_at(index, rows) for index in range(len(self.bound.leaves))], len(rows)),
            rows,
        )

    def _possible(self, outcomes: Outcomes, rows: Rows | None = None) -> Outcomes:
        """The outcomes without TRUE where a match says that the filter is never TRUE."""
        if self._impossible is None:
            return outcomes
        impossible = self._impossible if rows is None else self._impossible[rows]
        return np.where(impossible, outcomes & np.uint8(outcome.UNKNOWN ^ outcome.TRUE), outcomes)

    def _searched(self) -> Rows:
        """The slices that statistics leave."""
        if self.n <= small.MAX_SLICES:
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
        if self.n > small.MAX_SLICES:
            return None
        ones = small.ones_of(self.n)
        leaves = [
            sum(self._lanes(index, value, ones) << value for value in range(3))
            for index in range(len(self.bound.leaves))
        ]
        lanes = small.run(self.bound.program, leaves, ones)
        return np.frombuffer(lanes.to_bytes(self.n, "little"), np.uint8)

    def _few_kept(self) -> Rows:
        program = self.bound.program
        if program[-1].operation == "and" and program[-1].operand == len(program) - 1:  # leaves, and their AND
            left = ones = small.ones_of(self.n)
            for step in program[:-1]:
                left &= self._lanes(step.operand, 0, ones)
                if not left:
                    break
            return np.flatnonzero(np.frombuffer(left.to_bytes(self.n, "little"), np.bool_))
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
        return byte_mask(self._everywhere.by_statistics(leaf) >> np.uint8(value) & np.uint8(1))

    def _has_parts(self, leaf: BoundLeaf) -> bool:
        return len(leaf.columns) == 1 and any(
            s.statistics[leaf.columns[0]].parts is not None for s in self._sources if leaf.columns[0] in s.statistics
        )

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
        some = Answers(
            [source.take(rows, leaf.columns) for source in self._sources],
            len(rows),
            lambda name, of: None if (held := self._allowed(name, of)) is None else held[rows],
        )
        return some.of(leaf, some.by_source(leaf))

    def _allowed(self, source: str, leaf: BoundLeaf) -> Outcomes | None:
        held = self._held.get((id(leaf), source))
        return (
            None if held is None else np.where(held, np.uint8(outcome.UNKNOWN), np.uint8(outcome.FALSE | outcome.NULL))
        )

    def hold(self, leaf: BoundLeaf, source: str, might_contain: Mask) -> None:
        """Keep what a source said of the keys of a leaf, ``(n,) bool``: what is asked from now on heeds it."""
        self._held[id(leaf), source] = might_contain
        self._asks_keys = True

    def _look_up(self, index: int, leaf: BoundLeaf, source: StatisticsProvider, rows: Rows) -> None:
        """Ask a source for the keys of a leaf, in the slices where all else leaves it open."""
        assert leaf.lookup is not None
        assert source.might_contain is not None
        open_rows = rows
        if any(step.operation == "or" for step in self.bound.program):  # else what is kept is open at every leaf
            open_rows = _where(rows, self.leaf_at(index, rows) & outcome.TRUE)
        for (asked, _), held in self._held.items():
            if asked == id(leaf):
                open_rows = open_rows[held[open_rows]]
        if len(open_rows):
            candidates: Mask = np.zeros(self.n, np.bool_)
            candidates[open_rows] = True
            found = source.might_contain(leaf.lookup, candidates)
            if found is not None:
                self.hold(leaf, source.name, found | ~candidates)


def _where(rows: Rows, flags: npt.NDArray[Any]) -> Rows:
    found: Rows = rows[flags != 0]
    return found


def evaluate(bound: BoundExpression, n: int, sources: Sequence[StatisticsProvider]) -> Evaluation:
    """The outcomes of a bound filter over n slices, from what the sources know. No source at all: all is unknown."""
    return Evaluation(bound, n, sources)


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
