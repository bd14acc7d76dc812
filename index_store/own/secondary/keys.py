"""Secondary keys as bytes that sort as their values do, so that one search serves every column type.

    a key          the pieces of its columns, concatenated; no piece is a prefix of another piece of the same column

    piece          value                                         bytes
    -------------  --------------------------------------------  ------------------------------------------------------
    00             NULL: before every value
    01 ........    BOOLEAN, integers, DATE, timestamps,          8, big-endian, the sign bit flipped
                   DECIMAL of up to 18 digits (unscaled)
    01 ........    FLOAT, DOUBLE                                 8, IEEE 754 in total order: one zero, and one NaN,
                                                                 the greatest
    02 .. .. .. .. DECIMAL of up to 38 digits (unscaled)         16, big-endian, the sign bit flipped
    03 ... 00 00   text (UTF-8), BINARY                          themselves, each 00 in them as 00 FF

A range of values is a half-open range of bytes: [piece, ``after`` piece) holds every key that begins with the piece.
Values come in plain form (``sketches.values``); the bytes of one column are compared only where its type is the same.

Engines order NaN differently. To some it is greater than every number; to others every comparison with it is false, so
that NOT (x >= 5) holds for it. A range of fractional numbers therefore always includes NaN.

Pitfall P3 is described in docs/facts/pitfalls.md#p3.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.types import Kind, Type
from index_store.storage.errors import FormatError
from index_store.table.plain_values import plain_type

__all__ = [
    "NULL",
    "Range",
    "after",
    "encode",
    "encode_null",
    "encode_value",
    "is_encodable",
    "key_range",
    "leading",
    "leading_of",
    "prefix_range",
    "ranges_of",
]

#: ``[lo, hi)`` of encoded keys; None: no upper end.
Range = tuple[bytes, bytes | None]

NULL = b"\x00"
_WIDTHS = {0: 1, 1: 9, 2: 17}
_BYTES, _TAG, _END = 3, b"\x03", b"\x00\x00"
#: The least first byte of a value that is not NULL.
_FIRST_VALUE = b"\x01"
_SIGN, _SIGN_128 = 1 << 63, 1 << 127
_MAX_BYTES = (1 << 31) - 1


def is_encodable(of: Type) -> bool:
    """Whether values of the type can be encoded."""
    return of.kind not in (Kind.OTHER, Kind.VOID) and not (of.kind is Kind.DECIMAL and of.precision > 38)


# -- one value


def encode_null() -> bytes:
    """The piece of NULL."""
    return NULL


def encode_value(value: Any, of: Type) -> bytes:
    """The piece of one value in the form of arrays (``evaluator.statistics.columns.to_ordinal``); None is NULL.

    Raises ValueError for a value that the type cannot hold.
    """
    if value is None:
        return NULL
    plain = plain_type(of)
    if pa.types.is_large_binary(plain):
        return _TAG + _escaped(value) + _END
    if pa.types.is_floating(plain):
        return b"\x01" + _float_bytes(float(value))
    wide = pa.types.is_decimal(plain)
    sign, width = (_SIGN_128, 16) if wide else (_SIGN, 8)
    if int(value) != value or not -sign <= int(value) < sign:
        raise ValueError(f"{value} is no value of {of}")
    return (b"\x02" if wide else b"\x01") + (int(value) + sign).to_bytes(width, "big")


def _escaped(value: str | bytes) -> bytes:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return data.replace(b"\x00", b"\x00\xff")


def _float_bytes(value: float) -> bytes:
    bits: int = struct.unpack(">Q", struct.pack(">d", float("nan") if value != value else value + 0.0))[0]
    if value != value:
        bits = 0x7FF8 << 48
    return struct.pack(">Q", bits ^ ((1 << 64) - 1) if bits & _SIGN else bits | _SIGN)


# -- ranges


def after(piece: bytes) -> bytes | None:
    """The least bytes greater than every key that begins with the piece; None when there are none."""
    kept = piece.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def key_range(begin: bytes) -> Range:
    """Every key that begins with these whole pieces: all keys for none."""
    return begin, after(begin)


def ranges_of(
    of: Type,
    lo: Any = None,
    hi: Any = None,
    *,
    lo_inclusive: bool = True,
    hi_inclusive: bool = True,
    below: bytes = b"",
) -> tuple[Range, ...]:
    """The ranges of keys whose column is between lo and hi, in order; None: no end on this side. NULL is in no range.

    ``below``: the pieces of the columns before it, which are equal to constants. Values as in ``encode_value``. An end
    that is NaN counts as no end, because engines differ in it.
    """
    lo, hi = (None if isinstance(end, float) and end != end else end for end in (lo, hi))
    start = below + _FIRST_VALUE
    if lo is not None:
        piece = below + encode_value(lo, of)
        start = piece if lo_inclusive else _after_piece(piece)
    end = after(below)
    if hi is not None:
        piece = below + encode_value(hi, of)
        end = _after_piece(piece) if hi_inclusive else piece
    ranges: list[Range] = [(start, end)] if end is None or start < end else []
    if of.kind.is_fractional and hi is not None:
        nan = key_range(below + encode_value(float("nan"), of))
        if not ranges or ranges[0][1] is None or ranges[0][1] <= nan[0]:
            ranges.append(nan)
    return tuple(ranges)


def prefix_range(prefix: str | bytes, *, below: bytes = b"") -> Range:
    """The range of keys whose text, or binary, begins with a prefix."""
    return key_range(below + _TAG + _escaped(prefix))


def _after_piece(piece: bytes) -> bytes:
    following = after(piece)
    assert following is not None  # a piece begins with its tag
    return following


# -- arrays


def encode(arrays: Sequence[pa.Array], types: Sequence[Type]) -> pa.Array:
    """``(n,) binary``, no NULL: the keys of rows whose columns are these arrays in plain form.

    Raises FormatError for more than 2 GB of keys.
    """
    pieces = [_pieces(array, of) for array, of in zip(arrays, types, strict=True)]
    keys = pieces[0]
    if len(pieces) > 1:
        keys = pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.large_binary()))
    if len(keys) and pc.sum(pc.binary_length(keys)).as_py() > _MAX_BYTES:
        raise FormatError("more than 2 GB of keys at once")
    return keys.cast(pa.binary())


def _pieces(array: pa.Array, of: Type) -> pa.Array:
    """The pieces of one column: large_binary without NULL."""
    kind = plain_type(of)
    if array.type != kind:
        raise TypeError(f"values of {of} are {kind} in plain form, not {array.type}")
    if pa.types.is_large_binary(kind):
        tag, end, empty = (pa.scalar(one, pa.large_binary()) for one in (_TAG, _END, b""))
        escaped = pc.replace_substring(array, pattern=b"\x00", replacement=b"\x00\xff")
        pieces = pc.binary_join_element_wise(tag, escaped, end, empty)
    else:
        pieces = _fixed(_words(array), b"\x02" if pa.types.is_decimal(kind) else b"\x01")
    if array.null_count:
        pieces = pc.if_else(array.is_valid(), pieces, pa.scalar(NULL, pa.large_binary()))
    return pieces


def _words(array: pa.Array) -> npt.NDArray[np.uint64]:
    """``(n, 1 or 2)``: unsigned words that sort as the values do, the most significant first. NULLs are anything."""
    n, held = len(array), array.buffers()[1] or b""
    if pa.types.is_decimal(array.type):
        pairs = np.frombuffer(held, "<u8")[2 * array.offset : 2 * (array.offset + n)].reshape(n, 2)
        return np.column_stack([pairs[:, 1] ^ np.uint64(_SIGN), pairs[:, 0]])
    if pa.types.is_floating(array.type):
        values = np.frombuffer(held, np.float64)[array.offset : array.offset + n] + 0.0
        bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
        bits[np.isnan(values)] = np.uint64(0x7FF8 << 48)
        return np.where(bits >> np.uint64(63) == 1, ~bits, bits | np.uint64(_SIGN)).reshape(n, 1)
    whole = np.frombuffer(held, np.uint64)[array.offset : array.offset + n]
    return np.asarray(whole ^ np.uint64(_SIGN)).reshape(n, 1)


def _fixed(words: npt.NDArray[np.uint64], tag: bytes) -> pa.Array:
    """The tag and the words of each row."""
    n, count = words.shape
    width = 1 + 8 * count
    held = np.empty((n, width), np.uint8)
    held[:, 0] = tag[0]
    held[:, 1:] = words.astype(">u8").view(np.uint8).reshape(n, 8 * count)
    offsets = np.arange(0, (n + 1) * width, width, dtype=np.int64)
    return pa.Array.from_buffers(pa.large_binary(), n, [None, pa.py_buffer(offsets), pa.py_buffer(held)])


# -- the first column of a composite key


def leading(key: bytes) -> int:
    """The length of the piece of a key's first column. Raises FormatError for bytes that are not a key."""
    tag = key[0] if key else -1
    length = key.find(_END, 1) + 2 if tag == _BYTES else _WIDTHS.get(tag, 0)
    if length < 1 or length > len(key) or (tag == _BYTES and length < 3):
        raise FormatError("no secondary key")
    return length


