"""Conditions of Hive's filters on partition columns of which the metastore may have other values than the files (C11).

Hive marks the partition columns of a native table in its filters. Their values come from the metastore, where a sync or
a user put them beside the path of each partition, and Hive has applied these conditions when it chose the partitions.
A condition is decided by the table only where every path is the value itself: ``p=p1`` or ``2022-12-31``, without an
escape, written by a key generator that copies the value. All others are unknown.
"""

from __future__ import annotations

from dataclasses import replace

from handler.planning.filters import ReadFilter
from handler.planning.hive_filter import without_columns_of_hive
from index_store import FileSlices, Table
from index_store.kinds.partition_values import columns_as_in_metastore

__all__ = ["without_metastore_values"]


def without_metastore_values(read: ReadFilter, table: Table, slices: FileSlices) -> ReadFilter:
    """The filter, with conditions unknown on columns whose values in the metastore may differ from the files'."""
    same = {name.lower() for name in columns_as_in_metastore(table, slices)}
    return replace(read, expression=without_columns_of_hive(read.expression, read.of_hive - same))
