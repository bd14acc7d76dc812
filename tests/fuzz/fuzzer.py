"""What a fuzzer is: it draws cases, checks them, and makes a failing one smaller."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Fault", "Fuzzer", "nothing_prepared"]


class Fault(Exception):  # noqa: N818 - it is the finding, not an error of the fuzzer
    """An invariant is broken. Any other exception of ``check`` is a finding, too."""


class Fuzzer(Protocol):
    """A case is any value; ``dump`` and ``load`` turn it to bytes and back, so that it can be repeated."""

    name: str
    #: What one case may cost: CPU seconds of this process, and bytes of memory on top of what the process holds.
    cpu_seconds: float
    memory: int

    def prepared(self, folder: Path) -> AbstractContextManager[None]:
        """Whatever the cases share. ``folder`` is empty, and removed afterwards."""

    def draw(self, rng: random.Random) -> Any:
        """A case. The same generator draws the same case."""

    def check(self, case: Any) -> str:
        """How the case ended, in a word, for the counts. Raises when an invariant is broken."""

    def smaller(self, case: Any) -> Iterator[Any]:
        """Cases that are smaller than this one, the smallest first."""

    def dump(self, case: Any) -> bytes: ...

    def load(self, data: bytes) -> Any: ...


@contextlib.contextmanager
def nothing_prepared() -> Iterator[None]:
    """For fuzzers whose cases share nothing."""
    yield
