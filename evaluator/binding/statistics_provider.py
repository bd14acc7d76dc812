"""What one index kind says: statistics by column, look-ups of keys, and matches of whole filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.statistics.columns import ColumnStatistics

__all__ = ["FilterMightMatch", "Match", "MightContain", "StatisticsProvider"]

Mask = npt.NDArray[np.bool_]
MightContain = Callable[[Lookup, Mask], "Mask | None"]
FilterMightMatch = Callable[[BoundExpression, Mask], "Match | None"]


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """What a kind says of a filter as a whole, which no single leaf of it tells.

    filter_might_match   ``(n,) bool``: False where no row of the slice makes the filter TRUE
    leaves      the numbers of the leaves that no row there makes TRUE together, for people
    """

    filter_might_match: Mask
    leaves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StatisticsProvider:
    """What one index kind says: statistics by column name, arrays in slice order, look-ups of keys, and matches.

    ``might_contain(lookup, candidates)`` gives ``(n,) bool``: False where no row of the slice has any of the values;
    None: no answer. Only the candidates, ``(n,) bool``, need be looked at.
    ``expressions`` are statistics of what a function yields: of ``lower(s)`` by the names of both, of any expression by
    its form (``evaluator.binding.canonical_keys``) and the column that goes with it.
    ``filter_might_match(bound, candidates)`` is asked once for a whole filter, for the slices that all else leaves: an
    index of rows knows which values stand together in one row. None: nothing to say.
    """

    name: str
    statistics: Mapping[str, ColumnStatistics]
    might_contain: MightContain | None = None
    expressions: Mapping[tuple[str, str], ColumnStatistics] = field(default_factory=dict)
    filter_might_match: FilterMightMatch | None = None

    def take(self, rows: npt.NDArray[Any], columns: Sequence[str]) -> StatisticsProvider:
        """The statistics of some columns, and of functions of them, in some slices."""
        return StatisticsProvider(
            self.name,
            {name: self.statistics[name].take(rows) for name in columns if name in self.statistics},
            None,
            {key: self.expressions[key].take(rows) for key in self.expressions if key[1] in columns},
        )
