"""Snapshots: statistics of a table at an instant as arrays on disk, mapped into memory, carried from commit to commit.

state            what a snapshot is of                    cache        the folder, its limit, its manifests
arrays_file      arrays in an Arrow IPC file              snapshot     slices and columns of a state
stored_slices    file slices as arrays                    column_file  statistics of a column as arrays
difference       what new instants changed                advance      from one snapshot to the next
stored_kind      an index kind with a snapshot before it
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.cache import KeptTable, SnapshotCache, default_cache
from index_store.snapshots.incremental_refresh import advance
from index_store.snapshots.snapshot import Snapshot
from index_store.snapshots.state import State, state_of
from index_store.snapshots.stored_kind import StoredKind, with_snapshot
from index_store.snapshots.timeline_diff import NotIncremental
from index_store.storage.errors import StatsError, TableError

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = [
    "KeptTable",
    "Snapshot",
    "SnapshotCache",
    "StoredKind",
    "default_cache",
    "keep_slices",
    "open_snapshot",
    "with_snapshot",
]


def open_snapshot(table: Table, cache: SnapshotCache) -> Snapshot | None:
    """The snapshot of a table as it is now: kept as such, or carried on from an earlier state; None when there is none.

    Raises TableError when the table's timeline cannot be listed.
    """
    state = state_of(table)
    if state is None:
        return None
    manifest = cache.find(state)
    if manifest is not None:
        with suppress(UnusableError):
            return Snapshot(cache, manifest)
    return _carried_on(table, state, cache)


def _carried_on(table: Table, state: State, cache: SnapshotCache) -> Snapshot | None:
    manifest = cache.latest(state)
    if manifest is None or manifest.state == state:
        return None
    with suppress(NotIncremental, UnusableError, TableError, StatsError, OSError):
        return advance(Snapshot(cache, manifest), state, table)
    return None


def keep_slices(table: Table, slices: FileSlices, cache: SnapshotCache) -> Snapshot | None:
    """Keep the slices of a table as it is now, if they are many; None when they are not, or cannot be kept."""
    state = state_of(table)
    if state is None or slices.note or len(slices) < cache.fewest_slices:
        return None
    with suppress(OSError, UnusableError):
        return Snapshot.write(cache, state, slices)
    return None
