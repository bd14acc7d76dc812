"""Aggregates of partitions, beside the rows of their files: one row for each partition and column.

    partition  on    files  rows  type  nulls  lo  hi
    p=a        city  3      120   text  4      a   kk        of all rows of these 3 files
    p=a        fare  3      120   NULL  NULL               one file has another type, or its values are not known
    p=b        city  2      null  text  null   a   z        one file does not say how many rows it has

    rows, nulls    at most so many; NULL where a file does not know its own
    type           the one that all files have, apart from those without rows (``sketches.values.FileType``)
    lo, hi         bounds of all values, in the bytes of the type; NULL where a file has values and no bound

A file's own statistics are such a row of one file, and one associative rule unites rows, so the order does not matter.
A row stays true when files are taken away: counts are upper limits, bounds contain the remaining values, and
``nulls == rows`` still means that there is nothing but NULL.

``sargo index show`` prints them. Filters do not use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import UnsupportedError
from evaluator.statistics.stored_bounds import StoredBounds
from index_store.own.builders.sketching import ROWS, SketchPlan, Target, nulls_field, sketch_field, type_field
from index_store.own.sketches.values import decoded, value_bytes
from index_store.table.file_types import EMPTY, FileType

__all__ = ["AGGREGATES", "aggregate", "united"]

AGGREGATES = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("on", pa.string()),
        pa.field("files", pa.int64()),
        pa.field("rows", pa.int64()),
        pa.field("type", pa.string()),
        pa.field("nulls", pa.int64()),
        pa.field("lo", pa.large_binary()),
        pa.field("hi", pa.large_binary()),
    ]
)

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def aggregate(rows: pa.Table, plan: SketchPlan) -> pa.Table:
    """The aggregates (the schema AGGREGATES) of rows of an index that have a column ``partition``."""
    return united(_of_files(rows, target) for target in plan.targets if type_field(target.on) in rows.column_names)


def united(tables: Iterable[pa.Table]) -> pa.Table:
    """One row for each column and partition: columns in the order of their first row, partitions sorted."""
    rows = pa.concat_tables([AGGREGATES.empty_table(), *tables]).combine_chunks()
    by_column = [
        _united(rows.filter(pc.equal(rows["on"], on)).sort_by("partition"), on)
        for on in pc.unique(rows["on"]).to_pylist()
    ]
    return pa.concat_tables([AGGREGATES.empty_table(), *by_column]).combine_chunks()


def _of_files(rows: pa.Table, target: Target) -> pa.Table:
    """The aggregates of single files."""
    n = rows.num_rows
    lo, hi = (sketch_field(target.on, "min_max", end) for end in ("lo", "hi"))
    nothing = pa.nulls(n, pa.large_binary())
    bounds = [rows[name].cast(pa.large_binary()) if name in rows.column_names else nothing for name in (lo, hi)]
    types, nulls = _types(rows[type_field(target.on)], target), _count(rows[nulls_field(target.on)])
    return pa.table(
        [
            rows["partition"],
            pa.array([target.on] * n, pa.string()),
            pa.array(np.ones(n, np.int64)),
            _count(rows[ROWS]),
            types,
            nulls,
            *bounds,
        ],
        schema=AGGREGATES,
    )


def _count(counts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Counts, NULL for a negative one, which is unknown."""
    counts = counts.cast(pa.int64())
    return pc.if_else(pc.less(counts, 0), pa.scalar(None, pa.int64()), counts)


def _types(stored: pa.ChunkedArray, target: Target) -> pa.ChunkedArray:
    """The types of a column in the files, or of an expression's values; NULL where values are unknown."""
    texts = stored.cast(pa.string())
    if target.expression is None:
        return pc.if_else(pc.starts_with(texts, "!"), pa.scalar(None, pa.string()), texts)
    key, of = "", None
    with suppress(UnsupportedError):  # a column is gone, or of another type
        key, result = target.expression.key, target.expression.result
        of = FileType.of(result, "micros" if result.kind.is_timestamp else "").text
    no_rows = pc.equal(texts, EMPTY.text)
    return pc.if_else(
        no_rows, texts, pc.if_else(pc.equal(texts, key), pa.scalar(of, pa.string()), pa.scalar(None, pa.string()))
    )


