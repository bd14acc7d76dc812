"""External sorting of entries: pieces that fit in memory are sorted, written to disk as runs, and merged.

    sort_entries    entries in any order -> sorted and distinct; of equal ones the last stays
    merge_runs      sorted runs, the newest last -> one run; of equal entries the newest run's stays, with tombstones
                    or without

A merge holds one block of each run. The least of their last entries is a bound up to which every run is complete, so
the rows up to the bound are taken from all blocks and sorted, and of equal entries the newest stays:

    run 1   a b | c d f        bound b (of run 2's first block)
    run 2   b | g              taken: a b of run 1, b of run 2; given: a, b of run 2
    next    c d f, g           bound f; and so on

Memory: about ``budget`` bytes while sorting, and a block of each of at most FAN_IN runs while merging.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from index_store.own.secondary.entries import Order, schema_of

__all__ = ["Blocks", "EntrySorter", "merge_runs", "sort_entries", "together"]

#: How many runs are merged at once.
FAN_IN = 64
#: Sorting a piece takes so many times its bytes: the piece, its copy as one chunk, the order, and the sorted piece.
_COPIES = 4
#: Merging takes so many times the bytes of a block: the block, its keys in Python, its taken rows, and these sorted.
_COPIES_OF_BLOCKS = 6
#: An array of bytes has offsets of 32 bits.
_MAX_BYTES = 1 << 30


def sort_entries(
    batches: Iterable[pa.RecordBatch], *, order: Order, budget: int = 256 << 20, directory: str | Path | None = None
) -> Iterator[pa.RecordBatch]:
    """The distinct entries in order, in batches; of equal ones the last stays.

    ``budget``: about how many bytes of memory are used. Entries beyond it lie in ``directory`` (None: the one for
    temporary files) until the iterator ends or is closed. ``batches`` have the columns of entries in any order.
    """
    with EntrySorter(order, budget, directory) as sorter:
        for batch in batches:
            sorter.add(batch)
        yield from sorter.sorted()


class EntrySorter:
    """Takes entries and gives them in order, once. Its files are removed after the ``with`` block."""

    def __init__(
        self, order: Order, budget: int = 256 << 20, directory: str | Path | None = None, *, fan_in: int = FAN_IN
    ) -> None:
        self._order: Order = order
        self._names = schema_of(order).names
        self._piece = min(_MAX_BYTES, max(1, budget // _COPIES))
        self._block = max(1, budget // (_COPIES_OF_BLOCKS * fan_in))
        self._fan_in = fan_in
        self._parent = directory
        self._stack = ExitStack()
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self._runs: list[Path] = []
        self._numbers = count()
        self._directory: Path | None = None

    def __enter__(self) -> EntrySorter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting = []
        self._stack.__exit__(kind, error, trace)

    @property
    def runs(self) -> int:
        """How many sorted runs lie on disk."""
        return len(self._runs)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add entries."""
        for piece in _pieces(batch.select(self._names), self._piece):
            if self._waiting and self._bytes + piece.nbytes > self._piece:
                self._spill()
            self._waiting.append(piece)
            self._bytes += piece.nbytes

    def sorted(self) -> Iterator[pa.RecordBatch]:
        """All entries, in order."""
        if not self._runs:
            if self._waiting:
                yield from _pieces(self._sorted_piece(), self._block)
            return
        if self._waiting:
            self._spill()
        while len(self._runs) > self._fan_in:  # neighbours, so that the order of age stays
            groups = [self._runs[at : at + self._fan_in] for at in range(0, len(self._runs), self._fan_in)]
            self._runs = [self._merged(group) for group in groups]
        yield from self._merging(self._runs)

    def _sorted_piece(self) -> pa.RecordBatch:
        piece = _in_order(self._waiting)
        self._waiting, self._bytes = [], 0
        return piece

    def _spill(self) -> None:
        self._runs.append(self._written(_pieces(self._sorted_piece(), self._block)))

    def _merged(self, runs: Sequence[Path]) -> Path:
        written = self._written(self._merging(runs))
        for run in runs:
            run.unlink()
        return written

    def _merging(self, runs: Sequence[Path]) -> Iterator[pa.RecordBatch]:
        merged = merge_runs([_read_run(run) for run in runs], order=self._order, drop_deleted=False)
        for batch in together(merged, self._block):
            yield from _pieces(batch, self._block)

    def _written(self, batches: Iterable[pa.RecordBatch]) -> Path:
        if self._directory is None:
            self._directory = Path(
                self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sargo-runs-", dir=self._parent))
            )
        path = self._directory / f"{next(self._numbers)}.arrow"
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema_of(self._order), options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
        return path


