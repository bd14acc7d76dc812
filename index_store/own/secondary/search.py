"""Which file groups have an entry with one of some keys: of a sorted table no more is read than the keys may be in.

    one key        the index of each generation's table, and the blocks that may have the key: one or two, or as many
                   as the key's entries fill
    a range        likewise; the blocks in the middle are read without their keys

The generations of a shard are merged: what a newer one says of an entry, also that it is gone, holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from index_store.own.folder import Folder
from index_store.own.secondary.keys import Range, key_range
from index_store.own.secondary.runs import merge_runs
from index_store.own.secondary.sorted_table import SortedTable, read_sorted, rows_in, write_sorted
from index_store.own.stored_table import StoredTable

__all__ = ["Search", "find_groups", "read_sorted", "write_sorted"]

Groups = npt.NDArray[np.int32]


def find_groups(folder: Folder, generations: Sequence[StoredTable | None], wanted: Iterable[bytes | Range]) -> Groups:
    """``(n,) int32``, ascending: the groups that have an entry in one shard.

    generations    the shard's tables, the newest last; None where a generation has no entry in it
    wanted         of each an encoded key, or what keys begin with (all of a composite key's first pieces), or a range

    Raises TableError when a table is not what was written.
    """
    return Search(folder, generations).groups(wanted)


class Search:
    """One shard, of which the indexes are read once. ``blocks_read``: how many blocks were read so far."""

    def __init__(self, folder: Folder, generations: Sequence[StoredTable | None]) -> None:
        self._tables = [SortedTable.open(folder, stored) for stored in generations if stored is not None]
        self.blocks_read = 0

    def groups(self, wanted: Iterable[bytes | Range]) -> Groups:
        """As ``find_groups``."""
        ranges = disjoint(key_range(one) if isinstance(one, bytes) else one for one in wanted)
        tables = [table for table in self._tables if any(len(table.blocks(*one)) for one in ranges)]
        found = [np.zeros(0, np.int32)]
        if len(tables) == 1:
            batches = self._groups_alone(tables[0], ranges)
        else:
            batches = merge_runs([self._entries(table, ranges) for table in tables], order="key", drop_deleted=True)
        for batch in batches:
            found.append(pc.unique(batch.column("group")).to_numpy())
            if len(found) > 256:
                found = [np.unique(np.concatenate(found))]
        return np.unique(np.concatenate(found))

    def _groups_alone(self, table: SortedTable, ranges: Sequence[Range]) -> Iterator[pa.RecordBatch]:
        """The groups of one table; nothing is in it twice."""
        for batch in self._entries(table, ranges):
            yield batch.filter(pc.invert(batch.column("deleted")))

    def _entries(self, table: SortedTable, ranges: Sequence[Range]) -> Iterator[pa.RecordBatch]:
        """The entries of a table in the ranges, in order."""
        for lo, hi in ranges:
            blocks = table.blocks(lo, hi)
            self.blocks_read += len(blocks)
            for batch in table.read(blocks):
                start, end = rows_in(batch.column(0), lo, hi)
                if start < end:
                    yield batch.slice(start, end - start)


def disjoint(ranges: Iterable[Range]) -> list[Range]:
    """The same keys in ranges that ascend and do not overlap."""
    found: list[Range] = []
    for lo, hi in sorted((one for one in ranges if one[1] is None or one[0] < one[1]), key=lambda one: one[0]):
        if found and (found[-1][1] is None or lo <= found[-1][1]):
            end = found[-1][1]
            found[-1] = found[-1][0], None if end is None or hi is None else max(end, hi)
        else:
            found.append((lo, hi))
    return found
