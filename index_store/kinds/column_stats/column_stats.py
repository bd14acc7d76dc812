"""Hudi's ``column_stats`` index as arrays: bounds and counts of each column, united over the files of a slice (C3, C4).

    HFile record -> latest version of its key      stats_versions
      -> the file it describes                     stats_by_slice
      -> a value of the column's type              stats_values
      -> believed or not                           file_rules
      -> united over the files of a slice          slice_union

A file without a record makes its slice unknown: real tables list the index as available with records of 1 file in 17.
Records are found by column prefix and joined by the file's name, not by exact key, since some writers hash absolute
partition paths (hudi#18317).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Match, StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.formats.keys import column_id
from index_store.formats.stats_reader import COLUMN_ID, read_statistics
from index_store.kinds.base import Coverage, column_coverage
from index_store.kinds.column_stats.file_reading import FileReading, FileRows
from index_store.kinds.column_stats.one_file import match_in_one_file
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.stats_versions import Versions
from index_store.storage.errors import naming_column
from index_store.table.merge_rule import merges_whole_records
from index_store.table.metadata_table import Deletes, MetadataTable, Records

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["PARTITION", "ColumnStats", "make", "read_columns"]

PARTITION = "column_stats"
#: The kinds in use, by the identity of their table and slices, which a kind holds: an identity is not reused meanwhile.
_SHARED: WeakValueDictionary[tuple[int, int], ColumnStats] = WeakValueDictionary()


def make(table: Table, slices: FileSlices) -> ColumnStats | None:
    """The kind, if the table's metadata table has column statistics and describes the latest commit.

    Callers with the same table and slices share one kind while one of them holds it, so that no column is read twice:
    key filters, buckets and the record index use its statistics too.
    """
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    key = id(table), id(slices)
    found = _SHARED.get(key)
    if found is None:
        found = _SHARED[key] = ColumnStats(table, slices, table.metadata)
    return found


class ColumnStats:
    """Column statistics of a table's slices. Each column is read once."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._metadata = metadata
        self._known: dict[str, ColumnStatistics | None] = {}
        self._files: dict[str, FileRows] = {}

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Bounds and nulls of any column; which columns the index has is known when they are read."""
        return RequiredStatistics(bounds=asked.bounds, nulls=asked.nulls)

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Bounds and null counts of the columns, read together."""
        statistics = self.statistics(required.columns)
        return StatisticsProvider(self.name, statistics, filter_might_match=self._match if self._files else None)

    def statistics(self, columns: Sequence[Field]) -> Mapping[str, ColumnStatistics]:
        """Statistics of the columns that the index has records of. Raises StatsError when it cannot be read."""
        wanted = [column for column in columns if column.name not in self._known and column.type.kind is not Kind.OTHER]
        if wanted and len(self._slices):
            with naming_column(self._metadata.storage.absolute(PARTITION), ", ".join(one.name for one in wanted)):
                stored = read_columns(self._metadata.all_layers(PARTITION), wanted)
            for column in wanted:
                with naming_column(self._metadata.storage.absolute(PARTITION), column.name):
                    self._known[column.name] = self._build(column, stored[column_id(column.name)])
        found = ((column.name, self._known.get(column.name)) for column in columns)
        return {name: statistics for name, statistics in found if statistics is not None}

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of each column, and the reasons for the others."""
        found = self.statistics(columns)
        n = len(self._slices)
        known = {
            column.name: column_coverage(
                found.get(column.name) or ColumnStatistics.unknown(column.type, n, Trust.NO_RECORD)
            )
            for column in columns
        }
        return Coverage(self.name, self._slices.instant, n, known)

    def _match(self, bound: BoundExpression, candidates: npt.NDArray[np.bool_]) -> Match | None:
        """Where one file of a merged slice might match, if the table merges whole records."""
        if not merges_whole_records(self._table.properties):
            return None
        return match_in_one_file(self.name, bound, candidates, self.files, self._files)

    @property
    def files(self) -> SliceFiles:
        """The files of the slices in one row."""
        return self._reading.files

    def file_rows(self, column: str) -> FileRows | None:
        """Statistics of each file, for a column that ``statistics`` has read; kept for MERGE_ON_READ tables."""
        return self._files.get(column)

    @cached_property
    def _reading(self) -> FileReading:
        return FileReading(self._table, SliceFiles.of(self._slices))

    def _build(self, column: Field, stored: Versions) -> ColumnStatistics | None:
        found = self._reading.rows(column, stored)
        if found is None:
            return None
        if self._table.table_type == "MERGE_ON_READ":
            self._files[column.name] = found
        return found.united(self.files, self._table)


def read_columns(layers: Iterable[Records | Deletes], columns: Sequence[Field]) -> dict[bytes, Versions]:
    """All records of some columns, oldest layer first, by the id that starts their keys. Raises FormatError."""
    stored = {column_id(column.name): Versions() for column in columns}
    names = ", ".join(column.name for column in columns)
    for layer in layers:
        with naming_column(layer.path, names):
            if isinstance(layer, Deletes):
                _remove(layer.keys, stored)
            else:
                for column, part in read_statistics(layer.hfile, stored):
                    stored[column].add(part)
    return stored


def _remove(keys: Iterable[str], stored: Mapping[bytes, Versions]) -> None:
    for text in keys:
        key = text.encode()
        versions = stored.get(key[:COLUMN_ID])
        if versions is not None:
            versions.remove(key)
