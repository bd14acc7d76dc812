"""The slices of one table in two layers: a base that stays as it was stored, and a delta of later slices.

The *base* is large and indexed. A commit replaces some of its slices: the replaced ones are *tombstoned*, and the new
ones form the *delta*. The *whole* is the table as it is now: the live slices of the base in their order, then the
delta.

    base     0  1  2  3  4  5         tombstoned: 1, 4
    delta                     0  1
    whole    0     1  2     3 4  5

``Layers`` converts slice numbers, values per slice and statistics between the layers and the whole. It holds no array
with an entry per slice of the base: the number of tombstones before a slice is found by binary search, so the cost of
converting a few slices does not grow with the table.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evaluator.language.records import frozen
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, PartStatistics, filler
from evaluator.statistics.stored_bounds import Bounds, StoredBounds, concatenated, taken

__all__ = ["Layers"]

#: Row numbers, ``(k,) int64``.
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


@frozen(slots=False, eq=False)
class Layers:
    """The sizes of the two layers, and the tombstoned slices of the base.

    base        number of slices of the base, tombstoned ones included
    tombstoned  ``(t,) int64``, ascending: slices of the base
    delta       number of slices of the delta

    Raises ValueError when ``tombstoned`` is not such a list.
    """

    base: int
    tombstoned: Rows
    delta: int

    def __post_init__(self) -> None:
        rows = self.tombstoned
        if len(rows) and (rows[0] < 0 or rows[-1] >= self.base or not (rows[1:] > rows[:-1]).all()):
            raise ValueError(f"the tombstoned slices of {self.base} are numbers from 0 to {self.base - 1}, ascending")

    @property
    def live(self) -> int:
        """The number of slices of the base that are not tombstoned; in the whole, the delta starts at this number."""
        return self.base - len(self.tombstoned)

    @property
    def n(self) -> int:
        """The number of slices of the whole."""
        return self.live + self.delta

    @cached_property
    def _counts(self) -> Rows:
        """``(t + 1,)``: the number of tombstones before each run of live slices."""
        return np.arange(len(self.tombstoned) + 1)

    @cached_property
    def _gaps(self) -> Rows:
        """``(t,)``: the number, in the whole, of the first live slice after each tombstoned one."""
        return self.tombstoned - self._counts[:-1]

    # -- rows

    def join_rows(self, base: npt.NDArray[Any], delta: npt.NDArray[Any]) -> Rows:
        """Ascending slices of either layer by their numbers in the whole; tombstoned ones are left out."""
        count = len(base)
        whole = np.empty(count + len(delta), np.int64)
        whole[count:] = delta
        whole[count:] += self.live
        if not len(self.tombstoned):
            whole[:count] = base
            return whole
        if count < len(self.tombstoned):
            before = self.tombstoned.searchsorted(base)
            dropped = np.flatnonzero(self.tombstoned.take(before, mode="clip") == base)
        else:
            edges = np.empty(len(self.tombstoned) + 2, np.int64)  # of the runs between tombstones
            edges[0], edges[-1] = 0, count
            edges[1:-1] = base.searchsorted(self.tombstoned)
            before = np.repeat(self._counts, edges[1:] - edges[:-1])
            dropped = edges[1:-1][base.take(edges[1:-1], mode="clip") == self.tombstoned]
        np.subtract(base, before, out=whole[:count])
        return np.delete(whole, dropped) if len(dropped) else whole

    def base_of_whole(self, rows: npt.NDArray[Any]) -> Rows:
        """Slices of the whole that are of the base, in any order, by their numbers in the base."""
        of_base: Rows = rows + self._gaps.searchsorted(rows, "right") if len(self.tombstoned) else rows
        return of_base

    def split_rows(self, rows: npt.NDArray[Any]) -> tuple[Rows, Rows]:
        """Slices of the whole, in any order: those of the base and those of the delta, by their numbers there."""
        in_base = rows < self.live
        return self.base_of_whole(rows[in_base]), rows[~in_base] - self.live

    # -- values, one for each slice

    def join_values(self, base: npt.NDArray[T], delta: npt.NDArray[T]) -> npt.NDArray[T]:
        """``(n,)`` values of the whole from those of the layers."""
        return np.concatenate((np.delete(base, self.tombstoned) if len(self.tombstoned) else base, delta))

    def split_values(self, values: npt.NDArray[T], fill_value: Any) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        """The values of the base and of the delta from those of the whole; tombstoned slices get ``fill_value``."""
        base, delta = values[: self.live], values[self.live :]
        return (np.insert(base, self._gaps, fill_value) if len(self.tombstoned) else base), delta

    def split_mask(self, mask: Mask) -> tuple[Mask, Mask]:
        """The flags of the base, False for tombstoned slices, and of the delta."""
        return self.split_values(mask, False)

    # -- statistics

    def join_statistics(self, base: ColumnStatistics, delta: ColumnStatistics) -> ColumnStatistics:
        """The statistics of the whole from those of the layers; without index.

        Raises ValueError when they are of different types, or of another number of slices.
        """
        if base.type != delta.type or (len(base), len(delta)) != (self.base, self.delta):
            raise ValueError(
                f"{len(base)} slices of {base.type} and {len(delta)} of {delta.type} are no layers of "
                f"{self.base} and {self.delta} slices of a column"
            )
        live = base.take(self._is_live) if len(self.tombstoned) else base
        return _concatenated(live, delta, self._joined_parts(live.parts, delta.parts))

    def split_statistics(self, whole: ColumnStatistics) -> tuple[ColumnStatistics, ColumnStatistics]:
        """The statistics of the base, unknown for tombstoned slices, and of the delta; without index.

        Raises ValueError when they are of another number of slices.
        """
        return self.base_statistics(whole), self.delta_statistics(whole)

    def base_statistics(self, whole: ColumnStatistics) -> ColumnStatistics:
        """The first of ``split_statistics``."""
        self._check(whole)
        parts = None
        if whole.parts is not None:
            wanted = np.flatnonzero(whole.parts.slice_of < self.live)
            parts = PartStatistics(
                whole.parts.statistics.take(wanted), self.base_of_whole(whole.parts.slice_of[wanted])
            )
        lo, hi = (self._base_bounds(bound, filler(whole.type)) for bound in (whole.lo, whole.hi))
        lo_known, hi_known = (self.split_mask(known)[0] for known in (whole.lo_known, whole.hi_known))
        nulls, rows = (self.split_values(count, UNKNOWN_COUNT)[0] for count in (whole.null_count, whole.row_count))
        trust, _ = self.split_values(whole.trust, 0)
        return ColumnStatistics(
            whole.type,
            lo,
            hi,
            lo_known=lo_known,
            hi_known=hi_known,
            null_count=nulls,
            row_count=rows,
            trust=trust,
            parts=parts,
        )

    def delta_statistics(self, whole: ColumnStatistics) -> ColumnStatistics:
        """The second of ``split_statistics``."""
        self._check(whole)
        return whole.take(np.arange(self.live, self.n))

    def _check(self, whole: ColumnStatistics) -> None:
        if len(whole) != self.n:
            raise ValueError(f"{len(whole)} slices are not the {self.n} of the layers")

    def _base_bounds(self, bounds: Bounds, fill_value: object) -> Bounds:
        if not isinstance(bounds, StoredBounds):
            return self.split_values(np.asarray(bounds), fill_value)[0]
        base = bounds.take(slice(self.live))
        if not len(self.tombstoned):
            return base
        filled = concatenated([base, np.array([fill_value], object)])
        return taken(filled, np.insert(np.arange(self.live), self._gaps, self.live))

    @cached_property
    def _is_live(self) -> Mask:
        is_live: Mask = np.ones(self.base, np.bool_)
        is_live[self.tombstoned] = False
        return is_live

    def _joined_parts(self, live: PartStatistics | None, delta: PartStatistics | None) -> PartStatistics | None:
        if delta is None:
            return live
        moved = PartStatistics(delta.statistics, delta.slice_of + self.live)
        if live is None:
            return moved
        return PartStatistics(
            _concatenated(live.statistics, moved.statistics, None),
            np.concatenate((live.slice_of, moved.slice_of)),
        )


def _concatenated(first: ColumnStatistics, second: ColumnStatistics, parts: PartStatistics | None) -> ColumnStatistics:
    return ColumnStatistics(
        first.type,
        concatenated([first.lo, second.lo]),
        concatenated([first.hi, second.hi]),
        lo_known=np.concatenate((first.lo_known, second.lo_known)),
        hi_known=np.concatenate((first.hi_known, second.hi_known)),
        null_count=np.concatenate((first.null_count, second.null_count)),
        row_count=np.concatenate((first.row_count, second.row_count)),
        trust=np.concatenate((first.trust, second.trust)),
        parts=parts,
    )
