"""Encodes runs of file slices and their statistics as Arrow tables, one row for each slice, and decodes them.

    slices       partition, file_id, base, logs                      names, as bytes
    statistics   0.lo  0.hi  0.nulls  0.rows  0.parts   1.lo ...     one group of columns for each ColumnStatistics

A bound that is not known is null; a count that is not known is -1. ``parts`` is there where slices of several files
have statistics by file: a list of (lo, hi, nulls, rows). Text is stored as bytes, decimals as their unscaled integers.
What is read back leads to the same outcomes; only ``trust``, which is for people, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import Type
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, array_dtype, filler
from evaluator.statistics.stored_bounds import Bounds, StoredBounds, concatenated, is_storable
from index_store.table.file_slices import FileSlice

__all__ = ["join_statistics", "slices_from_arrow", "slices_to_arrow", "statistics_from_arrow", "statistics_to_arrow"]

Mask = npt.NDArray[np.bool_]


def slices_to_arrow(slices: Sequence[FileSlice]) -> pa.Table:
    """File slices by name."""
    return pa.table(
        {
            "partition": pa.array([_bytes(one.partition) for one in slices], pa.large_binary()),
            "file_id": pa.array([_bytes(one.file_id) for one in slices], pa.large_binary()),
            "base": pa.array(
                [None if one.base_file is None else _bytes(one.base_file) for one in slices], pa.large_binary()
            ),
            "logs": pa.array([[_bytes(name) for name in one.log_files] for one in slices], pa.list_(pa.large_binary())),
        }
    )


def slices_from_arrow(table: pa.Table) -> list[FileSlice]:
    """The reverse of ``slices_to_arrow``."""
    columns = (table.column(name).to_pylist() for name in ("partition", "file_id", "base", "logs"))
    return [
        FileSlice(
            _text(partition), _text(file_id), None if base is None else _text(base), tuple(_text(name) for name in logs)
        )
        for partition, file_id, base, logs in zip(*columns, strict=True)
    ]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


# -- statistics


def statistics_to_arrow(columns: Sequence[ColumnStatistics]) -> pa.Table:
    """Statistics of several columns in the same slices."""
    found: dict[str, pa.Array] = {}
    for number, one in enumerate(columns):
        found.update({f"{number}.{name}": array for name, array in _flat(one).items()})
        if one.parts is not None:
            found[f"{number}.parts"] = _lists(one.parts, len(one))
    return pa.table(found)


def statistics_from_arrow(table: pa.Table, types: Sequence[Type]) -> list[ColumnStatistics]:
    """The reverse of ``statistics_to_arrow``, with the types of the columns in their order."""
    return [_statistics(table, number, of) for number, of in enumerate(types)]


def join_statistics(columns: Sequence[ColumnStatistics]) -> ColumnStatistics:
    """Statistics of one column in slices one after the other; without index."""

    def joined(name: str) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = np.concatenate([getattr(one, name) for one in columns])
        return array

    if len(columns) == 1:
        return columns[0]
    starts = np.cumsum([0, *(len(one) for one in columns)])
    with_parts = [
        (one.parts, start) for one, start in zip(columns, starts.tolist(), strict=False) if one.parts is not None
    ]
    parts = None
    if with_parts:
        parts = PartStatistics(
            join_statistics([part.statistics for part, _ in with_parts]),
            np.concatenate([part.slice_of + start for part, start in with_parts]),
        )
    return ColumnStatistics(
        columns[0].type,
        concatenated([one.lo for one in columns]),
        concatenated([one.hi for one in columns]),
        lo_known=joined("lo_known"),
        hi_known=joined("hi_known"),
        null_count=joined("null_count"),
        row_count=joined("row_count"),
        trust=joined("trust"),
        parts=parts,
    )


def _flat(one: ColumnStatistics) -> dict[str, pa.Array]:
    return {
        "lo": _bound(one.lo, one.lo_known, one.type),
        "hi": _bound(one.hi, one.hi_known, one.type),
        "nulls": pa.array(one.null_count),
        "rows": pa.array(one.row_count),
    }


def _bound(values: Bounds, known: Mask, of: Type) -> pa.Array:
    if is_storable(of):
        stored = values if isinstance(values, StoredBounds) else StoredBounds.of(np.asarray(values), of)
        return pa.compute.if_else(pa.array(known), stored.array, pa.scalar(None, stored.array.type))
    if array_dtype(of) == np.dtype(object):  # nothing of such a type is ever compared
        return pa.nulls(len(known), pa.int64())
    return pa.array(values, mask=~known, from_pandas=False)


def _lists(parts: PartStatistics, n: int) -> pa.Array:
    order = np.argsort(parts.slice_of, kind="stable")
    flat = _flat(parts.statistics.take(order))
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(parts.slice_of, minlength=n), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(list(flat.values()), list(flat)))


def _statistics(table: pa.Table, number: int, of: Type) -> ColumnStatistics:
    found = _unflat({name: _array(table.column(f"{number}.{name}")) for name in ("lo", "hi", "nulls", "rows")}, of)
    name = f"{number}.parts"
    if name not in table.column_names:
        return found
    lists = _array(table.column(name))
    flat = lists.flatten()
    parts = _unflat({name: flat.field(name) for name in ("lo", "hi", "nulls", "rows")}, of)
    slice_of = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy(zero_copy_only=False))
    return ColumnStatistics(
        found.type,
        found.lo,
        found.hi,
        lo_known=found.lo_known,
        hi_known=found.hi_known,
        null_count=found.null_count,
        row_count=found.row_count,
        trust=found.trust,
        parts=PartStatistics(parts, slice_of),
    )


def _unflat(arrays: dict[str, pa.Array], of: Type) -> ColumnStatistics:
    lo, lo_known = _unbound(arrays["lo"], of)
    hi, hi_known = _unbound(arrays["hi"], of)
    return ColumnStatistics(
        of,
        lo,
        hi,
        lo_known=lo_known,
        hi_known=hi_known,
        null_count=arrays["nulls"].to_numpy(),
        row_count=arrays["rows"].to_numpy(),
        trust=np.zeros(len(lo), np.uint8),
    )


def _unbound(array: pa.Array, of: Type) -> tuple[Bounds, Mask]:
    known = array.is_valid().to_numpy(zero_copy_only=False)
    if is_storable(of):
        nothing = pa.scalar(b"" if pa.types.is_large_binary(array.type) else 0, array.type)
        return StoredBounds(array.fill_null(nothing), of), known
    if array_dtype(of) == np.dtype(object):
        return np.full(len(array), filler(of), object), np.zeros(len(array), np.bool_)
    values: npt.NDArray[Any] = array.fill_null(0).to_numpy(zero_copy_only=False)
    return values, known


def _array(column: pa.ChunkedArray) -> pa.Array:
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks)
        if column.num_chunks
        else (pa.array([], column.type))
    )
