"""Reading an own index: the current version as of when it was opened (C4, C5).

    files         (n) file_id, path, size, instant: the files that the version knows, by id
    find          the rows in it of the files of slices; -1 for a file that is unknown or has another size now
    statistics    rows of statistics with the row of their file; only the columns asked for are read

A version is immutable, and vacuum keeps it for a while after it was superseded, so everything that is read fits
together. A file that is damaged or gone raises ``TableError``: then the index answers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID
from index_store.own.definition import Definition
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import ids_of, live_files, row_indices_of
from index_store.own.store.stored_table import StoredTable, read_groups, read_table
from index_store.own.store.versions import Build, Latest, Version, latest_versions
from index_store.storage.errors import TableError

__all__ = ["IndexedFiles", "OwnIndex", "StatisticsRows"]


Rows = npt.NDArray[np.int64]


@frozen
class StatisticsRows:
    """Statistics of r files: ``index_rows`` (r,) are their rows in ``OwnIndex.files``, ``columns`` has r rows.

    A file occurs once, over all results of ``statistics``.
    """

    index_rows: npt.NDArray[np.int64]
    columns: pa.Table


class IndexedFiles(Protocol):
    """The statistics of some files, on disk (``OwnIndex``) or in memory (``advice.sample.InMemory``)."""

    @property
    def path(self) -> str:
        """Where it is, for messages."""
        ...

    @property
    def definition(self) -> Definition: ...

    @property
    def files(self) -> pa.Table: ...

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]: ...

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[StatisticsRows]: ...


class OwnIndex:
    """The current version of the index in a folder, as of when it was opened."""

    def __init__(self, folder: Folder, version: Version, latest: Latest | None = None) -> None:
        self.folder = folder
        self.version = version
        #: All versions with the greatest number, as far as they were asked for.
        self.latest = latest

    @classmethod
    def open(cls, folder: Folder, listed: Mapping[str, int] | None = None) -> OwnIndex:
        """The index in a folder. Raises NoIndexError when there is none, TableError for a damaged one.

        ``listed``: the files of its versions and their numbers, as a listing has just shown them.
        """
        latest = latest_versions(folder, listed)
        return cls(folder, latest.newest, latest)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of newer versions, which are ignored."""
        return () if self.latest is None else tuple(map(str, self.latest.faults))

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

        ``sizes`` in bytes, where files may have grown (log files of version 6): a file of another size is unknown.
        """
        given: Any = paths if isinstance(paths, pa.Array | pa.ChunkedArray) else pa.array(paths, pa.string())
        return row_indices_of(given, sizes, self.files)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of statistics, without reading any."""
        names = dict.fromkeys(name for part in self.version.statistics for name in part.columns)
        return tuple(name for name in names if name != FILE_ID)

    def statistics(
        self, columns: Sequence[str] | None = None, some: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[StatisticsRows]:
        """These columns of statistics (None: all) of every file that the version knows.

        Each result has some thousand files with the same columns of the same types, and lacks a column that these files
        do not have. ``some``, ``(n,)``: only of results with one of these files, whatever others they have.
        Raises TableError.
        """
        row_of_id = np.full(self.version.next_id, -1, np.int64)
        row_of_id[ids_of(self.files)] = np.arange(self.files.num_rows)
        wanted = None if columns is None else [FILE_ID, *columns]
        for build in self.version.builds:
            for part in build.parts:
                rows_of = partial(self._rows_of, row_of_id, build, part)
                keep = None if some is None else (FILE_ID, _has_one(some, rows_of))
                for group in read_groups(self.folder, part, wanted, keep):
                    rows = rows_of(group)
                    live = rows >= 0
                    if live.any():
                        statistics = group.drop_columns([FILE_ID])
                        yield StatisticsRows(
                            rows[live], statistics if live.all() else statistics.filter(pa.array(live))
                        )

    def _rows_of(self, row_of_id: Rows, build: Build, part: StoredTable, group: pa.Table) -> Rows:
        """The rows in ``files`` of a group of statistics, -1 for a file that the version no longer knows."""
        ids = ids_of(group)
        if len(ids) and (ids.min() < 0 or ids.max() >= build.span):
            raise TableError(self.folder.storage.absolute(part.file), "rows of files that are not its own")
        return row_of_id[ids + build.first_id]

    def partition_aggregates(self) -> list[pa.Table]:
        """The aggregates of partitions, a table for each build that has some.

        A row holds for the files of the partition that were built together, so a partition may be in several tables;
        ``aggregates.united`` merges them. Files that are gone may have widened it. Builds of an index that is older
        than aggregates have none.
        """
        return [read_table(self.folder, one) for build in self.version.builds for one in build.aggregates]

    @property
    def is_aggregated(self) -> bool:
        """Whether ``partition_aggregates`` covers every file that the version knows."""
        return all(build.aggregates for build in self.version.builds)


def _has_one(some: npt.NDArray[np.bool_], rows_of: Callable[[pa.Table], Rows]) -> Callable[[pa.Table], bool]:
    """Whether a group has one of these files."""

    def has_one(group: pa.Table) -> bool:
        rows = rows_of(group)
        return bool(some[rows[rows >= 0]].any())

    return has_one
