"""An index kind whose statistics are kept in a snapshot: read once for a state of the table, by whoever comes first.

What is not in the snapshot yet, or not whole, is asked of the kind itself and kept. A folder that cannot be written to
costs the next process its time and nothing else.
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

__all__ = ["StoredKind", "with_snapshot"]

_STORED = (ColumnStats.name, PartitionValues.name)


def with_snapshot(kinds: Sequence[IndexKind], snapshot: Snapshot) -> tuple[IndexKind, ...]:
    """The kinds, those whose statistics a snapshot keeps in its keeping."""
    return tuple(StoredKind(kind, snapshot) if kind.name in _STORED else kind for kind in kinds)


class StoredKind:
    """A kind that gives statistics of columns, and nothing else, in front of which stands a snapshot."""

    def __init__(self, kind: IndexKind, snapshot: Snapshot) -> None:
        self.name = kind.name
        self.kind = kind
        self.snapshot = snapshot

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """What the kind needs."""
        return self.kind.requires(asked)

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of the whole."""
        layers, found = self.snapshot.layers, {}
        for name, one in self.columns(required).items():
            if one.base is not None:
                found[name] = (
                    one.base if layers is None or one.since is None else (layers.join_statistics(one.base, one.since))
                )
        return StatisticsProvider(self.name, found)

    def columns(self, needs: RequiredStatistics) -> dict[str, ColumnLayers]:
        """Statistics by column, of the base and of what came since. Raises what the kind raises."""
        found: dict[str, ColumnLayers] = {}
        missing: list[Field] = []
        for column in needs.columns:
            try:
                found[column.name] = self.snapshot.column(self.name, column)
            except UnusableError:
                missing.append(column)
        if missing:
            known = self.kind.provide(RequiredStatistics(bounds=tuple(missing))).statistics
            found.update((column.name, self._keep(column, known.get(column.name))) for column in missing)
        return found

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """What the kind knows of these columns."""
        return self.kind.coverage(columns)

    def _keep(self, column: Field, statistics: ColumnStatistics | None) -> ColumnLayers:
        if column.type.kind is not Kind.OTHER:
            rows = self.kind.file_rows(column.name) if isinstance(self.kind, ColumnStats) else None
            files = None if rows is None or len(rows.deleted) or rows.distrusted else rows.rows
            with suppress(OSError, UnusableError):
                self.snapshot.keep(self.name, column, statistics, files)
                return self.snapshot.column(self.name, column)
        layers = self.snapshot.layers
        if statistics is None or layers is None:
            return ColumnLayers(statistics, None)
        return ColumnLayers(*layers.split_statistics(statistics))
