"""A generation: the entries that one refresh adds and removes. The first generation of a version is the base.

    groups     group, name, files, rows, statistics    a row for each file group that changed; files NULL: it is gone
    shards     key, record, group, deleted             what came and what went, by the hash of the first column
    reverse    group, record, key, deleted             the same, to find what a file group said before

What a slice says now is compared with what it said before, both in the order of the reverse mapping: only what differs
is written. An entry that is gone leaves a tombstone (its old key, its record key, its group), in the shard where the
entry is. The newest generation that knows a group or an entry is right about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from index_store.own.build.sketching import ROWS
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

#: Ranges of groups that are looked for one by one in a reverse mapping; more of them are read as one.
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
    found = pa.concat_tables([read_table(folder, one.groups) for one in generations])
    numbers = found.column("group").to_numpy()
    newest = len(numbers) - 1 - np.unique(numbers[::-1], return_index=True)[1]
    return found.take(pa.array(newest)).filter(pc.is_valid(found.column("files").take(pa.array(newest))))


def entries_of_groups(
    folder: Folder, generations: Sequence[Generation], groups: npt.NDArray[np.int32]
) -> Iterator[pa.RecordBatch]:
    """What the generations say of some groups, which ascend: entries by group, without tombstones."""
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
    """What has to be written to come from the old entries to the new ones: those that came, and tombstones.

    Both are in order by group and have no entry twice; so is what is given.
    """
    sides = [Blocks(iter(side), REVERSE.names) for side in (old, new)]
    while live := [place for place, side in enumerate(sides) if side.fill()]:
        bound = min(sides[place].last for place in live)
        parts = [_marked(part, deleted=place == 0) for place in live if (part := sides[place].taken(bound)).num_rows]
        batch = parts[0] if len(parts) == 1 else _without_pairs(parts)
        if batch.num_rows:
            yield batch


def _marked(part: pa.RecordBatch, *, deleted: bool) -> pa.RecordBatch:
    return part.set_column(3, REVERSE.field(3), pa.array(np.full(part.num_rows, deleted, np.bool_)))


def _without_pairs(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of both parts in order, without those that both have."""
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
    """Keep a generation: the groups that changed, and entries that came and went in order by group.

    ``budget`` bytes of memory are used, more or less; what is beyond lies in ``directory``. Raises TableError; then
    there is nothing of it.
    """
    name = f"{instant or 0}-{new_token()}"
    places = [f"reverse/{name}.entries", *(f"entries/{name}-{shard}.entries" for shard in range(shards))]
    counts = [0, 0]
    try:
        with EntrySorter("key", budget, directory) as sorter:

            def seen() -> Iterator[pa.RecordBatch]:
                for batch in changes:
                    gone = pc.sum(batch.column("deleted")).as_py() or 0
                    counts[0] += batch.num_rows - gone
                    counts[1] += gone
                    sorter.add(batch)
                    yield batch

            reverse = write_sorted(folder, places[0], seen(), REVERSE)
            stored = write_shards(folder, lambda shard: places[1 + shard], sorter.sorted(), shards)
        listed = write_table(folder, f"groups/{name}.parquet", groups)
        return Generation(listed, stored, reverse, next_group, counts[0], counts[1])
    except BaseException:
        for place in places:
            with suppress(TableError):
                folder.remove(place)
        raise
