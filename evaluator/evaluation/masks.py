"""A pool of boolean arrays for searches: allocating one costs more than comparing all codes of a column."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

__all__ = ["Masks", "masks_of"]

Mask = npt.NDArray[np.bool_]
_MAX_SPARE = 4
#: Smaller arrays are not kept: they would replace the large ones that the search of another layer can use.
_MIN_SPARE = 1 << 16


class Masks:
    """Arrays of n flags to write results to. New memory costs more than a comparison, so they are used again."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._free: list[Mask] = []
        self._lent: dict[int, Mask] = {}  # by id

    def take(self) -> Mask:
        """An array to write to."""
        mask = self._free.pop() if self._free else np.empty(self.n, np.bool_)
        self._lent[id(mask)] = mask
        return mask

    def give_back(self, mask: Mask) -> None:
        """Return an array for the next ``take``; nothing happens if it was not taken here."""
        lent = self._lent.pop(id(mask), None)
        if lent is not None:
            self._free.append(lent)

    def give_back_all(self) -> None:
        """End a search; a few arrays stay for the next one."""
        self._free = [*self._free, *self._lent.values()][:_MAX_SPARE]
        self._lent = {}


_spare = threading.local()


@contextmanager
def masks_of(n: int) -> Iterator[Masks]:
    """The arrays that the last search of n slices left to this thread."""
    if n < _MIN_SPARE:
        yield Masks(n)
        return
    masks = _spare.__dict__.pop("masks", None)
    if masks is None or masks.n != n:
        masks = Masks(n)
    try:
        yield masks
    finally:
        masks.give_back_all()
        _spare.masks = masks
