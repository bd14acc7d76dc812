"""The life of an index: create, refresh, optimize, vacuum, drop. What is committed is right whoever else is at work.

    create     every file is built; the first version, if nobody else made one
    refresh    new files are built, vanished ones get tombstones; ``full``: every file is built again
    optimize   nothing is built: all statistics in one build, all files in a new master, tombstones gone
    vacuum     superseded versions, and files that no version left names, after a time of retention
    drop       versions first, then the rest

A commit is made on top of the version that it began with. When another writer was first, the table is looked at again,
what is missing is built, and the commit is made on top of theirs: nothing that anybody built is thrown away. As the
version is read before the table, a version never knows less of the table than the one before it.

Which files an index knows follows from the table alone, and the statistics of a file from the file alone: so after an
incremental refresh, a full one and an optimize, the index says the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.own.builder import FILE_ID, FILES, MakeBuilder, NewFiles, Progress
from index_store.own.definition import Definition
from index_store.own.maintenance.building import Built, build, merge
from index_store.own.maintenance.table_files import table_files, with_ids
from index_store.own.store.folder import VERSIONS, Folder, age_of
from index_store.own.store.manifest import Manifested, compose, live_files, places_of, write_delta, write_master
from index_store.own.store.optimistic_commit import TRIES, check_there, commit, forget, given_up, pause, refuse_existing
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import (
    Latest,
    NoIndexError,
    Version,
    latest_versions,
    read_version,
    version_files,
    write_version,
)
from index_store.storage.errors import TableError
from index_store.table.table import Table

__all__ = ["MAX_BUILDS", "RETENTION", "OperationResult", "Removed", "create", "drop", "optimize", "refresh", "vacuum"]

#: How long a superseded version, and a file that no version names, is kept: a reader or a builder may be at it.
RETENTION = timedelta(days=7)
#: Each reader opens the files of every build.
MAX_BUILDS = 50


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What an operation did, and what it cost.

    version     the version that is current now; ``committed``: whether it was made by this operation
    built       files of which statistics were made, ``built_bytes`` their size; ``unread``: of which none could be made
    gone        files that the index knew before and no longer knows
    size        bytes of the index, ``tries`` how often it was begun anew because others were first
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


@dataclass(frozen=True, slots=True)
class Removed:
    """How many versions and files were removed, and their bytes."""

    versions: int
    files: int
    size: int


def create(
    folder: Folder, table: Table, definition: Definition, make_builder: MakeBuilder, progress: Progress | None = None
) -> OperationResult:
    """Make an index. Raises TableError when there is one in the folder already, also if it came about meanwhile."""
    began = time.monotonic()
    refuse_existing(folder)
    files, instant = table_files(table)
    built = build(folder, make_builder(table, definition), NewFiles(with_ids(files)), instant, progress)
    version = _version_of_all(folder, files, [built.known], "create", 1, table.path, definition, instant)
    check_there(folder, version)
    if not write_version(folder, version):
        forget(folder, [version.master])
        raise TableError(folder.path, "another index was created here at the same time")
    return _change("create", version, built, 0, began, 1)


def refresh(
    folder: Folder, table: Table, make_builder: MakeBuilder, *, full: bool = False, progress: Progress | None = None
) -> OperationResult:
    """Bring an index up to the table's latest completed instant. Raises TableError; then nothing has changed.

    ``table`` is opened anew. Nothing is committed when nothing changed. When more than MAX_BUILDS refreshes have left
    their own files of statistics, the index is optimized too.
    """
    began = time.monotonic()
    mine: list[Built] = []
    for attempt in range(TRIES):
        latest = latest_versions(folder)
        current = latest.current
        table = Table(table.storage.afresh(), table.options)  # as it is after the version was read
        files, instant = table_files(table)
        known = _known(folder, latest)
        left = _missing(files, [*(() if full else known), *(one.known for one in mine)], mine)
        if left.num_rows:
            builder = make_builder(table, current.definition)
            mine.append(build(folder, builder, NewFiles(with_ids(left)), instant, progress))
        sources = [one.known for one in mine]
        if full:
            version = _version_of_all(
                folder, files, sources, "full refresh", latest.number + 1, current.table, current.definition, instant
            )
        else:
            changed = _refreshed(folder, latest, files, [*known, *sources], instant)
            if changed is None:
                return _change("refresh", current, _together(mine), 0, began, attempt + 1, committed=False)
            version = changed
        if commit(folder, latest, version, _lists(version)):
            gone = int((~_among(known[0].files, [files])).sum())
            if len(version.builds) > MAX_BUILDS:
                with suppress(TableError):  # the refresh is done in any case
                    version = optimize(folder, progress).version
            return _change("full refresh" if full else "refresh", version, _together(mine), gone, began, attempt + 1)
        pause(folder, attempt)
    raise given_up(folder)


def optimize(folder: Folder, progress: Progress | None = None) -> OperationResult:
    """Put all statistics of an index together, and all files into a new master. Answers stay what they are.

    Nothing is committed when they are together already. Raises TableError; then nothing has changed.
    """
    began = time.monotonic()
    mine: Built | None = None
    for attempt in range(TRIES):
        latest = latest_versions(folder)
        current = latest.current
        known = _known(folder, latest)
        if current.delta is None and len(current.builds) <= 1 and len(known) == 1:
            return _change("optimize", current, None, 0, began, attempt + 1, committed=False)
        files = known[0].files.drop_columns([FILE_ID]).sort_by("path")
        if mine is None:
            mine = merge(folder, known[0], files, current.instant, progress)
        version = _version_of_all(
            folder,
            files,
            [mine.known, *known],
            "optimize",
            latest.number + 1,
            current.table,
            current.definition,
            current.instant,
        )
        if commit(folder, latest, version, _lists(version)):
            return _change("optimize", version, None, 0, began, attempt + 1)
        pause(folder, attempt)
    raise given_up(folder)


def vacuum(folder: Folder, retention: timedelta = RETENTION) -> Removed:
    """Remove versions that were superseded longer ago than the retention, and files that no other version names.

    Files that are younger are kept in any case: somebody may be about to name them.
    """
    latest = latest_versions(folder)
    now, keep = time.time(), retention.total_seconds()
    stats = {stat.path: stat for stat in folder.stats()}
    needed: set[str] = set()
    gone: list[str] = []
    superseded = now
    for file, number in version_files(folder).items():  # the newest first
        whole: Version | None = None
        with suppress(TableError):
            whole = read_version(folder, file)
        if number >= latest.current.number or now - superseded < keep:
            needed.update((file, *(one.file for one in whole.stored)) if whole else (file,))
        else:
            gone.append(file)
        superseded = min(superseded, whole.written) if whole else superseded
    old = [
        path
        for path, stat in stats.items()
        if not path.startswith(f"{VERSIONS}/") and path not in needed and age_of(stat) >= keep
    ]
    leftover = [
        path
        for path, stat in stats.items()
        if path.startswith(f"{VERSIONS}/") and age_of(stat) >= keep and not path.endswith(".json")
    ]
    for file in (*reversed(gone), *old, *leftover):  # versions before what they name
        folder.remove(file)
    return Removed(len(gone), len(old), sum(stats[one].size for one in (*gone, *old, *leftover) if one in stats))


def drop(folder: Folder) -> Removed:
    """Remove an index: its versions, the newest last, then everything else. Raises NoIndexError if there is none."""
    files = version_files(folder)
    stats = folder.stats()
    if not files:
        raise NoIndexError(folder.path, "there is no index here")
    for file in reversed(list(files)):
        folder.remove(file)
    folder.remove_all()
    return Removed(len(files), len(stats) - len(files), sum(one.size for one in stats))


# -- parts of a commit


def _known(folder: Folder, latest: Latest) -> list[Manifested]:
    """What the current version knows, and others of its number."""
    return [Manifested(live_files(folder, one), one.builds) for one in latest.versions]


def _missing(files: pa.Table, sources: list[Manifested], mine: list[Built]) -> pa.Table:
    """The files that no source knows, and that were not tried in vain."""
    return files.filter(pa.array(~_among(files, [*(one.files for one in sources), *(one.unread for one in mine)])))


def _among(files: pa.Table, lists: list[pa.Table]) -> npt.NDArray[np.bool_]:
    """Which of the files are in one of the lists."""
    sizes = files.column("size").to_numpy()
    found = np.zeros(files.num_rows, np.bool_)
    for one in lists:
        found |= places_of(files.column("path"), sizes, one) >= 0
    return found


def _refreshed(
    folder: Folder, latest: Latest, files: pa.Table, sources: list[Manifested], instant: str | None
) -> Version | None:
    """The next version after a refresh; None when the current one says all of it."""
    current = latest.current
    composed = compose(files, sources, keep=current.next_id)
    same = composed.known.files.num_rows == current.files == sources[0].files.num_rows and (
        composed.next_id == current.next_id
    )
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
        files=composed.known.files.num_rows,
        tombstones=tombstones,
        written=time.time(),
    )


def _version_of_all(
    folder: Folder,
    files: pa.Table,
    sources: list[Manifested],
    operation: str,
    number: int,
    table: str,
    definition: Definition,
    instant: str | None,
) -> Version:
    """A version whose master has all of the files that a source knows."""
    composed = compose(files, sources or [Manifested(FILES.empty_table(), ())])
    master = write_master(folder, composed.known.files, instant)
    return Version(
        number,
        operation,
        table,
        definition,
        instant,
        master,
        composed.next_id,
        instant,
        None,
        composed.known.builds,
        composed.next_id,
        composed.known.files.num_rows,
        0,
    )


def _lists(version: Version) -> list[StoredTable]:
    """The files of a version that say which files it knows; its builds serve whoever begins anew."""
    return [one for one in (version.master, version.delta) if one]


def _together(mine: list[Built]) -> Built | None:
    """What one operation built, also when it was begun anew."""
    if not mine:
        return None
    return replace(mine[-1], rows=sum(one.rows for one in mine), size=sum(one.size for one in mine))


def _change(
    operation: str,
    version: Version,
    built: Built | None,
    gone: int,
    began: float,
    tries: int,
    *,
    committed: bool = True,
) -> OperationResult:
    return OperationResult(
        operation,
        version,
        committed,
        built.rows if built else 0,
        built.size if built else 0,
        built.unread.num_rows if built else 0,
        gone,
        version.size,
        time.monotonic() - began,
        tries,
    )
