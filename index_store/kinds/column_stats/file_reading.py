"""From the records of a column to believed statistics of each file: match by name, convert, distrust, complete.

A file has a row for each of its records: two when a later one widened an earlier one. A file that provably was written
without the column has a row of NULLs. The statistics of a file without a row are unknown.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.formats.log_file import data_instants
from index_store.formats.parquet_footers import ColumnProofs, FooterProofs
from index_store.kinds.column_stats.absent_columns import CommitSchemas, with_absent_columns
from index_store.kinds.column_stats.file_rules import FileStatistics, believe
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.kinds.column_stats.stats_by_slice import RecordMatcher
from index_store.kinds.column_stats.stats_versions import Versions
from index_store.storage.errors import FormatError, TableError
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.schema_history import NameHistory, read_name_history

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["LOG_LIMIT", "FileReading", "FileRows"]

#: How many log files of a version 6 table are opened to see whether they were appended to.
LOG_LIMIT = 256


@entity
class FileRows:
    """Statistics of the files of some slices. ``deleted``: files whose statistics are marked as deleted.

    ``distrusted``: the reason why no statistics of the column are believed, if there is one.
    """

    rows: FileStatistics
    deleted: npt.NDArray[np.intp]
    distrusted: Trust = Trust.OK

    def united(self, files: SliceFiles, table: Table) -> ColumnStatistics:
        """One union per slice (C3)."""
        if self.distrusted:
            return ColumnStatistics.unknown(self.rows.type, files.slices, self.distrusted)
        return unite(self.rows, files, self.deleted, custom_merge=not merges_to_stored_values(table.properties))


class FileReading:
    """Reads columns for the files of some slices of a table."""

    def __init__(self, table: Table, files: SliceFiles) -> None:
        self.files = files
        self._table = table
        self._matcher = RecordMatcher(files)
        self._proofs = FooterProofs(table.footers)
        self._one_writer: dict[int, bool] = {}

    def rows(self, column: Field, stored: Versions, *, is_indexed: bool = False) -> FileRows | None:
        """Believed statistics of each file; None when the index has no record of the column for any of them.

        ``is_indexed``: the index has records of the column for other files.
        """
        latest = stored.latest()
        found = self._matcher.of(latest, column.name.encode())
        deleted = self._matcher.of_names(latest.deleted)
        if not is_indexed and not found.count and not len(deleted):
            return None
        rows = found.statistics(column.type, self._table.columns.units.get(column.name, ""), self._table.version)
        if column.name in self._names.reused:
            return FileRows(rows, deleted, Trust.RENAMED)
        rows = believe(rows, self.files, ColumnProofs(self._proofs, column.name))
        rows = self._distrust_other_counts(rows)
        rows = self._distrust_appended_logs(rows)
        return FileRows(
            with_absent_columns(
                rows, column, self.files, deleted, self._table, renamed=self._names.renamed, commits=self._commits
            ),
            deleted,
        )

    @cached_property
    def _names(self) -> NameHistory:
        return read_name_history(self._table.storage)

    @cached_property
    def _commits(self) -> CommitSchemas:
        return CommitSchemas(self._table.timeline)

    def _distrust_other_counts(self, rows: FileStatistics) -> FileStatistics:
        """A base file has the rows that its commit says, where that commit was read for another reason.

        Records of a file without any value may have been added up: then the count is a multiple.
        """
        written = self._table.written_rows
        if not written:
            return rows
        said = np.array([written.get(path, UNKNOWN_COUNT) for path in self.files.paths], np.int64)[rows.file_index]
        added_up = (rows.nulls == rows.rows) & (rows.rows % np.maximum(said, 1) == 0) & (rows.rows > 0)
        other = (said != UNKNOWN_COUNT) & (rows.rows != UNKNOWN_COUNT) & (rows.rows != said) & ~added_up
        return rows.distrusting(other, Trust.COUNTS, counts_too=True)

    def _distrust_appended_logs(self, rows: FileStatistics) -> FileStatistics:
        """Version 6 may append several commits to one log file; a record may then describe one of them only."""
        if self._table.version >= 8:
            return rows
        file_indices = np.unique(rows.file_index[self.files.is_log[rows.file_index]])
        whole = [file_index for file_index in file_indices.tolist() if self._has_one_writer(file_index)]
        return rows.distrusting(
            self.files.is_log[rows.file_index] & ~np.isin(rows.file_index, whole), Trust.APPENDED_LOG, counts_too=True
        )

    def _has_one_writer(self, file_index: int) -> bool:
        if file_index not in self._one_writer and len(self._one_writer) < LOG_LIMIT:
            try:
                with self._table.storage.open(self.files.paths[file_index]) as source:
                    self._one_writer[file_index] = len(data_instants(source)) == 1
            except (FormatError, TableError):
                self._one_writer[file_index] = False
        return self._one_writer.get(file_index, False)
