"""The versions that one operation on a secondary index writes, from what it has read of the table.

    rebuilt      every slice of the table that is known, in a new base                  create, full refresh
    refreshed    the current version with one more generation, of what has changed      refresh
    merged       all generations of the current version in a new base, nothing read     optimize

A builder serves all attempts of its operation: slices that were read stay staged in a directory for temporary files,
where entries are sorted too when they do not fit in memory. A slice that cannot be read, or is not known, gets no entry
and no group: every query reads it, and the next refresh tries it again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID, FILES, Progress
from index_store.own.definition import Definition
from index_store.own.maintenance.operations import OperationResult
from index_store.own.maintenance.table_files import with_ids
from index_store.own.secondary.generation import (
    difference,
    entries_of_groups,
    groups_schema,
    live_groups,
    write_generation,
)
from index_store.own.secondary.runs import sort_entries
from index_store.own.secondary.shards import shard_count
from index_store.own.secondary.slice_entries import SliceReader, files_in, key_columns
from index_store.own.secondary.staged_entries import SliceName, StagedEntries, TableSlices
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import MAX_IDS, ids_of, live_files, row_indices_of, write_delta, write_master
from index_store.own.store.optimistic_commit import Commit, delete
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import Generation, Latest, Version
from index_store.storage.errors import TableError

__all__ = ["KnownGroups", "VersionBuilder", "version_builder"]


@frozen
class KnownGroups:
    """The file groups that a version knows, by name: their numbers and their files; and all of their files.

    A group has no files here when one of them has another size in the table now: its slice is read again.
    """

    numbers: Mapping[str, int]
    files: Mapping[str, str]
    listed: pa.Table

    @classmethod
    def of(cls, folder: Folder, version: Version, slices: TableSlices) -> KnownGroups:
        """The groups of a version, against the table's slices now. Raises TableError."""
        groups = live_groups(folder, version.generations)
        listed = live_files(folder, version)
        sizes = zip(listed.column("path").to_pylist(), listed.column("size").to_pylist(), strict=True)
        grown = {path for path, size in sizes if slices.sizes.get(path, size) != size}
        names = groups.column("name").to_pylist()
        return cls(
            dict(zip(names, groups.column("group").to_pylist(), strict=True)),
            {
                name: "" if grown and not grown.isdisjoint(files_in(lines)) else lines
                for name, lines in zip(names, groups.column("files").to_pylist(), strict=True)
            },
            listed,
        )

    def count_gone(self, slices: TableSlices) -> int:
        """How many of the files the table no longer has."""
        sizes = self.listed.column("size").to_numpy()
        return int((row_indices_of(self.listed.column("path"), sizes, slices.listed) < 0).sum())


