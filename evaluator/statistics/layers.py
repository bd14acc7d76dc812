"""Two layers of slices that are one table: what was written down once, and what commits have changed since.

The *base* is large and indexed; a commit replaces some of its slices, which are then *dead*, and the new ones stand in
the *delta*. The whole is numbered anew: the live slices of the base in their order, then the delta:

    base     0  1  2  3  4  5      dead: 1, 4
    delta                     0  1
    whole    0     1  2     3 4  5

Nothing is kept for each slice of the base. How many dead ones stand before a slice is found by binary search, so that
a question about a few slices costs the same however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, Parts, filler
from evaluator.statistics.stored_bounds import Bounds, StoredBounds, concatenated, taken

__all__ = ["Layers"]

#: Row numbers, ``(k,) int64``.
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Layers:
    """How many slices the layers have, and which of the base's are dead.

    base    number of slices of the base, dead ones included
    dead    ``(d,) int64``, ascending: slices of the base
    delta   number of slices of the delta

    Raises ValueError when ``dead`` is not such a list.
    """

    base: int
    dead: Rows
    delta: int

    def __post_init__(self) -> None:
        dead = self.dead
        if len(dead) and (dead[0] < 0 or dead[-1] >= self.base or not (dead[1:] > dead[:-1]).all()):
            raise ValueError(f"the dead slices of {self.base} are numbers from 0 to {self.base - 1}, ascending")

    @property
    def live(self) -> int:
        """The number of slices of the base that are still part of the table; the delta's numbers begin here."""
        return self.base - len(self.dead)

    @property
    def n(self) -> int:
        """The number of slices of the whole."""
        return self.live + self.delta

    @cached_property
    def _counts(self) -> Rows:
        """``(d + 1,)``: how many dead slices stand before each stretch of live ones."""
        return np.arange(len(self.dead) + 1)

    @cached_property
    def _gaps(self) -> Rows:
        """``(d,)``: the number, in the whole, of the first live slice behind each dead one."""
        return self.dead - self._counts[:-1]

    # -- rows

    def whole_of_base(self, rows: npt.NDArray[Any]) -> Rows:
        """Ascending slices of the base by their numbers in the whole; dead ones are left out."""
        return self.join_rows(rows, rows[:0])

    def join_rows(self, base: npt.NDArray[Any], delta: npt.NDArray[Any]) -> Rows:
        """Ascending slices of either layer by their numbers in the whole; dead ones are left out."""
        count = len(base)
        found = np.empty(count + len(delta), np.int64)
        found[count:] = delta
        found[count:] += self.live
        if not len(self.dead):
            found[:count] = base
            return found
        if count < len(self.dead):
            before = self.dead.searchsorted(base)
            held = np.flatnonzero(self.dead.take(before, mode="clip") == base)
        else:
            edges = np.empty(len(self.dead) + 2, np.int64)  # of the stretches between dead slices
            edges[0], edges[-1] = 0, count
            edges[1:-1] = base.searchsorted(self.dead)
            before = np.repeat(self._counts, edges[1:] - edges[:-1])
            held = edges[1:-1][base.take(edges[1:-1], mode="clip") == self.dead]
        np.subtract(base, before, out=found[:count])
        return np.delete(found, held) if len(held) else found

    def base_of_whole(self, rows: npt.NDArray[Any]) -> Rows:
        """Slices of the whole that are of the base, in any order, by their numbers in the base."""
        found: Rows = rows + self._gaps.searchsorted(rows, "right") if len(self.dead) else rows
        return found

    def split_rows(self, rows: npt.NDArray[Any]) -> tuple[Rows, Rows]:
        """Slices of the whole, in any order: those of the base and those of the delta, by their numbers there."""
        in_base = rows < self.live
        return self.base_of_whole(rows[in_base]), rows[~in_base] - self.live

    # -- values, one for each slice

    def join_values(self, base: npt.NDArray[T], delta: npt.NDArray[T]) -> npt.NDArray[T]:
        """``(n,)`` values of the whole from those of the layers."""
        return np.concatenate((np.delete(base, self.dead) if len(self.dead) else base, delta))

    def split_values(self, values: npt.NDArray[T], of_dead: Any) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        """The values of the base and of the delta from those of the whole; ``of_dead`` stands for the dead ones."""
        base, delta = values[: self.live], values[self.live :]
        return (np.insert(base, self._gaps, of_dead) if len(self.dead) else base), delta

    def split_mask(self, mask: Mask) -> tuple[Mask, Mask]:
        """The flags of the base, FALSE for the dead ones, and of the delta."""
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
        live = base.take(self._alive) if len(self.dead) else base
        return _one_after_the_other(live, delta, self._joined_parts(live.parts, delta.parts))

    def split_statistics(self, whole: ColumnStatistics) -> tuple[ColumnStatistics, ColumnStatistics]:
        """The statistics of the base, where nothing is known of the dead slices, and of the delta; without index.

        Raises ValueError when they are of another number of slices.
        """
        return self.base_statistics(whole), self.delta_statistics(whole)

    def base_statistics(self, whole: ColumnStatistics) -> ColumnStatistics:
        """The first of ``split_statistics``."""
        self._check(whole)
        parts = None
        if whole.parts is not None:
            wanted = np.flatnonzero(whole.parts.slice_of < self.live)
            parts = Parts(whole.parts.statistics.take(wanted), self.base_of_whole(whole.parts.slice_of[wanted]))
        lo, hi = (self._base_bounds(bound, filler(whole.type)) for bound in (whole.lo, whole.hi))
        lo_known, hi_known = (self.split_mask(known)[0] for known in (whole.lo_known, whole.hi_known))
        nulls, rows = (self.split_values(count, UNKNOWN_COUNT)[0] for count in (whole.null_count, whole.row_count))
        trust, _ = self.split_values(whole.trust, 0)
        return ColumnStatistics(whole.type, lo, hi, lo_known, hi_known, nulls, rows, trust, parts)

    def delta_statistics(self, whole: ColumnStatistics) -> ColumnStatistics:
        """The second of ``split_statistics``."""
        self._check(whole)
        return whole.take(np.arange(self.live, self.n))

    def _check(self, whole: ColumnStatistics) -> None:
        if len(whole) != self.n:
            raise ValueError(f"{len(whole)} slices are not the {self.n} of the layers")

    def _base_bounds(self, bounds: Bounds, of_dead: object) -> Bounds:
        if not isinstance(bounds, StoredBounds):
            return self.split_values(bounds, of_dead)[0]
        base = bounds.take(slice(self.live))
        if not len(self.dead):
            return base
        filled = concatenated([base, np.array([of_dead], object)])
        return taken(filled, np.insert(np.arange(self.live), self._gaps, self.live))

    @cached_property
    def _alive(self) -> Mask:
        alive: Mask = np.ones(self.base, np.bool_)
        alive[self.dead] = False
        return alive

    def _joined_parts(self, live: Parts | None, delta: Parts | None) -> Parts | None:
        if delta is None:
            return live
        moved = Parts(delta.statistics, delta.slice_of + self.live)
        if live is None:
            return moved
        return Parts(
            _one_after_the_other(live.statistics, moved.statistics, None),
            np.concatenate((live.slice_of, moved.slice_of)),
        )


def _one_after_the_other(first: ColumnStatistics, second: ColumnStatistics, parts: Parts | None) -> ColumnStatistics:
    return ColumnStatistics(
        first.type,
        concatenated([first.lo, second.lo]),
        concatenated([first.hi, second.hi]),
        np.concatenate((first.lo_known, second.lo_known)),
        np.concatenate((first.hi_known, second.hi_known)),
        np.concatenate((first.null_count, second.null_count)),
        np.concatenate((first.row_count, second.row_count)),
        np.concatenate((first.trust, second.trust)),
        parts,
    )
