"""Statistics and indexes in the form of a file mapped into memory: bounds in Arrow or packed, arrays read only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Type
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics, PartStatistics
from evaluator.statistics.packing import pack_decimals, pack_numbers, pack_texts
from evaluator.statistics.stored_bounds import StoredBounds, is_bytes, is_storable

__all__ = ["mapped", "packed", "read_only", "stored"]


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view of an array."""
    view = array.view()
    view.setflags(write=False)
    return view


def packed(known: ColumnStatistics) -> ColumnStatistics:
    """The same statistics without index; bounds and counts packed."""
    parts = known.parts
    rows: Any = pack_numbers(known.row_count)
    nulls: Any = pack_numbers(known.null_count, rows)
    if is_storable(known.type):
        pack: Any = pack_texts if is_bytes(known.type) else pack_decimals
        arrays = [StoredBounds.of(np.asarray(bound), known.type).array for bound in (known.lo, known.hi)]
        lower = pack(arrays[0])
        lo, hi = StoredBounds(lower, known.type), StoredBounds(pack(arrays[1], lower), known.type)
    else:
        lo = pack_numbers(np.asarray(known.lo))
        hi = pack_numbers(np.asarray(known.hi), lo)
    return replace(
        stored(known),
        lo=lo,
        hi=hi,
        null_count=nulls,
        row_count=rows,
        parts=None if parts is None else PartStatistics(packed(parts.statistics), read_only(parts.slice_of)),
    )


def stored(known: ColumnStatistics) -> ColumnStatistics:
    """The same statistics without index; bounds in Arrow where the type allows it."""
    lo, hi = (
        StoredBounds.of(np.asarray(bound), known.type) if is_storable(known.type) else read_only(np.asarray(bound))
        for bound in (known.lo, known.hi)
    )
    parts = (
        None if known.parts is None else PartStatistics(stored(known.parts.statistics), read_only(known.parts.slice_of))
    )
    return ColumnStatistics(
        known.type,
        lo,
        hi,
        lo_known=read_only(known.lo_known),
        hi_known=read_only(known.hi_known),
        null_count=read_only(known.null_count),
        row_count=read_only(known.row_count),
        trust=read_only(known.trust),
        parts=parts,
    )


def mapped(index: ColumnIndex, column_type: Type) -> ColumnIndex:
    """The same index, put together from the bytes of its arrays."""

    def again(part: Any) -> Any:
        return np.frombuffer(part.tobytes(), part.dtype) if isinstance(part, np.ndarray) else part

    return ColumnIndex.from_arrays(column_type, {name: again(part) for name, part in index.to_arrays().items()})
