"""What one index kind says: statistics by column, and look-ups of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.columns import ColumnStatistics
from evaluator.schema import Field

__all__ = ["MayHold", "Source"]

Mask = npt.NDArray[np.bool_]
MayHold = Callable[[Field, Sequence[object], Mask], "Mask | None"]


@dataclass(frozen=True, slots=True)
class Source:
    """What one index kind says: statistics by column name, arrays in slice order, and look-ups of keys.

    ``may_hold(column, values, candidates)`` gives ``(n,) bool``: False where no row of the slice has any of the values;
    None: no answer. Only the candidates, ``(n,) bool``, need be looked at.
    """

    name: str
    statistics: Mapping[str, ColumnStatistics]
    may_hold: MayHold | None = None

    def take(self, rows: npt.NDArray[Any], columns: Sequence[str]) -> Source:
        """The statistics of some columns in some slices."""
        return Source(self.name, {name: self.statistics[name].take(rows) for name in columns
                                  if name in self.statistics})
