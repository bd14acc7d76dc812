"""How many of an object's last bytes its first request asks for: as many as the readers of the last objects needed.

Formats keep their index at the end of a file. Its length is not known before it is read; that of a Parquet footer is
some kilobytes, or half a megabyte with a Bloom filter. A request that asks for too little costs another round trip; one
that asks for too much costs bytes.

    the first objects    FIRST bytes
    later ones           the most that was needed of the last REMEMBERED objects, and not less than LEAST
"""

from __future__ import annotations

from collections import deque

__all__ = ["FIRST", "LEAST", "TailLength"]

#: With these, the footer and its Bloom filter come in one request; so does all of a small file.
FIRST = 512 << 10
LEAST = 64 << 10
REMEMBERED = 16


class TailLength:
    """The length for the objects of one store. Safe with threads."""

    __slots__ = ("_needed",)

    def __init__(self) -> None:
        self._needed: deque[int] = deque(maxlen=REMEMBERED)

    def __call__(self) -> int:
        """Bytes to ask for, LEAST to FIRST."""
        needed = tuple(self._needed)
        if len(needed) < REMEMBERED // 2:
            return FIRST
        return min(max(max(needed) + LEAST // 4, LEAST), FIRST)

    def note(self, needed: int) -> None:
        """So many of its last bytes were read of an object."""
        self._needed.append(needed)
