"""What bounds would say of a table if its rows lay otherwise: ``sort by (city, ts)``, ``zorder by (lat, lon)``.

    rows of a sample     every so-maniest of its files' rows, at most MAX_ROWS, of the columns that matter
    arranged             sorted by the columns in turn, or along a Z-order curve of their ranks, within each partition:
                         Hudi's clustering moves no row to another partition
    cut                  into as many files of equal rows as the partition has file slices
    sketched             bounds and NULLs of each piece, asked as an index of real files would be

When all rows of a table are read, this is what sorting them really gives. With fewer rows there are fewer pieces than
files where a piece would have less than ROWS_PER_PIECE rows, and of columns that are not arranged by, a few rows have a
narrower range than a file will have. Of these a piece gets the range of as many sampled rows around it as a file has:
that is right for columns that have nothing to do with the order, and too wide for those that do. The same holds of a
second column to sort by, where the first has more than FEW_PREFIXES values in a piece.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.schema import Field
from evaluator.language.types import Kind
from index_store.own.advice.sample import InMemory, Sample
from index_store.own.advice.selectivity_score import codes_of
from index_store.own.build.file_rows import ColumnRows, RowBatch, read_rows
from index_store.own.build.sketching import ROWS, SketchPlan, nulls_field, sketch_rows
from index_store.own.builder import FILE_ID
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.table_files import with_ids
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.sketches.values import ABSENT, FileType, plain_type
from index_store.storage.errors import TableError
from index_store.table.file_slices import FileSlice, FileSlices

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["Arrangement", "Rearranged", "SampledRows", "parse_arrangement", "rearranged", "sampled_rows"]

MAX_ROWS, ROWS_PER_PIECE, FEW_PREFIXES = 1_000_000, 200, 3
_TEXT = re.compile(r"\s*(sort|order|zorder|z-order)\s+by\s*\(?([^()]+)\)?\s*", re.IGNORECASE)
_BITS = 16


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Columns by which rows are sorted in turn, or, with ``curve``, along a Z-order curve."""

    columns: tuple[str, ...]
    curve: bool = False

    @property
    def text(self) -> str:
        """``sort by (city, ts)``"""
        return f"{'zorder' if self.curve else 'sort'} by ({', '.join(self.columns)})"


