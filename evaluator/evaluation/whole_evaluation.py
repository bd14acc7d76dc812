"""A filter on the statistics of all slices in one piece.

The kept slices are found the cheapest way for their number:

    up to 200 slices   plain Python values                                          evaluation.small
    up to 20,000       all bounds are compared, where no column has an index        evaluation.flat_scan
    more               a search of the pruning formula                              evaluation.formula_search
    deeply nested      outcomes of all leaves, combined (more than 200 levels)      evaluation.leaf_outcomes

Outcomes are computed on arrays (``evaluation.leaf_outcomes``), for the slices that they are asked for. The search is
imported for the first table that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import BoundLeaf
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation import flat_scan, small
from evaluator.evaluation.leaf_outcomes import LeafEvaluator
from evaluator.evaluation.statistics_evaluation import RowIndices, outcomes_of
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes
from evaluator.statistics.columns import byte_mask

if TYPE_CHECKING:
    from evaluator.evaluation.single_bounds import Where

__all__ = ["WholeEvaluation"]

Mask = npt.NDArray[np.bool_]
_TRUE = TruthValue.TRUE


class _LeafByStatistics:
    """One leaf in every slice. ``computed`` is set once the outcomes were asked for."""

    def __init__(self, evaluator: LeafEvaluator, leaf: BoundLeaf) -> None:
        self._evaluator = evaluator
        self._leaf = leaf
        self.computed: Outcomes | None = None

    @cached_property
    def by_provider(self) -> Mapping[str, Outcomes]:
        return self._evaluator.by_provider(self._leaf)

    @property
    def outcomes(self) -> Outcomes:
        if self.computed is None:
            self.computed = self._evaluator.intersected(self._leaf, self.by_provider)
        return self.computed


class WholeEvaluation:
    """The outcomes of a filter in n slices by the statistics of some providers (see ``StatisticsEvaluation``)."""

    def __init__(self, bound: BoundExpression, n: int, providers: Sequence[StatisticsProvider]) -> None:
        self.n = n
        self._bound = bound
        self._providers = providers
        self._computed: Outcomes | None = None

    @cached_property
    def _everywhere(self) -> LeafEvaluator:
        return LeafEvaluator(self._providers, self.n)

    @cached_property
    def leaves(self) -> Sequence[_LeafByStatistics]:
        """Each leaf of the filter in every slice."""
        return tuple(_LeafByStatistics(self._everywhere, leaf) for leaf in self._bound.leaves)

    @property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        if self._computed is None:
            few = self._few
            self._computed = self._by_leaves() if few is None else few
        return self._computed

    def outcomes_at(self, rows: RowIndices) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        if self._computed is not None or self._few is not None or len(rows) * 2 > self.n:
            found: Outcomes = self.outcomes[rows]
            return found
        return outcomes_of(self._bound.program, lambda index: self.leaf_at(index, rows), len(rows))

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        leaf, computed = self._bound.leaves[index], self.leaves[index].computed
        if computed is not None:
            found: Outcomes = computed[rows]
            return found
        some = [provider.take(rows, leaf.columns) for provider in self._providers]
        return LeafEvaluator(some, len(rows)).outcomes(leaf)

    def kept_by_statistics(self) -> RowIndices:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        if self.n <= small.MAX_SLICES:
            return self._few_kept()
        if self.n <= flat_scan.MAX_SLICES:
            rows = flat_scan.scan(self._bound, self.n, [provider.statistics for provider in self._providers])
            if rows is not None:
                return rows
        from evaluator.evaluation.formula_search import MAX_DEPTH, depth_of, search
        from evaluator.evaluation.pruning_formula import formula_of, is_opaque

        leaves = self._bound.leaves
        opaque = [is_opaque(leaf.test) or self._has_parts(leaf) for leaf in leaves]
        formula = formula_of(self._bound, [provider.statistics for provider in self._providers], opaque)
        if depth_of(formula) > MAX_DEPTH:
            return np.flatnonzero(self._by_leaves() & outcome.TRUE)
        return search(formula, self.n, self._evaluate_opaque)

    def _by_leaves(self) -> Outcomes:
        return outcomes_of(self._bound.program, lambda index: self.leaves[index].outcomes, self.n)

    def _has_parts(self, leaf: BoundLeaf) -> bool:
        return len(leaf.columns) == 1 and any(
            provider.statistics[leaf.columns[0]].parts is not None
            for provider in self._providers
            if leaf.columns[0] in provider.statistics
        )

    def _evaluate_opaque(self, index: int, sought: TruthValue, where: Where) -> Mask:
        """Where a leaf can have the sought value, by its own evaluation."""
        if isinstance(where, slice) and where.stop - where.start == self.n:
            outcomes = self._everywhere.outcomes(self._bound.leaves[index])
        else:
            outcomes = self.leaf_at(index, np.arange(where.start, where.stop) if isinstance(where, slice) else where)
        possible: Mask = (outcomes & sought.bit) != 0
        return possible

    # -- a few slices

    @cached_property
    def _few(self) -> Outcomes | None:
        """The outcomes of a few slices; None when there are many."""
        if self.n > small.MAX_SLICES:
            return None
        ones = small.ones_of(self.n)

        def leaf(index: int) -> int:
            return sum(self._byte_mask(index, value, ones) << value for value in TruthValue)

        outcomes = small.outcomes_of(self._bound.program, leaf, ones)
        return np.frombuffer(outcomes.to_bytes(self.n, "little"), np.uint8)

    def _few_kept(self) -> RowIndices:
        program, ones = self._bound.program, small.ones_of(self.n)
        if program.is_flat_conjunction:
            mask = ones
            for index in range(len(self._bound.leaves)):
                mask &= self._byte_mask(index, _TRUE, ones)
                if not mask:
                    break
        else:
            mask = small.possible(program, lambda index, sought: self._byte_mask(index, sought, ones), ones)
        return np.flatnonzero(np.frombuffer(mask.to_bytes(self.n, "little"), np.bool_))

    def _byte_mask(self, index: int, value: TruthValue, ones: int) -> int:
        """Where a leaf can have a value, as a byte mask (``evaluation.small``)."""
        leaf = self._bound.leaves[index]
        if len(leaf.columns) <= 1:
            providers = self._providers
            if len(providers) > 1 and leaf.columns:
                providers = [provider for provider in providers if leaf.columns[0] in provider.statistics]
            if len(providers) == 1:
                mask = small.can_be(value, leaf.test, providers[0].statistics, ones)
                if mask is not None:
                    return mask
        return byte_mask(self._everywhere.outcomes(leaf) >> np.uint8(value) & np.uint8(1))
