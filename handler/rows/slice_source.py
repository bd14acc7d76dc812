"""Where the slices of a table are and what reading them needs, in a form that is pickled to Spark's executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from evaluator.language.records import frozen
from handler.rows.merge_support import why_not_merged
from handler.rows.partition_columns import PartitionColumns
from index_store import Table
from index_store.storage.storage import Storage

__all__ = ["SliceSource"]


@frozen(slots=False)
class SliceSource:
    """The location of a table's slices and how to read them; small, and pickled to executors.

    instant      as of which the slices are read
    not_merged   why slices with log files are not merged here (``merge_support.why_not_merged``), "" if they are
    options      of the file system (``index_store.storage.storage_options``)
    filesystem   the file system of pyarrow or fsspec that the table was opened with, if one was given
    """

    path: str = field(repr=False)
    instant: str | None
    partitions: PartitionColumns
    not_merged: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    filesystem: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        table: Table,
        path: str,
        instant: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        filesystem: Any = None,
    ) -> SliceSource:
        """Of an open table; ``path``: as given to ``open_table``, which may differ from the table's printed path."""
        options = dict(storage_options or {})
        why = why_not_merged(table, path, instant, options)
        if not why and filesystem is not None and table.table_type == "MERGE_ON_READ":
            why = "log files on a file system that was given as an object are not merged here"
        return cls(path, instant, PartitionColumns.of(table), why, options, filesystem)

    def storage(self) -> Storage:
        """The storage of the table; one for all slices that a process reads of it."""
        if self.filesystem is not None:
            return Storage.at(self.path, self.filesystem, self.options)
        return _storage(self.path, tuple(sorted(self.options.items())))


@lru_cache(maxsize=8)
def _storage(path: str, options: tuple[tuple[str, str], ...]) -> Storage:
    return Storage.at(path, None, dict(options))
