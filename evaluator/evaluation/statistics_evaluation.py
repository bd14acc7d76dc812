"""The protocol between a filter's evaluation and the statistics that it is evaluated on.

A ``StatisticsEvaluation`` gives the outcomes of one bound filter by statistics alone. On top of it
``evaluation.evaluate.Evaluation`` looks up keys and matches the filter as a whole, the same way for all of them:

    implementation                                   where the statistics are
    -----------------------------------------------  --------------------------------------------------------
    ``whole_evaluation.WholeEvaluation``             arrays of all slices, in one piece
    ``layered_evaluation.LayeredEvaluation``         arrays of a base and of a delta, each with its own numbers
    ``handler.spark.distributed``                    on Spark executors, which send the outcomes to the driver

Every implementation gives the same outcomes for the same statistics, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evaluator.binding.program import Program
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes

__all__ = ["LeafOutcomes", "RowIndices", "StatisticsEvaluation", "outcomes_of"]

#: ``(k,) int64`` indices of slices.
RowIndices = npt.NDArray[np.int64]


class LeafOutcomes(Protocol):
    """What one leaf of the filter is in every slice; computed when it is asked for."""

    @property
    def by_provider(self) -> Mapping[str, Outcomes]:
        """``(n,) uint8`` by provider, of those that know something of the leaf."""
        ...

    @property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcomes of all providers intersected."""
        ...


class StatisticsEvaluation(Protocol):
    """The outcomes of one bound filter in n slices by statistics, computed as far as they are asked for."""

    @property
    def n(self) -> int:
        """The number of slices."""
        ...

    @property
    def leaves(self) -> Sequence[LeafOutcomes]:
        """Each leaf of the filter in every slice, in the order of ``BoundExpression.leaves``."""
        ...

    @property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: the outcome of every slice."""
        ...

    def kept_by_statistics(self) -> RowIndices:
        """``(k,) int64``, ascending: the slices in which TRUE is possible. Looks at as few bounds as it can."""
        ...

    def outcomes_at(self, rows: RowIndices) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        ...

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        ...


def outcomes_of(program: Program, leaf: Callable[[int], Outcomes], n: int) -> Outcomes:
    """``(n,) uint8``: the outcomes of a filter from those of its leaves."""
    return program.fold(
        leaf=leaf,
        negate=outcome.negate,
        conjoin=lambda operands: outcome.conjoin(operands, n),
        disjoin=lambda operands: outcome.disjoin(operands, n),
        refine=lambda result, by_leaf, bits: result & (by_leaf | np.uint8(outcome.UNKNOWN & ~bits)),
    )