def _ends_once(content: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> bool:
    """Whether pieces of texts that end at ``ends`` have the bytes of an end there and nowhere else."""
    zeros = content == 0
    pairs = zeros[1:] & zeros[:-1]
    return bool(ends.min() > 1 and pairs[ends - 2].all() and np.count_nonzero(pairs) == len(ends))


def leading_of(keys: pa.Array) -> pa.Array:
    """``(n,) binary``: the piece of the first column of each key (binary, no NULL). Raises FormatError."""
    n = len(keys)
    if not n:
        return keys
    _, offsets, content = keys.buffers()
    edges = np.frombuffer(offsets, np.int32)[keys.offset : keys.offset + n + 1].astype(np.int64)
    whole, starts = np.diff(edges), edges[:-1]
    held = np.frombuffer(content or b"", np.uint8)
    if not whole.all():
        raise FormatError("no secondary key")
    tags = held[starts]
    width = _WIDTHS.get(int(tags[0]))
    if width is not None and (whole == width).all() and (tags == tags[0]).all():
        return keys  # values of one type, of one column
    if (tags == _BYTES).all() and _ends_once(held[starts[0] : edges[-1]], edges[1:] - starts[0]):
        return keys  # texts of one column
    lengths = np.select([tags == tag for tag in _WIDTHS], list(_WIDTHS.values()), 0)
    text = tags == _BYTES
    if text.any():
        ends = pc.find_substring(keys, pattern=_END).to_numpy(zero_copy_only=False)
        lengths = np.where(text & (ends > 0), ends + 2, lengths)
    if not ((lengths > 0) & (lengths <= whole)).all():
        raise FormatError("no secondary key")
    if (lengths == whole).all():
        return keys
    upto = np.concatenate([[0], np.cumsum(lengths)])
    kept = held[np.repeat(starts - upto[:-1], lengths) + np.arange(upto[-1])]
    return pa.Array.from_buffers(pa.binary(), n, [None, pa.py_buffer(upto.astype(np.int32)), pa.py_buffer(kept)])
