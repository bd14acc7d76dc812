"""Where the slices of a table are and what reading them needs, in a form that is pickled to Spark's executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handler.spark.reading.merge_support import why_not_merged
from handler.spark.reading.partition_columns import PartitionColumns
from index_store import Table
from index_store.storage.storage import Storage

__all__ = ["SliceSource"]


@dataclass(frozen=True)
class SliceSource:
    """The location of a table's slices and how to read them; small, and pickled to executors.

    instant      as of which the slices are read
    not_merged   why slices with log files are not merged here (``merge_support.why_not_merged``), "" if they are
    options      of the file system (``index_store.storage.storage_options``)
    """

    path: str
    instant: str | None
    partitions: PartitionColumns
    not_merged: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, table: Table, path: str, instant: str | None = None, storage_options: Mapping[str, str] | None = None
    ) -> SliceSource:
        """Of an open table; ``path``: as given to ``open_table``, which may differ from the table's printed path."""
        options = dict(storage_options or {})
        return cls(path, instant, PartitionColumns.of(table), why_not_merged(table, path, instant, options), options)

    def storage(self) -> Storage:
        return Storage.at(self.path, None, self.options)
