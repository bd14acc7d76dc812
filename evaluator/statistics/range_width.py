"""The width of a column's range in a typical slice, as a share of its range in the whole table.

    table    0 ......................... 1000        100 %: no slice differs from another
    slice        200 ... 800                          60 %
    slice                     810.830                  2 %: clustered

Numbers, dates and timestamps are measured by value; text and bytes by the eight bytes after the common prefix of all
values of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.text_order import common_prefix_length
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import encode, is_bytes, plain_value, taken

__all__ = ["typical_range_width"]

_BYTES = 8


def typical_range_width(statistics: Sequence[ColumnStatistics], rows: npt.NDArray[np.int64]) -> float | None:
    """The median share, 0 to 1, over some slices, by the statistics that know most of them; None if none does."""

    def known_rows(column: ColumnStatistics) -> npt.NDArray[np.int64]:
        return rows[column.lo_known[rows] & column.hi_known[rows]]

    best = max(statistics, key=lambda column: len(known_rows(column)), default=None)
    if best is None or not len(chosen := known_rows(best)):
        return None
    everywhere = best.lo_known & best.hi_known
    least, greatest = taken(best.lo, everywhere).min(), taken(best.hi, everywhere).max()
    if is_bytes(best.type):
        low, high = encode(least), encode(greatest)
        prefix_length = common_prefix_length(low, high)
        shares = _shares(
            [_key(v, prefix_length) for v in best.lo[chosen]],
            [_key(v, prefix_length) for v in best.hi[chosen]],
            _key(least, prefix_length),
            _key(greatest, prefix_length),
        )
    else:
        shares = _shares(best.lo[chosen].tolist(), best.hi[chosen].tolist(), plain_value(least), plain_value(greatest))
    return float(np.median(shares))


def _shares(los: Sequence[Any], his: Sequence[Any], least: Any, greatest: Any) -> list[float]:
    width = greatest - least
    if not width > 0 or width == float("inf"):
        return [0.0] * len(los)
    return [min(max(float((hi - lo) / width), 0.0), 1.0) for lo, hi in zip(los, his, strict=True)]


def _key(value: str | bytes, prefix_length: int) -> int:
    return int.from_bytes(encode(value)[prefix_length : prefix_length + _BYTES].ljust(_BYTES, b"\0"), "big")