def merge_runs(
    runs: Sequence[Iterable[pa.RecordBatch]], *, order: Order, drop_deleted: bool
) -> Iterator[pa.RecordBatch]:
    """Merge runs, the newest last, to one run in batches that are not empty; of equal entries the newest run's stays.

    Each run is in order, without duplicates. ``drop_deleted``: tombstones are left out, as no older run follows.
    """
    blocks = [Blocks(iter(run), schema_of(order).names) for run in runs]
    while live := [one for one in blocks if one.fill()]:
        bound = min(one.last for one in live)
        parts = [part for part in (one.taken(bound) for one in live) if part.num_rows]
        batch = parts[0] if len(parts) == 1 else _in_order(parts)
        if drop_deleted:
            batch = batch.filter(pc.invert(batch.column("deleted")))
        if batch.num_rows:
            yield batch


class Blocks:
    """A run, one block of which is in memory. ``last``: the last entry of the block, in the order of the sort."""

    last: tuple[Any, ...]

    def __init__(self, batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> None:
        self._batches, self._names = batches, names
        self._block: pa.RecordBatch | None = None
        self._begin = 0
        self._values: list[list[Any]] = []

    def fill(self) -> bool:
        """Read the next block when no rows of this one are left; False at the end of the run."""
        while self._block is None or self._begin == self._block.num_rows:
            block = next(self._batches, None)
            self._block, self._begin, self._values = block, 0, []
            if block is None:
                return False
            self._block = block.select(self._names)
            if block.num_rows:
                self.last = tuple(self._block.column(number)[-1].as_py() for number in range(3))
        return True

    def taken(self, bound: tuple[Any, ...]) -> pa.RecordBatch:
        """Take the rows of the block up to the bound; the other rows stay."""
        block = self._block
        assert block is not None
        begin, self._begin = self._begin, block.num_rows if self.last <= bound else self._end(block, bound)
        return block.slice(begin, self._begin - begin)

    def _end(self, block: pa.RecordBatch, bound: tuple[Any, ...]) -> int:
        """The number of rows of the block up to the bound."""
        low, high = self._begin, int(block.num_rows)
        for number, end in enumerate(bound):
            if number == len(self._values):
                self._values.append(block.column(number).to_pylist())
            values = self._values[number]
            low, high = bisect_left(values, end, low, high), bisect_right(values, end, low, high)
            if low == high:
                break
        return high


def _in_order(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows, sorted; of equal ones the last in the parts."""
    rows = pa.concat_batches(parts)
    names = rows.schema.names[:3]
    ordered = rows.take(pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in names]))  # a stable sort
    if ordered.num_rows > 1:
        differ = np.zeros(ordered.num_rows - 1, np.bool_)
        for name in ("group", *(name for name in names if name != "group")):
            column = ordered.column(name)
            differ |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        if not differ.all():
            ordered = ordered.filter(pa.array(np.append(differ, True)))
    return ordered


def together(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of about this many bytes; no batch is divided."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        if waiting and held + batch.nbytes > size:
            yield pa.concat_batches(waiting)
            waiting, held = [], 0
        waiting.append(batch)
        held += batch.nbytes
    if waiting:
        yield pa.concat_batches(waiting)


def _pieces(batch: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    """The batch in slices of about so many bytes, at least one row each."""
    rows = max(1, int(batch.num_rows * size / max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _read_run(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path), "rb") as source, pa.ipc.open_file(source) as reader:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