@contextmanager
def version_builder(folder: Folder, memory: int, progress: Progress | None) -> Iterator[VersionBuilder]:
    """The builder of one operation; its temporary files are gone afterwards.

    ``memory``: bytes for entries while they are sorted. Raises TableError when temporary files cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="sargo-") as directory:
            yield VersionBuilder(folder, StagedEntries(Path(directory)), Path(directory), memory, progress)
    except OSError as error:
        raise TableError(
            tempfile.tempdir or "temporary files",
            f"entries cannot be kept there: {error}; TMPDIR names another directory",
        ) from error


@frozen
class VersionBuilder:
    """Reads slices once and writes versions of them. Methods raise TableError; then they leave no files."""

    folder: Folder
    staged: StagedEntries
    directory: Path
    memory: int
    progress: Progress | None

    def read(self, slices: TableSlices, names: Sequence[SliceName], reader: SliceReader) -> None:
        """Stage the entries of those slices that are not staged yet."""
        missing = [name for name in names if self.staged.about(name) is None]
        if missing:
            self.staged.add(missing, reader, self.folder.path, slices.sizes, self.progress)

    def rebuilt(
        self,
        slices: TableSlices,
        numbers: Mapping[str, int],
        next_group: int,
        *,
        operation: str,
        number: int,
        table: str,
        definition: Definition,
    ) -> Version:
        """A version of one generation, with every slice of the table that is known.

        File groups keep their ``numbers``; new ones get numbers from ``next_group`` on.
        """
        known = self._known_slices(slices)
        groups, next_group = self._groups(definition, known, numbers, next_group, [])
        base = self._write_generation(
            groups, self._entries(known, groups), next_group, slices.instant, shard_count(self.staged.entries_read)
        )
        with self._deleting_on_error(base.stored):
            return _base_version(
                self.folder,
                slices.listed.filter(pa.array(_of_slices(slices.listed, known))),
                base,
                operation=operation,
                number=number,
                table=table,
                definition=definition,
                instant=slices.instant,
            )

    def refreshed(self, latest: Latest, slices: TableSlices, known: KnownGroups) -> Version | None:
        """The current version with one more generation; None when it describes the table as it is now."""
        current = latest.current
        changed = [one for one in self._known_slices(slices) if known.files.get(one[0]) != one[1]]
        names = {name for name, _ in changed}
        gone = [name for name, files in known.files.items() if slices.files.get(name) != files and name not in names]
        if not changed and not gone and slices.instant == current.instant:
            return None
        generations = current.generations
        groups, next_group = self._groups(current.definition, changed, known.numbers, generations[-1].next_group, gone)
        added: tuple[Generation, ...] = ()
        if groups.num_rows:
            group_numbers = groups.column("group").to_numpy()
            known_before = group_numbers[np.isin(group_numbers, list(known.numbers.values()))]
            before = entries_of_groups(self.folder, generations, known_before)
            changes = difference(before, self._entries(changed, groups))
            added = (self._write_generation(groups, changes, next_group, slices.instant, len(generations[0].shards)),)
        with self._deleting_on_error([stored for generation in added for stored in generation.stored]):
            unchanged = [
                (name, files)
                for name, files in known.files.items()
                if name not in names and slices.files.get(name) == files
            ]
            files = slices.listed.filter(pa.array(_of_slices(slices.listed, [*changed, *unchanged])))
            listed, next_id = _with_stable_ids(known.listed, files, current.next_id)
            delta, tombstones = write_delta(self.folder, listed, current, slices.instant)
        return replace(
            current,
            number=latest.number + 1,
            operation="refresh",
            instant=slices.instant,
            delta=delta,
            next_id=next_id,
            files=listed.num_rows,
            tombstones=tombstones,
            written=time.time(),
            generations=(*generations, *added),
        )

    def merged(self, latest: Latest) -> Version:
        """The current version with all generations merged into a base."""
        current = latest.current
        groups = live_groups(self.folder, current.generations)
        entries = entries_of_groups(self.folder, current.generations, groups.column("group").to_numpy())
        base = self._write_generation(
            groups,
            self._reporting_progress(entries, current.entries),
            current.generations[-1].next_group,
            current.instant,
            shard_count(current.entries),
        )
        with self._deleting_on_error(base.stored):
            return _base_version(
                self.folder,
                live_files(self.folder, current).drop_columns([FILE_ID]).sort_by("path"),
                base,
                operation="optimize",
                number=latest.number + 1,
                table=current.table,
                definition=current.definition,
                instant=current.instant,
            )

    def result(
        self, operation: str, commit: Commit, slices: TableSlices | None, gone: int, began: float
    ) -> OperationResult:
        """What the operation did and what it cost. ``slices``: the table's, unless nothing was read."""
        read = self.staged.files(known=True)
        size = 0
        if slices is not None and read:
            rows = row_indices_of(pa.array(read, pa.string()), None, slices.listed)
            size = int(slices.listed.column("size").to_numpy()[rows[rows >= 0]].sum())
        return OperationResult(
            operation=operation,
            version=commit.version,
            committed=commit.committed,
            built=len(read),
            built_bytes=size,
            unread=len(self.staged.files(known=False)),
            gone=gone if commit.committed else 0,
            size=commit.version.size,
            seconds=time.monotonic() - began,
            tries=commit.attempts,
            unknown=self.staged.failed,
        )

    def _known_slices(self, slices: TableSlices) -> list[SliceName]:
        """The slices of the table that are staged and known, by name."""
        return [
            one
            for one in sorted(slices.files.items())
            if (about := self.staged.about(one)) is not None and not about.why
        ]

    def _groups(
        self,
        definition: Definition,
        changed: Sequence[SliceName],
        numbers: Mapping[str, int],
        next_group: int,
        gone: Sequence[str],
    ) -> tuple[pa.Table, int]:
        """The rows of a generation's list of groups, by number, and the next free number."""
        rows: list[dict[str, Any]] = []
        for name, files in changed:
            number = numbers.get(name, next_group)
            next_group = max(next_group, number + 1)
            about = self.staged.about((name, files))
            assert about is not None
            rows.append({"group": number, "name": name, "files": files, **about.statistics})
        rows += [{"group": numbers[name], "name": name} for name in gone]
        if next_group >= MAX_IDS:
            raise TableError("index", "more file groups than there are numbers: drop the index and create it again")
        rows.sort(key=lambda row: int(row["group"]))
        return pa.Table.from_pylist(rows, schema=groups_schema(key_columns(definition))), next_group

    def _entries(self, slices: Sequence[SliceName], groups: pa.Table) -> Iterator[pa.RecordBatch]:
        """The staged entries of slices, in order by group."""
        numbers = dict(zip(groups.column("name").to_pylist(), groups.column("group").to_pylist(), strict=True))
        entries = sort_entries(
            self.staged.entries({one: numbers[one[0]] for one in slices}),
            order="group",
            budget=self.memory // 2,
            directory=self.directory,
        )
        return self._reporting_progress(entries, self.staged.entries_read)

    def _reporting_progress(self, entries: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
        """The same entries, of which there are at most ``most``."""
        done = 0
        for batch in entries:
            yield batch
            done += batch.num_rows
            if self.progress is not None:
                self.progress("entries", done, most)
        if self.progress is not None and done:
            self.progress("entries", most, most)

    def _write_generation(
        self, groups: pa.Table, changes: Iterator[pa.RecordBatch], next_group: int, instant: str | None, shards: int
    ) -> Generation:
        return write_generation(
            self.folder,
            groups,
            changes,
            shards=shards,
            next_group=next_group,
            instant=instant,
            budget=self.memory // 2,
            directory=self.directory,
        )

    @contextmanager
    def _deleting_on_error(self, stored: Sequence[StoredTable]) -> Iterator[None]:
        try:
            yield
        except Exception:
            delete(self.folder, stored)
            raise


def _of_slices(listed: pa.Table, slices: Sequence[SliceName]) -> npt.NDArray[np.bool_]:
    """``(n,)``: which of the files are those of one of the slices."""
    wanted = pa.array(sorted(path for _, lines in slices for path in files_in(lines)), pa.string())
    return row_indices_of(listed.column("path"), None, pa.table([wanted], ["path"])) >= 0


def _with_stable_ids(known: pa.Table, files: pa.Table, next_id: int) -> tuple[pa.Table, int]:
    """The files (the schema FILES), by id, and the next free id. A file that is known keeps its id."""
    rows = row_indices_of(files.column("path"), files.column("size").to_numpy(), known)
    ids = np.full(files.num_rows, -1, np.int64)
    ids[rows >= 0] = ids_of(known)[rows[rows >= 0]]
    new = ids < 0
    ids[new] = np.arange(next_id, next_id + int(new.sum()))
    next_id += int(new.sum())
    if next_id > MAX_IDS:
        raise TableError("index", "more ids than there are: run 'sargo index optimize'")
    listed = pa.table([pa.array(ids.astype(np.int32)), *files.columns], schema=FILES)
    return listed.take(pa.array(np.argsort(ids, kind="stable"))), next_id


def _base_version(
    folder: Folder,
    files: pa.Table,
    base: Generation,
    *,
    operation: str,
    number: int,
    table: str,
    definition: Definition,
    instant: str | None,
) -> Version:
    """A version of one generation and one list of files."""
    n = files.num_rows
    return Version(
        number=number,
        operation=operation,
        table=table,
        definition=definition,
        instant=instant,
        master=write_master(folder, with_ids(files), instant),
        master_end=n,
        master_instant=instant,
        delta=None,
        builds=(),
        next_id=n,
        files=n,
        tombstones=0,
        generations=(base,),
    )
