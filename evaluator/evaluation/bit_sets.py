"""Sets of slices as bits: one bit for each slice of a table, slice 0 first.

A set that outlives one expression takes an eighth of a ``(n,) bool`` array and a 64th of row numbers
(docs/decisions/bitarray.md). Arrays are compared and indexed in numpy; what is kept of the result is a bitarray.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from bitarray import bitarray, frozenbitarray

__all__ = ["are_set", "bits_of_mask", "bits_of_rows", "mask_of_bits", "rows_of_bits"]


def bits_of_mask(mask: npt.NDArray[np.bool_]) -> frozenbitarray:
    """The set of a ``(n,) bool`` array."""
    bits = bitarray(endian="little")
    bits.frombytes(np.packbits(mask, bitorder="little").tobytes())
    return frozenbitarray(bits[: len(mask)])


def bits_of_rows(rows: npt.NDArray[Any], n: int) -> frozenbitarray:
    """The set of some of n slices, given by row number."""
    mask = np.zeros(n, np.bool_)
    mask[rows] = True
    return bits_of_mask(mask)


def mask_of_bits(bits: bitarray) -> npt.NDArray[np.bool_]:
    """``(n,) bool``."""
    little = bitarray(bits, endian="little")
    mask: npt.NDArray[np.bool_] = np.unpackbits(
        np.frombuffer(little.tobytes(), np.uint8), count=len(bits), bitorder="little"
    ).view(np.bool_)
    return mask


def rows_of_bits(bits: bitarray) -> npt.NDArray[np.int64]:
    """``(k,) int64``, ascending: the row numbers of a set."""
    return np.flatnonzero(mask_of_bits(bits)).astype(np.int64, copy=False)


def are_set(bits: bitarray, rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """``(k,) bool``: whether each of these rows is in the set, at the cost of k rows however many slices there are."""
    little = bits if bits.endian == "little" else bitarray(bits, endian="little")
    octets = np.frombuffer(memoryview(little), np.uint8)
    found: npt.NDArray[np.bool_] = (octets[rows >> 3] >> (rows & 7).astype(np.uint8) & 1).view(np.bool_)
    return found
