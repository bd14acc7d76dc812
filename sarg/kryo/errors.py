"""The errors of ``sarg``: the input is not a filter that can be decoded, or it is too large."""

from __future__ import annotations

from evaluator.language.errors import SargoError


class DecodeError(SargoError):
    """The input cannot be decoded.

    ``offset`` is the position of the fault, in decoded bytes, or in characters of bad Base64. ``why`` is the reason.
    """

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(f"at byte {offset}: {why}")
        self.offset = offset
        self.why = why


class TooLargeError(DecodeError):
    """The filter exceeds one of the ``Limits`` that the caller gave. With larger ones it may be readable."""
