"""Texts and wide decimals in fewer bytes than Arrow's arrays, which may lie in a file mapped into memory.

A text is put together from parts, each of which has a value in every row:

    Constant       the same bytes in all rows
    Number         an integer in decimal digits, padded with zeros to a width, or not at all
    Identifier     a UUID in lower case, stored as its 16 bytes
    Choice         one of some texts
    Plain          a text as Arrow has it

    "shop-0012345", "shop-0012346"    ->    Constant "shop-", Number 12345, 12346 of width 7

A decimal is put together from words of 64 bits. The texts and decimals of some rows are made of these rows only.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import binary_at, to_arrow, to_binary
from evaluator.language.records import entity, record
from evaluator.statistics.packed_numbers import Numbers, to_words

__all__ = [
    "Choice",
    "Constant",
    "Identifier",
    "Number",
    "PackedDecimals",
    "PackedTexts",
    "Part",
    "Plain",
    "joined",
    "to_identifiers",
]

Rows = npt.NDArray[Any]
#: Where the hyphens of a UUID are, and so where its digits are.
_HYPHENS = (8, 13, 18, 23)
_DIGITS = np.delete(np.arange(36), _HYPHENS)
#: Where each four digits of a UUID begin, those of two bytes.
_QUARTETS = (0, 4, 9, 14, 19, 24, 28, 32)
#: The two digits of each byte, as an integer of two bytes in the machine's order.
_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)
#: The number that a digit stands for.
_NIBBLES = np.full(256, 0xFF, np.uint8)
_NIBBLES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
#: UUIDs whose digits are looked up at a time, so that they stay in the cache.
_AT_ONCE = 8192
#: The bytes of more rows are put together by Arrow.
_FEW_ROWS = 1024


class Part(Protocol):
    """A part of every text. ``rows`` are row numbers that exist; None stands for all rows."""

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        """The bytes of the part in some rows, for a few."""
        ...

    def arrow(self, rows: Rows | None) -> Any:
        """The same as an Arrow array or scalar of large binary, for many."""
        ...


@record
class Constant:
    """The same bytes in all rows."""

    text: bytes

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        return [self.text] * len(rows)

    def arrow(self, rows: Rows | None) -> Any:
        del rows
        return to_binary([self.text])[0]


@entity
class Number:
    """``(n,)`` integers from 0 on in decimal digits, of at least ``width``."""

    numbers: Numbers
    width: int

    def __len__(self) -> int:
        return len(self.numbers)

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        return [b"%0*d" % (self.width, value) for value in self.numbers[rows].tolist()]

    def arrow(self, rows: Rows | None) -> Any:
        values = np.asarray(self.numbers) if rows is None else self.numbers[rows]
        digits = to_arrow(values).cast(pa.large_string())
        return (pc.utf8_lpad(digits, self.width, "0") if self.width > 1 else digits).cast(pa.large_binary())


@entity
class Identifier:
    """``(n, 16) uint8``: the bytes of a UUID in each row."""

    identifiers: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.identifiers)

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        texts = self._texts(rows).tobytes()
        return [texts[start : start + 36] for start in range(0, len(texts), 36)]

    def arrow(self, rows: Rows | None) -> Any:
        texts = self._texts(slice(None) if rows is None else rows)
        edges = np.arange(len(texts) + 1, dtype=np.int64) * 36
        return pa.Array.from_buffers(
            pa.large_binary(), len(texts), [None, pa.py_buffer(edges), pa.py_buffer(texts.ravel())]
        )

    def _texts(self, where: Any) -> npt.NDArray[np.uint8]:
        pairs = np.ascontiguousarray(self.identifiers[where]).view(np.uint16)
        texts = np.full((len(pairs), 36), ord("-"), np.uint8)
        for start in range(0, len(pairs), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            digits = _digits_of_pairs().take(pairs[some])
            for number, place in enumerate(_QUARTETS):
                texts[some, place : place + 4].view(np.uint32)[:, 0] = digits[:, number]
        return texts


@functools.cache
def _digits_of_pairs() -> npt.NDArray[np.uint32]:
    """The four digits of every two bytes, as an integer of four bytes; both in the machine's order."""
    digits: npt.NDArray[np.uint16] = _HEX[np.arange(1 << 16, dtype=np.uint16).view(np.uint8)]
    return digits.view(np.uint32)


