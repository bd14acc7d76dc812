"""How much memory a call takes at its peak, so that a test can hold it against the bytes that were read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["MIB", "at_most", "varint"]

MIB = 1 << 20


@contextmanager
def at_most(mebibytes: int) -> Iterator[None]:
    """Fail when the block takes more memory from Python's allocators at its peak; errors of the block come first."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= mebibytes * MIB, f"{peak / MIB:.0f} MiB at the peak"


def refused(call: Callable[[], object], error: type[Exception], mebibytes: int = 16) -> str:
    """What the error says that the call raises within so much memory."""
    with at_most(mebibytes):
        try:
            call()
        except error as found:
            return str(found)
    raise AssertionError("nothing was raised")


def varint(number: int) -> bytes:
    """A number as Avro writes it."""
    raw, out = (number << 1) ^ (number >> 63), bytearray()
    while raw > 127:
        out.append(raw & 127 | 128)
        raw >>= 7
    return bytes((*out, raw))
