"""Smaller inputs: halves first, then pieces, then simpler bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["smaller_bytes", "without_pieces"]

T = TypeVar("T")


def without_pieces(parts: Sequence[T]) -> Iterator[list[T]]:
    """The parts without a half, a quarter, ..., one of them; never none at all."""
    size = len(parts)
    while size:
        size = size // 2 if size > 1 else 0
        step = max(1, size)
        for start in range(0, len(parts), step):
            if len(parts) > step:
                yield [*parts[:start], *parts[start + step :]]


def smaller_bytes(data: bytes) -> Iterator[bytes]:
    """The bytes without pieces of them; then with single ones turned to zero."""
    for left in without_pieces(data):
        yield bytes(left)
    for place, byte in enumerate(data):
        if byte:
            yield data[:place] + b"\0" + data[place + 1 :]
