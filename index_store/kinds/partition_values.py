"""Partition values from paths: every row of a slice has the value that its directory is named after.

    dt=2026-01-01/city=oslo     Hive style: name=value, the name may be checked
    2026-01-01/oslo             values in the order of the partition fields
    __HIVE_DEFAULT_PARTITION__  null; for text, null or "", which Hudi writes alike

A path may say what the files hold, or what a reader returns instead (contract C11). These are two columns:

    column     value                                        known when
    --------   ------------------------------------------   ------------------------------------------------------
    p          what the files hold                          the key generator writes the column's own value, and the
                                                            text has one meaning
    path:p     what Hudi's reader in Spark takes from       ``table.partition_paths`` tells what it makes of the text
               the path
    path?p     the same, where readers differ or fail       never

A filter of Spark asks for ``path:p`` where some path says another value than the files hold
(``columns_read_from_paths``). No other index has a column of that name, so none answers with the stored values.

Source: ``KeyGenUtils``, ``PartitionPathEncodeUtils``.
Facts: docs/facts/hudi-timeline.md#partition-paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, array_dtype, filler
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import Coverage, column_coverage
from index_store.table.partition_paths import READ_FROM_PATH, READERS_DIFFER, PathRules

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["PartitionValues", "columns_as_in_metastore", "columns_read_from_paths", "make"]

#: The class that makes the metastore's values of a path, and those that copy its parts; "" is Hudi's default.
_EXTRACTOR = "hoodie.table.partition_extractor_class"
_COPYING = frozenset(
    {"", "MultiPartKeysValueExtractor", "SinglePartPartitionValueExtractor", "HiveStylePartitionValueExtractor"}
)
#: (understood, value or None for NULL) of a path and a column.
_Value = Callable[[str, str, Type], tuple[bool, Any]]


def make(table: Table, slices: FileSlices) -> PartitionValues | None:
    """The kind, if the table is partitioned."""
    return PartitionValues(table, slices) if table.partition_fields else None


class PartitionValues:
    """Equal lower and upper bounds of a partition column, for each slice."""

    name = "partition_values"

    def __init__(self, table: Table, slices: FileSlices) -> None:
        self._rules = PathRules.of(table)
        self._slices = slices
        self._known: dict[str, ColumnStatistics] = {}

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Bounds and nulls of the partition columns."""
        return RequiredStatistics(
            bounds=tuple([one for one in asked.bounds if self._is_partition_column(one)]),
            nulls=tuple([one for one in asked.nulls if self._is_partition_column(one)]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Bounds and null counts of the columns, read together."""
        return StatisticsProvider(self.name, self.statistics(required.columns))

    def statistics(self, columns: Sequence[Field]) -> Mapping[str, ColumnStatistics]:
        """Statistics of the partition columns among the columns."""
        for column in columns:
            if (
                self._is_partition_column(column)
                and column.name not in self._known
                and column.type.kind is not Kind.OTHER
            ):
                self._known[column.name] = self._of(column)
        return {column.name: self._known[column.name] for column in columns if column.name in self._known}

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """In how many slices each partition column's value is known."""
        return Coverage(
            self.name,
            self._slices.instant,
            len(self._slices),
            {name: column_coverage(found) for name, found in self.statistics(columns).items()},
        )

    def _is_partition_column(self, column: Field) -> bool:
        return _bare(column.name) in self._rules.fields

    def _of(self, column: Field) -> ColumnStatistics:
        bare = replace(column, name=_bare(column.name))
        if column.name.startswith(READ_FROM_PATH):
            return self._by_path(bare, self._rules.read, null_is_one_value=True)
        if column.name.startswith(READERS_DIFFER):
            return ColumnStatistics.unknown(column.type, len(self._slices), Trust.READERS)
        if column.name not in self._rules.copied:
            return ColumnStatistics.unknown(column.type, len(self._slices), Trust.KEY_GENERATOR)
        return self._by_path(bare, self._rules.stored, null_is_one_value=False)

    def _by_path(self, column: Field, value_of: _Value, *, null_is_one_value: bool) -> ColumnStatistics:
        """Of all slices, from the value of each path. A NULL of a text may stand for "" unless it ``is_one_value``."""
        partitions, which = self._partitions
        n, m = len(self._slices), len(partitions)
        bounds = np.full(m, filler(column.type), array_dtype(column.type))
        values, is_null, is_either = np.zeros(m, np.bool_), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
        for i, path in enumerate(partitions):
            understood, value = value_of(path, column.name, column.type)
            if understood and value is None and column.type.kind.is_text and not null_is_one_value:
                bounds[i], values[i], is_either[i] = "", True, True
            elif understood and value is None:
                is_null[i] = True
            elif understood:
                bounds[i], values[i] = value, True
        bound, known, null, maybe_null = bounds[which], values[which], is_null[which], is_either[which]
        nulls = np.where(known & ~maybe_null, 0, UNKNOWN_COUNT).astype(np.int64)
        rows = np.full(n, UNKNOWN_COUNT, np.int64)
        # All rows of the slice are null; how many they are does not matter, so one stands for all of them.
        nulls[null] = rows[null] = 1
        trust = np.where(known | null, Trust.OK, Trust.NOT_A_VALUE).astype(np.uint8)
        return ColumnStatistics(
            column.type, bound, bound, lo_known=known, hi_known=known, null_count=nulls, row_count=rows, trust=trust
        )

    def read_from_paths(self, columns: Sequence[Field]) -> dict[str, str]:
        """The partition columns of which a reader takes a value from a path that the files may not hold.

        With the name of the column that it reads: ``path:p``, or ``path?p`` where that is not known either.
        """
        rules, paths = self._rules, self._slices.partitions
        names: dict[str, str] = {}
        for column in columns:
            if column.name in rules.fields and not all(
                rules.is_as_stored(path, column.name, column.type) for path in paths
            ):
                is_known = column.name not in rules.disputed and (
                    len(rules.fields) == 1 or all(path.count("/") + 1 == len(rules.fields) for path in paths)
                )
                names[column.name] = (READ_FROM_PATH if is_known else READERS_DIFFER) + column.name
        return names

    def as_in_metastore(self, columns: Sequence[Field]) -> frozenset[str]:
        """The partition columns of which every path is the value that the files hold, whoever reads it."""
        rules, paths = self._rules, self._slices.partitions
        return frozenset(
            column.name
            for column in columns
            if all("%" not in path and rules.agree(path, column.name, column.type) for path in paths)
        )

    @cached_property
    def _partitions(self) -> tuple[list[str], npt.NDArray[np.intp]]:
        """The distinct partition paths, and the number of each slice's path."""
        numbers: dict[str, int] = {}
        which = [numbers.setdefault(one.partition, len(numbers)) for one in self._slices]
        return list(numbers), np.array(which, np.intp)


def columns_read_from_paths(table: Table, slices: FileSlices) -> dict[str, str]:
    """``PartitionValues.read_from_paths`` of all partition columns of a table."""
    kind = make(table, slices)
    return {} if kind is None else kind.read_from_paths(_partition_columns(table))


def columns_as_in_metastore(table: Table, slices: FileSlices) -> frozenset[str]:
    """The partition columns whose values in Hive's metastore are those of the files.

    Hudi's sync takes the values from the paths, by an extractor that the table may name. One that makes dates of
    ``2022/12/31``, or that a user wrote, makes other values of a path.
    """
    kind = make(table, slices)
    extractor = table.properties.get(_EXTRACTOR, "").rpartition(".")[2]
    return frozenset() if kind is None or extractor not in _COPYING else kind.as_in_metastore(_partition_columns(table))


def _partition_columns(table: Table) -> list[Field]:
    fields = (table.schema.resolve(name, case_sensitive=True) for name in table.partition_fields)
    return [field for field in fields if field is not None]


def _bare(name: str) -> str:
    return name.removeprefix(READ_FROM_PATH).removeprefix(READERS_DIFFER)
