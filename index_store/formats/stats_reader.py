"""The column statistics of an HFile: decoded vectorised where records are many and alike, else one by one.

    up to 500 records                        one by one: vectorised decoding has a fixed cost of milliseconds
    blocks whose keys differ in size         one by one
    up to 64 records of a column in a batch  one by one
    a record without a value                 one by one, with the 16,384 around it
    records that raise ``Fallback``          one by one, with the 16,384 around them

Both ways give equal results. Damage is a FormatError with the offset of its block in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index_store.formats.avro_columns import ColumnStatsDecoder, StatsRecord
from index_store.formats.block_batches import BlockBatch, batches
from index_store.formats.hfile import HFile, entries, parse_schema
from index_store.formats.stats_columns import StatsColumns
from index_store.formats.stats_vectorised import VectorisedStats
from index_store.formats.vectorised_avro import Fallback, Positions, walk, words_of
from index_store.storage.errors import FormatError

__all__ = ["COLUMN_ID", "Single", "read_statistics"]

#: How many bytes of a key name the column.
COLUMN_ID = 12
FEW_RECORDS = 500
FEW_OF_A_COLUMN = 64
#: Records in lockstep: enough to make light of the cost of a call, few enough for a core's cache.
STEP = 16_384


class Single(NamedTuple):
    """A single record: its key and its statistics (None: the key is removed)."""

    key: bytes
    record: StatsRecord | None


Found = tuple[bytes, StatsColumns | Single]


def read_statistics(hfile: HFile, columns: Collection[bytes] | None = None) -> Iterator[Found]:
    """The records of some columns (ids as in ``keys.column_id``; None: of all), each with its column's id.

    Records of one key come in the order of the file. Raises FormatError.
    """
    wanted = None if columns is None else sorted(columns)
    decoder, lockstep = _decoders(hfile.info.get(b"schema", b""))
    if hfile.entry_count <= FEW_RECORDS or not lockstep.applies:
        for block in hfile.stored_blocks(wanted):
            data = block.inflated()
            yield from _one_by_one(data, block.offset, decoder, columns)
        return
    reader = _Reader(lockstep, decoder, columns)
    for batch in batches(hfile, wanted):
        yield from reader.read(batch)
    yield from reader.rest()


@lru_cache(maxsize=16)
def _decoders(schema: bytes) -> tuple[ColumnStatsDecoder, VectorisedStats]:
    """Both ways to decode records of a schema; all HFiles of a table have one or two of them."""
    parsed = parse_schema(schema)
    return ColumnStatsDecoder(parsed), VectorisedStats(parsed)


def _one_by_one(
    data: bytes, offset: int, decoder: ColumnStatsDecoder, columns: Collection[bytes] | None
) -> Iterator[Found]:
    try:
        for key, start, end in entries(data):
            column = key[:COLUMN_ID]
            if columns is None or column in columns:
                yield column, Single(key, decoder.decode(data, start, end) if end > start else None)
    except FormatError as error:
        raise FormatError(error.why, offset) from error


class _Reader:
    """Reads batches, and keeps the columns that are not complete yet."""

    def __init__(
        self, lockstep: VectorisedStats, decoder: ColumnStatsDecoder, columns: Collection[bytes] | None
    ) -> None:
        self._lockstep = lockstep
        self._decoder = decoder
        self._columns = columns
        self._id = b""
        self._parts: list[StatsColumns] = []

    def read(self, batch: BlockBatch) -> Iterator[Found]:
        try:
            yield from self._read(batch)
        except Fallback:
            half = len(batch.offsets) // 2
            if half:  # the other blocks need not suffer for one
                for some in (slice(half), slice(half, None)):
                    yield from self.read(
                        BlockBatch(batch.data, batch.starts[some], batch.ends[some], batch.offsets[some])
                    )
                return
            yield from self.rest()
            data = batch.data[int(batch.starts[0]) : int(batch.ends[0])].tobytes()
            yield from _one_by_one(data, batch.offsets[0], self._decoder, self._columns)

    def rest(self) -> Iterator[Found]:
        """What is complete when no more of its column follows."""
        if self._parts:
            yield self._id, StatsColumns.joined(self._parts)
            self._parts = []

    def _read(self, batch: BlockBatch) -> Iterator[Found]:
        """Raises Fallback before it gives anything."""
        data = batch.data
        key_size = int.from_bytes(data[batch.starts[0] : batch.starts[0] + 4].tobytes(), "big", signed=True)
        size = key_size - 12
        if not COLUMN_ID <= size <= 4096:
            raise Fallback
        keys, values, ends = walk(data, batch.starts, batch.ends, key_size)
        words = words_of(data)
        head, tail = words[keys], words[keys + 4]
        cuts = np.flatnonzero((head[1:] != head[:-1]) | (tail[1:] != tail[:-1])) + 1
        edges = [0, *cuts.tolist(), len(keys)]
        return self._columns_of(batch, size, keys, values, ends, edges)

    def _columns_of(
        self, batch: BlockBatch, size: int, keys: Positions, values: Positions, ends: Positions, edges: list[int]
    ) -> Iterator[Found]:
        whole = np.ndarray((len(batch.data) - size + 1,), f"V{size}", batch.data.data, 0, (1,))
        for first, last in pairwise(edges):
            column = batch.data[keys[first] : keys[first] + COLUMN_ID].tobytes()
            if self._columns is not None and column not in self._columns:
                continue
            if column != self._id:
                yield from self.rest()
                self._id = column
            for start in range(first, last, STEP):
                chosen = slice(start, min(start + STEP, last))
                yield from self._step(batch, whole, column, keys[chosen], values[chosen], ends[chosen])

    def _step(
        self,
        batch: BlockBatch,
        whole: npt.NDArray[np.void],
        column: bytes,
        keys: Positions,
        values: Positions,
        ends: Positions,
    ) -> Iterator[Found]:
        if len(keys) > FEW_OF_A_COLUMN and (values < ends).all():
            try:
                bare = whole[keys].view(np.uint8).reshape(len(keys), -1)
                part = self._lockstep.decode(batch.data, bare, values, ends)
            except Fallback:
                pass
            else:
                if self._parts and self._parts[0].column != part.column:
                    yield from self.rest()
                self._parts.append(part)
                return
        yield from self.rest()
        for place, value, end in zip(keys.tolist(), values.tolist(), ends.tolist(), strict=True):
            try:
                record = None
                if end > value:
                    record = self._decoder.decode(batch.data[value:end].tobytes(), 0, end - value)
            except FormatError as error:
                raise FormatError(error.why, batch.offset_at(value)) from error
            yield column, Single(whole[place].tobytes(), record)
