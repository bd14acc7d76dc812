"""Hudi's ``column_stats`` index as arrays: bounds and counts of each column, united over the files of a slice (C3, C4).

The way of a bound: HFile record -> latest version of its key -> type of the column (``stats_values``) -> is it believed
(``file_rules``) -> union over the slice (``slice_union``). A file without a record makes its slice unknown: real tables
list the index as available with records of 1 file in 17. Records are found by column prefix and joined by the file's
name, not by exact key, since some writers hash absolute partition paths (hudi#18317).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evaluator.bounds import Trust
from evaluator.columns import ColumnStatistics
from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.sources import Source
from evaluator.types import Kind
from index_store.errors import FormatError, TableError, naming_column
from index_store.formats.keys import column_id
from index_store.formats.log_file import data_instants
from index_store.formats.stats_reader import COLUMN_ID, read_statistics
from index_store.kinds.absent_columns import CommitSchemas, with_absent_columns
from index_store.kinds.base import Coverage, column_coverage
from index_store.kinds.file_rules import FileStatistics, believe
from index_store.kinds.footers import FooterProofs
from index_store.kinds.slice_union import SliceFiles, unite
from index_store.kinds.stats_places import Places
from index_store.kinds.stats_versions import Versions
from index_store.merge_rule import merges_to_stored_values
from index_store.metadata_table import Deletes, MetadataTable
from index_store.schema_history import NameHistory, read_name_history

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["ColumnStats", "make"]

PARTITION = "column_stats"
#: How many log files of a version 6 table are opened to see whether they were appended to.
LOG_LIMIT = 256


def make(table: Table, slices: FileSlices) -> ColumnStats | None:
    """The kind, if the table's metadata table has column statistics and describes the latest commit."""
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    return ColumnStats(table, slices, table.metadata)


class ColumnStats:
    """Column statistics of a table's slices. Columns are read when they are first asked for, and kept."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._metadata = metadata
        self._proofs = FooterProofs(table.footers)
        self._commits = CommitSchemas(table.timeline)
        self._known: dict[str, ColumnStatistics | None] = {}
        self._places: Places | None = None
        self._one_writer: dict[int, bool] = {}

    def needs(self, asked: Needs) -> Needs:
        """Bounds and nulls of any column; which columns it has is known when they are read."""
        return Needs(bounds=asked.bounds, nulls=asked.nulls)

    def answer(self, needs: Needs) -> Source:
        """Bounds and null counts of the columns, read together."""
        return Source(self.name, self.statistics(needs.columns))

    def statistics(self, columns: Sequence[Field]) -> Mapping[str, ColumnStatistics]:
        """Statistics of the columns that the index has records of. Raises StatsError when it cannot be read."""
        wanted = [column for column in columns if column.name not in self._known and column.type.kind is not Kind.OTHER]
        if wanted and len(self._slices):
            stored = self._read(wanted)
            for column in wanted:
                with naming_column(self._metadata.storage.absolute(PARTITION), column.name):
                    self._known[column.name] = self._build(column, stored[column_id(column.name)])
        found = ((column.name, self._known.get(column.name)) for column in columns)
        return {name: statistics for name, statistics in found if statistics is not None}

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of each column, and why the others have not."""
        found = self.statistics(columns)
        n = len(self._slices)
        known = {column.name: column_coverage(found.get(column.name)
                                              or ColumnStatistics.unknown(column.type, n, Trust.NO_RECORD))
                 for column in columns}
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def _names(self) -> NameHistory:
        return read_name_history(self._table.storage)

    @property
    def files(self) -> SliceFiles:
        """The files of the slices in one row."""
        return self.places.files

    @property
    def places(self) -> Places:
        """How records find their files."""
        if self._places is None:
            self._places = Places(SliceFiles.of(self._slices))
        return self._places

    def _read(self, columns: Iterable[Field]) -> dict[bytes, Versions]:
        """All records of some columns, by the id that starts their keys."""
        stored = {column_id(column.name): Versions() for column in columns}
        names = ", ".join(column.name for column in columns)
        with naming_column(self._metadata.storage.absolute(PARTITION), names):
            for group in self._metadata.groups(PARTITION):
                for layer in self._metadata.layers(group):
                    with naming_column(layer.path, names):
                        if isinstance(layer, Deletes):
                            _remove(layer.keys, stored)
                        else:
                            for column, part in read_statistics(layer.hfile, stored):
                                stored[column].add(part)
        return stored

    def _build(self, column: Field, stored: Versions) -> ColumnStatistics | None:
        """Join the records with the slices' files, believe what can be believed, unite per slice."""
        table, files = self._table, self.files
        latest = stored.latest()
        found = self.places.of(latest, column.name.encode())
        gone = self.places.of_names(latest.deleted)
        if not found.count and not len(gone):
            return None
        if column.name in self._names.reused:
            return ColumnStatistics.unknown(column.type, files.slices, Trust.RENAMED)
        rows = found.statistics(column.type, table.columns.units.get(column.name, ""), table.version)
        rows = believe(rows, files, lambda path: self._proofs.proof(path, column.name))
        rows = self._distrust_appended_logs(rows)
        rows = with_absent_columns(rows, column, files, gone, table, self._names.renamed, self._commits)
        custom = not merges_to_stored_values(table.properties)
        return unite(rows, files, gone, custom_merge=custom)

    def _distrust_appended_logs(self, rows: FileStatistics) -> FileStatistics:
        """Version 6 may append several commits to one log file; a record may then describe one of them only."""
        if self._table.version >= 8:
            return rows
        places = np.unique(rows.place[self.files.is_log[rows.place]])
        whole = [place for place in places.tolist() if self._has_one_writer(place)]
        return rows.distrusting(self.files.is_log[rows.place] & ~np.isin(rows.place, whole), Trust.APPENDED_LOG,
                                counts_too=True)

    def _has_one_writer(self, place: int) -> bool:
        if place not in self._one_writer and len(self._one_writer) < LOG_LIMIT:
            try:
                with self._table.storage.open(self.files.paths[place]) as source:
                    self._one_writer[place] = len(data_instants(source)) == 1
            except (FormatError, TableError):
                self._one_writer[place] = False
        return self._one_writer.get(place, False)


def _remove(keys: Iterable[str], stored: Mapping[bytes, Versions]) -> None:
    for text in keys:
        key = text.encode()
        versions = stored.get(key[:COLUMN_ID])
        if versions is not None:
            versions.remove(key)
