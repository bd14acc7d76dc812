"""How a plan came about: the bound filter, the answers of its leaves, and the statistics behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider
from evaluator.explain.pruning_blockers import PruningBlocker, pruning_blockers
from evaluator.explain.reasons import Decision, decisions
from evaluator.explain.residual import Residuals, residuals
from evaluator.language.outcome import describe
from evaluator.language.value_texts import ordinal_text
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import Trust, reason
from handler.planning.leaf_reports import LeafReport, report_leaves

__all__ = ["ColumnReport", "Explanation", "FileLeaf", "FilterNode", "MatchReport"]


@dataclass(frozen=True, slots=True)
class FilterNode:
    """A node of the filter's tree as it was evaluated: AND, OR or NOT of its children, or a leaf by its number."""

    operator: Literal["AND", "OR", "NOT"] | None
    children: tuple[FilterNode, ...] = ()
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What one index kind knows of a column in one file slice. Bounds and counts are None where they are not known.

    ``trust`` says why a statistic is missing or is not used; None: all are.
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


@dataclass(frozen=True, slots=True)
class FileLeaf:
    """One condition in one file slice: its outcome, by kind, the statistics that it read and why they led to it."""

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


@dataclass(frozen=True, slots=True)
class MatchReport:
    """What an index of rows says of a filter as a whole: in ``skipped`` slices no row makes these conditions TRUE."""

    kind: str
    conditions: tuple[str, ...]
    skipped: int

    @property
    def sentence(self) -> str:
        """For people."""
        return (
            f"{self.kind}: no row with {' and '.join(self.conditions)} in {self.skipped} more "
            f"file slice{'' if self.skipped == 1 else 's'}"
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"kind": self.kind, "conditions": list(self.conditions), "skipped": self.skipped}


@dataclass(frozen=True, eq=False)
class Explanation:
    """Everything that ``prune`` knew when it answered for ``n`` slices."""

    bound: BoundExpression
    evaluation: Evaluation
    sources: Sequence[StatisticsProvider]
    n: int

    @cached_property
    def leaves(self) -> tuple[LeafReport, ...]:
        """What each condition did, in the order of the filter."""
        return report_leaves(self.bound, self.evaluation, self.sources, self.n)

    @cached_property
    def matches(self) -> tuple[MatchReport, ...]:
        """What kinds that know rows skipped beyond what each condition rules out."""
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
        """Why not more was skipped, those first that keep most by themselves."""
        return pruning_blockers(self.bound, self.evaluation, self.sources)

    def residuals(self, slices: npt.NDArray[np.intp]) -> Residuals:
        """What is left of the filter in these slices, given by index."""
        return residuals(self.bound, self.evaluation, slices)

    @cached_property
    def tree(self) -> FilterNode:
        """The filter as it was evaluated."""
        return self.bound.program.fold(
            leaf=lambda index: FilterNode(None, leaf=index),
            negate=lambda child: FilterNode("NOT", (child,)),
            conjoin=lambda children: FilterNode("AND", tuple(children)),
            disjoin=lambda children: FilterNode("OR", tuple(children)),
        )

    def file_leaves(self, index: int) -> Iterator[FileLeaf]:
        """Every condition of the filter in the slice of this index."""
        for number, (leaf, answer) in enumerate(zip(self.bound.leaves, self.evaluation.leaves, strict=True)):
            columns = tuple(
                _column_report(source.name, column, source.statistics[column], index)
                for column in leaf.columns
                for source in self.sources
                if column in source.statistics
            )
            yield FileLeaf(
                leaf.text,
                describe(int(answer.outcomes[index])),
                {kind: describe(int(outcomes[index])) for kind, outcomes in answer.by_provider.items()},
                columns,
                decisions(self.bound, self.evaluation, self.sources, number, index),
                leaf.reason,
            )


def _column_report(kind: str, column: str, statistics: ColumnStatistics, index: int) -> ColumnReport:
    def bound(values: object, known: object) -> str | None:
        return ordinal_text(values, statistics.type) if known else None

    def count(value: int) -> int | None:
        return None if value == UNKNOWN_COUNT else value

    lo = bound(statistics.lo[index], statistics.lo_known[index])
    hi = bound(statistics.hi[index], statistics.hi_known[index])
    trust = Trust(int(statistics.trust[index]))
    return ColumnReport(
        kind,
        column,
        lo,
        hi,
        count(int(statistics.null_count[index])),
        count(int(statistics.row_count[index])),
        reason(trust) if trust else None,
    )
