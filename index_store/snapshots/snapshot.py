"""A snapshot: the file slices of a table in one state, and the statistics of the columns that filters used, on disk.

    base     all slices of an earlier state and their columns, with an index for searching
    delta    the slices that later commits wrote, their columns, and the numbers of the tombstoned slices of the base

A state is stored as a base, or as a base and a delta; several states share a base. Slices are numbered as in
``evaluator.statistics.layers``: the live slices of the base in order, then those of the delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.cache import SnapshotCache, is_column_file
from index_store.snapshots.column_file import StoredColumn, column_file_name, open_column, write_column
from index_store.snapshots.manifest import Manifest
from index_store.snapshots.private_folder import PrivateFolder
from index_store.snapshots.sharing import SHARED_KINDS, SLICES
from index_store.snapshots.state import State
from index_store.snapshots.stored_slices import ChangedSlices, StoredSlices, slice_arrays
from index_store.table.file_slices import FileSlice, FileSlices

__all__ = ["INDEXED_FROM", "ColumnLayers", "KeptColumn", "Snapshot", "write_delta"]

#: From so many slices on, a column is stored with its index for searching.
INDEXED_FROM = 20_000
_TOMBSTONED = "dead"
#: How names of files of columns begin whose kinds have no versions (``column_file_name``).
_CARRIED = tuple(f"{kind}-" for kind in SHARED_KINDS)


@entity
class ColumnLayers:
    """The statistics of one column in both layers.

    base     in the slices of the base, tombstoned ones included; None when the kind has none of the column
    delta    in the slices of the delta; None when there is no delta, or the kind has none of the column
    """

    base: ColumnStatistics | None
    delta: ColumnStatistics | None


class KeptColumn(NamedTuple):
    """A column of an index kind; ``has_statistics``: whether the kind has any of it."""

    kind: str
    name: str
    has_statistics: bool


class Snapshot:
    """An open snapshot. Methods raise UnusableError when a file of it is missing or damaged."""

    def __init__(self, cache: SnapshotCache, manifest: Manifest) -> None:
        self.cache = cache
        self.manifest = manifest
        table = cache.of_table(manifest.state)
        self.base_folder = table / manifest.base
        self.delta_folder: PrivateFolder | None = None if manifest.delta is None else table / manifest.delta
        stored = ArraysFile.open(self.base_folder.file(SLICES), _about(manifest.state))
        self.base, self._base_digest = StoredSlices(stored), stored.digest
        self._delta_digest = ""
        self.tombstoned: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.delta: StoredSlices | None = None
        if self.delta_folder is not None:
            stored = ArraysFile.open(self.delta_folder.file(SLICES), _about(manifest.state))
            self.delta, self.tombstoned = StoredSlices(stored), np.asarray(stored.array(_TOMBSTONED))
            self._delta_digest = stored.digest

    def __repr__(self) -> str:
        return f"Snapshot({self.manifest.instant}, {len(self.slices)} slices)"

    @cached_property
    def slices(self) -> FileSlices:
        """The file slices, each made when it is first used."""
        items: Sequence[FileSlice] = self.base
        if self.delta is not None:
            items = ChangedSlices(self.base, self.tombstoned, self.delta)
        return FileSlices(self.manifest.instant, self.manifest.source, items)

    @property
    def layers(self) -> Layers | None:
        """The two layers of the slices; None when there is no delta."""
        return None if self.delta is None else Layers(len(self.base), self.tombstoned, len(self.delta))

    def column(self, kind: str, column: Field, version: str = "") -> ColumnLayers:
        """The stored statistics of a column, by this version of its index. Raises UnusableError when none were stored.

        Only a column without a version is carried over commits, and shared.
        """
        base = self.base_column(kind, column, version)
        delta = self.delta_column(kind, column, version) if self.delta is not None else None
        return ColumnLayers(base.statistics, None if delta is None else delta.statistics)

    def base_column(self, kind: str, column: Field, version: str = "") -> StoredColumn:
        """A column in the slices of the base, tombstoned ones included."""
        return self._column(self.base_folder, self._base_digest, kind, column, len(self.base), version)

    def delta_column(self, kind: str, column: Field, version: str = "") -> StoredColumn:
        """A column in the slices of the delta."""
        if self.delta_folder is None or self.delta is None:
            raise UnusableError("the snapshot has no delta")
        return self._column(self.delta_folder, self._delta_digest, kind, column, len(self.delta), version)

    def _column(
        self, folder: PrivateFolder, digest: str, kind: str, column: Field, n: int, version: str
    ) -> StoredColumn:
        """A column in a folder, or in the shared one."""
        file = folder.file(column_file_name(kind, column.name))
        try:
            return open_column(file, kind, column, n, version)
        except UnusableError:
            sharing = None if version else self.cache.sharing
            if sharing is None or not sharing.column(self.manifest.state.table, folder.name, digest, file.name):
                raise
        return open_column(file, kind, column, n)

    def share(self) -> None:
        """Offer the slices of the state, and the columns beside those of a delta, to the shared folder."""
        sharing, state, delta = self.cache.sharing, self.manifest.state, self.manifest.delta
        if sharing is None:
            return
        base, digest = self.manifest.base, self._base_digest
        sharing.offer_slices(self.manifest if delta is None else None, state, base, base, (digest, digest))
        if delta is not None and self.delta_folder is not None:
            sharing.offer_slices(self.manifest, state, delta, base, (self._delta_digest, digest))
            for folder, slices_digest in ((self.base_folder, digest), (self.delta_folder, self._delta_digest)):
                for file in _column_files(folder):
                    sharing.offer_column(state.table, folder.name, slices_digest, file)
        sharing.tidy(state.table)

    def _share_column(self, file: str) -> None:
        sharing, table = self.cache.sharing, self.manifest.state.table
        if sharing is not None:
            sharing.offer_column(table, self.base_folder.name, self._base_digest, file)
            if self.delta_folder is not None:
                sharing.offer_column(table, self.delta_folder.name, self._delta_digest, file)

    def keep(
        self,
        kind: str,
        column: Field,
        statistics: ColumnStatistics | None,
        files: FileStatistics | None,
        version: str = "",
    ) -> None:
        """Store statistics of all slices; ``files``: those of their files, which are stored for a base without a delta.

        Raises OSError.
        """
        name, layers = column_file_name(kind, column.name), self.layers
        if layers is None or statistics is None:
            base, delta = statistics, None
        else:
            base, delta = layers.split_statistics(statistics)
            files = None
        if base is not None and len(base) >= INDEXED_FROM:
            base = with_index(base)
        write_column(self.base_folder.file(name), kind, column, len(self.base), base, files, version)
        if self.delta is not None and self.delta_folder is not None:
            write_column(self.delta_folder.file(name), kind, column, len(self.delta), delta, None, version)
        if not version:
            self._share_column(name)

    def kept_columns(self) -> list[KeptColumn]:
        """The columns that are stored in the base, without a version."""
        columns = []
        try:
            names = _column_files(self.base_folder)
        except OSError as error:
            raise UnusableError(f"{self.base_folder.path}: {error}") from error
        for name in names:
            about = ArraysFile.open(self.base_folder.file(name), {"what": "column"}).about
            columns.append(KeptColumn(str(about["kind"]), str(about["column"]), about["known"] is True))
        return columns

    @classmethod
    def write(cls, cache: SnapshotCache, state: State, slices: FileSlices) -> Snapshot:
        """Store the slices of a state; columns are stored later. Raises OSError and UnusableError."""
        manifest = Manifest(state, state.digest, None, slices.instant, slices.source)
        write_arrays((cache.of_table(state) / state.digest).file(SLICES), slice_arrays(slices.items), _about(state))
        cache.publish(manifest)
        found = cls(cache, manifest)
        found.share()
        return found


def write_delta(folder: PrivateFolder, state: State, delta: Sequence[FileSlice], tombstoned: npt.NDArray[Any]) -> None:
    """Write the slices of a delta, and the numbers of the tombstoned slices of the base. Raises OSError."""
    arrays = slice_arrays(delta)
    write_arrays(folder.file(SLICES), {**arrays, _TOMBSTONED: tombstoned.astype(np.int64)}, _about(state))


def _column_files(folder: PrivateFolder) -> list[str]:
    """The names of the columns in a folder that are carried over and shared. Raises OSError."""
    return [entry.name for entry in folder.entries() if is_column_file(entry.name) and entry.name.startswith(_CARRIED)]


def _about(state: State) -> dict[str, Any]:
    return {"what": "slices", "table": state.table, "fixed": state.fixed}
