"""How wide the range of a column is in a typical slice, as a share of its range in the whole table.

    table    0 ......................... 1000        100 %: rows lie anywhere, no slice can be told from another
    slice        200 ... 800                          60 %
    slice                     810.830                  2 %: clustered

Numbers, dates and timestamps are measured as they are; text and bytes by the eight bytes behind what all values of the
table start with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import taken

__all__ = ["typical_range_width"]

_BYTES = 8


def typical_range_width(statistics: Sequence[ColumnStatistics], rows: npt.NDArray[np.int64]) -> float | None:
    """The median share, 0 to 1, over some slices, from the source that knows most of them; None if none does."""

    def known_in(one: ColumnStatistics) -> npt.NDArray[np.int64]:
        return rows[one.lo_known[rows] & one.hi_known[rows]]

    best = max(statistics, key=lambda one: len(known_in(one)), default=None)
    if best is None or not len(chosen := known_in(best)):
        return None
    everywhere = best.lo_known & best.hi_known
    least, greatest = taken(best.lo, everywhere).min(), taken(best.hi, everywhere).max()
    if best.type.kind.is_text or best.type.kind is Kind.BINARY:
        low, high = _as_bytes(least), _as_bytes(greatest)
        same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
        shares = _shares(
            [_place(v, same) for v in best.lo[chosen]],
            [_place(v, same) for v in best.hi[chosen]],
            _place(least, same),
            _place(greatest, same),
        )
    else:
        shares = _shares(best.lo[chosen].tolist(), best.hi[chosen].tolist(), _plain(least), _plain(greatest))
    return float(np.median(shares))


def _shares(los: Sequence[Any], his: Sequence[Any], least: Any, greatest: Any) -> list[float]:
    width = greatest - least
    if not width > 0 or width == float("inf"):
        return [0.0] * len(los)
    return [min(max(float((hi - lo) / width), 0.0), 1.0) for lo, hi in zip(los, his, strict=True)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def _place(value: str | bytes, same: int) -> int:
    return int.from_bytes(_as_bytes(value)[same : same + _BYTES].ljust(_BYTES, b"\0"), "big")
