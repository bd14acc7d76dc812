"""The effect of each condition of a filter: how many slices it rules out, by which index, and why not more.

A condition rules a slice out when it cannot be TRUE there, or under an odd number of NOTs when it cannot be FALSE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider
from evaluator.language.records import frozen
from evaluator.statistics.distrust import Trust, reason

__all__ = ["LeafReport", "Shortfall", "report_leaves"]

IN_RANGE = "its bounds allow a matching row"
NO_BOUNDS = "its bounds are not known"
NO_STATISTICS = "no statistics of column {}"


@frozen
class Shortfall:
    """A reason why a condition does not rule out some slices, and the number of these slices."""

    text: str
    slices: int


@frozen(kw_only=True)
class LeafReport:
    """One condition of the filter in ``slices`` file slices.

    negated      whether an odd number of NOTs stands above it
    skipped      the number of slices that it rules out; an OR above it may still keep them
    by_kind      the number of slices that each index kind alone rules out
    only_by      the number of slices that only this index kind rules out
    shortfalls   why it does not rule out the other slices, most frequent reason first
    """

    text: str
    columns: tuple[str, ...]
    negated: bool
    slices: int
    skipped: int
    by_kind: Mapping[str, int]
    only_by: Mapping[str, int]
    shortfalls: tuple[Shortfall, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain dicts and lists for JSON."""
        return {
            "text": self.text,
            "columns": list(self.columns),
            "negated": self.negated,
            "skipped": self.skipped,
            "by_kind": dict(self.by_kind),
            "only_by": dict(self.only_by),
            "not_more_because": [{"reason": s.text, "slices": s.slices} for s in self.shortfalls],
        }


def report_leaves(
    evaluation: Evaluation,
    providers: Sequence[StatisticsProvider],
    n: int,
) -> tuple[LeafReport, ...]:
    """A report for each leaf, in the order of the filter."""
    bound, reports = evaluation.bound, []
    sought_values = bound.program.sought_values()
    for index, (leaf, in_slices) in enumerate(zip(bound.leaves, evaluation.leaves, strict=True)):
        sought = sought_values[index]
        open_slices = (in_slices.outcomes & sought.bit) != 0
        skips = {name: (outcomes & sought.bit) == 0 for name, outcomes in in_slices.by_provider.items()}
        by_kind = {name: int(np.count_nonzero(ruled_out)) for name, ruled_out in skips.items()}
        kind_counts = np.sum(list(skips.values()), axis=0, dtype=np.intp) if skips else np.zeros(n, np.intp)
        only_by = {name: int(np.count_nonzero(ruled_out & (kind_counts == 1))) for name, ruled_out in skips.items()}
        if leaf.reason is not None:
            shortfalls: tuple[Shortfall, ...] = (Shortfall(leaf.reason, n),) if n else ()
        else:
            shortfalls = _shortfalls(leaf.columns, providers, open_slices)
        reports.append(
            LeafReport(
                text=leaf.text,
                columns=leaf.columns,
                negated=sought is TruthValue.FALSE,
                slices=n,
                skipped=n - int(np.count_nonzero(open_slices)),
                by_kind=by_kind,
                only_by=only_by,
                shortfalls=shortfalls,
            )
        )
    return tuple(reports)


def _shortfalls(
    columns: Sequence[str],
    providers: Sequence[StatisticsProvider],
    open_slices: npt.NDArray[np.bool_],
) -> tuple[Shortfall, ...]:
    """The slices that a leaf does not rule out, counted by reason: bounds missing, not trusted, or inconclusive."""
    count = int(np.count_nonzero(open_slices))
    if not count:
        return ()
    counts: Counter[str] = Counter()
    explained = np.zeros(len(open_slices), np.bool_)
    for column in columns:
        known = [provider.statistics[column] for provider in providers if column in provider.statistics]
        if not known:
            counts[NO_STATISTICS.format(column)] = count
            explained |= open_slices
            continue
        without_bounds = open_slices & ~np.logical_or.reduce([s.lo_known | s.hi_known | ~s.may_be_value for s in known])
        explained |= without_bounds
        best_trust = np.minimum.reduce([s.trust for s in known])
        codes, numbers = np.unique(best_trust[without_bounds], return_counts=True)
        for code, number in zip(codes.tolist(), numbers.tolist(), strict=True):
            why = reason(Trust(code)) if code else NO_BOUNDS
            counts[f"{column}: {why}"] += number
    rest = int(np.count_nonzero(open_slices & ~explained))
    if rest:
        counts[IN_RANGE] = rest
    return tuple(Shortfall(text, number) for text, number in counts.most_common())
