"""``partition``: the single value of a file, for columns that files are divided by without being partition columns.

values of the file      stored      parts of the file
----------------------  ----------  -----------------------------------
'eu', 'eu'              'eu'        'eu': region = 'eu' fully matches
'eu', NULL              'eu'        'eu' and NULL
'eu', 'us'              nothing     unknown
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from index_store.own.sketches.base import Batch, FileBounds, FileParts, Sketch, SketchStatistics, Stored, refuse_options
from index_store.own.sketches.value_list import MAX_BYTES, ValueList, bounds_of_parts
from index_store.own.sketches.values import decoded

__all__ = ["Partition", "make"]


def make(options: Mapping[str, str]) -> Sketch:
    """``partition`` has no options."""
    refuse_options("partition", options)
    return Partition()


class Partition(ValueList):
    """The single value of a file."""

    name = "partition"
    fields = (pa.field("value", pa.large_binary()), pa.field("many", pa.bool_()))

    def __init__(self) -> None:
        super().__init__(1)
        self.text = "partition"

    def collect(self) -> _Collector:  # type: ignore[override]
        return _Collector()

    def decode(self, stored: Stored) -> SketchStatistics:
        values, many = stored.columns["value"], stored.columns["many"]
        file = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False)).astype(np.intp)
        points = decoded(pc.drop_null(values), stored.type)
        sure = ~np.isnan(points) if stored.type.kind.is_fractional else np.ones(len(file), np.bool_)
        parts = FileParts(
            file,
            FileBounds(points, points, sure, sure),
            pc.equal(many, False).fill_null(False).to_numpy(zero_copy_only=False),
        )
        return SketchStatistics(bounds=bounds_of_parts(parts, stored), parts=parts)


class _Collector:
    def __init__(self) -> None:
        self._value: bytes | None = None
        self._many = False

    def add(self, batch: Batch) -> None:
        if self._many:
            return
        distinct = batch.distinct_bytes
        if not len(distinct):
            return
        value = distinct[0].as_py()
        self._many = (
            batch.is_rounded
            or len(distinct) > 1
            or len(value) > MAX_BYTES
            or (self._value is not None and value != self._value)
        )
        self._value = value

    def stored(self) -> Mapping[str, Any]:
        return {"value": None if self._many else self._value, "many": self._many}
