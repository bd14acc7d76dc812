"""The circuit breaker of each address.

    closed     -- two failures in a row -->  open
    open       -- the pause is over     -->  half open: one call passes, the others wait for another pause
    half open  -- the call is answered  -->  closed
    half open  -- the call fails        -->  open

A refusal is an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Breakers"]

#: Failures in a row after which an address is left alone.
_FAILURES_TO_OPEN = 2


@dataclass(slots=True)
class _Breaker:
    """How often an address failed in a row, and until when it is left alone."""

    failures: int = 0
    open_until: float = 0.0


class Breakers:
    """Which addresses may be called, from any thread. ``seconds``: the pause."""

    def __init__(self, addresses: Sequence[str], seconds: float, clock: Callable[[], float]) -> None:
        self._breakers = {address: _Breaker() for address in addresses}
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()

    def passes(self, address: str) -> bool:
        """Whether a call may pass."""
        with self._lock:
            breaker, now = self._breakers[address], self._clock()
            if breaker.failures < _FAILURES_TO_OPEN:
                return True
            if now < breaker.open_until:
                return False
            breaker.open_until = now + self._seconds
            return True

    def record(self, address: str, *, is_answer: bool) -> None:
        with self._lock:
            breaker = self._breakers[address]
            breaker.failures = 0 if is_answer else breaker.failures + 1
            breaker.open_until = self._clock() + self._seconds
