"""One block of entries in order of their keys, for a look-up of few keys: record keys are not inflated.

``SortedTable.read`` gives the same entries as a batch of Arrow, which costs less for all of a block and more for a few
of its entries. The latest blocks stay in memory (``BlockCache``).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict

import numpy as np
import numpy.typing as npt

from index_store.formats.bounded.arrow_blocks import read_batch
from index_store.storage.errors import FormatError

__all__ = ["BlockCache", "EntryBlock"]

#: The buffers of ENTRIES: validity, offsets and bytes of key and record; validity and values of group and deleted.
_KEY_ENDS, _KEYS, _GROUPS, _DELETED, _BUFFERS = 1, 2, 7, 9, 10

Groups = npt.NDArray[np.int32]


class EntryBlock:
    """The entries of one block with the schema ENTRIES."""

    __slots__ = ("_deleted", "_ends", "_groups", "_keys", "nbytes", "rows")

    def __init__(self, data: bytes | memoryview, rows: int, most: int) -> None:
        """Read the message of a block.

        Raises FormatError for a damaged one, for another number of rows, and when it claims to inflate to more than
        ``most`` bytes.
        """
        batch = read_batch(data, most)
        if batch.rows != rows:
            raise FormatError("a block has more or fewer entries than the index says")
        if any(batch.nulls) or len(batch.buffers) != _BUFFERS:
            raise FormatError("a block has other columns")
        ends, self._keys, groups, deleted = batch.inflated((_KEY_ENDS, _KEYS, _GROUPS, _DELETED))
        if len(ends) < 4 * (rows + 1) or len(groups) < 4 * rows or 8 * len(deleted) < rows:
            raise FormatError("a block has more entries than values")
        offsets = np.frombuffer(ends, np.int32, rows + 1)
        if offsets[0] < 0 or offsets[-1] > len(self._keys) or (offsets[1:] < offsets[:-1]).any():
            raise FormatError("keys of a block lie outside of it")
        self.rows = rows
        self._ends = memoryview(ends).cast("B")[: 4 * (rows + 1)].cast("i")
        self._groups = np.frombuffer(groups, np.int32, rows)
        self._deleted = np.frombuffer(deleted, np.uint8)
        #: What the block takes in memory.
        self.nbytes = len(self._keys) + len(ends) + len(groups) + len(deleted)

    def rows_in(self, lo: bytes, hi: bytes | None) -> range:
        """The entries whose key is in [lo, hi); None: no upper end."""
        places = range(self.rows)
        start = bisect_left(places, lo, key=self._key)
        return range(start, self.rows if hi is None else bisect_left(places, hi, start, key=self._key))

    def _key(self, row: int) -> bytes:
        return self._keys[self._ends[row] : self._ends[row + 1]]

    def live_groups(self, rows: range) -> Groups:
        """Those of the entries that are no tombstones."""
        deleted = self._marks(rows)
        groups = self._groups[rows.start : rows.stop]
        return groups[~deleted] if deleted.any() else groups.copy()

    def any_deleted(self, rows: range) -> bool:
        """Whether one of the entries is a tombstone."""
        return bool(self._marks(rows).any())

    def _marks(self, rows: range) -> npt.NDArray[np.bool_]:
        first = rows.start // 8
        bits = np.unpackbits(self._deleted[first : -(-rows.stop // 8)], bitorder="little")
        return bits[rows.start - 8 * first : rows.stop - 8 * first].view(np.bool_)


class BlockCache:
    """The blocks that were used last, up to a sum of inflated bytes. Threads may share one cache."""

    def __init__(self, most_bytes: int = 16 << 20) -> None:
        self._most = most_bytes
        self._blocks: OrderedDict[tuple[str, int], EntryBlock] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, file: str, number: int) -> EntryBlock | None:
        """Block ``number`` of a file; None when it is not in memory."""
        with self._lock:
            block = self._blocks.get((file, number))
            if block is not None:
                self._blocks.move_to_end((file, number))
            return block

    def keep(self, file: str, number: int, block: EntryBlock) -> None:
        """Keep a block, unless it is there; the least recently used ones make room."""
        if block.nbytes > self._most:
            return
        with self._lock:
            if (file, number) not in self._blocks:
                self._blocks[file, number] = block
                self._bytes += block.nbytes
            while self._bytes > self._most:
                self._bytes -= self._blocks.popitem(last=False)[1].nbytes
