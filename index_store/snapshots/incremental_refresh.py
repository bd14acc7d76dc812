"""From the snapshot of an earlier state to the present one, by reading only what the new commits wrote.

    1. the difference of the states names files that came and went, by file group       (``difference``)
    2. the slices of these groups are built anew from the old slice and those files; the old ones are dead
    3. records of the new files are read from the blocks of the new instants, and united per slice with what is kept of
       the old files that stay (log files come on top of a base file)

Where anything is not as expected the whole is read again. A column for which that happens alone is left out, and read
again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.layers import Layers
from evaluator.statistics.stored_bounds import concatenated
from index_store.formats.keys import column_id
from index_store.kinds.column_stats.column_stats import PARTITION as COLUMN_STATS
from index_store.kinds.column_stats.column_stats import read_columns
from index_store.kinds.column_stats.file_reading import FileReading, FileRows
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.stats_versions import Versions
from index_store.kinds.partition_values import PartitionValues
from index_store.kinds.partition_values import make as partition_values
from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.cache import Manifest
from index_store.snapshots.column_file import column_file_name, write_column
from index_store.snapshots.snapshot import KeptColumn, Snapshot, write_since
from index_store.snapshots.state import State
from index_store.snapshots.stored_slices import StoredSlices
from index_store.snapshots.timeline_diff import Difference, Group, NotIncremental, difference_of, new_layers
from index_store.storage.errors import StatsError, TableError
from index_store.table.file_slices import FileSlice, FileSlices, build_slices
from index_store.table.timeline import WRITE_ACTIONS

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["advance"]

Rows = npt.NDArray[np.int64]
#: When this many slices, and this share of the base, came since, the whole is read again.
MAX_SINCE, MAX_SHARE = 20_000, 0.25


def advance(old: Snapshot, state: State, table: Table) -> Snapshot:
    """The snapshot of the present state. Raises NotIncremental, UnusableError, TableError, StatsError or OSError."""
    difference = difference_of(old.manifest.state, state, table)
    change = _change(old, difference, table)
    if len(change.since) > max(MAX_SINCE, MAX_SHARE * len(old.base)):
        raise NotIncremental("too much came since the base was read")
    last = table.timeline.last
    manifest = Manifest(
        state, old.manifest.base, state.digest, None if last is None else last.requested, old.manifest.source
    )
    folder = old.cache.of_table(state) / state.digest
    write_since(folder, state, change.since, change.dead)
    kept = [
        (one, column)
        for one in old.kept_columns()
        if (column := table.schema.resolve(one.name, case_sensitive=True)) is not None
    ]
    columns = _Columns(old, difference, change, table, [column for one, column in kept if one.kind == COLUMN_STATS])
    for one, column in kept:
        try:
            statistics, files = columns.of(one, column)
        except (NotIncremental, UnusableError, TableError, StatsError):
            continue
        path = folder / column_file_name(one.kind, column.name)
        write_column(path, one.kind, column, len(change.since), statistics, files)
    old.cache.publish(manifest)
    return Snapshot(old.cache, manifest)


class _Change:
    """What is new in the slices: ``since`` is those that stay of what came before, ``stay``, and then ``new`` ones.

    ``old_slices`` has what each new slice was before, if it was anything: None, or the slice with its row, which is one
    of the base (``in_base``) or of what came since.
    """

    def __init__(
        self,
        dead: Rows,
        stay: Rows,
        staying: Sequence[FileSlice],
        new: Sequence[FileSlice],
        before: Sequence[tuple[FileSlice, int, bool] | None],
    ) -> None:
        self.dead, self.stay, self.new, self.before = dead, stay, tuple(new), tuple(before)
        self.since: tuple[FileSlice, ...] = (*staying, *new)


def _change(old: Snapshot, difference: Difference, table: Table) -> _Change:
    groups = list({**difference.added, **difference.removed, **dict.fromkeys(sorted(difference.replaced))})
    known = _Known(old, groups)
    last = table.timeline.last
    as_of = "" if last is None else last.requested
    dead: set[int] = set(old.dead.tolist())
    gone: set[int] = set()
    new: list[FileSlice] = []
    before: list[tuple[FileSlice, int, bool] | None] = []
    for group in groups:
        was = known.slice_of(group)
        plain = _plain_successor(group, was, difference, as_of)
        if plain is not None:
            if was is not None:
                (dead if was[2] else gone).add(was[1])
            new.append(plain)
            before.append(was)
            continue
        names = set() if was is None else {path.rpartition("/")[2] for path in was[0].files}
        removed, added = difference.removed.get(group, set()), difference.added.get(group, [])
        if group not in difference.replaced and not added and not (removed & names):
            continue
        if names & set(added):
            raise NotIncremental("a file was written again")
        found: tuple[FileSlice, ...] = ()
        if group not in difference.replaced:
            if was is None and all(name.startswith(".") for name in added) and table.has_replaced(group):
                continue
            found = build_slices(
                [(group[0], name) for name in {*names, *added} - removed],
                table.timeline,
                table.version,
                as_of,
                None,
                _refuse_doubt,
            )
        if was is not None:
            (dead if was[2] else gone).add(was[1])
        new += found
        before += [was] * len(found)
    stay = np.setdiff1d(np.arange(0 if old.since is None else len(old.since)), np.fromiter(gone, np.int64, len(gone)))
    staying = [] if old.since is None else old.since.some(stay)
    return _Change(np.array(sorted(dead), np.int64), stay, staying, new, before)


def _refuse_doubt(partition: str, name: str) -> None:
    """A log file of which nothing tells whether it is compacted."""
    raise NotIncremental(f"{partition}/{name} may be compacted")


def _plain_successor(
    group: Group, was: tuple[FileSlice, int, bool] | None, difference: Difference, as_of: str
) -> FileSlice | None:
    """The slice of a group that got one newer base file, and has nothing else; None for whatever is not as plain."""
    added = difference.added.get(group, [])
    if len(added) != 1 or added[0].startswith(".") or group in difference.replaced:
        return None
    instant = added[0].rpartition("_")[2].partition(".")[0]
    if instant not in difference.instants or instant > as_of:
        return None
    if was is not None:
        base = was[0].base_file
        if was[0].log_files or base is None or base.rpartition("_")[2].partition(".")[0] >= instant:
            return None
    partition, file_id = group
    return FileSlice(partition, file_id, f"{partition}/{added[0]}" if partition else added[0])


class _Known:
    """The slices of some groups in the old snapshot."""

    def __init__(self, old: Snapshot, groups: Sequence[Group]) -> None:
        rows = old.base.rows_of(groups)
        self._found = _found(old.base, groups, np.where(np.isin(rows, old.dead), -1, rows), in_base=True)
        if old.since is not None:
            self._found |= _found(old.since, groups, old.since.rows_of(groups), in_base=False)

    def slice_of(self, group: Group) -> tuple[FileSlice, int, bool] | None:
        """The slice of a group, its row, and whether that is one of the base."""
        return self._found.get(group)


def _found(
    slices: StoredSlices, groups: Sequence[Group], rows: Rows, *, in_base: bool
) -> dict[Group, tuple[FileSlice, int, bool]]:
    there = np.flatnonzero(rows >= 0)
    found = zip(there.tolist(), slices.some(rows[there]), rows[there].tolist(), strict=True)
    return {groups[place]: (one, row, in_base) for place, one, row in found}


class _Columns:
    """Columns of what came since, by kind."""

    def __init__(
        self, old: Snapshot, difference: Difference, change: _Change, table: Table, columns: Sequence[Field]
    ) -> None:
        """``columns`` are read together when one of them is asked for."""
        self._old, self._change, self._table, self._columns = old, change, table, columns
        self._new = FileSlices(None, old.manifest.source, change.new)
        self._files = SliceFiles.of(self._new)
        self._fresh = _fresh_files(self._files, difference, change)
        self._reading = FileReading(table, _as_slices(self._files, self._fresh))
        self._instants = frozenset(
            one.requested
            for one in table.timeline.instants
            if one.requested in difference.instants and one.action in WRITE_ACTIONS
        )

    @cached_property
    def _stored(self) -> Mapping[bytes, Versions]:
        """What the new instants wrote of the columns."""
        metadata = self._table.metadata
        assert metadata is not None
        layers = new_layers(metadata, COLUMN_STATS, self._instants) if self._instants else ()
        return read_columns(layers, self._columns)

    def of(self, kept: KeptColumn, column: Field) -> tuple[ColumnStatistics | None, FileStatistics | None]:
        """Statistics of all slices that came since, and those of their files."""
        make: Mapping[str, Callable[[Field, bool], tuple[ColumnStatistics | None, FileRows | None]]] = {
            COLUMN_STATS: self._column_stats,
            PartitionValues.name: self._partition_values,
        }
        if kept.kind not in make:
            raise NotIncremental(f"{kept.kind} is read as a whole")
        was = None if self._old.since is None else self._old.since_column(kept.kind, column)
        new, rows = make[kept.kind](column, kept.is_known)
        known = {kept.is_known, new is not None, *(() if was is None else (was.statistics is not None,))}
        if len(known) > 1:
            raise NotIncremental("the kind knows the column only by now")
        if new is None:
            return None, None
        files = None if rows is None else rows.rows
        if was is None or was.statistics is None:
            return new, files
        files = None if files is None else self._with_older(was.files, files)
        both = Layers(len(self._change.stay), np.zeros(0, np.int64), len(new))
        return both.join_statistics(was.statistics.take(self._change.stay), new), files

    def _partition_values(self, column: Field, is_known: bool) -> tuple[ColumnStatistics | None, None]:
        del is_known
        kind = partition_values(self._table, self._new)
        return None if kind is None else kind.provide(RequiredStatistics(bounds=(column,))).statistics.get(
            column.name
        ), None

    def _column_stats(self, column: Field, is_known: bool) -> tuple[ColumnStatistics | None, FileRows | None]:
        found = self._reading.rows(column, self._stored[column_id(column.name)], is_indexed=is_known)
        if found is None:
            return None, None
        rows = _at_places(found, self._fresh)
        if rows.distrusted:
            return rows.united(self._files, self._table), None
        if len(self._fresh) < len(self._files.paths):
            rows = replace(rows, rows=_joined([self._older(column), rows.rows]))
        keep = self._table.table_type == "MERGE_ON_READ" and not len(rows.deleted)
        return rows.united(self._files, self._table), rows if keep else None

    def _older(self, column: Field) -> FileStatistics:
        """What is kept of the files of new slices that are not new."""
        place_of = {path: place for place, path in enumerate(self._files.paths)}
        found = []
        for in_base in (True, False):
            rows = [was for was in self._change.before if was is not None and was[2] is in_base]
            if not rows:
                continue
            slices = self._old.base if in_base or self._old.since is None else self._old.since
            files = (self._old.base_column if in_base else self._old.since_column)(COLUMN_STATS, column).files
            if files is None:
                raise NotIncremental("nothing is kept of single files")
            starts = slices.file_starts
            for was, row, _ in rows:
                first, last = np.searchsorted(files.place, (starts[row], starts[row + 1]))
                to = np.array([place_of.get(path, -1) for path in was.files])
                taken = files.take(np.arange(first, last))
                places = to[taken.place - starts[row]]
                found.append(replace(taken, place=places).take(np.flatnonzero(places >= 0)))
        return _joined(found)

    def _with_older(self, was: FileStatistics | None, new: FileStatistics) -> FileStatistics | None:
        """The files of slices that stay, and behind them the new ones, by their places in what came since."""
        if was is None or self._old.since is None:
            return None
        starts = self._old.since.file_starts
        counts = np.diff(starts)[self._change.stay]
        to = np.concatenate([[0], np.cumsum(counts)])
        slice_of = np.searchsorted(starts, was.place, "right") - 1
        stays = np.isin(slice_of, self._change.stay)
        kept = was.take(np.flatnonzero(stays))
        at = np.searchsorted(self._change.stay, slice_of[stays])
        kept = replace(kept, place=to[at] + kept.place - starts[slice_of[stays]])
        return _joined([kept, replace(new, place=new.place + to[-1])])


def _fresh_files(files: SliceFiles, difference: Difference, change: _Change) -> Rows:
    """The places of files that came with the difference."""
    fresh = [
        place
        for place, path in enumerate(files.paths)
        if path.rpartition("/")[2]
        in difference.added.get((files.partitions[place], change.new[files.slice_of[place]].file_id), ())
    ]
    return np.array(fresh, np.int64)


def _as_slices(files: SliceFiles, places: Rows) -> SliceFiles:
    """Some of the files, each as if it were a slice."""
    chosen = places.tolist()
    return SliceFiles(
        tuple(files.paths[place] for place in chosen),
        tuple(files.partitions[place] for place in chosen),
        np.arange(len(chosen)),
        files.is_log[places],
        np.ones(len(chosen), np.intp),
    )


def _at_places(found: FileRows, places: Rows) -> FileRows:
    return FileRows(replace(found.rows, place=places[found.rows.place]), places[found.deleted], found.distrusted)


def _joined(parts: Sequence[FileStatistics]) -> FileStatistics:
    def joined(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return FileStatistics(
        type=parts[0].type,
        lo=concatenated([part.lo for part in parts]),
        hi=concatenated([part.hi for part in parts]),
        **{
            name: joined(name)
            for name in ("place", "lo_known", "hi_known", "nulls", "rows", "trust", "empty", "null_only", "size")
        },
    )
