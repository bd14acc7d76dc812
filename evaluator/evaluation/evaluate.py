"""Evaluation: from a bound filter and statistics to the outcome of every slice. The entrance to the evaluator.

An evaluation answers one question for each slice of a table: which of TRUE, FALSE and NULL can the filter be on a row
of this slice? The answer is the slice's *outcome*, a set (contract C1). It holds every value that occurs, and it may
hold more, because statistics are bounds and not values.

    outcome          means                                      the engine
    ===============  =========================================  =========================================
    {true}           every row matches                          reads the slice and needs no filter there
    {true, ...}      some rows may match                        reads the slice and filters its rows
    without true     no row matches: FALSE or NULL on each      skips the slice
    {}               the slice has no row, by its statistics    skips the slice

A column without statistics can have any value, so a leaf over it is {true, false, null}, and the slice is kept unless
another leaf rules it out. That set stays what it is under NOT, AND and OR with other unknown leaves: a condition that
the evaluator does not understand can never cause a wrong skip.

**A worked example.** Three slices, and the filter ``i > 20 AND NOT (s = 'x')``:

    slice   i          s            i > 20          s = 'x'   NOT (s = 'x')   filter
    ------  ---------  -----------  --------------  --------  --------------  ------------------------
    0       [1, 9]     ['a', 'c']   {false}         {false}   {true}          {false}   skipped
    1       [15, 30]   ['x', 'x']   {true, false}   {true}    {false}         {false}   skipped
    2       [25, 40]   ['a', 'c']   {true}          {false}   {true}          {true}    fully matched

>>> from evaluator.binding.bind import bind
>>> from evaluator.language.expression import And, Column, Compare, Literal, Not
>>> from evaluator.language.schema import Field, Schema
>>> from evaluator.language.semantics import Semantics
>>> from evaluator.language.types import INT, STRING
>>> from evaluator.statistics.columns import from_values
>>> schema = Schema([Field("i", INT), Field("s", STRING)])
>>> large = Compare(">", Column(("i",)), Literal(20, INT))
>>> not_x = Not(Compare("=", Column(("s",)), Literal("x", STRING)))
>>> bound = bind(And((large, not_x)), schema, Semantics.named("spark", "UTC"))
>>> column_stats = StatisticsProvider("column_stats", {
...     "i": from_values(INT, lo=[1, 15, 25], hi=[9, 30, 40], null_count=[0, 0, 0]),
...     "s": from_values(STRING, lo=["a", "x", "a"], hi=["c", "x", "c"], null_count=[0, 0, 0]),
... })
>>> evaluation = evaluate(bound, 3, [column_stats])
>>> evaluation.kept_rows.tolist()
[2]
>>> evaluation.fully_matched_rows.tolist()
[2]
>>> from evaluator.language.outcome import describe
>>> [describe(outcome) for outcome in evaluation.outcomes.tolist()]
['{false}', '{false}', '{true}']
>>> [describe(outcome) for outcome in evaluation.leaves[0].outcomes.tolist()]
['{false}', '{true, false}', '{true}']

Without statistics of ``i`` slice 2 is still kept, but it is not known to match fully:

>>> only_s = StatisticsProvider("column_stats", {"s": column_stats.statistics["s"]})
>>> [describe(outcome) for outcome in evaluate(bound, 3, [only_s]).outcomes.tolist()]
['{true, false, null}', '{false}', '{true, false, null}']

**How outcomes combine.** Each value of the result is possible when it can arise from possible values of the operands:

    can be     NOT a         a AND b                                       a OR b
    =========  ============  ============================================  ============================================
    TRUE       a: FALSE      a: TRUE and b: TRUE                           a: TRUE or b: TRUE
    FALSE      a: TRUE       a: FALSE or b: FALSE                          a: FALSE and b: FALSE
    NULL       a: NULL       one is NULL, the other TRUE or NULL           one is NULL, the other FALSE or NULL

**The interface.** ``evaluate(bound, n, sources)`` makes an ``Evaluation``. Its properties are computed when they are
asked for, the kept slices first:

    kept_rows            (k,) int64    slices in which TRUE is possible, ascending
    fully_matched_rows   (k,) int64    slices in which nothing but TRUE is possible
    outcomes             (n,) uint8    the outcome of every slice, as bits (``evaluator.language.outcome``)
    outcomes_at(rows)    (k,) uint8    the outcomes of some slices
    leaves               by leaf       ``outcomes`` and ``by_provider``: the leaf in every slice
    matches              by provider   where the filter as a whole might match, by a provider

Three questions are asked in this order, each only for the slices that the ones before leave open:

    statistics      bounds and NULL counts of columns         ``evaluation.statistics_evaluation``
    keys            bloom filters, record index, buckets      ``evaluation.key_lookups``
    whole filter    indexes of rows                           ``StatisticsProvider.filter_might_match``

The outcomes by all providers are intersected (contract C6). ``evaluate_slice`` answers for one slice, from one interval
per column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.interval_evaluation import evaluate_slice
from evaluator.binding.statistics_provider import Match, MightContain, StatisticsProvider
from evaluator.evaluation.judged_by_file import judged_by_file
from evaluator.evaluation.key_lookups import KeyLookups
from evaluator.evaluation.not_null import not_null_columns
from evaluator.evaluation.slice_intervals import interval_at
from evaluator.evaluation.statistics_evaluation import LeafOutcomes, RowIndices, StatisticsEvaluation, outcomes_of
from evaluator.evaluation.whole_evaluation import WholeEvaluation
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes

__all__ = [
    "Evaluation",
    "LeafOutcomes",
    "MightContain",
    "StatisticsProvider",
    "evaluate",
    "evaluate_slice",
    "interval_at",
]

Mask = npt.NDArray[np.bool_]


def evaluate(bound: BoundExpression, n: int, sources: Sequence[StatisticsProvider]) -> Evaluation:
    """The outcomes of a bound filter over n slices by some providers. Without a provider every slice is kept.

    Columns that the schema declares NOT NULL have none (``evaluation.not_null``). Where the files of a slice have
    statistics of their own, conditions on one column are judged together (``evaluation.judged_by_file``).
    """
    providers = [*sources, *not_null_columns(bound, n, sources)]
    bound = judged_by_file(bound, sources)
    return Evaluation(bound, WholeEvaluation(bound, n, providers), providers)


class Evaluation:
    """The outcome of a filter in n slices, computed as far as it is asked for.

    ``kept_rows`` looks at as few bounds as it can. Everything else is computed on top of it, and nothing twice.
    """

    def __init__(
        self, bound: BoundExpression, statistics: StatisticsEvaluation, providers: Sequence[StatisticsProvider]
    ) -> None:
        self.bound = bound
        self.n = statistics.n
        self.providers = providers
        self._statistics = statistics
        self._lookups = KeyLookups.of(bound, statistics.n, providers)
        self._keys: KeyLookups | None = None  # the look-ups, once a provider has answered one
        self._matching = [provider for provider in providers if provider.filter_might_match is not None]
        self._matches: dict[str, Match] = {}  # by provider
        self._never_true: Mask | None = None  # where a provider rules out that the whole filter is TRUE
        self._before: Evaluation | None = None  # the same with one provider less, which has asked for keys and matches

    def narrowed_by(self, provider: StatisticsProvider, statistics: StatisticsEvaluation) -> Evaluation:
        """The outcomes with one provider more. ``statistics``: the evaluation by statistics with those of it.

        Keys that were looked up, and whole filters that were matched, are not asked for again.
        """
        self._ask_providers()
        narrowed = Evaluation(self.bound, statistics, [*self.providers, provider])
        narrowed._before = self
        narrowed._lookups, narrowed._keys = self._lookups, self._keys
        narrowed._matches, narrowed._never_true = self._matches, self._never_true
        return narrowed

    # -- which slices are kept

    @cached_property
    def kept_rows(self) -> RowIndices:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        rows = self._kept_by_statistics
        if self._before is not None:
            rows = rows[self._before.keep[rows]]
            return rows if self._keys is None else rows[(self._by_keys(rows) & outcome.TRUE) != 0]
        if self._lookups is not None and len(rows) and self._lookups.ask(rows, self._statistics.leaf_at):
            self._keys = self._lookups
            rows = rows[(self._by_keys(rows) & outcome.TRUE) != 0]
        return self._match_whole_filter(rows) if self._matching and len(rows) else rows

    @cached_property
    def keep(self) -> Mask:
        """``(n,) bool``: TRUE is possible."""
        return self._mask(self.kept_rows)

    @cached_property
    def fully_matched_rows(self) -> RowIndices:
        """``(k,) int64``, ascending: the kept slices in which nothing but TRUE is possible."""
        matched: RowIndices = self.kept_rows[self.outcomes_at(self.kept_rows) == outcome.TRUE]
        return matched

    @cached_property
    def fully_matched(self) -> Mask:
        """``(n,) bool``: nothing but TRUE is possible."""
        return self._mask(self.fully_matched_rows)

    @property
    def matches(self) -> Mapping[str, Match]:
        """By provider, where the filter as a whole might match, in the slices that the questions before it left."""
        _ = self.kept_rows
        return self._matches

    @property
    def declined(self) -> Mapping[tuple[int, str], str]:
        """By leaf and provider, why keys that the provider has were not looked up, or not in some slices."""
        _ = self.kept_rows
        return {} if self._lookups is None else self._lookups.declined

    def was_looked_up(self, index: int, provider: str) -> bool:
        """Whether a provider answered for a leaf, in some slices at least."""
        _ = self.kept_rows
        return self._lookups is not None and self._lookups.allowed(index, provider) is not None

    # -- outcomes

    @cached_property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        self._ask_providers()
        outcomes = self._statistics.outcomes
        if self._keys is not None:
            outcomes = outcomes.copy()
            outcomes[self._kept_by_statistics] = self._by_keys(self._kept_by_statistics)
        return self._without_true(outcomes, self._never_true)

    def outcomes_at(self, rows: RowIndices) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        self._ask_providers()
        never_true = None if self._never_true is None else self._never_true[rows]
        return self._without_true(self._with_keys(rows), never_true)

    @cached_property
    def leaves(self) -> tuple[LeafOutcomes, ...]:
        """What each leaf of the filter is in every slice, in the order of ``bound.leaves``."""
        self._ask_providers()
        keys, names = self._keys, [provider.name for provider in self.providers]
        if keys is None:
            return tuple(self._statistics.leaves)
        return tuple(
            _LeafWithKeys(leaf, {name: keys.allowed(index, name) for name in names})
            for index, leaf in enumerate(self._statistics.leaves)
        )

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        self._ask_providers()
        return self._leaf_with_keys(index, rows)

    # -- composition

    def _ask_providers(self) -> None:
        """Look up keys and match the whole filter, once, for the slices that statistics leave."""
        if self._lookups is not None or self._matching:
            _ = self.kept_rows

    @cached_property
    def _kept_by_statistics(self) -> RowIndices:
        return self._statistics.kept_by_statistics()

    @cached_property
    def _was_kept_by_statistics(self) -> Mask:
        return self._mask(self._kept_by_statistics)

    def _leaf_with_keys(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        outcomes = self._statistics.leaf_at(index, rows)
        return outcomes if self._keys is None else self._keys.restrict(index, outcomes, rows)

    def _by_keys(self, rows: RowIndices) -> Outcomes:
        """The outcomes of slices that statistics keep, from the leaves as far as keys leave them possible."""
        return outcomes_of(self.bound.program, lambda index: self._leaf_with_keys(index, rows), len(rows))

    def _with_keys(self, rows: RowIndices) -> Outcomes:
        """The outcomes of some slices by statistics and keys: keys were looked up where statistics keep a slice."""
        if self._keys is None:
            return self._statistics.outcomes_at(rows)
        was_kept = self._was_kept_by_statistics[rows]
        if was_kept.all():
            return self._by_keys(rows)
        outcomes: Outcomes = self._statistics.outcomes_at(rows).copy()
        outcomes[was_kept] = self._by_keys(rows[was_kept])
        return outcomes

    def _match_whole_filter(self, rows: RowIndices) -> RowIndices:
        """Those of the slices in which the whole filter can be TRUE, as far as providers tell."""
        never_true: Mask = np.zeros(self.n, np.bool_)
        for provider in self._matching:
            assert provider.filter_might_match is not None
            if not len(rows):
                break
            candidates = self._mask(rows)
            match = provider.filter_might_match(self.bound, candidates)
            if match is not None:
                might_match = match.filter_might_match
                never_true[rows] |= ~might_match[rows]
                self._matches[provider.name] = replace(match, filter_might_match=might_match | ~candidates)
                rows = rows[might_match[rows]]
        if self._matches:
            self._never_true = never_true
        return rows

    @staticmethod
    def _without_true(outcomes: Outcomes, never_true: Mask | None) -> Outcomes:
        if never_true is None:
            return outcomes
        return np.where(never_true, outcomes & np.uint8(outcome.FALSE | outcome.NULL), outcomes)

    def _mask(self, rows: RowIndices) -> Mask:
        mask: Mask = np.zeros(self.n, np.bool_)
        mask[rows] = True
        return mask


class _LeafWithKeys:
    """One leaf in every slice, by statistics and by keys."""

    def __init__(self, by_statistics: LeafOutcomes, allowed: Mapping[str, Outcomes | None]) -> None:
        self._by_statistics = by_statistics
        self._allowed = allowed

    @cached_property
    def by_provider(self) -> Mapping[str, Outcomes]:
        by_statistics, by_provider = self._by_statistics.by_provider, dict[str, Outcomes]()
        for name, allowed in self._allowed.items():
            outcomes = by_statistics.get(name)
            if outcomes is not None:
                by_provider[name] = outcomes if allowed is None else outcomes & allowed
            elif allowed is not None:
                by_provider[name] = allowed
        return by_provider

    @cached_property
    def outcomes(self) -> Outcomes:
        total = self._by_statistics.outcomes
        for allowed in self._allowed.values():
            if allowed is not None:
                total = total & allowed
        return total
