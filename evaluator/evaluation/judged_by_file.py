"""Conditions on one column together, where a provider has the statistics of each file of a slice.

    slice of two files    i in [1, 3] and [7, 9]      all of it    [1, 9]
    i >= 4                {false} and {true}                       {true, false}
    i <= 6                {true} and {false}                       {true, false}
    i >= 4 AND i <= 6     {false} and {false}                      {true, false}

A row has its value of ``i`` from one file, so the AND is FALSE on every row. For another column the row may have its
value from another file: conditions on different columns are never judged by file together.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.refinement import refined_by_file
from evaluator.binding.statistics_provider import StatisticsProvider

__all__ = ["judged_by_file"]


def judged_by_file(bound: BoundExpression, providers: Iterable[StatisticsProvider]) -> BoundExpression:
    """The filter with its conditions on one column together, if some provider has such a column by file.

    The leaves of the filter keep their numbers; those of conditions together come after them.
    """
    seen: set[str] = set()
    shared: set[str] = set()
    for leaf in bound.leaves:
        if len(leaf.columns) == 1:
            (shared if leaf.columns[0] in seen else seen).add(leaf.columns[0])
    if any(
        (statistics := provider.statistics.get(name)) is not None and statistics.parts is not None
        for name in shared
        for provider in providers
    ):
        return refined_by_file(bound)
    return bound
