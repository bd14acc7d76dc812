"""Statistics about the files of a Hudi table, read from the table itself.

``open_table(path)`` gives a ``Table``; ``table.slices()`` the file slices of an instant; ``table.kinds(slices)`` the
index kinds that know something about them. Nothing here decides what is skipped.
"""

from __future__ import annotations

from index_store.kinds.base import ColumnCoverage, Coverage, IndexKind
from index_store.kinds.index_info import IndexInfo
from index_store.storage.errors import StatsError, TableError
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.table import Table, open_table
from index_store.table.timeline import Instant, Timeline

__all__ = [
    "ColumnCoverage",
    "Coverage",
    "FileSlice",
    "FileSlices",
    "IndexInfo",
    "IndexKind",
    "Instant",
    "StatsError",
    "Table",
    "TableError",
    "Timeline",
    "open_table",
]