def parse_arrangement(text: str) -> Arrangement:
    """From ``sort by (a, b)`` or ``zorder by (a, b)``. Raises ValueError."""
    match = _TEXT.fullmatch(text)
    columns = tuple(one.strip().strip("`") for one in match[2].split(",")) if match else ()
    if match is None or not all(columns) or len(set(columns)) < len(columns):
        raise ValueError(f'{text!r} is not understood: write "sort by (a, b)" or "zorder by (a, b)"')
    return Arrangement(columns, match[1].lower().startswith("z"))


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows of a sample: by partition a table of columns in plain form (``sketches.values``).

    stride     of so many rows one was taken; 1: all
    left_out   files of which a column is not known or of another type, and why
    """

    columns: tuple[Field, ...]
    types: Mapping[str, FileType]
    by_partition: Mapping[str, pa.Table]
    stride: int
    left_out: Mapping[str, str]

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(one.num_rows for one in self.by_partition.values())


@dataclass(frozen=True, eq=False)
class Rearranged:
    """Pieces as if they were file slices, and how many real ones each stands for, ``weight`` (m,)."""

    slices: FileSlices
    kind: OwnSketches
    weight: npt.NDArray[np.float64]


def sampled_rows(sample: Sample, columns: Sequence[Field], rows: int, most: int = MAX_ROWS) -> SampledRows:
    """Rows of these columns. ``rows``: about how many the sample's files have."""
    stride = max(1, -(-rows // most))
    units = sample.table.columns.units
    types = {
        one.name: FileType.of(one.type, units.get(one.name, "") if one.type.kind.is_timestamp else "")
        for one in columns
    }
    names = list(types)
    found: dict[str, list[pa.Table]] = {}
    left_out: dict[str, str] = {}
    for one in sample.slices:
        for path in one.files:
            try:
                found.setdefault(one.partition, []).extend(_rows_of(sample.table, path, types, stride))
            except (TableError, ValueError) as error:
                left_out[path] = str(error)
    empty = pa.table({name: pa.array([], plain_type(types[name].type)) for name in names})
    return SampledRows(
        tuple(columns),
        types,
        {partition: pa.concat_tables([empty, *some]) for partition, some in found.items()},
        stride,
        left_out,
    )


def _rows_of(table: Table, path: str, types: Mapping[str, FileType], stride: int) -> list[pa.Table]:
    """Raises ValueError for a file of which a column is not known as the table has it."""
    found, seen = [], 0
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
        found.append(rows)
    return found


def _reads_as(found: FileType, wanted: FileType) -> bool:
    """Whether values of a file have the plain form that the table's type has: the same type or a widened one."""
    kinds = found.type.kind, wanted.type.kind
    return found == wanted or all(kind.is_integer for kind in kinds) or kinds == (Kind.FLOAT, Kind.DOUBLE)


def rearranged(sample: Sample, rows: SampledRows, arrangement: Arrangement, slices_of: Mapping[str, int]) -> Rearranged:
    """Bounds of the rows' columns after arranging them. ``slices_of``: file slices of each partition of the table."""
    plan = SketchPlan.of([(one.name, "min_max") for one in rows.columns])
    stored: list[dict[str, Any]] = []
    pieces: list[FileSlice] = []
    weights: list[float] = []
    sampled = dict.fromkeys(rows.by_partition, 0)
    for one in sample.slices:
        sampled[one.partition] = sampled.get(one.partition, 0) + 1
    for partition, table in rows.by_partition.items():
        real = slices_of[partition]
        complete = rows.stride == 1 and sampled[partition] == real and not rows.left_out
        count = real if complete else min(real, max(1, table.num_rows // ROWS_PER_PIECE))
        in_a_file = 0 if complete else table.num_rows * rows.stride // max(sampled[partition], 1)
        for row in _pieces(table, rows.types, plan, arrangement, count, in_a_file):
            path = f"{partition}/{len(pieces)}.parquet" if partition else f"{len(pieces)}.parquet"
            stored.append({FILE_ID: len(pieces), **row})
            pieces.append(FileSlice(partition, str(len(pieces)), path))
            weights.append(real / count)
    known = sum(slices_of[partition] for partition in rows.by_partition)
    scale = sum(slices_of.values()) / known if known else 1.0
    files = with_ids(
        pa.table(
            {
                "path": pa.array([one.base_file for one in pieces], pa.string()),
                "size": pa.array([0] * len(pieces), pa.int64()),
                "instant": pa.array([""] * len(pieces), pa.string()),
            }
        )
    )
    slices = replace(sample.slices, items=tuple(pieces))
    index = InMemory(
        Definition("rearranged", tuple(Entry(one.name, "min_max") for one in rows.columns)),
        files,
        pa.Table.from_pylist(stored, plan.schema),
    )
    return Rearranged(slices, OwnSketches(OwnIndexes(sample.table, slices, [index])), np.array(weights) * scale)


def _pieces(
    table: pa.Table,
    types: Mapping[str, FileType],
    plan: SketchPlan,
    arrangement: Arrangement,
    count: int,
    in_a_file: int,
) -> Iterator[dict[str, Any]]:
    """What is stored of each piece. ``in_a_file``: how many rows a file has, 0 when the pieces are files."""
    order = _order(table, arrangement)
    ends = np.cumsum([0, *(len(part) for part in np.array_split(order, count))])
    large = max(1, len(order) // max(in_a_file, 1)) if in_a_file else count
    around = np.cumsum([0, *(len(part) for part in np.array_split(order, min(large, count)))])
    together = [_sketched(table.take(pa.array(order[a:b])), types, plan) for a, b in itertools.pairwise(around)]
    prefixes = _prefixes(table, order, arrangement)
    for a, b in itertools.pairwise(ends):
        mine = _sketched(table.take(pa.array(order[a:b])), types, plan)
        if large < count and b > a:
            wide = together[int(np.searchsorted(around, (a + b) // 2, "right")) - 1]
            for target in plan.targets:
                known = prefixes.get(target.on)
                if known is None or known[b - 1] - known[a] >= FEW_PREFIXES:
                    mine.update({field.name: wide[field.name] for field in target.fields})
                    nulls = wide[nulls_field(target.on)]
                    mine[nulls_field(target.on)] = (
                        b - a if nulls == wide[ROWS] else min(nulls, b - a - 1) or (-1 if nulls else 0)
                    )
        yield mine


def _sketched(rows: pa.Table, types: Mapping[str, FileType], plan: SketchPlan) -> dict[str, Any]:
    columns = {name: ColumnRows(of, rows[name].combine_chunks()) for name, of in types.items()}
    return sketch_rows([RowBatch(rows.num_rows, columns)], plan.targets)


def _prefixes(
    table: pa.Table, order: npt.NDArray[np.int64], arrangement: Arrangement
) -> dict[str, npt.NDArray[np.int64]]:
    """``(r,)``: for each column that rows are arranged by, how often the ones before it have changed so far."""
    changes, found = np.zeros(len(order), np.int64), {}
    for name in arrangement.columns:
        found[name] = np.cumsum(changes)
        if len(order) and not arrangement.curve:
            codes = codes_of(table[name].combine_chunks())[order]
            changes = np.maximum(changes, np.concatenate([[0], codes[1:] != codes[:-1]]).astype(np.int64))
    return found


def _order(table: pa.Table, arrangement: Arrangement) -> npt.NDArray[np.int64]:
    """The rows in their new order; NULL first, as Spark sorts."""
    if not table.num_rows:
        return np.zeros(0, np.int64)
    if not arrangement.curve:
        keys = [codes_of(table[name].combine_chunks()) for name in reversed(arrangement.columns)]
        return np.lexsort(keys)
    key = np.zeros(table.num_rows, np.uint64)
    ranks = [_scaled_ranks(table[name]) for name in arrangement.columns]
    place = np.uint64(64)
    for bit in range(_BITS - 1, -1, -1):
        for one in ranks:
            if place:
                place -= np.uint64(1)
                key |= (one >> np.uint64(bit) & np.uint64(1)) << place
    return np.argsort(key, kind="stable")


def _scaled_ranks(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """``(n,)``: how many rows are less, scaled to 16 bits, so that each column fills the curve evenly."""
    codes = codes_of(column.combine_chunks())
    least = np.searchsorted(np.sort(codes), codes, "left")
    return (least * (1 << _BITS) // len(codes)).astype(np.uint64)
