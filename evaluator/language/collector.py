"""Work that makes very many objects, all of which stay: the garbage collector finds nothing among them.

It looks through all objects each time their number has grown by a quarter.
"""

from __future__ import annotations

import gc

__all__ = ["CollectorAtRest"]


class CollectorAtRest:
    """Inside the block the garbage collector rests, in every thread, unless it does so anyway."""

    __slots__ = ("_collects",)

    def __enter__(self) -> None:
        self._collects = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._collects:
            gc.enable()
