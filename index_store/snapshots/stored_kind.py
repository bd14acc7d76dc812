"""An index kind in front of which stands a snapshot: its columns are read once for each state of the table.

the snapshot has the column          its arrays are mapped
it has not, or its file is damaged   the kind reads the column, and the snapshot stores it
the folder cannot be written to      the kind reads the column; the next process reads it again
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from index_store.kinds.base import Coverage, IndexKind
from index_store.kinds.column_stats.column_stats import ColumnStats
from index_store.kinds.partition_values import PartitionValues
from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.snapshot import ColumnLayers, Snapshot
from index_store.table.partition_paths import is_read_from_path

__all__ = ["StoredKind", "with_snapshot"]

_STORED = (ColumnStats.name, PartitionValues.name)


def with_snapshot(kinds: Sequence[IndexKind], snapshot: Snapshot) -> tuple[IndexKind, ...]:
    """The kinds; those whose statistics a snapshot stores are replaced by a ``StoredKind``."""
    return tuple(StoredKind(kind, snapshot) if kind.name in _STORED else kind for kind in kinds)


class StoredKind:
    """A kind that has statistics of columns only, with the snapshot that stores them."""

    def __init__(self, kind: IndexKind, snapshot: Snapshot) -> None:
        self.name = kind.name
        self.kind = kind
        self.snapshot = snapshot

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """The part of ``asked`` that the kind has statistics for."""
        return self.kind.requires(asked)

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of all slices, joined from the layers."""
        layers, statistics = self.snapshot.layers, {}
        for name, column in self.columns(required).items():
            if column.base is not None and column.delta is not None and layers is not None:
                statistics[name] = layers.join_statistics(column.base, column.delta)
            elif column.base is not None:
                statistics[name] = column.base
        return StatisticsProvider(self.name, statistics)

    def columns(self, required: RequiredStatistics) -> dict[str, ColumnLayers]:
        """Statistics of both layers, by column. Raises what the kind raises."""
        by_column: dict[str, ColumnLayers] = {}
        missing: list[Field] = []
        for column in required.columns:
            if is_read_from_path(column.name):  # by the paths of all slices, which a snapshot of some does not know
                missing.append(column)
                continue
            try:
                by_column[column.name] = self.snapshot.column(self.name, column)
            except UnusableError:
                missing.append(column)
        if missing:
            read = self.kind.provide(RequiredStatistics(bounds=tuple(missing))).statistics
            by_column.update((column.name, self._store(column, read.get(column.name))) for column in missing)
        return by_column

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of these columns."""
        return self.kind.coverage(columns)

    def _store(self, column: Field, statistics: ColumnStatistics | None) -> ColumnLayers:
        if column.type.kind is not Kind.OTHER and not is_read_from_path(column.name):
            rows = self.kind.file_rows(column.name) if isinstance(self.kind, ColumnStats) else None
            files = None if rows is None or len(rows.deleted) or rows.distrusted else rows.rows
            with suppress(OSError, UnusableError):
                self.snapshot.keep(self.name, column, statistics, files)
                return self.snapshot.column(self.name, column)
        layers = self.snapshot.layers
        if statistics is None or layers is None:
            return ColumnLayers(statistics, None)
        return ColumnLayers(*layers.split_statistics(statistics))
