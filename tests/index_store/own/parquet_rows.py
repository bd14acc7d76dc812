"""Rows of the evaluator's strategies as Parquet files of several writers, and what sketches know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.builder import FILE_ID
from index_store.own.builders.sketching import SketchPlan, Target, sketch_file
from index_store.own.provider.per_file_statistics import per_file_statistics
from index_store.own.provider.slice_statistics import IndexedColumn
from index_store.own.sketches import parse_sketch
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlice, FileSlices
from tests.evaluator.strategies import TYPES, Slice, values_of

SKETCHES = (
    "null_count",
    "nan_count",
    "min_max",
    "value_list",
    "value_list(limit=2)",
    "prefix_set",
    "prefix_set(limit=2, length=2)",
    "partition",
    "bloom_filter(fpp=0.01)",
    "bloom_filter(size=8B)",
    "sum",
)
_PLAIN = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.TINYINT: pa.int8(),
    Kind.SMALLINT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.BIGINT: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.CHAR: pa.string(),
    Kind.VARCHAR: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.BINARY: pa.binary(),
}
LONG = ("x" * 99 + "é", "x" * 100, "x" * 101, "x" * 300, "é" * 120, "\U0010ffff" * 130, "x" * 99 + "\U0010ffff" * 9)


def awkward_values(kind: Type) -> st.SearchStrategy[Any]:
    """The evaluator's values, and those that writers get wrong."""
    more: Sequence[Any] = ()
    if kind.kind in (Kind.FLOAT, Kind.DOUBLE):
        more = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0)
    elif kind.kind is Kind.STRING:
        more = LONG
    elif kind.kind is Kind.BINARY:
        more = (b"\xff" * 100, b"\xff" * 101, b"\xfe" + b"\xff" * 120, b"\x00", b"\x00" * 101)
    elif kind.kind is Kind.DATE:
        more = (-141_428, -150_000)
    elif kind.kind.is_timestamp:
        more = (-2_208_988_800_000_001, -5_000_000_000_000_000)
    return values_of(kind) | st.sampled_from(more) if more else values_of(kind)


@st.composite
def awkward_files(draw: st.DrawFn, columns: Sequence[str], most: int = 6) -> Slice:
    """The rows of a file: none at all, or up to ``most``."""
    size = draw(st.integers(0, most))
    rows: list[dict[str, Any]] = [{} for _ in range(size)]
    for name in columns:
        pool = awkward_values(TYPES[name])
        few = draw(st.lists(st.none() | pool, min_size=1, max_size=3))
        cell = draw(st.sampled_from([st.none() | pool, pool, st.sampled_from(few), st.none()]))
        for row in rows:
            value = draw(cell)
            if TYPES[name].kind is Kind.CHAR and value is not None and draw(st.booleans()):
                value = value.ljust(TYPES[name].precision)
            row[name] = value
    return Slice(tuple(rows))


def arrow_type(kind: Type, unit: str) -> pa.DataType:
    if kind.kind is Kind.DECIMAL:
        return pa.decimal128(kind.precision, kind.scale)
    if kind.kind.is_timestamp:
        return pa.timestamp(unit, "UTC" if kind.kind is Kind.TIMESTAMP_LTZ else None)
    return _PLAIN[kind.kind]


def write_parquet(
    path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], unit: str, row_group: int
) -> None:
    """Nested columns ``st.x`` and ``st.s`` become fields of a struct."""
    arrays: dict[str, pa.Array] = {}
    for name in columns:
        values = [row[name] for row in rows]
        kind = TYPES[name]
        if kind.kind.is_timestamp:
            factor = {"us": 1, "ns": 1000}.get(unit, 0)
            values = [None if one is None else one * factor if factor else one // 1000 for one in values]
            arrays[name] = pa.array(values, pa.int64()).cast(arrow_type(kind, unit))
        else:
            arrays[name] = pa.array(values, arrow_type(kind, unit))
    plain = {name: array for name, array in arrays.items() if "." not in name}
    nested = {name.partition(".")[2]: array for name, array in arrays.items() if "." in name}
    if nested:
        plain["st"] = pa.StructArray.from_arrays(list(nested.values()), list(nested))
    pq.write_table(
        pa.table(plain),
        path,
        row_group_size=row_group,
        version="2.6",
        use_dictionary=len(rows) % 2 == 0,
        coerce_timestamps=None,
    )


def one_unit(rows: Slice, columns: Sequence[str], unit: str) -> Slice:
    """The rows as they are once they are written: whole milliseconds."""
    if unit != "ms":
        return rows
    return Slice(
        tuple(
            {
                name: value // 1000 * 1000
                if name in columns and TYPES[name].kind.is_timestamp and value is not None
                else value
                for name, value in row.items()
            }
            for row in rows.rows
        )
    )


def slice_files(slice_of: Sequence[int]) -> SliceFiles:
    """File j is ``<j>.parquet`` and belongs to slice ``slice_of[j]``; the slices have no log files but other bases."""
    n = max(slice_of) + 1
    paths = tuple(f"{j}.parquet" for j in range(len(slice_of)))
    return SliceFiles(
        paths,
        ("",) * len(paths),
        np.array(slice_of, np.intp),
        np.zeros(len(paths), np.bool_),
        np.bincount(slice_of, minlength=n),
    )


def known_columns(
    folder: Path, files: int, plan: SketchPlan, fields: Mapping[str, Field], unit: str
) -> dict[str, IndexedColumn]:
    """Sketch the files and read back what was stored."""
    storage = Storage.at(folder)
    rows = [{FILE_ID: j, **sketch_file(storage, f"{j}.parquet", plan)} for j in range(files)]
    stored = pa.Table.from_pylist(rows, plan.schema)
    places = np.arange(files)
    return {
        target.on: IndexedColumn(
            fields[target.on],
            [
                (known.index_rows.astype(np.intp), known)
                for known in per_file_statistics(places, stored, target, fields[target.on], unit, absent_is_null=True)
            ],
        )
        for target in plan.targets
    }


def possible(texts: Sequence[str], kind: Type) -> list[str]:
    """Those that a column of the type can have."""
    return [text for text in texts if not parse_sketch(text).why_not(kind)]


def one_slice_each(names: Sequence[str]) -> FileSlices:
    return FileSlices("1", "test", tuple(FileSlice("", name, name) for name in names))


__all__ = [
    "SKETCHES",
    "Target",
    "awkward_files",
    "known_columns",
    "one_slice_each",
    "one_unit",
    "possible",
    "slice_files",
    "write_parquet",
]
