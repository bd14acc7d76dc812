"""Case mappings that differ between the writer and the reader of an index, and how bounds and keys allow for them.

Two images of one text differ where one of its characters has more than one image: 'I' is 'i' or, in Turkish, U+0131.

    bounds   the images agree up to there; both continue with the letter ``first_uncertain`` or a greater one
             'banana' .. 'elder' of lower becomes 'bai' .. 'f'
    keys     every image is looked up that the writer may have made of a text whose image for the reader is this one
             lower(s) = 'file': file, f\u0131le, fi\u0307le, f\u0130le

``evaluator.functions.letter_case`` says which characters these are; every engine maps the rest of ASCII alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import STRING
from evaluator.statistics.stored_bounds import StoredBounds

__all__ = ["first_uncertain", "possible_images", "widen_letter_case"]

#: The least ASCII letter that a character with more than one image may become.
_FIRST_UNCERTAIN = {"lower": "i", "upper": "A"}
#: Pieces of an image, and the pieces that another locale, or a mapping of single characters, has instead.
_ALTERNATIVES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "lower": {"i": ("\u0131", "i\u0307", "\u0130"), "k": ("\u212a",)},
    "upper": {
        "I": ("\u0130", "I\u0307", "\u0131"),
        "J": ("J\u0307",),
        "S": ("\u017f",),
        "SS": ("\u00df", "\u1e9e"),
        "FF": ("\ufb00",),
        "FI": ("\ufb01",),
        "FL": ("\ufb02",),
        "FFI": ("\ufb03",),
        "FFL": ("\ufb04",),
        "ST": ("\ufb05", "\ufb06"),
    },
}
#: A text of more images is not looked up.
MAX_IMAGES = 256
_LONGEST_PIECE = 3


def first_uncertain(letters: str) -> str:
    """The least letter from which on images may differ, for "lower" or "upper"."""
    return _FIRST_UNCERTAIN[letters]


def possible_images(text: str, letters: str) -> tuple[str, ...]:
    """Every image that a writer may have instead of this one, itself first; () when they are too many or not known.

    An image with characters beyond ASCII depends on locale and version of Unicode, so it is not known.
    """
    if not text.isascii():
        return ()
    alternatives = _ALTERNATIVES[letters]
    of_starts: list[tuple[str, ...]] = [("",)]  # the images of each start of the text
    for end in range(1, len(text) + 1):
        here = tuple(start + text[end - 1] for start in of_starts[end - 1])
        for size in range(1, min(_LONGEST_PIECE, end) + 1):
            for other in alternatives.get(text[end - size : end], ()):
                here += tuple(start + other for start in of_starts[end - size])
        if len(here) > MAX_IMAGES:
            return ()
        of_starts.append(here)
    return of_starts[-1]


def widen_letter_case(
    lo: npt.NDArray[Any] | StoredBounds,
    hi: npt.NDArray[Any] | StoredBounds,
    first: str,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Bounds of images under any locale, from bounds under one locale, and ``(n,) bool``: whether hi is a bound at all.

    Bounds hold up to their first byte that is not below ``first``: every differing letter is ``first`` or greater.
    """
    low, high = _Cut.of(lo, first), _Cut.of(hi, first)
    return low.followed_by(first), high.raised(), ~high.is_cut | (high.ends > high.starts)


class _Cut:
    """Texts as bytes of UTF-8, each up to its first byte that is not below a letter."""

    def __init__(
        self,
        data: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        is_cut: npt.NDArray[np.bool_],
    ) -> None:
        self.data, self.starts, self.ends, self.is_cut = data, starts, ends, is_cut

    @classmethod
    def of(cls, texts: npt.NDArray[Any] | StoredBounds, first: str) -> _Cut:
        array = (texts if isinstance(texts, StoredBounds) else StoredBounds.of(texts, STRING)).array
        offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
        buffer = array.buffers()[2]
        data = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
        uncertain = np.append(np.flatnonzero(data >= ord(first)), len(data))
        stops = uncertain[np.searchsorted(uncertain, offsets[:-1])]
        return cls(data, offsets[:-1], np.minimum(stops, offsets[1:]), stops < offsets[1:])

    def followed_by(self, letter: str) -> npt.NDArray[Any]:
        """Each text, and the letter where it was cut."""
        return self._texts(self.is_cut, ord(letter))

    def raised(self) -> npt.NDArray[Any]:
        """Each text, its last byte one higher where it was cut: the bytes kept are ASCII below the letter."""
        found, ends = self._joined(np.zeros(len(self.starts), np.int64))
        last = (ends - 1)[self.is_cut & (self.ends > self.starts)]
        found[last] += 1
        return _decoded(found, ends)

    def _texts(self, more: npt.NDArray[np.bool_], byte: int) -> npt.NDArray[Any]:
        found, ends = self._joined(more.astype(np.int64))
        found[(ends - 1)[more]] = byte
        return _decoded(found, ends)

    def _joined(self, room: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """The bytes up to the cuts, with some free bytes behind each text, and the ends of the texts."""
        kept = self.ends - self.starts
        ends = np.cumsum(kept + room)
        found = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
        of_text = np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept)
        found[of_text + np.repeat(ends - kept - room, kept)] = self.data[of_text + np.repeat(self.starts, kept)]
        return found, ends


def _decoded(data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    array = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    texts: npt.NDArray[Any] = np.array(StoredBounds(array, STRING), object)
    return texts