def to_identifiers(texts: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """``(n, 16) uint8``: the bytes of ``(n, 36)`` texts, and ``(n,)``: whether each is a UUID in lower case."""
    nibbles = _NIBBLES[texts[:, _DIGITS]]
    is_identifier = (nibbles <= 0xF).all(axis=1) & (texts[:, _HYPHENS] == ord("-")).all(axis=1)
    return np.ascontiguousarray(nibbles[:, ::2] << np.uint8(4) | nibbles[:, 1::2] & np.uint8(0xF)), is_identifier


@entity
class Choice:
    """One of some texts, a large binary array; ``(n,)`` codes say which."""

    options: pa.LargeBinaryArray
    codes: Numbers

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        return binary_at(self.options, self.codes[rows])

    def arrow(self, rows: Rows | None) -> Any:
        return self.options.take(to_arrow(np.asarray(self.codes) if rows is None else self.codes[rows]))


@entity
class Plain:
    """``(n,)`` texts as an Arrow array of large binary without nulls."""

    texts: pa.LargeBinaryArray

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        return binary_at(self.texts, rows)

    def arrow(self, rows: Rows | None) -> Any:
        return self.texts if rows is None else self.texts.take(to_arrow(rows))


@entity
class PackedTexts:
    """``n`` texts, or values of bytes: the parts of each row, one behind the other."""

    n: int
    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return self.n

    def at(self, rows: Rows) -> Sequence[bytes | memoryview]:
        """The bytes of some rows, which exist."""
        if len(self.parts) > 1 and len(rows) > _FEW_ROWS:
            return binary_at(self.arrow(rows), range(len(rows)))
        parts = [part.at(rows) for part in self.parts]
        return parts[0] if len(parts) == 1 else [b"".join(row) for row in zip(*parts, strict=True)]

    def arrow(self, rows: Rows | None = None) -> pa.LargeBinaryArray:
        """All rows or some, as large binary."""
        pieces = self.pieces(rows)
        return pieces[0] if len(pieces) == 1 else joined(*pieces)

    def pieces(self, rows: Rows | None = None) -> list[Any]:
        """All rows or some, by part: arrays of large binary, of which there is one at least, and scalars."""
        pieces = [part.arrow(rows) for part in self.parts]
        if not any(isinstance(piece, pa.Array) for piece in pieces):
            count = self.n if rows is None else len(rows)
            pieces.append(to_binary([b""]).take(to_arrow(np.zeros(count, np.int64))))
        return pieces

    @classmethod
    def plain(cls, texts: pa.LargeBinaryArray) -> PackedTexts:
        """Texts as Arrow has them."""
        return cls(len(texts), (Plain(texts),))


def joined(*pieces: Any) -> pa.LargeBinaryArray:
    """Arrays and scalars of large binary, one behind the other in each row."""
    merged: list[Any] = []
    for piece in pieces:
        if isinstance(piece, pa.Scalar) and merged and isinstance(merged[-1], pa.Scalar):
            piece = to_binary([merged.pop().as_py() + piece.as_py()])[0]
        merged.append(piece)
    return pc.binary_join_element_wise(*merged, to_binary([b""])[0])


@entity
class PackedDecimals:
    """Decimals of an Arrow type, which is of scale 0: the words of each in two's complement, lowest first."""

    type: pa.DataType
    words: tuple[Numbers, ...]

    def __len__(self) -> int:
        return len(self.words[0])

    @classmethod
    def plain(cls, decimals: pa.Array) -> PackedDecimals:
        """Decimals as Arrow has them."""
        width = decimals.type.byte_width // 8
        words = np.frombuffer(decimals.buffers()[1] or b"", np.int64)[decimals.offset * width :][
            : len(decimals) * width
        ]
        return cls(decimals.type, tuple(np.ascontiguousarray(column) for column in words.reshape(-1, width).T))

    def arrow(self, rows: Rows | None = None) -> pa.Array:
        """All rows or some."""
        where = slice(None) if rows is None else rows
        words = np.stack([to_words(word[where]) for word in self.words], axis=1)
        return pa.Array.from_buffers(self.type, len(words), [None, pa.py_buffer(words)])
