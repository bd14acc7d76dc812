"""A table of many file slices that are nowhere: whoever asks makes them on the spot, with the same statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics, PartStatistics
from evaluator.statistics.stored_bounds import Bounds, StoredBounds
from handler.spark.distributed.stored_statistics import StateFolder
from index_store.kinds.base import Coverage
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.table import Table
from tests.index_store.synthetic import INSTANT, write_table


@frozen(slots=False)
class SyntheticPlace(StateFolder):
    """The place of a table of ``files`` slices; ``make_table`` makes its folder."""

    files: int = 0

    def open(self) -> Table:
        return SyntheticTable(self.path, self.files)


def make_table(root: Path) -> Path:
    write_table(root, 1)
    return root


class SyntheticTable(Table):
    def __init__(self, path: str, files: int) -> None:
        super().__init__(Storage.at(path))
        self._many = files

    def slices(self, as_of: str | None = None) -> FileSlices:  # noqa: ARG002
        return FileSlices(INSTANT, "synthetic", tuple(map(_slice, range(self._many))))

    def kinds(self, slices: FileSlices) -> tuple[AnyColumn, ...]:
        return (AnyColumn(len(slices)),)


def _slice(number: int) -> FileSlice:
    partition = f"day={number % 100:02}"
    return FileSlice(partition, f"{number:032}", f"{partition}/{number:032}_0_1.parquet")


class AnyColumn:
    """Says of every column something about a part of the slices, of some also by file."""

    name = "synthetic"

    def __init__(self, n: int) -> None:
        self._n = n

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        return RequiredStatistics(bounds=asked.bounds, nulls=asked.nulls)

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        return StatisticsProvider(
            self.name, {column.name: statistics_of(column, self._n) for column in required.columns}
        )

    def coverage(self, columns: object) -> Coverage:  # noqa: ARG002
        return Coverage(self.name, None, self._n)


def statistics_of(column: Field, n: int) -> ColumnStatistics:
    """Bounds at random, some unknown; some slices all NULL; of moments, slices of two files."""
    chance = np.random.default_rng(sum(column.name.encode()))
    least = chance.integers(0, 10**9, n)
    greatest = least + chance.integers(0, 10**6, n)
    lo_known, hi_known = chance.random(n) > 0.01, chance.random(n) > 0.01
    rows = chance.integers(0, 1000, n)
    nulls = np.where(chance.random(n) < 0.1, rows, np.where(chance.random(n) < 0.5, 0, -1))
    trust = np.zeros(n, np.uint8)
    parts = None
    if column.type.kind is Kind.TIMESTAMP_LTZ:
        twice = np.repeat(np.arange(0, n, 3), 2)
        narrow = np.where(np.arange(len(twice)) % 2, least[twice], greatest[twice])
        parts = PartStatistics(
            ColumnStatistics(
                column.type,
                narrow,
                narrow,
                lo_known=lo_known[twice],
                hi_known=hi_known[twice],
                null_count=nulls[twice],
                row_count=rows[twice],
                trust=trust[twice],
            ),
            twice,
        )
    lo, hi = (_bounds(values, column) for values in (least, greatest))
    return ColumnStatistics(
        column.type,
        lo,
        hi,
        lo_known=lo_known,
        hi_known=hi_known,
        null_count=nulls,
        row_count=rows,
        trust=trust,
        parts=parts,
    )


def _bounds(values: npt.NDArray[np.int64], column: Field) -> Bounds:
    if column.type.kind is Kind.DOUBLE:
        return values / 7
    if column.type.kind is Kind.STRING:
        return StoredBounds.of(np.array([f"{value:010}" for value in values.tolist()], object), column.type)
    return values
