"""Many data blocks of an HFile inflated side by side into one buffer, by threads, while the batch before is decoded.

Inflating releases Python's global lock. A batch is large enough for one pass over all its blocks, and small enough for
the processor's cache. Its buffer is reused, so values that outlive the batch must be copied.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from index_store.formats.hfile import HFile, StoredBlock
from index_store.formats.inflate import LARGEST
from index_store.formats.vectorised_avro import PADDING, Positions
from index_store.storage.errors import FormatError

__all__ = ["BlockBatch", "batches"]

#: A batch ends at this many uncompressed bytes.
BATCH_BYTES = 8 << 20
WORKERS = min(4, os.cpu_count() or 1)

Buffer = npt.NDArray[np.uint8]


@entity
class BlockBatch:
    """Uncompressed blocks in one buffer, PADDING zeros behind each.

    starts, ends   ``(blocks,) int64``, in ``data``
    offsets        where the blocks are in the file, for messages
    """

    data: Buffer
    starts: Positions
    ends: Positions
    offsets: tuple[int, ...]

    def offset_at(self, place: int) -> int:
        """The file offset of the block that holds a position of the buffer."""
        return self.offsets[int(np.searchsorted(self.starts, place, "right")) - 1]


def batches(hfile: HFile, prefixes: Sequence[bytes] | None) -> Iterator[BlockBatch]:
    """The blocks that may hold a key with one of the prefixes (None: all). Raises FormatError.

    The buffer of a batch is filled again when the next batch is made.
    """
    groups = _groups(hfile.stored_blocks(prefixes))
    first, second = next(groups, None), next(groups, None)
    if first is None or second is None:
        if first is not None:
            yield _inflated(first, [])
        return
    free: list[Buffer] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        under_way: deque[Future[BlockBatch]] = deque(pool.submit(_inflated, group, free) for group in (first, second))
        while under_way:
            batch = under_way.popleft().result()
            while len(under_way) < WORKERS and (group := next(groups, None)) is not None:
                under_way.append(pool.submit(_inflated, group, free))
            yield batch
            free.append(batch.data)


def _groups(blocks: Iterable[StoredBlock]) -> Iterator[list[StoredBlock]]:
    group: list[StoredBlock] = []
    size = 0
    for block in blocks:
        if not 0 <= block.size <= LARGEST:
            raise FormatError(f"a block claims {block.size} uncompressed bytes", block.offset)
        group.append(block)
        size += block.size
        if size >= BATCH_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _inflated(group: Sequence[StoredBlock], free: list[Buffer]) -> BlockBatch:
    sizes = np.array([block.size + PADDING for block in group], np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    data = _buffer(int(ends[-1]), free)
    view = data.data
    for block, start, end in zip(group, starts.tolist(), ends.tolist(), strict=True):
        view[start : end - PADDING] = block.inflated()
        view[end - PADDING : end] = bytes(PADDING)
    return BlockBatch(data, starts, ends - PADDING, tuple(block.offset for block in group))


def _buffer(size: int, free: list[Buffer]) -> Buffer:
    """A free buffer that is large enough, or a new one; memory that is in use already costs no page faults."""
    with suppress(IndexError):
        data = free.pop()
        if len(data) >= size:
            return data
    return np.empty(max(size, BATCH_BYTES + BATCH_BYTES // 8) if size > BATCH_BYTES // 2 else size, np.uint8)
