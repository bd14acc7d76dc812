"""Evaluation of a table in two layers: each by itself, the answers in the numbers of the whole.

The base keeps its indexes whatever a commit replaces, and dead slices are dropped from its answers. Every answer is
the one that ``evaluation.evaluate`` gives for the joined statistics, bit for bit, with two exceptions that lose
nothing: how often a function is asked before the rest is left open (``evaluation.hierarchical``) is counted by layer,
and of a slice that is known to hold no row at all either may say less.

Keys are looked up once, for the slices that the statistics of both layers leave; so are matches of the whole filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import BoundExpression
from evaluator.binding.leaves import BoundLeaf
from evaluator.evaluation.evaluate import Evaluation, LeafAnswer
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language.outcome import Outcomes
from evaluator.statistics.layers import Layers

__all__ = ["LayeredEvaluation", "evaluate_layers"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


def evaluate_layers(bound: BoundExpression, layers: Layers, sources: Sequence[LayeredProvider]) -> LayeredEvaluation:
    """The outcomes of a bound filter over the ``layers.n`` slices of the whole, from what the sources know."""
    return LayeredEvaluation(bound, layers, sources)


class LayeredEvaluation(Evaluation):
    """The outcome of a filter in the slices of the whole, worked out as far as it is asked for.

    ``sources`` are those of the whole: whatever takes an evaluation beside its sources takes these.
    """

    def __init__(self, bound: BoundExpression, layers: Layers, sources: Sequence[LayeredProvider]) -> None:
        self.sources = [source.whole for source in sources]
        super().__init__(bound, layers.n, self.sources)
        self._layers = layers
        self._base = Evaluation(bound, layers.base, [source.base for source in sources])
        self._delta = Evaluation(bound, layers.delta, [source.delta for source in sources])

    @cached_property
    def leaves(self) -> tuple[LeafAnswer, ...]:
        """What each leaf of the filter is, in the order of ``bound.leaves``."""
        return tuple(
            _LayeredLeaf(self._layers, base, delta)
            for base, delta in zip(self._base.leaves, self._delta.leaves, strict=True)
        )

    @cached_property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        if self._asks_keys or self._asks_matches:
            _ = self.kept_rows  # keys are looked up for the slices that statistics leave, once
        return self._possible(self._layers.join_values(self._base.outcomes, self._delta.outcomes))

    def outcomes_at(self, rows: Rows) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        base, delta = self._layers.split_rows(rows)
        return self._possible(self._at(rows, self._base.outcomes_at(base), self._delta.outcomes_at(delta)), rows)

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        base, delta = self._layers.split_rows(rows)
        return self._at(rows, self._base.leaf_at(index, base), self._delta.leaf_at(index, delta))

    def hold(self, leaf: BoundLeaf, source: str, might_contain: Mask) -> None:
        """Keep what a source said of the keys of a leaf, ``(n,) bool``, here and in the layers."""
        super().hold(leaf, source, might_contain)
        for layer, flags in zip((self._base, self._delta), self._layers.split_mask(might_contain), strict=True):
            layer.hold(leaf, source, flags)

    def _searched(self) -> Rows:
        return self._layers.join_rows(self._base.kept_rows, self._delta.kept_rows)

    def _at(self, rows: npt.NDArray[Any], base: Outcomes, delta: Outcomes) -> Outcomes:
        """The outcomes of slices in their order, from those of each layer's."""
        if not len(base) or not len(delta):
            return base if len(base) else delta
        found: Outcomes = np.empty(len(rows), np.uint8)
        in_base = rows < self._layers.live
        found[in_base], found[~in_base] = base, delta
        return found


class _LayeredLeaf(LeafAnswer):
    """What one leaf is in every slice of the whole."""

    def __init__(self, layers: Layers, base: LeafAnswer, delta: LeafAnswer) -> None:
        self._layers, self._base, self._delta = layers, base, delta

    @cached_property
    def by_source(self) -> Mapping[str, Outcomes]:
        delta = self._delta.by_source
        return {name: self._layers.join_values(base, delta[name]) for name, base in self._base.by_source.items()}

    @cached_property
    def outcomes(self) -> Outcomes:
        return self._layers.join_values(self._base.outcomes, self._delta.outcomes)
