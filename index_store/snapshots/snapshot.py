"""A snapshot: the file slices of a table in one state, and the statistics of columns that were asked for, on disk.

    base      slices and columns as they were read whole, with the index for searching
    since     slices that came after, their columns, and which slices of the base are gone ("dead")

A state is a base, or a base and what came since; several states share a base. The numbering of the whole is: the slices
of the base that are left, in order, then those that came since (``evaluator.statistics.layers``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.cache import Manifest, SnapshotCache
from index_store.snapshots.column_file import StoredColumn, column_file_name, open_column, write_column
from index_store.snapshots.state import State
from index_store.snapshots.stored_slices import ChangedSlices, StoredSlices, slice_arrays
from index_store.table.file_slices import FileSlice, FileSlices

__all__ = ["INDEXED_FROM", "ColumnLayers", "KeptColumn", "Snapshot", "write_since"]

#: From so many slices on, a column is stored with its index for searching.
INDEXED_FROM = 20_000
_SLICES = "slices.arrow"


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLayers:
    """One column: in the base's slices, dead ones among them, and in those that came since (None: none came).

    ``base`` is None when the kind knows nothing of the column.
    """

    base: ColumnStatistics | None
    since: ColumnStatistics | None


class KeptColumn(NamedTuple):
    """A column of an index kind, and whether the kind knows anything of it."""

    kind: str
    name: str
    is_known: bool


class Snapshot:
    """An open snapshot. Methods raise UnusableError when a file of it is missing or damaged."""

    def __init__(self, cache: SnapshotCache, manifest: Manifest) -> None:
        self.cache = cache
        self.manifest = manifest
        table = cache.of_table(manifest.state)
        self.base_folder = table / manifest.base
        self.since_folder: Path | None = None if manifest.since is None else table / manifest.since
        self.base = StoredSlices(ArraysFile.open(self.base_folder / _SLICES, _about(manifest.state)))
        self.dead: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.since: StoredSlices | None = None
        if self.since_folder is not None:
            stored = ArraysFile.open(self.since_folder / _SLICES, _about(manifest.state))
            self.since, self.dead = StoredSlices(stored), stored.array("dead")

    def __repr__(self) -> str:
        return f"Snapshot({self.manifest.instant}, {len(self.slices)} slices)"

    @cached_property
    def slices(self) -> FileSlices:
        """The file slices, each made when it is asked for."""
        items: Sequence[FileSlice] = self.base
        if self.since is not None:
            items = ChangedSlices(self.base, self.dead, self.since)
        return FileSlices(self.manifest.instant, self.manifest.source, items)

    @property
    def layers(self) -> Layers | None:
        """How base and since make up the whole; None when nothing came since."""
        return None if self.since is None else Layers(len(self.base), self.dead, len(self.since))

    def column(self, kind: str, column: Field) -> ColumnLayers:
        """What is kept of a column. Raises UnusableError when it was never kept, too."""
        base = self.base_column(kind, column)
        since = self.since_column(kind, column) if self.since is not None else None
        return ColumnLayers(base.statistics, None if since is None else since.statistics)

    def base_column(self, kind: str, column: Field) -> StoredColumn:
        """A column in the base's slices, dead ones among them."""
        return open_column(self.base_folder / column_file_name(kind, column.name), kind, column, len(self.base))

    def since_column(self, kind: str, column: Field) -> StoredColumn:
        """A column in the slices that came since."""
        if self.since_folder is None or self.since is None:
            raise UnusableError("nothing came since")
        path = self.since_folder / column_file_name(kind, column.name)
        return open_column(path, kind, column, len(self.since))

    def keep(self, kind: str, column: Field, statistics: ColumnStatistics | None, files: FileStatistics | None) -> None:
        """Keep statistics of all slices of the whole. ``files``: of their files, while nothing came since.

        Raises OSError.
        """
        name, layers = column_file_name(kind, column.name), self.layers
        if layers is None or statistics is None:
            base, since = statistics, None
        else:
            base, since = layers.split_statistics(statistics)
            files = None
        if base is not None and len(base) >= INDEXED_FROM:
            base = with_index(base)
        write_column(self.base_folder / name, kind, column, len(self.base), base, files)
        if self.since is not None and self.since_folder is not None:
            write_column(self.since_folder / name, kind, column, len(self.since), since, None)

    def kept_columns(self) -> list[KeptColumn]:
        """The columns that are kept in the base."""
        found = []
        for path in sorted(self.base_folder.glob("*-*.arrow")):
            about = ArraysFile.open(path, {"what": "column"}).about
            found.append(KeptColumn(str(about["kind"]), str(about["column"]), about["known"] is True))
        return found

    @classmethod
    def write(cls, cache: SnapshotCache, state: State, slices: FileSlices) -> Snapshot:
        """Keep the slices of a state, without columns yet. Raises OSError and UnusableError."""
        manifest = Manifest(state, state.digest, None, slices.instant, slices.source)
        write_arrays(cache.of_table(state) / state.digest / _SLICES, slice_arrays(slices.items), _about(state))
        cache.publish(manifest)
        return cls(cache, manifest)


def write_since(folder: Path, state: State, since: Sequence[FileSlice], dead: npt.NDArray[Any]) -> None:
    """Write the slices that came since, and which of the base are dead. Raises OSError."""
    arrays = slice_arrays(since)
    write_arrays(folder / _SLICES, {**arrays, "dead": dead.astype(np.int64)}, _about(state))


def _about(state: State) -> dict[str, Any]:
    return {"what": "slices", "table": state.table, "fixed": state.fixed}
