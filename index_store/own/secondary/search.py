"""The file groups that have an entry with one of some keys, in one shard of a secondary index.

    wanted         read
    -------------  -----------------------------------------------------------------------------------------
    one key        the index of each generation's table, and the blocks that may have the key: one or two, or
                   as many as the key's entries fill
    a range        likewise; keys are compared in the blocks at its ends only
    many keys      the blocks that one of them falls into, each once (``key_merge``)

The generations of a shard are merged, and the newest one that has an entry, or its tombstone, decides. When none of the
entries is a tombstone, no merge is needed and record keys are not read.

Of a few blocks only what decides is inflated, and the latest ones stay in memory (``entry_block``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.secondary.entry_block import BlockCache, EntryBlock
from index_store.own.secondary.key_merge import KeySpan, SortedPieces, find_groups, spans_of
from index_store.own.secondary.keys import Range, key_range
from index_store.own.secondary.runs import merge_runs
from index_store.own.secondary.sorted_table import SortedTable, rows_in
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable

__all__ = ["Search", "disjoint"]

Groups = npt.NDArray[np.int32]
_MAX_ARRAYS = 256
#: At most so many blocks are searched one by one, with those that are in memory.
_FEW_BLOCKS = 64


class Search:
    """One shard of an index, whose block indexes are read once.

    generations    the shard's tables, the newest last; None for a generation without an entry in the shard
    cache          blocks that were read; the shards of an index may share it
    blocks_read    how many blocks were read so far
    """

    def __init__(
        self, folder: Folder, generations: Sequence[StoredTable | None], cache: BlockCache | None = None
    ) -> None:
        self._tables = [SortedTable.open(folder, stored) for stored in generations if stored is not None]
        self._cache = cache or BlockCache()
        self.blocks_read = 0

    def blocks(self, wanted: Iterable[bytes | Range]) -> int:
        """At most how many blocks ``groups`` would read."""
        ranges = _ranges(wanted)
        return sum(len(table.blocks(*one)) for table in self._tables for one in ranges)

    def groups(self, wanted: Iterable[bytes | Range]) -> Groups:
        """``(n,) int32``, ascending: the groups that have an entry with one of the keys. Raises TableError.

        wanted: encoded keys, prefixes of composite keys that consist of whole pieces, or ranges
        """
        ranges = _ranges(wanted)
        chosen = [(table, some) for table in self._tables if (some := list(_block_runs(table, ranges)))]
        size = sum(len(one.blocks) for _, some in chosen for one in some)
        if size <= _FEW_BLOCKS:
            groups = self._live_groups_of_few(chosen)
            if groups is not None:
                return groups
        self.blocks_read += size
        if len(chosen) < 2 or not any(_deleted(*one) for one in chosen):
            return _distinct(groups for one in chosen for groups in _live_groups(*one))
        merged = merge_runs([_entries(*one) for one in chosen], order="key", drop_deleted=True)
        return _distinct(batch.column("group").to_numpy() for batch in merged)

    def _live_groups_of_few(self, chosen: Sequence[tuple[SortedTable, Sequence[_BlockRun]]]) -> Groups | None:
        """The groups of the entries in a few blocks; None when one of the entries is a tombstone."""
        found = []
        for table, runs in chosen:
            for run in runs:
                for number, (block, entries) in enumerate(zip(run.blocks, self._read(table, run.blocks), strict=True)):
                    ranges = [(b"", None)] if run.ranges is None else run.ranges[number]
                    for rows in (entries.rows_in(*one) for one in ranges):
                        if len(rows):
                            if table.deleted[block] and entries.any_deleted(rows):
                                return None
                            found.append(entries.live_groups(rows))
        return found[0] if len(found) == 1 and len(found[0]) == 1 else _distinct(found)

    def _read(self, table: SortedTable, blocks: range) -> Iterator[EntryBlock]:
        """Neighbouring blocks one by one, from memory when all of them are there."""
        file = table.stored.file
        cached = [block for number in blocks if (block := self._cache.get(file, number)) is not None]
        if len(cached) == len(blocks):
            yield from cached
            return
        self.blocks_read += len(blocks)
        for number, block in zip(blocks, table.entry_blocks(blocks), strict=True):
            self._cache.keep(file, number, block)
            yield block

    def spans(self, keys: SortedPieces) -> list[list[KeySpan]]:
        """Of each table the blocks that ``find`` would read for these pieces of the first column."""
        return [list(spans_of(table, keys)) for table in self._tables]

    def find(self, keys: SortedPieces, spans: Sequence[Sequence[KeySpan]], sought: npt.NDArray[np.bool_]) -> None:
        """Set ``sought``, ``(groups,) bool``, to FALSE for the groups that ``groups`` gives for these pieces.

        ``spans`` of the keys. Reading ends when no group is sought any more. Raises TableError.
        """
        self.blocks_read += find_groups(self._tables, spans, keys, sought)


def _distinct(batches: Iterable[Groups]) -> Groups:
    held = [np.zeros(0, np.int32)]
    for groups in batches:
        held.append(groups)
        if len(held) > _MAX_ARRAYS:
            held = [np.unique(np.concatenate(held))]
    return np.unique(np.concatenate(held))


@frozen
class _BlockRun:
    """Neighbouring blocks, and for each the ranges that it may have keys of; None: all of their keys are in a range."""

    blocks: range
    ranges: Sequence[Sequence[Range]] | None


def _block_runs(table: SortedTable, ranges: Sequence[Range]) -> Iterator[_BlockRun]:
    """The blocks of a table that may have keys in the ranges, in order, without duplicates."""
    starts = [lo for lo, _ in ranges]
    needed = dict.fromkeys(block for one in ranges for block in table.blocks(*one))
    waiting: list[tuple[int, Sequence[Range] | None]] = []
    for block in needed:
        first, last = table.firsts[block], table.lasts[block]
        begin = max(0, bisect_right(starts, first) - 1)
        of_it = ranges[begin : bisect_right(starts, last)]
        inside = any(lo <= first and (hi is None or last < hi) for lo, hi in of_it)
        if waiting and (waiting[-1][0] != block - 1 or (waiting[-1][1] is None) != inside):
            yield _block_run(waiting)
            waiting = []
        waiting.append((block, None if inside else of_it))
    if waiting:
        yield _block_run(waiting)


def _block_run(blocks: Sequence[tuple[int, Sequence[Range] | None]]) -> _BlockRun:
    ranges = [of_it for _, of_it in blocks if of_it is not None]
    return _BlockRun(range(blocks[0][0], blocks[-1][0] + 1), ranges or None)


def _deleted(table: SortedTable, runs: Sequence[_BlockRun]) -> int:
    """How many tombstones there are in the blocks."""
    return sum(table.deleted[block] for one in runs for block in one.blocks)


def _live_groups(table: SortedTable, runs: Sequence[_BlockRun]) -> Iterator[Groups]:
    """The groups of the entries of one table, which has no entry twice."""
    for run in runs:
        if run.ranges is not None:
            for ranges, block in zip(run.ranges, table.entry_blocks(run.blocks), strict=True):
                yield from (block.live_groups(block.rows_in(*one)) for one in ranges)
            continue
        some_deleted = any(table.deleted[block] for block in run.blocks)
        for batch in table.read(run.blocks, ["group"] + ["deleted"] * some_deleted):
            groups = batch.column("group").to_numpy()
            yield groups[~batch.column("deleted").to_numpy(zero_copy_only=False)] if some_deleted else groups


def _entries(table: SortedTable, runs: Sequence[_BlockRun]) -> Iterator[pa.RecordBatch]:
    """The entries of the blocks that are in the ranges, in order, a batch for each block."""
    for run in runs:
        for number, batch in enumerate(table.read(run.blocks)):
            if run.ranges is None:
                yield batch
                continue
            keys = batch.column("key")
            rows = [one for lo, hi in run.ranges[number] if len(one := range(*rows_in(keys, lo, hi)))]
            if len(rows) == 1:
                yield batch.slice(rows[0].start, len(rows[0]))
            elif rows:
                yield batch.take(pa.array(np.concatenate([np.arange(one.start, one.stop) for one in rows])))


def _ranges(wanted: Iterable[bytes | Range]) -> list[Range]:
    return disjoint(key_range(one) if isinstance(one, bytes) else one for one in wanted)


def disjoint(ranges: Iterable[Range]) -> list[Range]:
    """The same keys as ascending ranges that do not overlap."""
    merged: list[Range] = []
    for lo, hi in sorted((one for one in ranges if one[1] is None or one[0] < one[1]), key=lambda one: one[0]):
        if merged and (merged[-1][1] is None or lo <= merged[-1][1]):
            end = merged[-1][1]
            merged[-1] = merged[-1][0], None if end is None or hi is None else max(end, hi)
        else:
            merged.append((lo, hi))
    return merged