def _united(rows: pa.Table, on: str) -> pa.Table:
    """One row for each partition of the rows of one column, which are sorted by partition."""
    partitions = rows["partition"].combine_chunks().dictionary_encode()
    codes = partitions.indices.to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    files = np.add.reduceat(rows["files"].to_numpy(), starts)
    counts, nulls = (_sums(rows[name], starts) for name in ("rows", "nulls"))
    row_count, null_count = (rows[name].fill_null(-1).to_numpy() for name in ("rows", "nulls"))
    has_rows = row_count != 0
    types = _one_type(rows["type"], has_rows, starts)
    has_values = has_rows & ~((row_count == null_count) & (row_count > 0))
    sides = [_bounds(rows[end].combine_chunks(), types, has_values, starts, least=end == "lo") for end in ("lo", "hi")]
    names = partitions.dictionary.take(pa.array(codes[starts]))
    return pa.table(
        [
            names,
            pa.array([on] * len(starts), pa.string()),
            pa.array(files),
            counts,
            pa.array(types, pa.string()),
            nulls,
            *sides,
        ],
        schema=AGGREGATES,
    )


def _sums(counts: pa.ChunkedArray, starts: Rows) -> pa.Array:
    """The sum over each partition, NULL where one of its counts is."""
    known = counts.is_valid().to_numpy()
    sums = np.add.reduceat(counts.fill_null(0).to_numpy(), starts)
    return pa.array(sums, mask=~np.logical_and.reduceat(known, starts))


def _one_type(types: pa.ChunkedArray, has_rows: Mask, starts: Rows) -> list[str | None]:
    """The type that all rows of each partition have in common."""
    texts = types.to_pylist()
    types_of_partitions: list[str | None] = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(texts)], strict=True):
        kinds = {
            text
            for text, some in zip(texts[start:end], has_rows[start:end].tolist(), strict=True)
            if some and text != EMPTY.text
        }
        types_of_partitions.append(EMPTY.text if not kinds else kinds.pop() if len(kinds) == 1 else None)
    return types_of_partitions


def _bounds(stored: pa.Array, types: Sequence[str | None], has_values: Mask, starts: Rows, *, least: bool) -> pa.Array:
    """The least or the greatest bound of each partition, NULL where one of its rows has values and no bound."""
    partition = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(stored))))
    lacks = np.zeros(len(starts), np.bool_)
    lacks[partition[has_values & ~stored.is_valid().to_numpy(zero_copy_only=False)]] = True
    bounds: list[bytes | None] = [None] * len(starts)
    by_type: dict[str, list[int]] = {}
    for number, text in enumerate(types):
        if text is not None and FileType(text).is_known and not lacks[number]:
            by_type.setdefault(text, []).append(number)
    for text, numbers in by_type.items():
        wanted = np.zeros(len(starts), np.bool_)
        wanted[numbers] = True
        rows = np.flatnonzero(wanted[partition] & has_values)
        if len(rows):
            _reduce(stored.take(pa.array(rows)), FileType(text), partition[rows], bounds, least=least)
    return pa.array(bounds, pa.large_binary())


def _reduce(stored: pa.Array, of: FileType, partition: Rows, bounds: list[bytes | None], *, least: bool) -> None:
    values: Any = decoded(stored, of.type)
    if isinstance(values, StoredBounds):  # text in the order of its bytes
        plain = values.array.to_pylist()
        values = np.empty(len(plain), object)
        values[:] = [one if isinstance(one, bytes) else int(one) for one in plain]
    starts = np.flatnonzero(np.concatenate([[True], partition[1:] != partition[:-1]]))
    ends = (np.minimum if least else np.maximum).reduceat(values, starts)
    for number, value in zip(partition[starts].tolist(), ends.tolist(), strict=True):
        bounds[number] = value_bytes(value, of.type)
