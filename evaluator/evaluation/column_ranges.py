"""The ranges of columns and constants in all slices at once, from the statistics of one provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.language.interval import UNKNOWN
from evaluator.statistics.columns import ColumnStatistics, filler
from evaluator.statistics.ranges import MaskedBound, Range, masked_range_of

__all__ = ["ColumnRanges", "range_in_every_slice", "range_of_statistics"]


class ColumnRanges:
    """The range of each column, made once."""

    __slots__ = ("_ranges", "statistics")

    def __init__(self, statistics: Mapping[str, ColumnStatistics]) -> None:
        self.statistics = statistics
        self._ranges: dict[str, Range] = {}

    def of_column(self, column: BoundColumn) -> Range:
        """The bounds of a column in all slices. A field in a struct is NULL where the struct is."""
        name = column.field.name
        if name not in self._ranges:
            statistics = self.statistics.get(name)
            self._ranges[name] = range_in_every_slice(column) if statistics is None else range_of_statistics(statistics)
        found = self._ranges[name]
        return replace(found, null=True) if column.is_nested else found


def range_in_every_slice(operand: BoundOperand) -> Range:
    """A constant, or a column of which nothing is known: the same in every slice."""
    interval = operand.interval if isinstance(operand, BoundConstant) else UNKNOWN
    is_open = interval.lo is None or interval.hi is None
    return masked_range_of(interval, filler(operand.type) if is_open else None)


def range_of_statistics(statistics: ColumnStatistics) -> Range:
    """The bounds of statistics, with masks of those that are not known."""
    lo_unknown, hi_unknown = statistics.unknown_bounds
    return Range(
        MaskedBound(statistics.lo, lo_unknown),
        MaskedBound(statistics.hi, hi_unknown),
        statistics.any_null,
        statistics.any_value,
    )
