"""The one error of this room: bytes that are not a filter that can be read."""

from __future__ import annotations

from evaluator.language.errors import SargoError


class DecodeError(SargoError):
    """The input cannot be decoded. ``offset`` is where, counted in decoded bytes (or in characters of bad Base64)."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(f"at byte {offset}: {why}")
        self.offset = offset
        self.why = why
