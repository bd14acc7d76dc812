"""Many keys looked up in one pass: sorted keys are merged with the sorted entries of a shard, block by block.

    keys        b    d     f              q
    blocks     [a..c][c..e]     [g..j]   [k..r]
    read        b     d          -        q         a block that no key falls into is not read

The keys between the first and the last entry of neighbouring blocks are compared with all of their entries at once. A
key is the piece of the first column (``keys``), which entries of composite keys begin with.

Generations are read from the newest to the oldest. A tombstone removes the same entry of every older generation, so
tombstones of the keys are kept while older generations are read; record keys are read only where there are some.

The pass ends when every group that is asked about has been found: a group is looked for, not counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.own.secondary.keys import after, leading_of
from index_store.own.secondary.sorted_table import SortedTable

__all__ = ["KeySpan", "SortedPieces", "find_groups", "spans_of"]

Mask = npt.NDArray[np.bool_]
#: At most so many blocks are compared with their keys at once, and no more of them when they have so many bytes.
_MOST_TOGETHER, _TOGETHER_BYTES = 16, 2 << 20


class SortedPieces(Sequence[bytes]):
    """Distinct pieces in ascending order: ``array`` is ``(n,) binary`` or ``large_binary`` without NULL."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array.cast(pa.binary()) if not pa.types.is_binary(array.type) else array
        _, offsets, content = self.array.buffers()
        begin = self.array.offset
        edges = np.frombuffer(offsets or b"", np.int32)
        self._edges: npt.NDArray[np.int32] = edges[begin : begin + len(self.array) + 1]
        self._content = memoryview(content or b"")

    @classmethod
    def of(cls, pieces: pa.Array) -> SortedPieces:
        """The same pieces sorted, each once."""
        pieces = pieces.cast(pa.binary())
        in_order = pieces.take(pc.sort_indices(pieces))
        if len(in_order) > 1:
            differs = np.ones(len(in_order), np.bool_)
            differs[1:] = pc.not_equal(in_order[1:], in_order[:-1]).to_numpy(zero_copy_only=False)
            in_order = in_order if differs.all() else in_order.filter(pa.array(differs))
        return cls(in_order)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        number %= len(self)
        return bytes(self._content[self._edges[number] : self._edges[number + 1]])

    @cached_property
    def listed(self) -> list[bytes]:
        """All pieces as a list, which is bisected faster."""
        pieces: list[bytes] = self.array.to_pylist()
        return pieces

    def chosen(self, mask: Mask) -> SortedPieces:
        """Those where the mask is TRUE."""
        return SortedPieces(self.array.filter(pa.array(mask)))


@frozen
class KeySpan:
    """A block, and the keys from ``begin`` up to ``end`` that its entries may begin with, or those of its next ones."""

    block: int
    begin: int
    end: int


def spans_of(table: SortedTable, keys: SortedPieces) -> Iterator[KeySpan]:
    """The blocks of a table that may have an entry with one of the keys, in order.

    No piece is the prefix of another one, so of the keys of a block only the last can have entries in the next.
    """
    block, key = 0, 0
    firsts, lasts, pieces = table.firsts, table.lasts, keys.listed
    while key < len(pieces) and (block := bisect_left(lasts, pieces[key], block)) < len(lasts):
        first = firsts[block]
        begin = bisect_left(pieces, first, key)
        if begin > key and first.startswith(pieces[begin - 1]):
            begin -= 1
        end = bisect_right(pieces, lasts[block], begin)
        if begin < end:
            yield KeySpan(block, begin, end)
            block, key = block + 1, end - 1
        else:
            key = begin


