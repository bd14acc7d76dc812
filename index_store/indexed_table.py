"""A Hudi table with its index kinds: ``index_store.Table``, and how it is opened.

    table = open_table("s3://lake/trips")
    slices = table.slices()                            the file slices of the latest instant
    kinds = table.kinds(slices)                        the index kinds that have statistics of these slices
    [info.name for info in table.indexes()]            the indexes of its metadata table

The base class knows the timeline, the schema and the files, and no index.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from index_store.kinds.base import IndexKind
from index_store.kinds.index_info import IndexInfo, read_index_info
from index_store.kinds.partition_values import columns_read_from_paths
from index_store.registered_kinds import REGISTERED_KINDS
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlices
from index_store.table.table import Table
from index_store.table.table_options import check_table_options

__all__ = ["IndexedTable", "open_table"]


class IndexedTable(Table):
    """An open table and its index kinds."""

    _paths: tuple[FileSlices, Mapping[str, str]] | None = None

    def columns_read_from_paths(self, slices: FileSlices) -> Mapping[str, str]:
        """The partition columns whose values a reader takes from the slices' paths, and the names of what it takes.

        Kept for the slices that were asked for last.
        """
        known = self._paths
        if known is None or known[0] is not slices:
            known = self._paths = (slices, columns_read_from_paths(self, slices))
        return known[1]

    def kinds(self, slices: FileSlices) -> tuple[IndexKind, ...]:
        """The index kinds that may have statistics of these slices, cheapest first; nothing is read yet."""
        made = () if self.disputed else (make(self, slices) for make in REGISTERED_KINDS)
        return tuple(kind for kind in made if kind is not None)

    def indexes(self) -> list[IndexInfo]:
        """Every index that the table says it has or is building, and whether Sargo reads it."""
        return read_index_info(self)


def open_table(
    path: str | os.PathLike[str],
    *,
    filesystem: Any = None,
    options: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
    for_filters: bool = False,
    before: Callable[[Storage], object] | None = None,
) -> IndexedTable:
    """Open the table at a local path, a URI, or a path of the file system given, which is pyarrow's or fsspec's.

    ``options``: what only the table's entry in a catalog says of it, such as ``hoodie.index.type``.
    ``storage_options``: what the file system needs, such as region and endpoint (``storage.storage_options``).
    ``for_filters``: what a filter needs beside the files is fetched ahead, too.
    ``before``: called with the table's storage before anything is read.
    Raises TableError when there is no Hudi table, or one of a version that is not supported; TypeError and
    UnsupportedError for options that are none or misspelt.
    """
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike):
        raise TypeError(f"the path of a table is text or a path, not {type(path).__name__}")
    if not os.fspath(path):
        raise ValueError("the path of the table is empty: give the folder that holds .hoodie")
    check_table_options(options)
    storage = Storage.at(path, filesystem, storage_options)
    if before is not None:
        before(storage)
    return IndexedTable(storage, options, for_filters=for_filters)
