"""``null_count`` and ``nan_count``: how many values of a file are NULL, and how many are NaN.

    null_count    answers IS NULL and IS NOT NULL. An index stores the number of NULLs beside every sketch, so this one
                  stores nothing else
    nan_count     answers ``isnan(x)``: a file without NaN has the bounds -infinity .. infinity

Pitfall P3 is described in docs/facts/pitfalls.md#p3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.types import Type
from index_store.own.sketches.base import Batch, FileBounds, Sketch, SketchStatistics, Stored, refuse_options

__all__ = ["NanCount", "NullCount", "make_nan_count", "make_null_count"]


def make_null_count(options: Mapping[str, str]) -> Sketch:
    """``null_count`` has no options."""
    refuse_options("null_count", options)
    return NullCount()


def make_nan_count(options: Mapping[str, str]) -> Sketch:
    """``nan_count`` has no options."""
    refuse_options("nan_count", options)
    return NanCount()


class NullCount:
    """The number of NULLs, which is stored beside every sketch."""

    name = text = "null_count"
    fields: tuple[pa.Field, ...] = ()
    from_footers = True
    is_filter = False
    skips_files = True

    def why_not(self, of: Type) -> str:
        del of
        return ""

    def collect(self) -> _Nothing:
        return _Nothing()

    def decode(self, stored: Stored) -> SketchStatistics:
        del stored
        return SketchStatistics()


class _Nothing:
    def add(self, batch: Batch) -> None:
        del batch

    def stored(self) -> Mapping[str, Any]:
        return {}


class NanCount:
    """The number of NaNs. Where there are none, every value lies between the infinities."""

    name = text = "nan_count"
    fields = (pa.field("nans", pa.int64()),)
    from_footers = False
    is_filter = False
    skips_files = True

    def why_not(self, of: Type) -> str:
        return "" if of.kind.is_fractional else f"values of type {of} are never NaN"

    def collect(self) -> _NanCollector:
        return _NanCollector()

    def decode(self, stored: Stored) -> SketchStatistics:
        if not stored.type.kind.is_fractional:
            return SketchStatistics()
        nans = stored.columns["nans"].fill_null(-1).to_numpy(zero_copy_only=False)
        infinite, none = np.full(len(stored), np.inf), nans == 0
        return SketchStatistics(bounds=FileBounds(-infinite, infinite, none, none))


class _NanCollector:
    def __init__(self) -> None:
        self._nans: int | None = None

    def add(self, batch: Batch) -> None:
        if batch.type.type.kind.is_fractional:
            self._nans = (self._nans or 0) + int(pc.sum(pc.is_nan(batch.present)).as_py() or 0)

    def stored(self) -> Mapping[str, Any]:
        return {"nans": self._nans}