def find_groups(
    tables: Sequence[SortedTable], spans: Sequence[Sequence[KeySpan]], keys: SortedPieces, sought: Mask
) -> int:
    """Set ``sought`` to FALSE for each group that has an entry with one of the keys; how many blocks were read.

    tables    the generations of one shard, the newest last
    spans     ``spans_of`` each of them
    sought    ``(groups,) bool``, by number of the group; other groups are not looked for

    Raises TableError for a damaged file.
    """
    blocks = 0
    tombstones = _Tombstones()
    for number in range(len(tables) - 1, -1, -1):
        table = tables[number]
        gone: list[pa.Array] = []
        for run, has_tombstones in _runs(spans[number], keys, tombstones):
            some_deleted = any(table.deleted[one.block] for one in run)
            keeps_tombstones = some_deleted and number > 0
            names = ["key", "group"]
            names += ["deleted"] * some_deleted + ["record"] * (has_tombstones or keeps_tombstones)
            batches = table.read(range(run[0].block, run[-1].block + 1), names)
            for one, batch, many in _together(run, batches):
                blocks += many
                of_keys = pc.is_in(leading_of(batch.column("key")), value_set=keys.array[one.begin : one.end])
                live = of_keys.to_numpy(zero_copy_only=False)
                if some_deleted:
                    deleted = batch.column("deleted").to_numpy(zero_copy_only=False)
                    if keeps_tombstones and (removed := live & deleted).any():
                        gone.append(_identities(batch.filter(pa.array(removed))))
                    live = live & ~deleted
                groups = batch.column("group").to_numpy()
                live &= sought[np.minimum(groups, len(sought) - 1)] & (groups < len(sought))
                if has_tombstones and live.any():
                    rows = np.flatnonzero(live)
                    removed_later = tombstones.hold(_identities(batch.take(pa.array(rows))), keys, one)
                    live[rows[removed_later]] = False
                sought[groups[live]] = False
                if not sought.any():
                    return blocks
        tombstones.add(gone)
    return blocks


def _together(
    run: Sequence[KeySpan], batches: Iterable[pa.RecordBatch]
) -> Iterator[tuple[KeySpan, pa.RecordBatch, int]]:
    """The entries of 1, 2, 4 and then more blocks at once, the span of their keys, and how many blocks they are.

    A call costs more than the entries of a block do; the first blocks alone may have every group.
    """
    most, held = 1, 0
    waiting: list[tuple[KeySpan, pa.RecordBatch]] = []
    for one, batch in zip(run, batches, strict=True):
        waiting.append((one, batch))
        held += batch.nbytes
        if len(waiting) == most or held >= _TOGETHER_BYTES or one is run[-1]:
            first = waiting[0][0]
            all_of_them = batch if len(waiting) == 1 else pa.concat_batches([some for _, some in waiting])
            yield KeySpan(first.block, first.begin, one.end), all_of_them, len(waiting)
            most, held, waiting = min(2 * most, _MOST_TOGETHER), 0, []


def _runs(
    spans: Sequence[KeySpan], keys: SortedPieces, tombstones: _Tombstones
) -> Iterator[tuple[Sequence[KeySpan], bool]]:
    """Spans of neighbouring blocks, and whether keys of theirs have tombstones in newer generations."""
    run: list[KeySpan] = []
    had = False
    for one in spans:
        has = tombstones.any_of(keys, one)
        if run and (run[-1].block != one.block - 1 or has != had):
            yield run, had
            run = []
        run.append(one)
        had = has
    if run:
        yield run, had


def _identities(entries: pa.RecordBatch) -> pa.Array:
    """Key, record key and group of entries as bytes, no two alike: a key ends where its pieces do, a group has 4."""
    groups = entries.column("group").to_numpy().astype(">i4")
    numbers = pa.FixedSizeBinaryArray.from_buffers(pa.binary(4), len(groups), [None, pa.py_buffer(groups)])
    return pc.binary_join_element_wise(
        entries.column("key"), entries.column("record"), numbers.cast(pa.binary()), pa.scalar(b"", pa.binary())
    )


class _Tombstones:
    """The entries that newer generations removed, sorted."""

    def __init__(self) -> None:
        self._sorted = SortedPieces(pa.array([], pa.binary()))

    def add(self, identities: Sequence[pa.Array]) -> None:
        """Add the tombstones of a generation."""
        if identities:
            self._sorted = SortedPieces.of(pa.concat_arrays([self._sorted.array, *identities]))

    def any_of(self, keys: SortedPieces, span: KeySpan) -> bool:
        """Whether some entry with one of these keys is removed."""
        return bool(len(self._sorted)) and len(self._between(keys, span)) > 0

    def hold(self, identities: pa.Array, keys: SortedPieces, span: KeySpan) -> Mask:
        """``(n,) bool``: which of the entries with these keys are removed."""
        of_keys = self._between(keys, span)
        held: Mask = pc.is_in(identities, value_set=self._sorted.array[of_keys.start : of_keys.stop]).to_numpy(
            zero_copy_only=False
        )
        return held

    def _between(self, keys: SortedPieces, span: KeySpan) -> range:
        begin = bisect_left(self._sorted, keys[span.begin])
        end = after(keys[span.end - 1])
        assert end is not None  # a piece begins with its tag
        return range(begin, bisect_left(self._sorted, end, begin))
