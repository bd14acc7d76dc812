"""Columns of statistics slice by slice: each slice's bounds and flags as one ``Interval`` of plain Python values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evaluator.language.interval import Interval
from evaluator.statistics.columns import ColumnStatistics

__all__ = ["SliceRow", "interval_at", "interval_of_row", "rows_of"]

#: lo, hi, lo known, hi known, may be null, may be a value.
SliceRow = tuple[Any, Any, bool, bool, bool, bool]


def interval_at(statistics: ColumnStatistics, index: int) -> Interval:
    """One slice's statistics of a column as an interval, in the form of the arrays."""
    [row] = rows_of(statistics.take(np.array([index])))
    return interval_of_row(statistics, row)


def rows_of(statistics: ColumnStatistics) -> Iterator[SliceRow]:
    """A column slice by slice as Python values."""
    return zip(
        statistics.lo.tolist(),
        statistics.hi.tolist(),
        statistics.lo_known.tolist(),
        statistics.hi_known.tolist(),
        statistics.may_be_null.tolist(),
        statistics.may_be_value.tolist(),
        strict=True,
    )


def interval_of_row(statistics: ColumnStatistics, row: SliceRow) -> Interval:
    """One of ``rows_of`` as an interval."""
    lo, hi, lo_known, hi_known, null, value = row
    if statistics.type.kind.is_fractional and not (lo_known and hi_known and lo == lo and hi == hi):
        lo_known = hi_known = False  # NaN may be among the values: it has no place in an order
    return Interval(lo if lo_known else None, hi if hi_known else None, null, value)
