"""What one index kind says: statistics by column, and look-ups of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.columns import ColumnStatistics
from evaluator.leaves import Lookup

__all__ = ["MayHold", "Source"]

Mask = npt.NDArray[np.bool_]
MayHold = Callable[[Lookup, Mask], "Mask | None"]


@dataclass(frozen=True, slots=True)
class Source:
    """What one index kind says: statistics by column name, arrays in slice order, and look-ups of keys.

    ``may_hold(lookup, candidates)`` gives ``(n,) bool``: False where no row of the slice has any of the values; None:
    no answer. Only the candidates, ``(n,) bool``, need be looked at.
    ``expressions`` are statistics of what a function yields: of ``lower(s)`` by the names of both, of any expression by
    its form (``evaluator.forms``) and the column that goes with it.
    """

    name: str
    statistics: Mapping[str, ColumnStatistics]
    may_hold: MayHold | None = None
    expressions: Mapping[tuple[str, str], ColumnStatistics] = field(default_factory=dict)

    def take(self, rows: npt.NDArray[Any], columns: Sequence[str]) -> Source:
        """The statistics of some columns, and of functions of them, in some slices."""
        return Source(self.name, {name: self.statistics[name].take(rows) for name in columns
                                  if name in self.statistics}, None,
                      {key: self.expressions[key].take(rows) for key in self.expressions if key[1] in columns})
