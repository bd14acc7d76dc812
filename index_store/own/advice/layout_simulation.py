"""The bounds that a table would have in another sort order: ``sort by (city, ts)``, ``zorder by (lat, lon)``.

    sampled      every n-th row of the sample's files, at most MAX_ROWS, of the columns that matter
    sorted       by the columns in turn, or along a Z-order curve of their ranks, within each partition: Hudi's
                 clustering moves no row to another partition
    cut          into as many files of equal rows as the partition has file slices
    sketched     bounds and NULLs of each simulated file, which filters are then evaluated on

When every row of the table is read, the simulation gives what clustering really gives. A smaller sample differs in two
ways. A partition gets fewer simulated files than it has slices, so that each has ROWS_PER_FILE rows; each then has a
weight. And a few rows have a narrower range of an unsorted column than the many rows of a real file: such a column gets
the range of as many sampled rows around the file as represent a real file. That is right for a column that does not
depend on the order, and too wide for one that does. A second column to sort by is treated in the same way in a file
where the first one has more than FEW_PREFIXES values.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from index_store.own.advice.sample import InMemory, Sample
from index_store.own.advice.selectivity_score import ranks_of
from index_store.own.builder import FILE_ID
from index_store.own.builders.sketching import ROWS, SketchPlan, nulls_field, sketch_rows
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.table_files import with_ids
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.storage.errors import TableError
from index_store.table.file_rows import ColumnRows, RowBatch, read_rows
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.file_types import ABSENT, FileType
from index_store.table.plain_values import plain_type

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["SampledRows", "SimulatedLayout", "SortOrder", "parse_sort_order", "sampled_rows", "simulate_layout"]

#: At most so many rows are sampled, and a simulated file has at least so many of them.
MAX_ROWS, ROWS_PER_FILE = 1_000_000, 200
#: A column keeps its own range in a file where the columns before it take at most so many values.
FEW_PREFIXES = 3
_TEXT = re.compile(r"\s*(sort|order|zorder|z-order)\s+by\s*\(?([^()]+)\)?\s*", re.IGNORECASE)
#: Bits of each column's rank in a Z-order curve.
_BITS = 16


@frozen
class SortOrder:
    """Columns by which rows are sorted in turn, or, with ``curve``, along a Z-order curve."""

    columns: tuple[str, ...]
    curve: bool = False

    @property
    def text(self) -> str:
        """``sort by (city, ts)``"""
        return f"{'zorder' if self.curve else 'sort'} by ({', '.join(self.columns)})"


def parse_sort_order(text: str) -> SortOrder:
    """From ``sort by (a, b)`` or ``zorder by (a, b)``. Raises ValueError."""
    match = _TEXT.fullmatch(text)
    columns = tuple(one.strip().strip("`") for one in match[2].split(",")) if match else ()
    if match is None or not all(columns) or len(set(columns)) < len(columns):
        raise ValueError(f'{text!r} is not understood: write "sort by (a, b)" or "zorder by (a, b)"')
    return SortOrder(columns, match[1].lower().startswith("z"))


@frozen(slots=False, eq=False)
class SampledRows:
    """Rows of a sample: by partition a table of columns in plain form (``sketches.values``).

    stride     one of so many rows was taken; 1: all of them
    left_out   files of which a column is not known or of another type, and why
    """

    columns: tuple[Field, ...]
    types: Mapping[str, FileType]
    by_partition: Mapping[str, pa.Table]
    stride: int
    left_out: Mapping[str, str]

    @property
    def rows(self) -> int:
        """How many rows were sampled."""
        return sum(table.num_rows for table in self.by_partition.values())


@frozen(slots=False, eq=False)
class SimulatedLayout:
    """Simulated files as file slices, an index of their bounds, and how many real slices each stands for (m,)."""

    slices: FileSlices
    kind: OwnSketches
    weight: npt.NDArray[np.float64]


def sampled_rows(sample: Sample, columns: Sequence[Field], rows: int, most: int = MAX_ROWS) -> SampledRows:
    """Read rows of these columns. ``rows``: about how many the sample's files have."""
    stride = max(1, -(-rows // most))
    units = sample.table.columns.units
    types = {
        column.name: FileType.of(column.type, units.get(column.name, "") if column.type.kind.is_timestamp else "")
        for column in columns
    }
    by_partition: dict[str, list[pa.Table]] = {}
    left_out: dict[str, str] = {}
    for file_slice in sample.slices:
        for path in file_slice.files:
            try:
                tables = _rows_of(sample.table, path, types, stride)
                by_partition.setdefault(file_slice.partition, []).extend(tables)
            except (TableError, ValueError) as error:
                left_out[path] = str(error)
    empty = pa.table({name: pa.array([], plain_type(of.type)) for name, of in types.items()})
    return SampledRows(
        tuple(columns),
        types,
        {partition: pa.concat_tables([empty, *tables]) for partition, tables in by_partition.items()},
        stride,
        left_out,
    )


def _rows_of(table: Table, path: str, types: Mapping[str, FileType], stride: int) -> list[pa.Table]:
    """Raises ValueError for a file that has one of the columns in a type that is not understood as the table's."""
    tables, seen = [], 0
    for batch in read_rows(table.storage, path, list(types)):
        arrays = {}
        for name, of in types.items():
            column = batch.columns[name]
            if column.type == ABSENT:
                arrays[name] = pa.nulls(max(batch.rows, 0), plain_type(of.type))
            elif column.values is None or not _reads_as(column.type, of):
                raise ValueError(f"{name}: {column.type.why or column.type.text}")
            else:
                arrays[name] = column.values
        rows = pa.table(arrays)
        if stride > 1:
            rows = rows.take(pa.array(np.arange(-seen % stride, rows.num_rows, stride)))
        seen += max(batch.rows, 0)
        tables.append(rows)
    return tables


def _reads_as(of: FileType, wanted: FileType) -> bool:
    """Whether values of a file have the plain form of the table's type: the same type or one that was widened."""
    kinds = of.type.kind, wanted.type.kind
    return of == wanted or all(kind.is_integer for kind in kinds) or kinds == (Kind.FLOAT, Kind.DOUBLE)


def simulate_layout(
    sample: Sample, rows: SampledRows, order: SortOrder, slices_by_partition: Mapping[str, int]
) -> SimulatedLayout:
    """The layout of sorted rows. ``slices_by_partition``: how many file slices each partition of the table has."""
    plan = SketchPlan.of([(column.name, "min_max") for column in rows.columns])
    stored: list[dict[str, Any]] = []
    simulated: list[FileSlice] = []
    weights: list[float] = []
    sampled = Counter(file_slice.partition for file_slice in sample.slices)
    for partition, table in rows.by_partition.items():
        real = slices_by_partition[partition]
        complete = rows.stride == 1 and sampled[partition] == real and not rows.left_out
        count = real if complete else min(real, max(1, table.num_rows // ROWS_PER_FILE))
        rows_per_file = 0 if complete else table.num_rows * rows.stride // max(sampled[partition], 1)
        for row in _sketch_files(_sorted(table, order), rows.types, plan, count, rows_per_file):
            number = len(simulated)
            path = f"{partition}/{number}.parquet" if partition else f"{number}.parquet"
            stored.append({FILE_ID: number, **row})
            simulated.append(FileSlice(partition, str(number), path))
            weights.append(real / count)
    covered = sum(slices_by_partition[partition] for partition in rows.by_partition)
    scale = sum(slices_by_partition.values()) / covered if covered else 1.0
    files = with_ids(
        pa.table(
            {
                "path": pa.array([one.base_file for one in simulated], pa.string()),
                "size": pa.array([0] * len(simulated), pa.int64()),
                "instant": pa.array([""] * len(simulated), pa.string()),
            }
        )
    )
    slices = replace(sample.slices, items=tuple(simulated))
    index = InMemory(
        Definition("simulated", tuple(Entry(column.name, "min_max") for column in rows.columns)),
        files,
        pa.Table.from_pylist(stored, plan.schema),
    )
    kind = OwnSketches(OwnIndexes(sample.table, slices, [index]))
    return SimulatedLayout(slices, kind, np.array(weights) * scale)


@frozen(eq=False)
class _Sorted:
    """The rows of a partition in the simulated order.

    prefixes    ``(r,)`` for each column that rows are sorted by: how often the columns before it have changed so far
    """

    table: pa.Table
    prefixes: Mapping[str, npt.NDArray[np.int64]]


def _sorted(table: pa.Table, order: SortOrder) -> _Sorted:
    rows = _row_order(table, order)
    return _Sorted(table.take(pa.array(rows)), _prefixes(table, rows, order))


def _sketch_files(
    rows: _Sorted, types: Mapping[str, FileType], plan: SketchPlan, count: int, rows_per_file: int
) -> Iterator[dict[str, Any]]:
    """The stored row of each of ``count`` simulated files.

    ``rows_per_file``: how many rows a real file has, 0 when the simulated files are complete.
    """
    n = rows.table.num_rows
    represented = max(1, n // max(rows_per_file, 1)) if rows_per_file else count
    around = _ends(n, min(represented, count))
    sketches_around = [_sketch(rows.table.slice(a, b - a), types, plan) for a, b in itertools.pairwise(around)]
    for a, b in itertools.pairwise(_ends(n, count)):
        row = _sketch(rows.table.slice(a, b - a), types, plan)
        if represented < count and b > a:
            wide = sketches_around[int(np.searchsorted(around, (a + b) // 2, "right")) - 1]
            for target in plan.targets:
                prefixes = rows.prefixes.get(target.on)
                if prefixes is None or prefixes[b - 1] - prefixes[a] >= FEW_PREFIXES:
                    row.update({field.name: wide[field.name] for field in target.fields})
                    nulls = wide[nulls_field(target.on)]
                    row[nulls_field(target.on)] = (
                        b - a if nulls == wide[ROWS] else min(nulls, b - a - 1) or (-1 if nulls else 0)
                    )
        yield row


def _ends(n: int, count: int) -> list[int]:
    """Where each of ``count`` even pieces of n rows begins, and n."""
    ends: list[int] = np.cumsum([0, *(len(part) for part in np.array_split(np.arange(n), count))]).tolist()
    return ends


def _sketch(rows: pa.Table, types: Mapping[str, FileType], plan: SketchPlan) -> dict[str, Any]:
    columns = {name: ColumnRows(of, rows[name].combine_chunks()) for name, of in types.items()}
    return sketch_rows([RowBatch(rows.num_rows, columns)], plan.targets)


def _prefixes(table: pa.Table, rows: npt.NDArray[np.int64], order: SortOrder) -> dict[str, npt.NDArray[np.int64]]:
    changes, prefixes = np.zeros(len(rows), np.int64), {}
    for name in order.columns:
        prefixes[name] = np.cumsum(changes)
        if len(rows) and not order.curve:
            ranks = ranks_of(table[name].combine_chunks())[rows]
            changes = np.maximum(changes, np.concatenate([[0], ranks[1:] != ranks[:-1]]).astype(np.int64))
    return prefixes


def _row_order(table: pa.Table, order: SortOrder) -> npt.NDArray[np.int64]:
    """The row indices in the new order; NULL first, as Spark sorts."""
    if not table.num_rows:
        return np.zeros(0, np.int64)
    if not order.curve:
        keys = [ranks_of(table[name].combine_chunks()) for name in reversed(order.columns)]
        return np.lexsort(keys)
    key = np.zeros(table.num_rows, np.uint64)
    ranks = [_scaled_ranks(table[name]) for name in order.columns]
    shift = np.uint64(64)
    for bit in range(_BITS - 1, -1, -1):
        for rank in ranks:
            if shift:
                shift -= np.uint64(1)
                key |= (rank >> np.uint64(bit) & np.uint64(1)) << shift
    return np.argsort(key, kind="stable")


def _scaled_ranks(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """``(n,)``: how many rows are less, scaled to 16 bits, so that each column fills the curve evenly."""
    ranks = ranks_of(column.combine_chunks())
    less = np.searchsorted(np.sort(ranks), ranks, "left")
    return (less * (1 << _BITS) // len(ranks)).astype(np.uint64)
