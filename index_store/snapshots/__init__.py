"""Snapshots: slices and statistics of a table at an instant as arrays on disk, refreshed incrementally after a commit.

state                 the state of a table that a snapshot belongs to
private_folder        folders and files that nobody but the caller can have written
manifest              a state, and the folders that hold its arrays
cache                 the folder of snapshots, its limit and its manifests
environment           the cache that the environment names
shared_object         one object of a shared folder: sealed with a key
shared_folder         a folder of a store in which many processes share snapshots
sharing               from the shared folder into the local one, and back
snapshot              slices and columns of a state: a base, and a delta
arrays_file           arrays in a file, mapped into memory
array_forms           the forms in which a file holds arrays
stored_slices         file slices as arrays
column_file           statistics of a column as arrays
timeline_diff         the files that new instants wrote, replaced and removed
incremental_refresh   from the snapshot of an earlier state to that of the present one
kept_footers          what the footers of base files proved
kept_proofs           what was proven of the indexes of a state
kept_statistics       what expression indexes and own indexes say of the slices of a state
stored_kind           an index kind that reads its statistics from a snapshot first
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.cache import KeptTable, SnapshotCache
from index_store.snapshots.environment import default_cache
from index_store.snapshots.incremental_refresh import refresh_snapshot
from index_store.snapshots.kept_footers import KeptFooters
from index_store.snapshots.kept_proofs import KeptProofs
from index_store.snapshots.kept_statistics import KeptStatistics
from index_store.snapshots.shared_folder import SharedFolder
from index_store.snapshots.snapshot import Snapshot
from index_store.snapshots.state import State, name_of, state_of
from index_store.snapshots.stored_kind import StoredKind, with_snapshot
from index_store.snapshots.timeline_diff import NotIncremental
from index_store.storage.errors import StatsError, TableError

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = [
    "KeptFooters",
    "KeptProofs",
    "KeptStatistics",
    "KeptTable",
    "SharedFolder",
    "Snapshot",
    "SnapshotCache",
    "StoredKind",
    "default_cache",
    "keep_slices",
    "name_of",
    "open_snapshot",
    "with_snapshot",
]


def open_snapshot(table: Table, cache: SnapshotCache) -> Snapshot | None:
    """The snapshot of a table's present state, stored or refreshed from an earlier state; None when there is neither.

    Raises TableError when the table's timeline cannot be listed.
    """
    state = state_of(table) if cache.is_trusted() else None
    if state is None:
        return None
    manifest = cache.find(state)
    if manifest is not None:
        with suppress(UnusableError):
            return Snapshot(cache, manifest)
    return _refreshed(table, state, cache)


def _refreshed(table: Table, state: State, cache: SnapshotCache) -> Snapshot | None:
    manifest = cache.latest(state)
    if manifest is None or manifest.state == state:
        return None
    with suppress(NotIncremental, UnusableError, TableError, StatsError, OSError):
        return refresh_snapshot(Snapshot(cache, manifest), state, table)
    return None


def keep_slices(table: Table, slices: FileSlices, cache: SnapshotCache) -> Snapshot | None:
    """Store the slices of a table's present state; None when they are few, or cannot be stored."""
    state = state_of(table)
    if state is None or slices.note or len(slices) < cache.min_slices or not cache.is_trusted():
        return None
    with suppress(OSError, UnusableError):
        return Snapshot.write(cache, state, slices)
    return None
