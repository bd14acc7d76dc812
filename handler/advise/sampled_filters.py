"""A filter on the slices of a sample: what it keeps by the table's own indexes, and what each candidate would add."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.records import frozen
from handler.advise.advisor import Advisor, WorkloadFilter
from index_store.own.definition import Entry

__all__ = ["SampledFilter", "sample_filter"]


@frozen(slots=False, eq=False)
class SampledFilter:
    """A filter evaluated on the sample.

    scale      slices of the table for each slice of the sample that the filter keeps
    existing   the statistics of the table's own indexes; ``before`` ``(k,) bool``: what the filter keeps by them
    offered    the statistics that each candidate would have, of those that the filter can use
    """

    filter: WorkloadFilter
    scale: float
    existing: list[StatisticsProvider]
    before: npt.NDArray[np.bool_]
    offered: dict[Entry, StatisticsProvider]

    @property
    def count(self) -> int:
        """How often the filter was asked."""
        return self.filter.filter.count

    def saved(self, before: npt.NDArray[np.bool_], after: npt.NDArray[np.bool_]) -> float:
        """The slices of the table that are kept before and not after."""
        return float(np.count_nonzero(before & ~after)) * self.scale


def sample_filter(advisor: Advisor, filter_: WorkloadFilter) -> SampledFilter:
    """Evaluate a filter on the advisor's sample."""
    existing = advisor.existing_providers(filter_.required)
    before = advisor.kept(filter_, existing)
    offered = {
        entry: provider
        for entry in advisor.entries
        if (provider := advisor.provider(entry, filter_.required)) is not None
    }
    return SampledFilter(filter_, len(filter_.kept) / before.sum() if before.any() else 0.0, existing, before, offered)
