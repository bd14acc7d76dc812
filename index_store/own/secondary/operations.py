"""The operations on a secondary index: create, refresh, optimize. ``maintenance`` vacuums and drops it like any other.

    create     reads every slice and writes the base generation
    refresh    reads the slices whose files changed, compares them with their old entries, and writes what differs as a
               new generation. ``full``: reads every slice again and writes a new base
    optimize   reads no slice: merges all generations into a new base, without tombstones

Commits are optimistic (``store.optimistic_commit``): an operation that commits second compares again on top of the
first one's version and reads no slice twice. The entries of an index follow from the table alone
(``slice_entries``), so an index says the same after an incremental refresh, a full one and an optimize.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from index_store.own.builder import Progress
from index_store.own.definition import Definition
from index_store.own.maintenance.operations import OperationResult
from index_store.own.maintenance.table_files import check_not_older
from index_store.own.secondary.slice_entries import MakeReader
from index_store.own.secondary.staged_entries import TableSlices
from index_store.own.secondary.version_builder import KnownGroups, VersionBuilder, version_builder
from index_store.own.store.folder import Folder
from index_store.own.store.optimistic_commit import Change, Commit, commit_first, commit_on_latest, refuse_existing
from index_store.own.store.stored_table import begin_tables
from index_store.own.store.versions import Latest, Version
from index_store.storage.errors import TableError
from index_store.table.table import Table
from index_store.table.table_schema import RECORD_KEY

__all__ = ["MAX_GENERATIONS", "MEMORY", "create", "optimize", "refresh"]

#: Each look-up asks every generation.
MAX_GENERATIONS = 10
#: Bytes of memory for entries while they are sorted; what is beyond lies in the directory for temporary files.
MEMORY = 256 << 20


def create(
    folder: Folder,
    table: Table,
    definition: Definition,
    make_reader: MakeReader,
    progress: Progress | None = None,
    memory: int = MEMORY,
) -> OperationResult:
    """Create an index. Raises TableError when the folder holds one, also when another writer created it meanwhile, and
    for a table that keeps no record keys in its files.
    """
    began = time.monotonic()
    refuse_existing(folder)
    check_record_keys(table)
    with version_builder(folder, memory, progress) as builder:
        slices = TableSlices.of(table)
        builder.read(slices, list(slices.files.items()), make_reader(table, definition))
        version = builder.rebuilt(slices, {}, 0, operation="create", number=1, table=table.path, definition=definition)
        commit_first(folder, Change(version, version.stored))
        return builder.result("create", Commit(version, version, 1, committed=True), slices, 0, began)


def check_record_keys(table: Table) -> None:
    """Raises TableError for a table whose files have no record keys: virtual keys."""
    if table.properties.get("hoodie.populate.meta.fields", "true").strip().lower() == "false":
        raise TableError(
            table.path,
            f"a secondary index needs the record keys ({RECORD_KEY}), which the files of this "
            "table do not have (hoodie.populate.meta.fields is false); sketches such as bloom_filter do "
            "not need them",
        )


def refresh(
    folder: Folder,
    table: Table,
    make_reader: MakeReader,
    *,
    full: bool = False,
    progress: Progress | None = None,
    memory: int = MEMORY,
    latest: Latest | None = None,
) -> OperationResult:
    """Bring an index up to the table's latest completed instant. Raises TableError; then nothing has changed.

    ``table`` is opened anew. ``latest``: the current version, if it was read a moment ago. Nothing is committed
    when nothing changed. When more than MAX_GENERATIONS are left, the index is optimized too.
    """
    began = time.monotonic()
    with version_builder(folder, memory, progress) as builder:
        attempts = _Refresh(builder, table, make_reader, full=full)
        commit = commit_on_latest(folder, attempts.change, latest)
        result = builder.result("full refresh" if full else "refresh", commit, attempts.slices, attempts.gone, began)
        if commit.committed and len(commit.version.generations) > MAX_GENERATIONS:
            with suppress(TableError):  # the refresh is done in any case
                version = optimize(folder, progress, memory).version
                result = replace(result, version=version, size=version.size, seconds=time.monotonic() - began)
        return result


class _Refresh:
    """A refresh over its attempts: a slice that was read for one of them is not read again for the next ones."""

    def __init__(self, builder: VersionBuilder, table: Table, make_reader: MakeReader, *, full: bool) -> None:
        self._builder, self._table, self._make_reader, self._full = builder, table, make_reader, full
        #: The slices of the table as the last attempt saw them.
        self.slices: TableSlices | None = None
        #: Files that the version knew before, and that the table no longer has.
        self.gone = 0

    def change(self, latest: Latest) -> Change | None:
        """The refreshed version on top of the latest one; None when that one is up to date."""
        current, builder = latest.current, self._builder
        groups = (one.groups for one in current.generations)
        begin_tables(builder.folder, [current.master, current.delta, *groups])
        table = Table(self._table.storage.afresh(), self._table.options)  # read after the version
        self.slices = slices = TableSlices.of(table)
        check_not_older(table, slices.listed, slices.instant, latest.newest)
        known = KnownGroups.of(builder.folder, current, slices)
        to_read = [one for one in slices.files.items() if self._full or known.files.get(one[0]) != one[1]]
        if to_read:  # their entries before are compared
            begin_tables(builder.folder, (one.reverse for one in current.generations))
        builder.read(slices, to_read, self._make_reader(table, current.definition))
        if self._full:
            version: Version | None = builder.rebuilt(
                slices,
                known.numbers,
                current.generations[-1].next_group,
                operation="full refresh",
                number=latest.number + 1,
                table=current.table,
                definition=current.definition,
            )
        else:
            version = builder.refreshed(latest, slices, known)
        if version is None:
            return None
        self.gone = known.count_gone(slices)
        return Change(version, version.stored)


def optimize(folder: Folder, progress: Progress | None = None, memory: int = MEMORY) -> OperationResult:
    """Merge all generations of an index into a base, and all files into a new master. Answers stay the same.

    Nothing is committed when they are merged already. Raises TableError; then nothing has changed.
    """
    began = time.monotonic()
    with version_builder(folder, memory, progress) as builder:

        def change(latest: Latest) -> Change | None:
            latest.check_complete(builds_nothing=True)
            current = latest.current
            if current.delta is None and len(current.generations) == 1 and not current.generations[0].tombstones:
                return None
            version = builder.merged(latest)
            return Change(version, version.stored)

        return builder.result("optimize", commit_on_latest(folder, change), None, 0, began)
