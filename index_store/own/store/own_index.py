"""Reading an index of our own: one version of it, throughout (C4, C5).

    files         (n) file_id, path, size, instant: what the version knows, by id
    find          where in it the files of a slice are; what is not there, or has another size by now, is not known
    statistics    rows of statistics and whose they are; only the columns asked for are read

A version is immutable, and vacuum leaves it for a while after it was superseded: what is read fits together. A file
that is damaged or gone is a ``TableError``: then the index says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.own.builder import FILE_ID
from index_store.own.definition import Definition
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import ids_of, live_files, row_indices_of
from index_store.own.store.stored_table import read_groups, read_table
from index_store.own.store.versions import Version, latest_versions
from index_store.storage.errors import TableError

__all__ = ["FileRows", "IndexedFiles", "OwnIndex"]


@dataclass(frozen=True, slots=True)
class FileRows:
    """Statistics of files: ``place`` (r,) is the row of each in ``OwnIndex.files``, ``columns`` has r rows.

    No file occurs twice, neither here nor in two of these.
    """

    place: npt.NDArray[np.int64]
    columns: pa.Table


class IndexedFiles(Protocol):
    """What is known of some files, wherever it is: ``OwnIndex`` says what its parts mean."""

    @property
    def path(self) -> str:
        """Where it is, for people."""
        ...

    @property
    def definition(self) -> Definition: ...

    @property
    def files(self) -> pa.Table: ...

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]: ...

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[FileRows]: ...


class OwnIndex:
    """The current version of the index in a folder, as of when it was opened."""

    def __init__(self, folder: Folder, version: Version, faults: Sequence[str] = ()) -> None:
        self.folder = folder
        self.version = version
        #: What is wrong with newer versions, which are passed over; empty when nothing is.
        self.faults = tuple(faults)

    @classmethod
    def open(cls, folder: Folder) -> OwnIndex:
        """The index in a folder. Raises NoIndexError when there is none, TableError when no version of it is whole."""
        latest = latest_versions(folder)
        return cls(folder, latest.current, latest.faults)

    def __repr__(self) -> str:
        return f"OwnIndex({self.folder.path!r}, version {self.version.number})"

    @property
    def path(self) -> str:
        return self.folder.path

    @property
    def definition(self) -> Definition:
        return self.version.definition

    @property
    def instant(self) -> str | None:
        """The table's latest completed write when its files were listed."""
        return self.version.instant

    @cached_property
    def files(self) -> pa.Table:
        """``(n)`` rows of ``file_id``, ``path``, ``size`` and ``instant`` (``builder.FILES``), by id."""
        return live_files(self.folder, self.version)

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """``(m,)``: the row of each path in ``files``, -1 where the index does not know the file.

        ``sizes`` in bytes, where a file may have grown since (log files of version 6); what has another is not known.
        """
        given: Any = paths if isinstance(paths, pa.Array | pa.ChunkedArray) else pa.array(paths, pa.string())
        return row_indices_of(given, sizes, self.files)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of statistics; nothing is read for it."""
        names = dict.fromkeys(name for part in self.version.statistics for name in part.columns)
        return tuple(name for name in names if name != FILE_ID)

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[FileRows]:
        """These columns of statistics (None: all), of every file that the version knows.

        One ``FileRows`` for some thousand files that have the same columns of the same types; a column that files do
        not have is not in theirs.
        """
        place = np.full(self.version.next_id, -1, np.int64)
        place[ids_of(self.files)] = np.arange(self.files.num_rows)
        for build in self.version.builds:
            for part in build.parts:
                wanted = None if columns is None else [FILE_ID, *columns]
                for group in read_groups(self.folder, part, wanted):
                    ids = ids_of(group)
                    if len(ids) and (ids.min() < 0 or ids.max() >= build.span):
                        raise TableError(self.folder.storage.absolute(part.file), "rows of files that are not its own")
                    rows = place[ids + build.first_id]
                    live = rows >= 0
                    if live.any():
                        found = group.drop_columns([FILE_ID])
                        yield FileRows(rows[live], found if live.all() else found.filter(pa.array(live)))

    def partition_aggregates(self) -> list[pa.Table]:
        """What the builder said of whole partitions, if it did.

        A row holds for every file that the index knows in the partition and was built together, so a partition may be
        in several tables (``aggregates.united`` makes one of them). Files that are gone may have widened it. Not every
        build need have some: an index that was begun before there were any says nothing of its older files.
        """
        return [read_table(self.folder, one) for build in self.version.builds for one in build.aggregates]

    @property
    def is_aggregated(self) -> bool:
        """Whether ``partition_aggregates`` speaks of every file that the version knows."""
        return all(build.aggregates for build in self.version.builds)
