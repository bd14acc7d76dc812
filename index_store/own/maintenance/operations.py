"""The operations on an own index: create, refresh, optimize; vacuum and drop are those of ``removal``.

    create     builds every file and writes the first version
    refresh    builds new files and writes tombstones for vanished ones; ``full``: builds every file again
    optimize   builds nothing: merges all statistics into one build and all files into a new master, without tombstones

Concurrent refreshes are safe (``store.optimistic_commit``): the one that commits second lists the table again, builds
only what is still missing, and rebases onto the first. The version is read before the table, so a version never knows
an older state of the table than the version before it.

The files that an index knows follow from the table alone, and the statistics of a file from the file alone. So an index
gives the same answers after an incremental refresh, a full one and an optimize.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID, FILES, MakeBuilder, NewFiles, Progress
from index_store.own.definition import Definition
from index_store.own.maintenance.building import Built, build, merge
from index_store.own.maintenance.merged_files import SketchedFiles, sketched_files
from index_store.own.maintenance.removal import RETENTION, Removed, drop, vacuum
from index_store.own.maintenance.table_files import check_not_older, with_ids
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import FileList, compose, live_files, row_indices_of, write_delta, write_master
from index_store.own.store.merged_slices import is_merged, merged_slices
from index_store.own.store.optimistic_commit import Change, Commit, commit_first, commit_on_latest, refuse_existing
from index_store.own.store.stored_table import StoredTable, begin_tables
from index_store.own.store.versions import Latest, Version
from index_store.storage.errors import TableError
from index_store.table.table import Table

__all__ = ["MAX_BUILDS", "RETENTION", "OperationResult", "Removed", "create", "drop", "optimize", "refresh", "vacuum"]

#: A refresh that leaves more builds optimizes the index too: a reader opens the files of every build.
MAX_BUILDS = 50


@frozen(kw_only=True)
class OperationResult:
    """What an operation did, and what it cost.

    version     the current version; ``committed``: whether this operation wrote it
    built       files that statistics were built of, ``built_bytes`` their size; ``unread``: files that have none
    gone        files that the index knew before and no longer knows
    size        bytes of the index
    tries       attempts until the commit: 1 when no other writer was first
    logged      slices with log files; ``not_merged``: those that were not merged, by a file of each, and why, apart
                from those that a builder could not read
    unknown     slices that a secondary index does not know, and why
    """

    operation: str
    version: Version
    committed: bool
    built: int
    built_bytes: int
    unread: int
    gone: int
    size: int
    seconds: float
    tries: int = 1
    unknown: Mapping[str, str] = field(default_factory=dict)
    logged: int = 0
    not_merged: Mapping[str, str] = field(default_factory=dict)


def create(
    folder: Folder, table: Table, definition: Definition, make_builder: MakeBuilder, progress: Progress | None = None
) -> OperationResult:
    """Create an index. Raises TableError when the folder holds one, also when another writer created it meanwhile."""
    began = time.monotonic()
    refuse_existing(folder)
    sketched = sketched_files(table)
    files, instant = sketched.files, sketched.instant
    built = build(folder, make_builder(table, definition), NewFiles(with_ids(files)), instant, progress)
    version = _whole_version(
        folder,
        files,
        [built.known],
        operation="create",
        number=1,
        table=table.path,
        definition=definition,
        instant=instant,
    )
    commit_first(folder, Change(version, (version.master,)))
    return _result("create", Commit(version, version, 1, committed=True), [built], 0, began, sketched)


def refresh(
    folder: Folder,
    table: Table,
    make_builder: MakeBuilder,
    *,
    full: bool = False,
    progress: Progress | None = None,
    latest: Latest | None = None,
) -> OperationResult:
    """Bring an index up to the table's latest completed instant. Raises TableError; then nothing has changed.

    ``table`` is opened anew. ``latest``: the current version, if it was read a moment ago. Nothing is committed
    when nothing changed. When more than MAX_BUILDS refreshes have left their own files of statistics, the index is
    optimized too.
    """
    began = time.monotonic()
    attempts = _Refresh(folder, table, make_builder, full=full, progress=progress)
    commit = commit_on_latest(folder, attempts.change, latest)
    result = _result(
        "full refresh" if full and commit.committed else "refresh",
        commit,
        attempts.built,
        attempts.gone,
        began,
        attempts.sketched,
    )
    if commit.committed and len(commit.version.builds) > MAX_BUILDS:
        with suppress(TableError):  # the refresh is done in any case
            version = optimize(folder, progress).version
            result = replace(result, version=version, size=version.size, seconds=time.monotonic() - began)
    return result


class _Refresh:
    """A refresh over its attempts: what was built for one of them serves the next ones."""

    def __init__(
        self, folder: Folder, table: Table, make_builder: MakeBuilder, *, full: bool, progress: Progress | None
    ) -> None:
        self._folder, self._table, self._make_builder = folder, table, make_builder
        self._full, self._progress = full, progress
        self.built: list[Built] = []
        #: Files that the version knew before, and that the table no longer has.
        self.gone = 0
        self.sketched: SketchedFiles | None = None

    def change(self, latest: Latest) -> Change | None:
        """The refreshed version on top of the latest one; None when that one is up to date."""
        current = latest.current
        begin_tables(self._folder, (one for version in latest.versions for one in (version.master, version.delta)))
        table = Table(self._table.storage.afresh(), self._table.options)  # read after the version: see the module
        self.sketched = sketched_files(table)
        files, instant = self.sketched.files, self.sketched.instant
        check_not_older(table, files, instant, latest.newest)
        known = _known(self._folder, latest)
        self._build_missing(table, files, instant, [] if self._full else known, current.definition)
        built = [one.known for one in self.built]
        if self._full:
            version: Version | None = _whole_version(
                self._folder,
                files,
                built,
                operation="full refresh",
                number=latest.number + 1,
                table=current.table,
                definition=current.definition,
                instant=instant,
            )
        else:
            version = _refreshed_version(self._folder, latest, files, [*known, *built], instant)
        if version is None:
            return None
        gone = known[0].files.filter(pa.array(~_in_any(known[0].files, [files])))
        self.gone = _count_files(gone)
        return Change(version, _manifests(version))

    def _build_missing(
        self, table: Table, files: pa.Table, instant: str | None, known: list[FileList], definition: Definition
    ) -> None:
        """Build the files that neither the version nor an earlier attempt knows, nor was unable to read."""
        done = [source.files for source in (*known, *(one.known for one in self.built))]
        missing = files.filter(pa.array(~_in_any(files, [*done, *(one.unread for one in self.built)])))
        if missing.num_rows:
            builder = self._make_builder(table, definition)
            self.built.append(build(self._folder, builder, NewFiles(with_ids(missing)), instant, self._progress))


def optimize(folder: Folder, progress: Progress | None = None) -> OperationResult:
    """Merge all statistics of an index into one build, and all files into a new master. Answers stay the same.

    Nothing is committed when they are merged already. Raises TableError; then nothing has changed.
    """
    began = time.monotonic()
    merged: list[Built] = []

    def change(latest: Latest) -> Change | None:
        latest.check_complete(builds_nothing=True)
        current = latest.current
        known = _known(folder, latest)
        if current.delta is None and len(current.builds) <= 1 and len(known) == 1:
            return None
        files = _union(_newest(latest, known))
        if not merged:
            merged.append(merge(folder, known[0], _union(known[:1]), current.instant, progress))
        version = _whole_version(
            folder,
            files,
            [merged[0].known, *known],
            operation="optimize",
            number=latest.number + 1,
            table=current.table,
            definition=current.definition,
            instant=current.instant,
        )
        return Change(version, _manifests(version))

    return _result("optimize", commit_on_latest(folder, change), [], 0, began)


# -- parts of a change


def _known(folder: Folder, latest: Latest) -> list[FileList]:
    """The files that the current version knows, and those of other versions with its number."""
    return [FileList(live_files(folder, version), version.builds) for version in latest.versions]


def _newest(latest: Latest, known: list[FileList]) -> list[FileList]:
    """The lists of those versions that listed the table themselves. An optimize only repeats what an older one knew."""
    listed = [one for one, version in zip(known, latest.versions, strict=True) if version.operation != "optimize"]
    return listed or known


def _union(lists: list[FileList]) -> pa.Table:
    """The files of all lists, by path: each (path, size) once, without ids."""
    union = lists[0].files
    for other in lists[1:]:
        union = pa.concat_tables([union, other.files.filter(pa.array(~_in_any(other.files, [union])))])
    return union.drop_columns([FILE_ID]).sort_by("path")


def _in_any(files: pa.Table, lists: list[pa.Table]) -> npt.NDArray[np.bool_]:
    """``(n,)``: which of the files are in one of the lists."""
    sizes = files.column("size").to_numpy()
    in_any = np.zeros(files.num_rows, np.bool_)
    for known in lists:
        in_any |= row_indices_of(files.column("path"), sizes, known) >= 0
    return in_any


def _refreshed_version(
    folder: Folder, latest: Latest, files: pa.Table, sources: list[FileList], instant: str | None
) -> Version | None:
    """The current version with a new delta; None when it knows these files already, at this instant."""
    current = latest.current
    composed = compose(files, sources, keep=current.next_id)
    rows = composed.known.files.num_rows
    same = rows == current.files + current.parts == sources[0].files.num_rows and composed.next_id == current.next_id
    if same and instant == current.instant:
        return None
    delta, tombstones = write_delta(folder, composed.known.files, current, instant)
    return replace(
        current,
        number=latest.number + 1,
        operation="refresh",
        instant=instant,
        delta=delta,
        builds=composed.known.builds,
        next_id=composed.next_id,
        files=_count_files(composed.known.files),
        merged=merged_slices(composed.known.files.column("path")),
        parts=composed.known.files.num_rows - _count_files(composed.known.files),
        tombstones=tombstones,
        written=time.time(),
    )


def _whole_version(
    folder: Folder,
    files: pa.Table,
    sources: list[FileList],
    *,
    operation: str,
    number: int,
    table: str,
    definition: Definition,
    instant: str | None,
) -> Version:
    """A version without a delta: its master lists those of the files that a source knows."""
    composed = compose(files, sources or [FileList(FILES.empty_table(), ())])
    return Version(
        number=number,
        operation=operation,
        table=table,
        definition=definition,
        instant=instant,
        master=write_master(folder, composed.known.files, instant),
        master_end=composed.next_id,
        master_instant=instant,
        delta=None,
        builds=composed.known.builds,
        next_id=composed.next_id,
        files=_count_files(composed.known.files),
        merged=merged_slices(composed.known.files.column("path")),
        parts=composed.known.files.num_rows - _count_files(composed.known.files),
        tombstones=0,
    )


def _manifests(version: Version) -> tuple[StoredTable, ...]:
    """The lists of files of a version. Only these are orphaned by a conflict: the next attempt uses the builds."""
    return (version.master,) if version.delta is None else (version.master, version.delta)


def _count_files(files: pa.Table) -> int:
    """How many of the rows are files, and not merged slices."""
    return int((~is_merged(files.column("path"))).sum())


def _result(
    operation: str,
    commit: Commit,
    built: list[Built],
    gone: int,
    began: float,
    sketched: SketchedFiles | None = None,
) -> OperationResult:
    return OperationResult(
        operation=operation,
        version=commit.version,
        committed=commit.committed,
        built=sum(one.rows for one in built),
        built_bytes=sum(one.size for one in built),
        unread=_count_files(built[-1].unread) if built else 0,
        gone=gone if commit.committed else 0,
        size=commit.version.size,
        seconds=time.monotonic() - began,
        tries=commit.attempts,
        logged=0 if sketched is None else sketched.logged,
        not_merged={} if sketched is None else sketched.refused,
    )
