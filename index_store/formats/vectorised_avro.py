"""Decodes many Avro records of one shape at once: each read advances the cursors of all records by one value.

A cursor per record stands in one buffer of bytes. The eight bytes at all cursors are loaded at once; values of a known
length share one load. What all records must have in common is compared; what only some of them have splits them.

    7 bits a byte, lowest first     0x96 0x01    isolate the bytes up to the first one below 128,
                                                 squeeze the eighth bits out in three steps

Records of another shape raise ``Fallback``, and the caller reads them one by one.
Lengths are never negative and cursors never go back, so a record that ends where its entry ends stayed inside it.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

__all__ = ["PADDING", "Cursors", "Fallback", "Positions", "walk", "words_of"]

#: Bytes that a buffer needs behind the last value, and behind each block, for loads of eight bytes at any place.
PADDING = 16

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
_U64, _U32 = np.uint64, np.uint32
_STOPS = _U64(0x8080808080808080)
_STOPS_OF_FOUR = _U32(0x80808080)
_SQUEEZE = (
    (_U64(0x7F007F007F007F00), _U64(0x007F007F007F007F), _U64(1)),
    (_U64(0x3FFF00003FFF0000), _U64(0x00003FFF00003FFF), _U64(2)),
    (_U64(0x0FFFFFFF00000000), _U64(0x000000000FFFFFFF), _U64(4)),
)
_ONE = _U64(1)
#: A block is divided into so many parts, each where an entry starts in so many bytes.
_PARTS, _SEARCHED = 4, 2048


class Fallback(Exception):  # noqa: N818  # not an error: the records go another way
    """The records differ from each other in shape, or from the known shapes."""


def words_of(data: npt.NDArray[np.uint8]) -> Words:
    """The eight bytes at every place of a buffer, the first one lowest, without a copy."""
    if sys.byteorder != "little":
        raise Fallback
    found: Words = np.ndarray((len(data) - 7,), "<u8", data.data, 0, (1,))
    return found


class Cursors:
    """A place in the buffer for each record. ``used`` bytes of the loaded words are read already."""

    __slots__ = ("_loaded", "_start", "_used", "_words")

    def __init__(self, words: Words, places: Positions) -> None:
        self._words = words
        self._start = places
        self._loaded: Words | None = None
        self._used = 0

    def __len__(self) -> int:
        return len(self._start)

    @property
    def places(self) -> Positions:
        """Where the cursors are."""
        return self._start + self._used if self._used else self._start

    def part(self, rows: Positions) -> Cursors:
        """Cursors of some of the records, at the same places."""
        return Cursors(self._words, self.places[rows])

    def move(self, places: Positions) -> None:
        """Put the cursors somewhere else."""
        self._start, self._loaded, self._used = places, None, 0

    def _next(self, count: int) -> Words:
        """Words whose lowest ``count`` bytes are the next ones; 8 at most."""
        if self._loaded is None or self._used + count > 8:
            self.move(self.places)
            try:
                self._loaded = self._words[self._start]
            except IndexError as error:
                raise Fallback from error
        found: Words = self._loaded >> _U64(8 * self._used) if self._used else self._loaded
        return found

    def expect(self, content: bytes) -> None:
        """Step over bytes that all records must have."""
        for start in range(0, len(content), 8):
            part = content[start : start + 8]
            mask = _U64((1 << 8 * len(part)) - 1)
            if ((self._next(len(part)) & mask) != _U64(int.from_bytes(part, "little"))).any():
                raise Fallback
            self._used += len(part)

    def byte(self) -> npt.NDArray[np.uint8]:
        found = self._next(1).astype(np.uint8)
        self._used += 1
        return found

    def eight(self) -> npt.NDArray[np.int64]:
        """The bits of a double."""
        found = self._next(8)
        self._used += 8
        bits: Positions = found.view(np.int64)
        return bits

    def four(self) -> npt.NDArray[np.int64]:
        """The bits of a float."""
        found = self._next(4) & _U64(0xFFFFFFFF)
        self._used += 4
        bits: Positions = found.view(np.int64)
        return bits

    def number(self) -> npt.NDArray[np.int64]:
        """An int or long."""
        raw = self._varint()
        found: Positions = (raw >> _ONE).view(np.int64) ^ -(raw & _ONE).view(np.int64)
        return found

    def text(self) -> tuple[Positions, Positions]:
        """A string or bytes: where it starts, and how long it is."""
        length = self.number()
        start = self.places
        if len(length) and not 0 <= length.min() <= length.max() <= len(self._words):
            raise Fallback
        self.move(start + length)
        return start, length

    def skip_number(self) -> None:
        """Step over an int or long."""
        stops = ~self._next(4).astype(_U32) & _STOPS_OF_FOUR
        if stops.all():
            self.move(self.places + (np.bitwise_count(stops - _U32(1) ^ stops) >> np.uint8(3)))
        else:
            self._long_varint()

    def _varint(self) -> Words:
        word = self._next(2)
        found: Words
        first = int(word[0]) if len(word) else 0  # the shape to try: most values are alike
        if not first & 0x80 and not (word & _U64(0x80)).any():
            self._used += 1
            found = word & _U64(0x7F)
            return found
        if first & 0x8080 == 0x80 and not (word & _U64(0x8080) ^ _U64(0x80)).any():
            self._used += 2
            found = (word & _U64(0x7F)) | (word >> _ONE & _U64(0x3F80))
            return found
        word = self._next(4)
        if first & 0x8080 == 0x8080 and len(word) and int(word[0]) & 0x80808080 == 0x80808080:
            return self._long_varint()
        four = word.astype(_U32)
        stops = ~four & _STOPS_OF_FOUR
        if not stops.all():
            return self._long_varint()
        kept = stops - _U32(1) ^ stops
        four &= kept
        self.move(self.places + (np.bitwise_count(kept) >> np.uint8(3)))
        found = (
            (four & _U32(0x7F))
            | (four >> _U32(1) & _U32(0x3F80))
            | (four >> _U32(2) & _U32(0x1FC000))
            | (four >> _U32(3) & _U32(0xFE00000))
        ).astype(_U64)
        return found

    def _long_varint(self) -> Words:
        word = self._next(8)
        stops = ~word & _STOPS
        kept = stops - _ONE ^ stops
        found = _squeezed(word & kept)
        length = (np.bitwise_count(kept) >> np.uint8(3)).astype(np.int64)
        start = self.places
        longer = np.flatnonzero(stops == 0)
        if len(longer):  # 9 or 10 bytes: 56 bits are read
            rest = Cursors(self._words, start[longer] + 8)._next(2)
            ends = (rest & _U64(0x80)) == 0
            if not (ends | ((rest >> _U64(8) & _U64(0xFF)) <= 1)).all():
                raise Fallback  # more than 64 bits
            found[longer] |= (rest & _U64(0x7F)) << _U64(56)
            found[longer] |= np.where(ends, _U64(0), rest >> _U64(8) & _ONE) << _U64(63)
            length[longer] = np.where(ends, 9, 10)
        self.move(start + length)
        return found


def _squeezed(word: Words) -> Words:
    for upper, lower, shift in _SQUEEZE:
        word = (word & upper) >> shift | (word & lower)
    return word


def walk(
    data: npt.NDArray[np.uint8], starts: Positions, ends: Positions, key_size: int
) -> tuple[Positions, Positions, Positions]:
    """The entries of many uncompressed data blocks of one HFile: where keys and values start, where values end.

    All blocks are stepped through at once; behind each there are PADDING zeros. ``key_size`` is the size of a key as
    stored, with its length and its suffix: an HFile with keys of several sizes raises ``Fallback``.

    A block is divided where an entry seems to start, so that there are fewer steps. The last entry of each part has to
    end where the next part starts, so the entries are those of the whole block; otherwise blocks are not divided.
    """
    divided = _divided(data, starts, ends, key_size)
    if len(divided[0]) > len(starts):
        try:
            return _walked(data, *divided, key_size)
        except Fallback:  # what seemed to be an entry may have been part of a value
            pass
    return _walked(data, starts, ends, key_size)


def _divided(
    data: npt.NDArray[np.uint8], starts: Positions, ends: Positions, key_size: int
) -> tuple[Positions, Positions]:
    """Parts of the blocks, in order: where they start and end."""
    mark = key_size.to_bytes(4, "big") + bytes(2)  # a value of less than 64 KB follows
    part_starts: list[int] = []
    part_ends: list[int] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        cuts = [start]
        for number in range(1, _PARTS):
            near = start + (end - start) * number // _PARTS
            found = data[near : min(near + _SEARCHED, end)].tobytes().find(mark)
            if found >= 0 and near + found > cuts[-1]:
                cuts.append(near + found)
        part_starts += cuts
        part_ends += [*cuts[1:], end]
    return np.array(part_starts, np.int64), np.array(part_ends, np.int64)


def _walked(
    data: npt.NDArray[np.uint8], starts: Positions, ends: Positions, key_size: int
) -> tuple[Positions, Positions, Positions]:
    lengths = np.ndarray((len(data) - 7,), "<u4", data.data, 4, (1,))
    fixed = 8 + key_size + 1
    at = starts.copy()
    steps: list[Positions] = []
    while (at < ends).any():
        for _ in range(16):
            steps.append(at)
            at = lengths[at].byteswap() + at
            at += fixed
            np.minimum(at, ends, out=at)
    steps.append(ends)
    found = np.stack(steps, axis=1)
    inside = found < ends[:, None]
    entry = found[inside]
    after = found[:, 1:][inside[:, :-1]] - 1  # an entry reaches to the next one
    value = entry + (fixed - 1)
    size = _U64(int.from_bytes(key_size.to_bytes(4, "big"), "little"))
    content = _U64(int.from_bytes((key_size - 12).to_bytes(2, "big"), "little"))
    words = words_of(data)
    fits = ((words[entry] & _U64(0xFFFFFFFF)) == size) & ((words[entry + 8] & _U64(0xFFFF)) == content)
    last = np.cumsum(inside.sum(axis=1))[starts < ends] - 1  # and the last one to the end of its block
    fits[last] &= value[last] + lengths[entry[last]].byteswap() == after[last]
    if not fits.all() or data[after].any():
        raise Fallback
    return entry + 10, value, after
