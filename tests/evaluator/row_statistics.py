"""Statistics of slices that are sets of known rows, all of them or some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.language.types import Type
from evaluator.statistics.columns import ColumnStatistics, from_values

__all__ = ["KNOWN", "statistics_of_rows"]

#: What is known of a column in each slice, in turns.
KNOWN = (("lo", "hi", "nulls"), ("lo",), ("hi",), ("lo", "hi"))


def statistics_of_rows(
    of: Type, values: Sequence[Any], slices: Sequence[tuple[int, ...]], known: tuple[str, ...]
) -> ColumnStatistics:
    """``values`` of all rows, the rows of each slice, and which of "lo", "hi" and "nulls" are known."""
    lows, highs, nulls = [], [], []
    for members in slices:
        present = [values[row] for row in members if values[row] is not None]
        lows.append(min(present) if present and "lo" in known else None)
        highs.append(max(present) if present and "hi" in known else None)
        nulls.append(len(members) - len(present) if "nulls" in known else None)
    return from_values(of, lows, highs, nulls, [len(members) for members in slices])
