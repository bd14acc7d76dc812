"""Reads what is known of the files of a Hudi table: its timeline and file slices, and every index that it has.

    open_table(path)       a ``Table``
    table.slices()         the file slices of an instant
    table.kinds(slices)    the index kinds that know something of them, each a provider of statistics

Each index kind declares its coverage (contract C5), and a file outside it is unknown. The package does not decide which
slices are skipped: ``evaluator`` does (C1), and ``handler`` brings the two together.

The package imports ``evaluator``, and neither ``sarg`` nor ``handler``. Public names are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluator.language.first_use import import_member

if TYPE_CHECKING:
    from index_store.indexed_table import IndexedTable as Table
    from index_store.indexed_table import open_table as open_table
    from index_store.kinds.base import ColumnCoverage as ColumnCoverage
    from index_store.kinds.base import Coverage as Coverage
    from index_store.kinds.base import IndexKind as IndexKind
    from index_store.kinds.index_info import IndexInfo as IndexInfo
    from index_store.storage.errors import StatsError as StatsError
    from index_store.storage.errors import TableError as TableError
    from index_store.table.file_slices import FileSlice as FileSlice
    from index_store.table.file_slices import FileSlices as FileSlices
    from index_store.table.timeline import Instant as Instant
    from index_store.table.timeline import Timeline as Timeline

#: public name -> the module that defines it, and its name there
_NAMES = {
    "ColumnCoverage": ("kinds.base", "ColumnCoverage"),
    "Coverage": ("kinds.base", "Coverage"),
    "FileSlice": ("table.file_slices", "FileSlice"),
    "FileSlices": ("table.file_slices", "FileSlices"),
    "IndexInfo": ("kinds.index_info", "IndexInfo"),
    "IndexKind": ("kinds.base", "IndexKind"),
    "Instant": ("table.timeline", "Instant"),
    "StatsError": ("storage.errors", "StatsError"),
    "Table": ("indexed_table", "IndexedTable"),
    "TableError": ("storage.errors", "TableError"),
    "Timeline": ("table.timeline", "Timeline"),
    "open_table": ("indexed_table", "open_table"),
}

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


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, member = _NAMES[name]
    value = globals()[name] = import_member(f"{__name__}.{module}", member)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
