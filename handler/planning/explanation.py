"""The explanation of a plan: the bound filter, the outcome of each condition, and the statistics behind it.

An ``Explanation`` holds the inputs and the result of the evaluation. Its reports are computed when they are read, and
what computes them is imported then, so a plan without explanation costs nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from bitarray import frozenbitarray

from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.bit_sets import bits_of_mask
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider
from evaluator.language.outcome import describe
from evaluator.language.records import frozen, record
from evaluator.language.schema import Schema
from evaluator.language.value_texts import ordinal_text
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import Trust, reason

if TYPE_CHECKING:
    from evaluator.explain.deciders import Deciders
    from evaluator.explain.pruning_blockers import PruningBlocker
    from evaluator.explain.reasons import Decision
    from evaluator.explain.residual import Residuals
    from handler.planning.leaf_reports import LeafReport

__all__ = ["ColumnReport", "Explanation", "FileLeaf", "FilterNode", "MatchReport"]


@record
class FilterNode:
    """A node of the filter's tree as it was evaluated: AND, OR or NOT of its children, or a leaf by its number."""

    operator: Literal["AND", "OR", "NOT"] | None
    children: tuple[FilterNode, ...] = ()
    leaf: int | None = None


@frozen(kw_only=True)
class ColumnReport:
    """The statistics of one column in one file slice, of one index kind. Unknown bounds and counts are None.

    ``trust``: why a statistic is missing or not used; None when all are used.
    """

    kind: str
    column: str
    lo: str | None
    hi: str | None
    null_count: int | None
    row_count: int | None
    trust: str | None

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "kind": self.kind,
            "column": self.column,
            "lo": self.lo,
            "hi": self.hi,
            "null_count": self.null_count,
            "row_count": self.row_count,
            "trust": self.trust,
        }


@record
class FileLeaf:
    """One condition in one file slice: its outcome, in all and by index kind, and the reasons for it."""

    text: str
    outcome: str
    by_kind: Mapping[str, str]
    columns: tuple[ColumnReport, ...]
    decisions: tuple[Decision, ...]
    reason: str | None

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "text": self.text,
            "outcome": self.outcome,
            "by_kind": dict(self.by_kind),
            "reason": self.reason,
            "columns": [column.to_dict() for column in self.columns],
            "decisions": [decision.to_dict() for decision in self.decisions],
        }


@frozen
class MatchReport:
    """Slices that an index of whole rows skips: in ``skipped`` slices no row makes all of these conditions TRUE."""

    kind: str
    conditions: tuple[str, ...]
    skipped: int

    @property
    def sentence(self) -> str:
        """The report as a sentence."""
        return (
            f"{self.kind}: no row with {' and '.join(self.conditions)} in {self.skipped} more "
            f"file slice{'' if self.skipped == 1 else 's'}"
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"kind": self.kind, "conditions": list(self.conditions), "skipped": self.skipped}


@frozen(slots=False, eq=False)
class Explanation:
    """The evaluation of a bound filter on ``n`` slices by the statistics of ``providers``.

    ``schema``: of the table, for the form of literals to write.
    """

    evaluation: Evaluation
    providers: Sequence[StatisticsProvider]
    n: int
    schema: Schema | None = None

    @property
    def bound(self) -> BoundExpression:
        """The filter as it was evaluated."""
        return self.evaluation.bound

    @cached_property
    def leaves(self) -> tuple[LeafReport, ...]:
        """The effect of each condition, in the order of the filter."""
        from handler.planning.leaf_reports import report_leaves

        return report_leaves(self.evaluation, self.providers, self.n)

    @cached_property
    def skipped_bits(self) -> Mapping[tuple[int, str], frozenbitarray]:
        """By number of the leaf and index kind: the slices that the kind alone rules out for this condition."""
        sought = self.bound.program.sought_values()
        return {
            (number, kind): bits_of_mask((outcomes & sought[number].bit) == 0)
            for number, leaf in enumerate(self.evaluation.leaves)
            for kind, outcomes in leaf.by_provider.items()
        }

    @cached_property
    def matches(self) -> tuple[MatchReport, ...]:
        """The slices that indexes of whole rows skip and no single condition rules out."""
        return tuple(
            MatchReport(
                kind,
                tuple(self.bound.leaves[number].text for number in match.leaves),
                int(np.count_nonzero(~match.filter_might_match)),
            )
            for kind, match in self.evaluation.matches.items()
            if not match.filter_might_match.all()
        )

    @cached_property
    def pruning_blockers(self) -> tuple[PruningBlocker, ...]:
        """Why not more was skipped; the causes first that keep most slices by themselves."""
        from evaluator.explain.pruning_blockers import pruning_blockers

        return pruning_blockers(self.evaluation, self.providers, self.schema)

    @cached_property
    def deciders(self) -> Deciders:
        """Which conditions and index kinds decided each skipped slice."""
        from evaluator.explain.deciders import deciders

        return deciders(self.evaluation, self.n)

    def residuals(self, slices: npt.NDArray[np.intp]) -> Residuals:
        """The rest of the filter that must be checked on the rows of these slices, given by index."""
        from evaluator.explain.residual import residuals

        return residuals(self.evaluation, slices)

    @cached_property
    def tree(self) -> FilterNode:
        """The filter as it was evaluated."""
        return self.bound.program.fold(
            leaf=lambda index: FilterNode(None, leaf=index),
            negate=lambda child: FilterNode("NOT", (child,)),
            conjoin=lambda children: FilterNode("AND", tuple(children)),
            disjoin=lambda children: FilterNode("OR", tuple(children)),
            refine=lambda node, together, _: FilterNode("AND", (node, together)),
        )

    def file_leaves(self, index: int) -> Iterator[FileLeaf]:
        """Every condition of the filter in the slice of this index."""
        from evaluator.explain.reasons import decisions

        for number, (leaf, in_slices) in enumerate(zip(self.bound.leaves, self.evaluation.leaves, strict=True)):
            columns = tuple(
                _column_report(provider.name, column, provider.statistics[column], index)
                for column in leaf.columns
                for provider in self.providers
                if column in provider.statistics
            )
            yield FileLeaf(
                leaf.text,
                describe(int(in_slices.outcomes[index])),
                {kind: describe(int(outcomes[index])) for kind, outcomes in in_slices.by_provider.items()},
                columns,
                decisions(self.evaluation, self.providers, number, index),
                leaf.reason,
            )


def _column_report(kind: str, column: str, statistics: ColumnStatistics, index: int) -> ColumnReport:
    def bound(values: object, known: object) -> str | None:
        return ordinal_text(values, statistics.type) if known else None

    def count(value: int) -> int | None:
        return None if value == UNKNOWN_COUNT else value

    trust = Trust(int(statistics.trust[index]))
    return ColumnReport(
        kind=kind,
        column=column,
        lo=bound(statistics.lo[index], statistics.lo_known[index]),
        hi=bound(statistics.hi[index], statistics.hi_known[index]),
        null_count=count(int(statistics.null_count[index])),
        row_count=count(int(statistics.row_count[index])),
        trust=reason(trust) if trust else None,
    )
