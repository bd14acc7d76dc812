"""The two hashes of Hudi's buckets, for one key and for a column of keys (equal numbers).

    simple    Java's hash of a list of texts, without its sign    h = 1; h = 31 * h + (0 for NULL, else the text's hash)
              Java's hash of a text                               h = 0; h = 31 * h + each of its UTF-16 units
    ring      xxHash32 of the texts, one after the other as UTF-8, without its sign; NULL is the text "null"

A column of texts is hashed at once: each unit times its power of 31, and the sums of the stretches. All numbers wrap at
2**32, as Java's do.
Source: ``BucketIdentifier``, ``ConsistentBucketIdentifier``, ``HashID``; checked on real tables.

Facts: docs/facts/hudi-buckets.md#simple-hash.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from evaluator.language import arrow_functions as pc
from index_store.formats.keys import java_hash
from index_store.storage.errors import FormatError

__all__ = ["LARGEST_HASH", "Values", "java_hashes", "ring_hash", "ring_hashes", "simple_hash", "simple_hashes"]

#: Hashes of keys lie between 0 and this number.
LARGEST_HASH = 0x7FFFFFFF
_NULL_ON_RINGS = "null"

#: The texts of the hash fields; None is NULL.
Values = tuple[str | None, ...]


def simple_hash(values: Values) -> int:
    """Java's hash of a list of these, without its sign."""
    hashed = 1
    for value in values:
        hashed = 31 * hashed + (0 if value is None else java_hash(value))
    return hashed & LARGEST_HASH


def ring_hash(values: Values) -> int:
    """The position of values on a ring."""
    text = "".join(_NULL_ON_RINGS if value is None else value for value in values)
    return xxhash.xxh32_intdigest(text.encode("utf-8")) & LARGEST_HASH


def simple_hashes(columns: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
    """``(n,)``: the ``simple_hash`` of each row of columns of text. Raises FormatError for text that is not UTF-8."""
    hashed: npt.NDArray[np.uint32] = np.ones(len(columns[0]), np.uint32)
    for column in columns:
        hashed = hashed * np.uint32(31) + java_hashes(column)
    found: npt.NDArray[np.int64] = np.bitwise_and(hashed, np.uint32(LARGEST_HASH)).astype(np.int64)
    return found


def ring_hashes(columns: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
    """``(n,)``: the ``ring_hash`` of each row of columns of text."""
    texts = [column.cast(pa.large_string()) for column in columns]
    joined = pc.binary_join_element_wise(
        *texts, pa.scalar("", pa.large_string()), null_handling="replace", null_replacement=_NULL_ON_RINGS
    )
    digest = xxhash.xxh32_intdigest
    found = [digest(text) for text in joined.cast(pa.large_binary()).to_pylist()]
    return np.bitwise_and(np.array(found, np.int64), LARGEST_HASH)


def java_hashes(texts: pa.Array) -> npt.NDArray[np.uint32]:
    """``(n,)``: Java's ``String.hashCode`` of each text, 0 for NULL. Raises FormatError for text that is not UTF-8."""
    data, starts = _utf_8(texts)
    units: npt.NDArray[np.uint32] = data.astype(np.uint32)
    if (data >= 0x80).any():
        units, starts = _utf_16(data, starts)
    lengths = np.diff(starts)
    powers = np.cumprod(
        np.concatenate([[1], np.full(int(lengths.max(initial=0)), 31)]).astype(np.uint32), dtype=np.uint32
    )
    weighted = units * powers[np.repeat(starts[1:], lengths) - 1 - np.arange(len(units))]
    found = np.zeros(len(lengths), np.uint32)
    has_text = lengths > 0
    if has_text.any():
        found[has_text] = np.add.reduceat(weighted, starts[:-1][has_text], dtype=np.uint32)
    return found


def _utf_8(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of all texts, one after the other, and where each starts; (n + 1,)."""
    filled = pc.fill_null(texts.cast(pa.large_string()), "")
    _, offsets, data = filled.buffers()
    starts = (
        np.frombuffer(offsets, np.int64)[filled.offset : filled.offset + len(filled) + 1]
        if len(filled)
        else (np.zeros(1, np.int64))
    )
    whole = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return whole[starts[0] : starts[-1]], starts - starts[0]


def _utf_16(
    data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The same in UTF-16: a character is one unit, or two if its UTF-8 has four bytes."""
    try:
        units = np.frombuffer(data.tobytes().decode("utf-8").encode("utf-16-le"), "<u2")
    except UnicodeDecodeError as error:
        raise FormatError(f"a key is not UTF-8: {error.reason}", error.start) from error
    per_byte = ((data & 0xC0) != 0x80).astype(np.int64) + (data >= 0xF0)
    before = np.concatenate([[0], np.cumsum(per_byte)])
    return units.astype(np.uint32), before[starts]
