"""How fast a file system answers, by its own latest answers; and so whether bytes or a round trip cost more.

    round trip      the lower quartile of the latest small reads: a hiccup, or a machine with too much to do, raises it
                    little, and one answer that came out of turn does not lower it
    rate            the median of the latest large reads, without their round trip
    worth           the bytes that come in the time of a round trip

``python -m tests.bench object_store_bytes`` shows where a whole file is read as fast as ranges of it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sized
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

__all__ = ["Pace"]

T = TypeVar("T", bound=Sized)

#: What is taken for true before anything was read: 30 ms, and 100 MB/s.
ROUND_TRIP, RATE = 0.03, 100e6
#: Reads of at most so many bytes take a round trip, of at least so many show the rate.
SMALL, LARGE = 64 << 10, 512 << 10
_LATEST = 32
#: What came sooner came from memory.
SOONEST = 0.0002
#: Ranges take one round trip more than the whole file, for the tail with the index; tail and some blocks have these
#: bytes. Measured: a look-up of five keys takes the same time both ways at 1.5, 3.7 and 10 MB where a round trip is
#: worth 1, 3 and 10 MB.
_OF_RANGES = 512 << 10
MIN_WHOLE, MAX_WHOLE = 1 << 20, 8 << 20
#: Ranges are fetched side by side, so one more costs a request and little time.
_GAP_SHARE = 0.25
MIN_GAP, MAX_GAP = 128 << 10, 1 << 20


@dataclass(slots=True)
class Pace:
    """The pace of one file system, shared by all that read from it; safe with threads. It changes no answer."""

    clock: Callable[[], float] = time.monotonic
    _small: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST), init=False, repr=False)
    _large: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST), init=False, repr=False)

    def timed(self, read: Callable[[], T]) -> T:
        """What is read, by one request; its time is noted, unless it fails."""
        began = self.clock()
        found = read()
        self.note(len(found), self.clock() - began)
        return found

    def note(self, nbytes: int, seconds: float) -> None:
        """A read of so many bytes has taken so long."""
        if seconds < SOONEST:
            return
        if nbytes <= SMALL:
            self._small.append(seconds)
        elif nbytes >= LARGE:
            self._large.append(nbytes / max(seconds - self.round_trip, seconds / 10))

    @property
    def round_trip(self) -> float:
        """Seconds from a request to the answer's first bytes."""
        latest = sorted(self._small.copy())
        return latest[len(latest) // 4] if latest else ROUND_TRIP

    @property
    def rate(self) -> float:
        """Bytes a second of one answer."""
        latest = self._large.copy()
        return median(latest) if latest else RATE

    @property
    def _worth(self) -> float:
        return self.round_trip * self.rate

    @property
    def whole(self) -> int:
        """Files of up to so many bytes are read whole, of larger ones ranges."""
        return round(min(max(self._worth + _OF_RANGES, MIN_WHOLE), MAX_WHOLE))

    @property
    def gap(self) -> int:
        """Ranges with at most so many bytes between them are read as one."""
        return round(min(max(_GAP_SHARE * self._worth, MIN_GAP), MAX_GAP))
