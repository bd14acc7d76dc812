"""Reads what is known of the files of a Hudi table: its timeline and file slices, and every index that it has.

    open_table(path)       a ``Table``
    table.slices()         the file slices of an instant
    table.kinds(slices)    the index kinds that know something of them, each a provider of statistics

Each index kind declares its coverage (contract C5), and a file outside it is unknown. The package does not decide which
slices are skipped: ``evaluator`` does (C1), and ``handler`` brings the two together.

The package imports ``evaluator``, and neither ``sarg`` nor ``handler``.
"""

from __future__ import annotations

from index_store.indexed_table import IndexedTable as Table
from index_store.indexed_table import open_table
from index_store.kinds.base import ColumnCoverage, Coverage, IndexKind
from index_store.kinds.index_info import IndexInfo
from index_store.storage.errors import StatsError, TableError
from index_store.table.file_slices import FileSlice, FileSlices
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
