"""``sum``: the exact sum of the integers or decimals of a file. It answers ``sum(c)`` of whole files, and skips none.

values of the file        stored      why
------------------------  ----------  -----------------------------------------------
3, 9, NULL                12
1.50, 2.25                375         unscaled, in the scale that the file has
nothing but NULL          nothing     the number of NULLs, beside it, is enough
beyond 38 digits          nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import Kind, Type
from index_store.own.sketches.base import Batch, Sketch, SketchStatistics, Stored, refuse_options

__all__ = ["SUM", "TOTAL", "Sum", "make"]

SUM, TOTAL = "sum", "total"
_DIGITS = 38


def make(options: Mapping[str, str]) -> Sketch:
    """``sum`` has no options."""
    refuse_options(SUM, options)
    return Sum()


class Sum:
    """The sum of all values."""

    name = text = SUM
    fields = (pa.field(TOTAL, pa.decimal128(_DIGITS, 0)),)
    from_footers = False
    is_filter = False
    skips_files = False

    def why_not(self, of: Type) -> str:
        return "" if _is_summed(of) else f"values of type {of} have no exact sum: integers and decimals have"

    def collect(self) -> _Collector:
        return _Collector()

    def decode(self, stored: Stored) -> SketchStatistics:
        del stored  # a sum says nothing of a single value
        return SketchStatistics()


def _is_summed(of: Type) -> bool:
    return of.kind.is_integer or of.kind is Kind.DECIMAL


class _Collector:
    def __init__(self) -> None:
        self._total = 0
        self._has_values = False

    def add(self, batch: Batch) -> None:
        if _is_summed(batch.type.type) and len(batch.present):
            self._total += _exact_sum(batch.present)
            self._has_values = True

    def stored(self) -> Mapping[str, Any]:
        fits = self._has_values and len(str(abs(self._total))) <= _DIGITS
        return {TOTAL: Decimal(self._total) if fits else None}


def _exact_sum(plain: pa.Array) -> int:
    """The sum of plain values without NULL: of int64, or of decimals of 128 bits, which are unscaled."""
    wide = 2 if pa.types.is_decimal(plain.type) else 1
    start, count = plain.offset * wide, len(plain) * wide
    words = np.frombuffer(plain.buffers()[1], np.int64)[start : start + count]
    if wide == 1:
        return _sum_of_words(words)
    return _sum_of_words(words[0::2].view(np.uint64)) + (_sum_of_words(words[1::2]) << 64)


def _sum_of_words(words: npt.NDArray[Any]) -> int:
    """By halves of 32 bits: the sums of fewer than 2^31 of them fit 64 bits."""
    half = words.dtype.type(32)
    low = words & words.dtype.type(0xFFFFFFFF)
    return (int((words >> half).sum()) << 32) + int(low.sum())
