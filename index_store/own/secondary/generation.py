"""A generation: the difference that one refresh makes to a secondary index. The first of a version is the base.

    groups     group, name, files, rows, statistics    a row for each file group that changed; files NULL: it is gone
    shards     key, record, group, deleted             added entries and tombstones, by the hash of the first column
    reverse    group, record, key, deleted             the same, sorted by file group

    slice before: (oslo, r1), (rome, r2)      slice now: (oslo, r1), (bonn, r2)
    written:      (rome, r2) as a tombstone, (bonn, r2) as an entry

A refresh merges the old and the new entries of each changed slice in the order of the reverse mapping and writes the
difference. A tombstone lies in the shard of the entry that it removes. The newest generation that has a group or an
entry decides about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from index_store.own.builders.sketching import ROWS
from index_store.own.secondary.entries import REVERSE
from index_store.own.secondary.runs import Blocks, EntrySorter, merge_runs
from index_store.own.secondary.shards import write_shards
from index_store.own.secondary.slice_entries import statistics_plan
from index_store.own.secondary.sorted_table import read_sorted, write_sorted
from index_store.own.store.folder import Folder, new_token
from index_store.own.store.stored_table import StoredTable, read_table, write_table
from index_store.own.store.versions import Generation
from index_store.storage.errors import TableError

__all__ = ["difference", "entries_of_groups", "groups_schema", "live_groups", "write_generation"]

#: At most so many ranges of groups are read one by one from a reverse mapping; more are read as one range.
_RANGES = 64


def groups_schema(columns: Sequence[str]) -> pa.Schema:
    """The columns of the list of groups. ``files`` as in ``slice_entries.SLICES``, statistics as in ``sketching``."""
    return pa.schema(
        [
            pa.field("group", pa.int32(), False),
            pa.field("name", pa.string(), False),
            pa.field("files", pa.string()),
            pa.field(ROWS, pa.int64()),
            *(field for target in statistics_plan(columns).targets for field in target.fields),
        ]
    )


def live_groups(folder: Folder, generations: Sequence[Generation]) -> pa.Table:
    """The groups that an index knows, each as its newest generation has it, by number. Raises TableError."""
    groups = pa.concat_tables([read_table(folder, one.groups) for one in generations])
    numbers = groups.column("group").to_numpy()
    newest = len(numbers) - 1 - np.unique(numbers[::-1], return_index=True)[1]
    return groups.take(pa.array(newest)).filter(pc.is_valid(groups.column("files").take(pa.array(newest))))


def entries_of_groups(
    folder: Folder, generations: Sequence[Generation], groups: npt.NDArray[np.int32]
) -> Iterator[pa.RecordBatch]:
    """The current entries of some groups, which are in ascending order: by group, without tombstones."""
    if not len(groups):
        return iter(())
    wanted = np.zeros(int(groups[-1]) + 1, np.bool_)
    wanted[groups] = True
    breaks = np.flatnonzero(np.diff(groups) > 1)
    starts, ends = groups[np.append(0, breaks + 1)], groups[np.append(breaks, len(groups) - 1)]
    ranges = (
        [(int(groups[0]), int(groups[-1]) + 1)]
        if len(starts) > _RANGES
        else [(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]
    )

    def run(stored: StoredTable) -> Iterator[pa.RecordBatch]:
        for lo, hi in ranges:
            for batch in read_sorted(folder, stored, lo, hi):
                yield batch.filter(pa.array(wanted[batch.column("group").to_numpy()]))

    return merge_runs(
        [run(one.reverse) for one in generations if one.reverse is not None], order="group", drop_deleted=True
    )


def difference(old: Iterable[pa.RecordBatch], new: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The difference from old to new entries: the added ones, and tombstones of the removed ones.

    Both inputs and the output are in order by group, without duplicates.
    """
    sides = [Blocks(iter(side), REVERSE.names) for side in (old, new)]
    while live := [number for number, side in enumerate(sides) if side.fill()]:
        bound = min(sides[number].last for number in live)
        parts = [_marked(part, deleted=number == 0) for number in live if (part := sides[number].taken(bound)).num_rows]
        batch = parts[0] if len(parts) == 1 else _without_pairs(parts)
        if batch.num_rows:
            yield batch


def _marked(part: pa.RecordBatch, *, deleted: bool) -> pa.RecordBatch:
    return part.set_column(3, REVERSE.field(3), pa.array(np.full(part.num_rows, deleted, np.bool_)))


def _without_pairs(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of both parts in order, without those that are in both."""
    rows = pa.concat_batches(parts)
    rows = rows.take(pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in REVERSE.names[:3]]))
    same = np.ones(rows.num_rows - 1, np.bool_)
    for name in REVERSE.names[:3]:
        column = rows.column(name)
        same &= pc.equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    paired = np.append(same, False) | np.append(False, same)
    return rows.filter(pa.array(~paired)) if paired.any() else rows


def write_generation(
    folder: Folder,
    groups: pa.Table,
    changes: Iterable[pa.RecordBatch],
    *,
    shards: int,
    next_group: int,
    instant: str | None,
    budget: int,
    directory: Path,
) -> Generation:
    """Write a generation of changed groups, and of added entries and tombstones in order by group.

    ``budget``: about how many bytes of memory are used; entries beyond it are sorted in ``directory``. Raises
    TableError; then none of its files exists.
    """
    name = f"{instant or 0}-{new_token()}"
    paths = [f"reverse/{name}.entries", *(f"entries/{name}-{shard}.entries" for shard in range(shards))]
    added = removed = 0
    try:
        with EntrySorter("key", budget, directory) as sorter:

            def counted() -> Iterator[pa.RecordBatch]:
                nonlocal added, removed
                for batch in changes:
                    tombstones = pc.sum(batch.column("deleted")).as_py() or 0
                    added += batch.num_rows - tombstones
                    removed += tombstones
                    sorter.add(batch)
                    yield batch

            reverse = write_sorted(folder, paths[0], counted(), REVERSE)
            stored = write_shards(folder, lambda shard: paths[1 + shard], sorter.sorted(), shards)
        listed = write_table(folder, f"groups/{name}.parquet", groups)
        return Generation(listed, stored, reverse, next_group, added, removed)
    except BaseException:
        for path in paths:
            with suppress(TableError):
                folder.remove(path)
        raise
