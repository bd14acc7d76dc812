"""Shards: entries are divided by a hash of the first column of their key, so that a look-up of a value reads one shard.

    key (city, rider)    shard of ('oslo', 'x') = shard of ('oslo', 'y') = hash('oslo') mod n

A shard has its entries in order of their keys. NULL is a value with a shard like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.keys import leading_of
from index_store.own.secondary.runs import together
from index_store.own.secondary.sorted_table import SortedWriter
from index_store.own.sketches.hashing import hash_of, hashes
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable

__all__ = ["ENTRIES_PER_SHARD", "shard_count", "shard_of", "write_shards"]

#: About how many entries a shard has: some hundred blocks.
ENTRIES_PER_SHARD = 2_000_000
MAX_SHARDS = 256
#: How many bytes of entries are divided at once.
_AT_ONCE = 4 << 20


def shard_count(entries: int) -> int:
    """The number of shards of so many entries."""
    return min(MAX_SHARDS, max(1, -(-entries // ENTRIES_PER_SHARD)))


@overload
def shard_of(pieces: bytes, n: int) -> int: ...
@overload
def shard_of(pieces: pa.Array, n: int) -> npt.NDArray[np.int64]: ...
def shard_of(pieces: pa.Array | bytes, n: int) -> npt.NDArray[np.int64] | int:
    """The shard, 0 to n - 1, of keys that begin with this first column; of several ``(rows,)`` (``keys.leading_of``).

    The shard depends only on the value of the first column, and is the same on every machine.
    """
    if isinstance(pieces, bytes):
        return hash_of(pieces) % n
    return np.asarray(hashes(pieces) % np.uint64(n)).astype(np.int64)


def write_shards(
    folder: Folder, file_of: Callable[[int], str], batches: Iterable[pa.RecordBatch], n: int
) -> tuple[StoredTable | None, ...]:
    """Divide entries, which are in order of their keys, among n files; None for a shard without entries.

    Raises TableError when they cannot be written, ValueError when they are not in order.
    """
    with ExitStack() as stack:
        writers: dict[int, SortedWriter] = {}
        for batch in together(batches, _AT_ONCE):
            shards = shard_of(leading_of(batch.column("key")), n)
            for shard in np.unique(shards).tolist():
                if shard not in writers:
                    writers[shard] = stack.enter_context(SortedWriter(folder, file_of(shard), ENTRIES))
                writers[shard].write(batch.filter(pa.array(shards == shard)))
        for writer in writers.values():  # errors occur before the first file is published
            writer.flush()
    return tuple(writers[shard].stored if shard in writers else None for shard in range(n))
