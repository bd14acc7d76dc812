"""Incremental refresh of a snapshot: from an earlier state of a table to the present one, reading only new commits.

    1. the timeline diff names files that came and went, by file group                  (``timeline_diff``)
    2. slices of these file groups are built from the old slice and the diff; the old slices are tombstoned
    3. records of the new files are read from the blocks of the new instants, and united per slice with the stored
       statistics of the old files that stay, since log files come on top of a base file

The refresh raises ``NotIncremental`` where a step does not follow from the diff; the caller then reads everything. When
one column alone cannot be refreshed, it is left out of the new snapshot and read when a filter uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.records import entity
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
from index_store.snapshots.column_file import column_file_name, write_column
from index_store.snapshots.manifest import Manifest
from index_store.snapshots.snapshot import KeptColumn, Snapshot, write_delta
from index_store.snapshots.state import State
from index_store.snapshots.stored_slices import StoredSlices
from index_store.snapshots.timeline_diff import Group, NotIncremental, TimelineDiff, new_layers, timeline_diff
from index_store.storage.errors import StatsError, TableError
from index_store.table.file_slices import FileSlice, FileSlices, build_slices, instant_of
from index_store.table.timeline import WRITE_ACTIONS

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["refresh_snapshot"]

Rows = npt.NDArray[np.int64]
#: A delta of more slices than this, and than this share of the base, is not written: everything is read again.
MAX_DELTA, MAX_SHARE = 20_000, 0.25


def refresh_snapshot(old: Snapshot, state: State, table: Table) -> Snapshot:
    """The snapshot of the present state. Raises NotIncremental, UnusableError, TableError, StatsError or OSError."""
    diff = timeline_diff(old.manifest.state, state, table)
    delta = _delta_of(old, diff, table)
    if len(delta.slices) > max(MAX_DELTA, MAX_SHARE * len(old.base)):
        raise NotIncremental("too much came since the base was read")
    last = table.timeline.last
    manifest = Manifest(
        state, old.manifest.base, state.digest, None if last is None else last.requested, old.manifest.source
    )
    folder = old.cache.of_table(state) / state.digest
    write_delta(folder, state, delta.slices, delta.tombstoned)
    kept = [
        (one, column)
        for one in old.kept_columns()
        if (column := table.schema.resolve(one.name, case_sensitive=True)) is not None
    ]
    columns = _DeltaColumns(old, diff, delta, table, [column for one, column in kept if one.kind == COLUMN_STATS])
    for one, column in kept:
        try:
            statistics, files = columns.of(one, column)
        except (NotIncremental, UnusableError, TableError, StatsError):
            continue
        file = folder.file(column_file_name(one.kind, column.name))
        write_column(file, one.kind, column, len(delta.slices), statistics, files)
    old.cache.publish(manifest)
    found = Snapshot(old.cache, manifest)
    found.share()
    return found


class _OldSlice(NamedTuple):
    """A slice of the old snapshot, and its row in the base (``in_base``) or in the old delta."""

    slice: FileSlice
    row: int
    in_base: bool


@entity
class _Delta:
    """The delta of the new snapshot: the slices of the old delta that stay, then new ones.

    tombstoned     rows of the base that are gone
    staying_rows   rows of the old delta that stay; ``staying`` are their slices
    new            slices of the file groups that the diff names
    predecessors   for each new slice, the slice of its file group in the old snapshot, if it had one
    """

    tombstoned: Rows
    staying_rows: Rows
    staying: Sequence[FileSlice]
    new: tuple[FileSlice, ...]
    predecessors: tuple[_OldSlice | None, ...]

    @property
    def slices(self) -> tuple[FileSlice, ...]:
        return (*self.staying, *self.new)


def _delta_of(old: Snapshot, diff: TimelineDiff, table: Table) -> _Delta:
    groups = list({**diff.added, **diff.removed, **dict.fromkeys(sorted(diff.replaced))})
    old_slices = _slices_of_groups(old, groups)
    last = table.timeline.last
    as_of = "" if last is None else last.requested
    tombstoned: set[int] = set(old.tombstoned.tolist())
    gone_from_delta: set[int] = set()
    new: list[FileSlice] = []
    predecessors: list[_OldSlice | None] = []
    for group in groups:
        before, added = old_slices.get(group), diff.added.get(group, ())
        plain = _plain_successor(group, added, before, diff, as_of)
        if plain is not None:
            successors: Sequence[FileSlice] = (plain,)
        else:
            names = set() if before is None else {path.rpartition("/")[2] for path in before.slice.files}
            removed = diff.removed.get(group, set())
            if group not in diff.replaced and not added and not (removed & names):
                continue
            if names & set(added):
                raise NotIncremental("a file was written again")
            successors = ()
            if group not in diff.replaced:
                if before is None and all(name.startswith(".") for name in added) and table.has_replaced(group):
                    continue
                successors = build_slices(
                    {group[0]: {*names, *added} - removed},
                    table.timeline,
                    table.version,
                    as_of,
                    None,
                    _refuse_doubt,
                )
        if before is not None:
            (tombstoned if before.in_base else gone_from_delta).add(before.row)
        new += successors
        predecessors += [before] * len(successors)
    gone = np.fromiter(gone_from_delta, np.int64, len(gone_from_delta))
    staying_rows = np.setdiff1d(np.arange(0 if old.delta is None else len(old.delta)), gone)
    staying = [] if old.delta is None else old.delta.some(staying_rows)
    return _Delta(np.array(sorted(tombstoned), np.int64), staying_rows, staying, tuple(new), tuple(predecessors))


def _refuse_doubt(partition: str, name: str) -> None:
    """Raises NotIncremental for a log file that may or may not be compacted."""
    raise NotIncremental(f"{partition}/{name} may be compacted")


def _plain_successor(
    group: Group, added: Sequence[str], before: _OldSlice | None, diff: TimelineDiff, as_of: str
) -> FileSlice | None:
    """The slice of a file group that got one newer base file and has no log files; None for any other change."""
    if len(added) != 1 or added[0][0] == "." or group in diff.replaced:
        return None
    [name] = added
    instant = instant_of(name)
    if instant not in diff.instants or instant > as_of:
        return None
    if before is not None:
        base = before.slice.base_file
        if before.slice.log_files or base is None or instant_of(base) >= instant:
            return None
    partition, file_id = group
    return FileSlice(partition, file_id, f"{partition}/{name}" if partition else name)


def _slices_of_groups(old: Snapshot, groups: Sequence[Group]) -> dict[Group, _OldSlice]:
    """The slices of some file groups in the old snapshot."""
    rows = old.base.rows_of(groups)
    live = np.where(np.isin(rows, old.tombstoned), -1, rows)
    slices = _slices_at(old.base, groups, live, in_base=True)
    if old.delta is not None:
        slices |= _slices_at(old.delta, groups, old.delta.rows_of(groups), in_base=False)
    return slices


def _slices_at(slices: StoredSlices, groups: Sequence[Group], rows: Rows, *, in_base: bool) -> dict[Group, _OldSlice]:
    stored = np.flatnonzero(rows >= 0)
    at_rows = zip(stored.tolist(), slices.some(rows[stored]), rows[stored].tolist(), strict=True)
    return {groups[number]: _OldSlice(one, row, in_base) for number, one, row in at_rows}


class _DeltaColumns:
    """Statistics of the columns of a delta, by kind."""

    def __init__(
        self, old: Snapshot, diff: TimelineDiff, delta: _Delta, table: Table, columns: Sequence[Field]
    ) -> None:
        """``columns`` are read together when one of them is used."""
        self._old, self._delta, self._table, self._columns = old, delta, table, columns
        self._new = FileSlices(None, old.manifest.source, delta.new)
        self._files = SliceFiles.of(self._new)
        self._fresh = _fresh_files(self._files, diff, delta)
        self._reading = FileReading(table, _as_slices(self._files, self._fresh))
        self._instants = frozenset(
            one.requested
            for one in table.timeline.instants
            if one.requested in diff.instants and one.action in WRITE_ACTIONS
        )

    @cached_property
    def _stored(self) -> Mapping[bytes, Versions]:
        """The records of the columns that the new instants wrote."""
        metadata = self._table.metadata
        assert metadata is not None
        layers = new_layers(metadata, COLUMN_STATS, self._instants) if self._instants else ()
        return read_columns(layers, self._columns)

    def of(self, kept: KeptColumn, column: Field) -> tuple[ColumnStatistics | None, FileStatistics | None]:
        """Statistics of all slices of the delta, and those of their files."""
        make: Mapping[str, Callable[[Field, bool], tuple[ColumnStatistics | None, FileRows | None]]] = {
            COLUMN_STATS: self._column_stats,
            PartitionValues.name: self._partition_values,
        }
        if kept.kind not in make:
            raise NotIncremental(f"{kept.kind} is read as a whole")
        old_delta = None if self._old.delta is None else self._old.delta_column(kept.kind, column)
        new, rows = make[kept.kind](column, kept.has_statistics)
        known = {kept.has_statistics, new is not None}
        if old_delta is not None:
            known.add(old_delta.statistics is not None)
        if len(known) > 1:
            raise NotIncremental("the kind knows the column only by now")
        if new is None:
            return None, None
        files = None if rows is None else rows.rows
        if old_delta is None or old_delta.statistics is None:
            return new, files
        files = None if files is None else self._with_staying(old_delta.files, files)
        rows_staying = self._delta.staying_rows
        staying_then_new = Layers(len(rows_staying), np.zeros(0, np.int64), len(new))
        return staying_then_new.join_statistics(old_delta.statistics.take(rows_staying), new), files

    def _partition_values(self, column: Field, is_indexed: bool) -> tuple[ColumnStatistics | None, None]:
        del is_indexed
        kind = partition_values(self._table, self._new)
        return None if kind is None else kind.provide(RequiredStatistics(bounds=(column,))).statistics.get(
            column.name
        ), None

    def _column_stats(self, column: Field, is_indexed: bool) -> tuple[ColumnStatistics | None, FileRows | None]:
        read = self._reading.rows(column, self._stored[column_id(column.name)], is_indexed=is_indexed)
        if read is None:
            return None, None
        rows = _of_files(read, self._fresh)
        if rows.distrusted:
            return rows.united(self._files, self._table), None
        if len(self._fresh) < len(self._files.paths):
            rows = replace(rows, rows=_joined([self._staying_files(column), rows.rows]))
        keep = self._table.table_type == "MERGE_ON_READ" and not len(rows.deleted)
        return rows.united(self._files, self._table), rows if keep else None

    def _staying_files(self, column: Field) -> FileStatistics:
        """The stored statistics of the old files in new slices."""
        number_of = {path: number for number, path in enumerate(self._files.paths)}
        parts = []
        for in_base in (True, False):
            before = [one for one in self._delta.predecessors if one is not None and one.in_base is in_base]
            if not before:
                continue
            slices = self._old.base if in_base or self._old.delta is None else self._old.delta
            files = (self._old.base_column if in_base else self._old.delta_column)(COLUMN_STATS, column).files
            if files is None:
                raise NotIncremental("nothing is kept of single files")
            rows = np.array([one.row for one in before], np.int64)
            starts = slices.files_before(rows)
            ends = files.file_index.searchsorted(np.stack([starts, slices.files_before(rows + 1)], axis=1))
            for (one, _, _), start, (first, last) in zip(before, starts.tolist(), ends.tolist(), strict=True):
                numbers = np.array([number_of.get(path, -1) for path in one.files])
                taken = files.take(np.arange(first, last))
                file_indices = numbers[taken.file_index - start]
                parts.append(replace(taken, file_index=file_indices).take(np.flatnonzero(file_indices >= 0)))
        return _joined(parts)

    def _with_staying(self, old: FileStatistics | None, new: FileStatistics) -> FileStatistics | None:
        """The files of the slices that stay, and behind them the new ones, numbered as in the new delta."""
        if old is None or self._old.delta is None:
            return None
        old_starts = self._old.delta.files_before(np.arange(len(self._old.delta) + 1))
        staying_rows = self._delta.staying_rows
        new_starts = np.concatenate([[0], np.cumsum(np.diff(old_starts)[staying_rows])])
        slice_of = np.searchsorted(old_starts, old.file_index, "right") - 1
        stays = np.isin(slice_of, staying_rows)
        staying = old.take(np.flatnonzero(stays))
        new_slice = np.searchsorted(staying_rows, slice_of[stays])
        staying = replace(staying, file_index=new_starts[new_slice] + staying.file_index - old_starts[slice_of[stays]])
        return _joined([staying, replace(new, file_index=new.file_index + new_starts[-1])])


def _fresh_files(files: SliceFiles, diff: TimelineDiff, delta: _Delta) -> Rows:
    """The numbers of the files that the diff added."""
    fresh = [
        number
        for number, path in enumerate(files.paths)
        if path.rpartition("/")[2]
        in diff.added.get((files.partitions[number], delta.new[files.slice_of[number]].file_id), ())
    ]
    return np.array(fresh, np.int64)


def _as_slices(files: SliceFiles, numbers: Rows) -> SliceFiles:
    """Some of the files, each as a slice of its own."""
    chosen = numbers.tolist()
    return SliceFiles(
        tuple(files.paths[number] for number in chosen),
        tuple(files.partitions[number] for number in chosen),
        np.arange(len(chosen)),
        files.is_log[numbers],
        np.ones(len(chosen), np.intp),
    )


def _of_files(read: FileRows, numbers: Rows) -> FileRows:
    """The same rows, of the files with these numbers."""
    return FileRows(
        replace(read.rows, file_index=numbers[read.rows.file_index]), numbers[read.deleted], read.distrusted
    )


def _joined(parts: Sequence[FileStatistics]) -> FileStatistics:
    def joined(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return FileStatistics(
        type=parts[0].type,
        lo=concatenated([part.lo for part in parts]),
        hi=concatenated([part.hi for part in parts]),
        **{
            name: joined(name)
            for name in ("file_index", "lo_known", "hi_known", "nulls", "rows", "trust", "empty", "null_only", "size")
        },
    )
