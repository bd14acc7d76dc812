"""Evaluation of a table in two layers: each layer by itself, the outcomes in the numbers of the whole.

    base    0  1  2  3      1 was replaced by a commit      kept in the base     0, 1, 3
    delta               0                                   kept in the delta    0
    whole   0     1  2  3                                   kept                 0, 2, 3

The base keeps its indexes whatever a commit replaces: replaced slices are dropped from its outcomes. Every outcome is
the one that ``evaluation.evaluate`` gives for the joined statistics, bit for bit, with two exceptions that skip no
matching row. Questions to a function are counted by layer (``evaluation.hierarchical``). A slice whose statistics show
no row at all may have a larger outcome.

Keys are looked up once, for the slices that the statistics of both layers leave; so are matches of the whole filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import Evaluation
from evaluator.evaluation.judged_by_file import judged_by_file
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.evaluation.statistics_evaluation import LeafOutcomes, RowIndices
from evaluator.evaluation.whole_evaluation import WholeEvaluation
from evaluator.language.outcome import Outcomes
from evaluator.statistics.layers import Layers

__all__ = ["evaluate_layers"]


def evaluate_layers(bound: BoundExpression, layers: Layers, providers: Sequence[LayeredProvider]) -> Evaluation:
    """The outcomes of a bound filter over the ``layers.n`` slices of the whole.

    ``Evaluation.providers`` are those of the whole.
    """
    bound = judged_by_file(bound, [layer for provider in providers for layer in (provider.base, provider.delta)])
    return Evaluation(bound, LayeredEvaluation(bound, layers, providers), [provider.whole for provider in providers])


class LayeredEvaluation:
    """The outcomes of a filter in the slices of the whole, by statistics (see ``StatisticsEvaluation``)."""

    def __init__(self, bound: BoundExpression, layers: Layers, providers: Sequence[LayeredProvider]) -> None:
        self.n = layers.n
        self._layers = layers
        self._base = WholeEvaluation(bound, layers.base, [provider.base for provider in providers])
        self._delta = WholeEvaluation(bound, layers.delta, [provider.delta for provider in providers])

    @cached_property
    def leaves(self) -> Sequence[LeafOutcomes]:
        """Each leaf of the filter in every slice of the whole."""
        return tuple(
            _LayeredLeaf(self._layers, base, delta)
            for base, delta in zip(self._base.leaves, self._delta.leaves, strict=True)
        )

    @cached_property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        return self._layers.join_values(self._base.outcomes, self._delta.outcomes)

    def kept_by_statistics(self) -> RowIndices:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        return self._layers.join_rows(self._base.kept_by_statistics(), self._delta.kept_by_statistics())

    def outcomes_at(self, rows: RowIndices) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        base, delta = self._layers.split_rows(rows)
        return self._in_order(rows, self._base.outcomes_at(base), self._delta.outcomes_at(delta))

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        base, delta = self._layers.split_rows(rows)
        return self._in_order(rows, self._base.leaf_at(index, base), self._delta.leaf_at(index, delta))

    def _in_order(self, rows: npt.NDArray[Any], base: Outcomes, delta: Outcomes) -> Outcomes:
        """The outcomes of slices in the order of ``rows``, from those of each layer."""
        if not len(base) or not len(delta):
            return base if len(base) else delta
        outcomes: Outcomes = np.empty(len(rows), np.uint8)
        in_base = rows < self._layers.live
        outcomes[in_base], outcomes[~in_base] = base, delta
        return outcomes


class _LayeredLeaf:
    """One leaf in every slice of the whole."""

    def __init__(self, layers: Layers, base: LeafOutcomes, delta: LeafOutcomes) -> None:
        self._layers, self._base, self._delta = layers, base, delta

    @cached_property
    def by_provider(self) -> Mapping[str, Outcomes]:
        delta = self._delta.by_provider
        return {name: self._layers.join_values(base, delta[name]) for name, base in self._base.by_provider.items()}

    @cached_property
    def outcomes(self) -> Outcomes:
        return self._layers.join_values(self._base.outcomes, self._delta.outcomes)
