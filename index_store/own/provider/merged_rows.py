"""What own indexes know of the merged rows of slices with log files, as an index kind of its own (C5, C6).

    files of a slice         i = 3 .. 9 in the base file, 20 in a log file that updates the row of 9
    own_index                3 .. 9 and 20: what stands in the files
    own_merged_rows          3 .. 8 and 20: what a reader may show

A slice has statistics here when an index has a row for exactly its files (``store.merged_slices``): one file more or
less, and nothing is said. From table version 8 on files are written once, so their names are enough. In version 6 log
files are appended to, and hold the blocks of several instants: their sizes have to be those that were merged, and the
slices have to be of an instant that is not older.

What is said holds for merged rows alone. The option ``sargo.rows=stored`` switches the kind off, for readers that show
the rows of base files as they stand: read-optimised queries, and readers that do not merge.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes, own_indexes_of
from index_store.own.store.merged_slices import MergedPart, merged_parts
from index_store.own.store.own_index import IndexedFiles, OwnIndex
from index_store.storage.errors import StatsError
from index_store.table.table_options import ROWS, STORED

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnMergedRows", "make"]


def make(table: Table, slices: FileSlices) -> OwnMergedRows | None:
    """The kind, if the table may have log files and an index of its own."""
    if table.table_type != "MERGE_ON_READ" or table.options.get(ROWS, "").lower() == STORED:
        return None
    own = own_indexes_of(table, slices)
    return None if own is None else OwnMergedRows(_MergedSlices(own))


class OwnMergedRows(OwnSketches):
    """The sketches of merged rows in all indexes of a table. ``OwnSketches`` reports indexes that cannot be opened."""

    name = "own_merged_rows"


class _MergedSlices(OwnIndexes):
    """The own indexes of a table, asked for merged slices as if each was one file."""

    def __init__(self, own: OwnIndexes) -> None:
        super().__init__(own.table, own.slices)
        self._own = own

    @cached_property
    def sketches(self) -> tuple[IndexedFiles, ...]:
        """The indexes that have merged slices."""
        return tuple([one for one in self._own.sketches if isinstance(one, OwnIndex) and one.version.merged])

    @property
    def faults(self) -> tuple[StatsError, ...]:
        return ()

    @cached_property
    def files(self) -> SliceFiles:
        """The parts of slices with log files as their "files"; "", which no index knows, for any other slice.

        They count as log files, because their numbers of rows are upper limits.
        """
        parts = self._parts
        count = np.array([max(1, len(one)) for one in parts], np.intp)
        slice_of = np.repeat(np.arange(len(parts)), count)
        paths = [path for some in parts for path in ([part.path for part in some] or [""])]
        return SliceFiles(
            tuple(paths),
            tuple(np.repeat(np.array([one.partition for one in self.slices], object), count).tolist()),
            slice_of,
            np.ones(len(slice_of), np.bool_),
            count,
        )

    @cached_property
    def _parts(self) -> list[tuple[MergedPart, ...]]:
        """The parts of each slice, none for one without log files."""
        return [merged_parts(one) if one.log_files else () for one in self.slices]

    @property
    def custom_merge(self) -> bool:
        """No slice of a custom merge is merged."""
        return False

    @property
    def rows_are_whole(self) -> bool:
        return True

    def unchanged(self, indexed: pa.Table, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The rows, -1 for a part of table version 6 of which other bytes, or later ones, were merged."""
        known = np.flatnonzero(rows >= 0)
        if not self.logs_may_grow or not len(known):
            return rows
        rows = rows.copy()
        sizes, instants = (indexed[name].take(pa.array(rows[known])).to_pylist() for name in ("size", "instant"))
        parts = [part for number in known.tolist() if (part := MergedPart.named(self.files.paths[number])) is not None]
        now = self.sizes_of_logs(dict.fromkeys(path for part in parts for path in part.files))
        for number, part, size, instant in zip(known.tolist(), parts, sizes, instants, strict=True):
            of_files = [now[path] for path in part.files]
            if min(of_files) < 0 or sum(of_files) != size or instant > (self.slices.instant or ""):
                rows[number] = -1
        return rows
