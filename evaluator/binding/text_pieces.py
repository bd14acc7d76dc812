"""Ranges of texts as intervals of a test, and what lies beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluator.binding.leaves import Piece, text_constant

__all__ = ["pieces_outside", "text_piece"]


def pieces_outside(ranges: Sequence[tuple[str, str]]) -> Iterator[Piece]:
    """What lies beside some ranges, in the order of their beginnings."""
    end: str | None = None
    for lo, hi in ranges:
        if end is None or end < lo:
            yield text_piece(end, lo)
        end = hi if end is None or end < hi else end
    yield text_piece(end, None)


def text_piece(lo: str | None, hi: str | None) -> Piece:
    """The texts from ``lo`` on and below ``hi``."""
    return Piece(None if lo is None else text_constant(lo), None if hi is None else text_constant(hi), False, True)
