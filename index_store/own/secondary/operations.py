"""The life of a secondary index: create, refresh, optimize. ``own.life_cycle`` vacuums and drops it like any other.

    create     every slice is read; the base generation
    refresh    slices whose files changed are read, and compared with what they said before; the difference is a new
               generation. ``full``: every slice is read again, and there is a new base
    optimize   nothing is read: all generations in a new base, without tombstones

As with sketches a commit is made on top of the version that it began with; whoever finds that another writer was first
compares anew, on top of theirs, without reading a slice twice. What the index says follows from the table alone
(``slice_entries``): so after an incremental refresh, a full one and an optimize it says the same.

A slice that cannot be read, or is not known, has no entries and no group: it is read by every query, and tried again by
the next refresh.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
from index_store.own.secondary.slice_entries import RECORD_KEY, SliceReader, files_in
from index_store.own.secondary.staged_entries import Readings, SliceName, TableSlices
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import MAX_IDS, ids_of, live_files, places_of, write_delta, write_master
from index_store.own.store.optimistic_commit import TRIES, check_there, commit, forget, given_up, pause, refuse_existing
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import (
    Generation,
    Latest,
    NoIndexError,
    Version,
    latest_versions,
    version_files,
    write_version,
)
from index_store.storage.errors import TableError
from index_store.table.table import Table

__all__ = ["MAX_GENERATIONS", "MEMORY", "MakeReader", "columns_of", "create", "optimize", "refresh"]

#: Each look-up asks every generation.
MAX_GENERATIONS = 10
#: Bytes of memory for entries while they are sorted; what is beyond lies in the directory for temporary files.
MEMORY = 256 << 20

#: Makes the reader of an index's slices for a table, as it is now. Raises SargoError when it cannot be read.
MakeReader = Callable[[Table, Definition], SliceReader]


def columns_of(definition: Definition) -> tuple[str, ...]:
    """The columns of the key, in order."""
    return tuple(one.on for one in definition.entries)


def create(
    folder: Folder,
    table: Table,
    definition: Definition,
    make_reader: MakeReader,
    progress: Progress | None = None,
    memory: int = MEMORY,
) -> OperationResult:
    """Make an index. Raises TableError when there is one in the folder already, also if it came about meanwhile, and
    for a table that keeps no record keys in its files.
    """
    began = time.monotonic()
    refuse_existing(folder)
    check_record_keys(table)
    with _work(memory, progress) as work:
        now = TableSlices.of(table)
        work.read(folder, now, list(now.files.items()), make_reader(table, definition))
        version = work.base(folder, definition, now, {}, "create", 1, table.path)
        check_there(folder, version)
        if not write_version(folder, version):
            forget(folder, version.stored)
            raise TableError(folder.path, "another index was created here at the same time")
        return work.change("create", version, now, 0, began, 1)


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
) -> OperationResult:
    """Bring an index up to the table's latest completed instant. Raises TableError; then nothing has changed.

    ``table`` is opened anew. Nothing is committed when nothing changed. When more than MAX_GENERATIONS are left, the
    index is optimized too.
    """
    began = time.monotonic()
    operation = "full refresh" if full else "refresh"
    with _work(memory, progress) as work:
        for attempt in range(TRIES):
            latest = latest_versions(folder)
            current = latest.current
            table = Table(table.storage.afresh(), table.options)  # as it is after the version was read
            now = TableSlices.of(table)
            known = _Known.of(folder, current, now)
            changed = [one for one in now.files.items() if full or known.files.get(one[0]) != one[1]]
            work.read(folder, now, changed, make_reader(table, current.definition))
            try:
                if full:
                    version = work.base(
                        folder,
                        current.definition,
                        now,
                        known.numbers,
                        operation,
                        latest.number + 1,
                        current.table,
                        current.generations[-1].next_group,
                    )
                else:
                    refreshed = work.refreshed(folder, latest, now, known)
                    if refreshed is None:
                        return work.change(operation, current, now, 0, began, attempt + 1, committed=False)
                    version = refreshed
            except TableError:
                if _is_superseded(folder, latest):  # and what it named may be gone
                    continue
                raise
            if commit(folder, latest, version, version.stored):
                gone = _gone(live_files(folder, current), now.listed)
                if len(version.generations) > MAX_GENERATIONS:
                    with suppress(TableError):  # the refresh is done in any case
                        version = optimize(folder, progress, memory).version
                return work.change(operation, version, now, gone, began, attempt + 1)
            pause(folder, attempt)
    raise given_up(folder)


def optimize(folder: Folder, progress: Progress | None = None, memory: int = MEMORY) -> OperationResult:
    """Put all generations of an index together, and all files into a new master. Answers stay what they are.

    Nothing is committed when they are together already. Raises TableError; then nothing has changed.
    """
    began = time.monotonic()
    with _work(memory, progress) as work:
        for attempt in range(TRIES):
            latest = latest_versions(folder)
            current = latest.current
            if current.delta is None and len(current.generations) == 1 and not current.generations[0].tombstones:
                return work.change("optimize", current, None, 0, began, attempt + 1, committed=False)
            try:
                version = work.merged(folder, latest)
            except TableError:
                if _is_superseded(folder, latest):
                    continue
                raise
            if commit(folder, latest, version, version.stored):
                return work.change("optimize", version, None, 0, began, attempt + 1)
            pause(folder, attempt)
    raise given_up(folder)


# -- parts of an operation


@dataclass(frozen=True, slots=True)
class _Known:
    """What a version knows: the number and the files of each group, by name.

    A group is said to have no files when one of them has another size in the table now.
    """

    numbers: Mapping[str, int]
    files: Mapping[str, str]

    @classmethod
    def of(cls, folder: Folder, version: Version, now: TableSlices) -> _Known:
        groups = live_groups(folder, version.generations)
        known = live_files(folder, version)
        sizes = zip(known.column("path").to_pylist(), known.column("size").to_pylist(), strict=True)
        others = {path for path, size in sizes if now.sizes.get(path, size) != size}
        names = groups.column("name").to_pylist()
        return cls(
            dict(zip(names, groups.column("group").to_pylist(), strict=True)),
            {
                name: "" if others and not others.isdisjoint(files_in(lines)) else lines
                for name, lines in zip(names, groups.column("files").to_pylist(), strict=True)
            },
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """One operation: what it has read, and where it may keep what does not fit in memory."""

    readings: Readings
    directory: Path
    memory: int
    progress: Progress | None

    def read(self, folder: Folder, now: TableSlices, names: Sequence[SliceName], reader: SliceReader) -> None:
        """Read those slices that were not read yet."""
        left = [name for name in names if self.readings.about(name) is None]
        if left:
            self.readings.add(left, reader, folder.path, now.sizes, self.progress)

    def base(
        self,
        folder: Folder,
        definition: Definition,
        now: TableSlices,
        numbers: Mapping[str, int],
        operation: str,
        number: int,
        table: str,
        next_group: int = 0,
    ) -> Version:
        """A version of one generation, that has every slice of the table that is known."""
        fresh = self._fresh(now)
        groups, next_group = self._groups(definition, fresh, numbers, next_group, [])
        base = self._write(
            folder,
            groups,
            self._entries(fresh, groups),
            next_group,
            now.instant,
            shard_count(self.readings.entries_read),
        )
        with _forgetting(folder, base.stored):
            files = now.listed.filter(pa.array(_of_slices(now.listed, fresh)))
            return _with_master(folder, definition, files, base, operation, number, table, now.instant)

    def refreshed(self, folder: Folder, latest: Latest, now: TableSlices, known: _Known) -> Version | None:
        """The next version after a refresh; None when the current one says all of it."""
        current = latest.current
        fresh = [one for one in self._fresh(now) if known.files.get(one[0]) != one[1]]
        names = {name for name, _ in fresh}
        gone = [name for name, files in known.files.items() if now.files.get(name) != files and name not in names]
        if not fresh and not gone and now.instant == current.instant:
            return None
        old = current.generations
        groups, next_group = self._groups(current.definition, fresh, known.numbers, old[-1].next_group, gone)
        changed = groups.column("group").to_numpy()
        before = entries_of_groups(folder, old, changed[np.isin(changed, list(known.numbers.values()))])
        generations = old
        if groups.num_rows:
            generations = (
                *old,
                self._write(
                    folder,
                    groups,
                    difference(before, self._entries(fresh, groups)),
                    next_group,
                    now.instant,
                    len(old[0].shards),
                ),
            )
        with _forgetting(folder, [one for added in generations[len(old) :] for one in added.stored]):
            slices = [
                *fresh,
                *(
                    (name, files)
                    for name, files in known.files.items()
                    if name not in names and now.files.get(name) == files
                ),
            ]
            files = now.listed.filter(pa.array(_of_slices(now.listed, slices)))
            listed, next_id = _numbered(live_files(folder, current), files, current.next_id)
            delta, tombstones = write_delta(folder, listed, current, now.instant)
        return replace(
            current,
            number=latest.number + 1,
            operation="refresh",
            instant=now.instant,
            delta=delta,
            next_id=next_id,
            files=listed.num_rows,
            tombstones=tombstones,
            written=time.time(),
            generations=generations,
        )

    def merged(self, folder: Folder, latest: Latest) -> Version:
        """The next version after an optimize."""
        current = latest.current
        groups = live_groups(folder, current.generations)
        entries = entries_of_groups(folder, current.generations, groups.column("group").to_numpy())
        base = self._write(
            folder,
            groups,
            self._told(entries, current.entries),
            current.generations[-1].next_group,
            current.instant,
            shard_count(current.entries),
        )
        with _forgetting(folder, base.stored):
            files = live_files(folder, current).drop_columns([FILE_ID]).sort_by("path")
            return _with_master(
                folder, current.definition, files, base, "optimize", latest.number + 1, current.table, current.instant
            )

    def change(
        self,
        operation: str,
        version: Version,
        now: TableSlices | None,
        gone: int,
        began: float,
        tries: int,
        *,
        committed: bool = True,
    ) -> OperationResult:
        """What was done, and what it cost."""
        read = self.readings.files(known=True)
        size = 0
        if now is not None and read:
            places = places_of(pa.array(read, pa.string()), None, now.listed)
            size = int(now.listed.column("size").to_numpy()[places[places >= 0]].sum())
        return OperationResult(
            operation,
            version,
            committed,
            len(read),
            size,
            len(self.readings.files(known=False)),
            gone,
            version.size,
            time.monotonic() - began,
            tries,
            self.readings.failed,
        )

    def _fresh(self, now: TableSlices) -> list[SliceName]:
        """The slices of the table that were read and are known, by name."""
        return [
            one
            for one in sorted(now.files.items())
            if (about := self.readings.about(one)) is not None and not about.why
        ]

    def _groups(
        self,
        definition: Definition,
        fresh: Sequence[SliceName],
        numbers: Mapping[str, int],
        next_group: int,
        gone: Sequence[str],
    ) -> tuple[pa.Table, int]:
        """The list of groups that changed, by number; those that are new get the next ones."""
        rows: list[dict[str, Any]] = []
        for name, files in fresh:
            number = numbers.get(name, next_group)
            next_group = max(next_group, number + 1)
            about = self.readings.about((name, files))
            assert about is not None
            rows.append({"group": number, "name": name, "files": files, **about.statistics})
        rows += [{"group": numbers[name], "name": name} for name in gone]
        if next_group >= MAX_IDS:
            raise TableError("index", "more file groups than there are numbers: drop the index and create it again")
        rows.sort(key=lambda row: int(row["group"]))
        return pa.Table.from_pylist(rows, schema=groups_schema(columns_of(definition))), next_group

    def _entries(self, fresh: Sequence[SliceName], groups: pa.Table) -> Iterator[pa.RecordBatch]:
        numbers = dict(zip(groups.column("name").to_pylist(), groups.column("group").to_pylist(), strict=True))
        entries = sort_entries(
            self.readings.entries({one: numbers[one[0]] for one in fresh}),
            order="group",
            budget=self.memory // 2,
            directory=self.directory,
        )
        return self._told(entries, self.readings.entries_read)

    def _told(self, entries: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
        """The entries, of which there are at most so many, while whoever wants to know is told how far it is."""
        done = 0
        for batch in entries:
            yield batch
            done += batch.num_rows
            if self.progress is not None:
                self.progress("entries", done, most)
        if self.progress is not None and done:
            self.progress("entries", most, most)

    def _write(
        self,
        folder: Folder,
        groups: pa.Table,
        changes: Iterator[pa.RecordBatch],
        next_group: int,
        instant: str | None,
        shards: int,
    ) -> Generation:
        return write_generation(
            folder,
            groups,
            changes,
            shards=shards,
            next_group=next_group,
            instant=instant,
            budget=self.memory // 2,
            directory=self.directory,
        )


@contextmanager
def _work(memory: int, progress: Progress | None) -> Iterator[_Work]:
    try:
        with tempfile.TemporaryDirectory(prefix="sargo-") as directory:
            yield _Work(Readings(Path(directory)), Path(directory), memory, progress)
    except OSError as error:
        raise TableError(
            tempfile.tempdir or "temporary files",
            f"entries cannot be kept there: {error}; TMPDIR names another directory",
        ) from error


@contextmanager
def _forgetting(folder: Folder, stored: Sequence[StoredTable]) -> Iterator[None]:
    """After an error these files are gone."""
    try:
        yield
    except Exception:
        forget(folder, stored)
        raise


def _is_superseded(folder: Folder, latest: Latest) -> bool:
    """Whether others have changed the index since. Raises NoIndexError when they dropped it."""
    files = version_files(folder)
    if not files:
        raise NoIndexError(folder.path, "the index was dropped meanwhile; nothing was changed")
    return max(files.values()) > latest.number


def _of_slices(listed: pa.Table, slices: Sequence[SliceName]) -> npt.NDArray[np.bool_]:
    """Which of the files are those of one of the slices."""
    wanted = pa.array(sorted(path for _, lines in slices for path in files_in(lines)), pa.string())
    return places_of(listed.column("path"), None, pa.table([wanted], ["path"])) >= 0


def _numbered(known: pa.Table, files: pa.Table, next_id: int) -> tuple[pa.Table, int]:
    """The files (the schema FILES) with the ids that they have, or new ones, by id; and the next one."""
    rows = places_of(files.column("path"), files.column("size").to_numpy(), known)
    ids = np.full(files.num_rows, -1, np.int64)
    ids[rows >= 0] = ids_of(known)[rows[rows >= 0]]
    new = ids < 0
    ids[new] = np.arange(next_id, next_id + int(new.sum()))
    next_id += int(new.sum())
    if next_id > MAX_IDS:
        raise TableError("index", "more ids than there are: run 'sargo index optimize'")
    found = pa.table([pa.array(ids.astype(np.int32)), *files.columns], schema=FILES)
    return found.take(pa.array(np.argsort(ids, kind="stable"))), next_id


def _with_master(
    folder: Folder,
    definition: Definition,
    files: pa.Table,
    base: Generation,
    operation: str,
    number: int,
    table: str,
    instant: str | None,
) -> Version:
    """A version of one generation, with one list of these files."""
    n = files.num_rows
    master = write_master(folder, with_ids(files), instant)
    return Version(
        number, operation, table, definition, instant, master, n, instant, None, (), n, n, 0, generations=(base,)
    )


def _gone(before: pa.Table, listed: pa.Table) -> int:
    """How many files are not there any more."""
    return int((places_of(before.column("path"), before.column("size").to_numpy(), listed) < 0).sum())
