"""What one index kind has made of its stored records, kept beside the columns of a snapshot.

    expression_index     an expression index: bounds of a function of a column
    own_index            a column, or an expression, in the own indexes of sketches
    own_merged_rows      the same of merged rows

They are files of columns (``column_file``) that hold a version, too. Other than ``column_stats`` they are not carried
over a commit: the first filter after one reads them as a whole. They are not shared either.
"""

from __future__ import annotations

from contextlib import suppress

from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from index_store.kinds.base import IndexKind
from index_store.kinds.statistics_memory import MakeStatistics
from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.snapshot import Snapshot
from index_store.snapshots.stored_kind import with_snapshot

__all__ = ["KeptStatistics"]


class KeptStatistics:
    """The statistics of one kind in a snapshot (``kinds.statistics_memory.StatisticsMemory``)."""

    def __init__(self, snapshot: Snapshot, kind: str) -> None:
        self._snapshot, self._kind = snapshot, kind

    def statistics(self, of: Field, version: str, make: MakeStatistics) -> ColumnStatistics | None:
        """The kept ones; what ``make`` gives where there are none, or damaged ones, or those of another version."""
        if of.type.kind is Kind.OTHER:
            return make()
        with suppress(UnusableError, ValueError):
            return self._read(of, version)
        made = make()
        with suppress(OSError, UnusableError, ValueError):
            self._snapshot.keep(self._kind, of, made, None, version)
            return self._read(of, version)
        return made

    def in_front_of(self, kind: IndexKind) -> IndexKind:
        """The kind, whose columns the snapshot has."""
        return with_snapshot([kind], self._snapshot)[0]

    def _read(self, of: Field, version: str) -> ColumnStatistics | None:
        """Raises UnusableError, and ValueError for layers that do not fit together."""
        kept, layers = self._snapshot.column(self._kind, of, version), self._snapshot.layers
        if layers is None or kept.base is None:
            return kept.base
        if kept.delta is None:
            raise UnusableError(f"{of.name}: kept of one layer")
        return layers.join_statistics(kept.base, kept.delta)
