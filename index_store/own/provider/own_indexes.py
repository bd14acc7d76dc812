"""The own indexes of a table, opened once for the file slices of an instant, with the rules that all of them share.

Two index kinds answer from them: ``provider.kind`` from sketches and ``secondary.kind`` from secondary indexes. Both
get one ``OwnIndexes``, so a folder is listed and an index is opened once, when a kind first asks for it.

    rule                      why statistics of files do not simply hold for the rows that a reader sees
    ------------------------  ------------------------------------------------------------------------------------
    custom_merge              a payload or merger may make values that are in no file: slices with log files are
                              unknown (C3)
    merges_whole_records      else a merged row may take its columns from several versions of the row
    is_reused                 a column was renamed and its name given to another one: old files hold the other one
    absent_is_null            whether readers see NULL where a file does not have the column
    unchanged                 table version 6 appends to log files: an index of a shorter one knows a part of it

Facts: docs/facts/hudi-merging.md, docs/facts/hudi-timeline.md#file-slices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.schema import Field
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import ColumnCoverage
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.kinds.column_stats.file_reading import LOG_LIMIT
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.definition import SECONDARY_INDEX, SKETCHES
from index_store.own.presence import may_have_indexes
from index_store.own.store.locations import IndexLocation, indexes_of
from index_store.own.store.own_index import IndexedFiles, OwnIndex
from index_store.storage.errors import StatsError, TableError
from index_store.table.merge_rule import merges_to_stored_values, merges_whole_records
from index_store.table.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnIndexes", "intersection", "own_indexes_of", "slice_coverage"]

Mask = npt.NDArray[np.bool_]
#: The objects in use, by the identity of their table and slices. Each holds both, so no identity is reused meanwhile.
_SHARED: WeakValueDictionary[tuple[int, int], OwnIndexes] = WeakValueDictionary()


def own_indexes_of(table: Table, slices: FileSlices) -> OwnIndexes | None:
    """The own indexes of a table, shared by all callers with this table and these slices; None if it can have none."""
    key = id(table), id(slices)
    shared = _SHARED.get(key)
    if shared is None and may_have_indexes(table):
        shared = _SHARED[key] = OwnIndexes(table, slices)
    return shared


class OwnIndexes:
    """The own indexes of a table, for its file slices at an instant. Nothing is read before it is asked for."""

    def __init__(self, table: Table, slices: FileSlices, indexes: Sequence[IndexedFiles] | None = None) -> None:
        """``indexes``: sketches to answer from, such as those of a sample; by default all indexes of the table."""
        self.table = table
        self.slices = slices
        self._indexes = indexes
        self._log_sizes: dict[str, int] = {}

    # -- indexes

    @cached_property
    def sketches(self) -> tuple[IndexedFiles, ...]:
        """The indexes of sketches that can be read."""
        return self._of_kind(SKETCHES) if self._indexes is None else tuple(self._indexes)

    @cached_property
    def secondary(self) -> tuple[OwnIndex, ...]:
        """The secondary indexes that can be read."""
        return self._of_kind(SECONDARY_INDEX)

    @cached_property
    def version(self) -> str:
        """What differs whenever another version of an index of sketches answers; "" where answers change without that.

        Log files of table version 6 grow, and a sample is of no version.
        """
        indexes = [one for one in self.sketches if isinstance(one, OwnIndex)]
        if len(indexes) < len(self.sketches) or (self.logs_may_grow and self.table.table_type == "MERGE_ON_READ"):
            return ""
        return json.dumps([[one.path, one.version.digest] for one in indexes])

    @property
    def faults(self) -> tuple[StatsError, ...]:
        """Why indexes, or newer versions of them, cannot be opened: the others, or an older version, answer."""
        return tuple(
            StatsError(location.folder.path, "", why)
            for location in self._locations
            for why in (
                [location.fault]
                if location.index is None
                else [f"a version is passed over: {fault}" for fault in location.index.faults]
            )
        )

    def _of_kind(self, kind: str) -> tuple[OwnIndex, ...]:
        indexes = (location.index for location in self._locations)
        return tuple([index for index in indexes if index is not None and index.definition.kind == kind])

    @cached_property
    def _locations(self) -> Sequence[IndexLocation]:
        return () if self._indexes is not None else indexes_of(self.table)

    # -- slices

    @cached_property
    def files(self) -> SliceFiles:
        """The files of all slices."""
        return SliceFiles.of(self.slices)

    @cached_property
    def has_logs(self) -> Mask:
        """``(n,) bool``: the slice has log files."""
        return np.array([bool(one.log_files) for one in self.slices], np.bool_)

    @property
    def logs_may_grow(self) -> bool:
        """Whether writers of the table append to log files, as those of version 6 do."""
        return self.table.version < 8

    def unchanged(self, indexed: pa.Table, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The rows in an index of the files of all slices, -1 for a log file that is longer than the indexed one.

        ``indexed``: the files of the index (``builder.FILES``).
        """
        if not self.logs_may_grow:
            return rows
        files, size = self.files, indexed["size"].to_numpy()
        logs = np.flatnonzero(files.is_log & (rows >= 0)).tolist()
        sizes = self.sizes_of_logs(files.paths[file] for file in logs)
        rows = rows.copy()
        for file in logs:
            if sizes[files.paths[file]] != size[rows[file]]:
                rows[file] = -1
        return rows

    def sizes_of_logs(self, paths: Iterable[str]) -> Mapping[str, int]:
        """The sizes of log files now, by path; -1 for those beyond LOG_LIMIT and those that cannot be read."""
        sizes: dict[str, int] = {}
        for path in paths:
            sizes[path] = self._size_of_log(path) if len(sizes) < LOG_LIMIT else -1
        return sizes

    def _size_of_log(self, path: str) -> int:
        if path not in self._log_sizes:
            try:
                with self.table.storage.input_file(path) as stream:
                    self._log_sizes[path] = stream.size()
            except (TableError, OSError):
                self._log_sizes[path] = -1
        return self._log_sizes[path]

    # -- what readers of the table do with the values of its files

    @cached_property
    def custom_merge(self) -> bool:
        """Whether merged rows may hold values that are in no file."""
        return not merges_to_stored_values(self.table.properties)

    @property
    def rows_are_whole(self) -> bool:
        """Whether the columns of a row that is known here are all of one version of it, though a slice has logs."""
        return False

    @cached_property
    def merges_whole_records(self) -> bool:
        """Whether every merged row is one of the stored versions of the row."""
        return merges_whole_records(self.table.properties)

    def is_reused(self, name: str) -> bool:
        """Whether the name of the column was another column's before."""
        return name in read_name_history(self.table.storage).reused

    def absent_is_null(self, column: Field) -> bool:
        """Whether readers see NULL where a file does not have the column."""
        return reads_as_null(column, self.table, read_name_history(self.table.storage).renamed)

    def unit_of(self, column: Field) -> str:
        """The unit of a column of timestamps in the table's schema, else ""."""
        return self.table.columns.units.get(column.name, "") if column.type.kind.is_timestamp else ""


def intersection(masks: Iterable[Mask | None]) -> Mask | None:
    """``(n,) bool``: the slices that every index leaves, of those indexes that have an answer (C6); None: none has."""
    left: Mask | None = None
    for mask in masks:
        if mask is not None:
            left = mask if left is None else left & mask
    return left


def slice_coverage(usable: int, n: int) -> ColumnCoverage:
    """The coverage of a column that ``usable`` of n slices are known of."""
    counts = {Trust.OK: usable, Trust.NO_RECORD: n - usable}
    return ColumnCoverage(usable, {trust: count for trust, count in counts.items() if count})
