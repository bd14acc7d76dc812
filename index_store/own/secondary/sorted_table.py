"""Sorted entries in an immutable file of blocks, of which a look-up reads those that may have its keys.

    "SGS1"    blocks: Arrow IPC record batches, zstd, one after the other
              index: an Arrow IPC stream, one row for each block: first, last, offset, size, rows, deleted, digest
              length of the index (8 bytes, little-endian), "SGS1"

``first`` and ``last`` bound the column that is sorted first. Long ones are shortened like the separators in a B-tree:
blocks without a common key still have bounds that do not overlap. A version has the length and the digest of everything
after the blocks (``StoredTable.footer``), and the index has the digest of each block. So a flipped bit raises an error
and never hides an entry, and the size of a version does not depend on the number of blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import xxhash

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.formats.bounded.arrow_blocks import check_batches
from index_store.own.secondary.entries import ENTRIES, REVERSE, Order
from index_store.own.secondary.entry_block import EntryBlock
from index_store.own.secondary.runs import together
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable
from index_store.storage.byte_source import ByteSource
from index_store.storage.errors import FormatError, TableError

__all__ = ["BLOCK_BYTES", "BLOCK_ROWS", "LARGEST_BLOCK", "SortedTable", "SortedWriter", "read_sorted", "write_sorted"]

#: The size of a block: at most so many entries, or bytes of Arrow.
BLOCK_ROWS, BLOCK_BYTES = 2048, 1 << 20
#: Neighbouring blocks are read in one request of at most so many bytes.
READ_TOGETHER = 1 << 20
#: What a block may inflate to: one entry may be larger than BLOCK_BYTES. An index describes a million blocks.
LARGEST_BLOCK, LARGEST_INDEX = 64 << 20, 256 << 20
_MAGIC = b"SGS1"
#: A bound in the index of more bytes than this is shortened.
_LONGEST = 64
_SCHEMAS: dict[str, pa.Schema] = {"key": ENTRIES, "group": REVERSE}


def write_sorted(folder: Folder, file: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> StoredTable | None:
    """Write entries that are in order: ENTRIES by key, REVERSE by group. None, and no file, when there are none.

    Raises TableError when the file cannot be written, ValueError for entries that are not in order.
    """
    not_empty = (batch for batch in batches if batch.num_rows)
    first = next(not_empty, None)
    if first is None:
        return None
    with SortedWriter(folder, file, schema) as writer:
        writer.write(first)
        for batch in not_empty:
            writer.write(batch)
    return writer.stored


class SortedWriter:
    """Writes one file. The file exists, described by ``stored``, after the ``with`` block."""

    stored: StoredTable

    def __init__(self, folder: Folder, file: str, schema: pa.Schema, *, block_rows: int = BLOCK_ROWS) -> None:
        self._folder, self._file, self._schema, self._block_rows = folder, file, schema, block_rows
        self._order = "key" if schema.equals(ENTRIES) else "group"
        if not schema.equals(_SCHEMAS[self._order]):
            raise ValueError("entries have the schema ENTRIES or REVERSE")
        self._stack = ExitStack()
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self._index: list[tuple[Any, ...]] = []
        self._position = len(_MAGIC)

    def __enter__(self) -> SortedWriter:
        with ExitStack() as stack, self._naming():
            path = stack.enter_context(self._folder.writing(self._file))
            self._sink: BinaryIO = stack.enter_context(path.open("wb"))
            self._sink.write(_MAGIC)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self.flush()
                with self._naming():
                    self._finish()
        except BaseException as fault:
            self._stack.__exit__(type(fault), fault, fault.__traceback__)
            raise
        self._stack.__exit__(*error)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add entries that follow the earlier ones in order. Raises TableError, and ValueError for others."""
        batch = batch.select(self._schema.names)
        step = max(1, min(self._block_rows, batch.num_rows * BLOCK_BYTES // max(1, batch.nbytes)))
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, min(step, self._block_rows - self._rows))
            if self._bytes + piece.nbytes > BLOCK_BYTES:
                self.flush()
            self._waiting.append(piece)
            self._rows, self._bytes = self._rows + piece.num_rows, self._bytes + piece.nbytes
            start += piece.num_rows
            if self._rows == self._block_rows:
                self.flush()

    def flush(self) -> None:
        """End the block. Raises as ``write``."""
        if self._rows:
            with self._naming():
                self._write_block()

    def _write_block(self) -> None:
        block = pa.concat_batches(self._waiting).replace_schema_metadata(None)
        self._waiting, self._rows, self._bytes = [], 0, 0
        if block.nbytes > LARGEST_BLOCK:
            raise TableError(
                self._folder.storage.absolute(self._file), f"an entry has {block.nbytes} bytes, at most {LARGEST_BLOCK}"
            )
        leading = block.column(0)
        first, last = leading[0].as_py(), leading[-1].as_py()
        before = self._index[-1][1] if self._index else None
        if (before is not None and first < before) or pc.any(pc.less(leading[1:], leading[:-1])).as_py():
            raise ValueError("entries are not in order")
        data = _message(block)
        deleted = pc.sum(block.column("deleted")).as_py() or 0
        self._index.append(
            (
                _separator(before, first),
                last,
                self._position,
                data.size,
                block.num_rows,
                deleted,
                xxhash.xxh3_64_intdigest(data),
            )
        )
        self._sink.write(data)
        self._position += data.size

    def _finish(self) -> None:
        schema = _index_schema(self._schema)
        columns = list(zip(*self._index, strict=True)) or [()] * len(schema)
        columns[1] = _shortened(columns[1], columns[0])
        index = pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_batch(index)
        data = sink.getvalue().to_pybytes()
        data += len(data).to_bytes(8, "little") + _MAGIC
        self._sink.write(data)
        self._sink.flush()
        self.stored = StoredTable(
            self._file,
            pc.sum(index.column("rows")).as_py() or 0,
            self._position + len(data),
            (len(data), xxhash.xxh3_64_hexdigest(data)),
            {},
        )

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            raise TableError(self._folder.storage.absolute(self._file), f"cannot be written: {error}") from error


def _message(block: pa.RecordBatch) -> pa.Buffer:
    """The message of the block in an Arrow IPC stream, without the schema and the end of the stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, block.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(block)
        end = sink.tell()
    return sink.getvalue()[block.schema.serialize().size : end]


def _index_schema(of: pa.Schema) -> pa.Schema:
    bound = of.field(0).type
    return pa.schema(
        [
            ("first", bound),
            ("last", bound),
            ("offset", pa.int64()),
            ("size", pa.int64()),
            ("rows", pa.int32()),
            ("deleted", pa.int32()),
            ("digest", pa.uint64()),
        ]
    )


def _separator(before: Any, first: Any) -> Any:
    """A lower bound of a block: at most its first key, and greater than the last key before it, if that is less."""
    if isinstance(first, int) or len(first) <= _LONGEST:
        return first
    shared = next(
        (length for length, (one, other) in enumerate(zip(before or b"", first, strict=False)) if one != other),
        min(len(before or b""), len(first)),
    )
    return first[: max(_LONGEST, shared + 1)]


def _shortened(lasts: Sequence[Any], firsts: Sequence[Any]) -> tuple[Any, ...]:
    """Upper bounds of blocks: the last keys, or for long ones the lower bound of the next block."""
    nexts = [*firsts[1:], *lasts[-1:]]
    return tuple(
        last if isinstance(last, int) or len(last) <= _LONGEST else following
        for last, following in zip(lasts, nexts, strict=True)
    )


def read_sorted(folder: Folder, stored: StoredTable, lo: Any = None, hi: Any = None) -> Iterator[pa.RecordBatch]:
    """The entries whose first column is in [lo, hi), in order, in batches; None: no end on this side.

    Only blocks that may have such an entry are read. Raises TableError for a damaged file.
    """
    yield from SortedTable.open(folder, stored).between(lo, hi)


@frozen(eq=False, kw_only=True)
class SortedTable:
    """A file whose index has been read and checked.

    firsts, lasts    bounds of the column that is sorted first, by block
    extents          the offset and size of each block
    rows, deleted    by block: how many entries, and how many of them are tombstones
    """

    folder: Folder
    stored: StoredTable
    schema: pa.Schema
    firsts: Sequence[Any]
    lasts: Sequence[Any]
    extents: Sequence[tuple[int, int]]
    rows: Sequence[int]
    deleted: Sequence[int]
    digests: Sequence[int]

    @classmethod
    def open(cls, folder: Folder, stored: StoredTable) -> SortedTable:
        """Read the index of a file. Raises TableError for a damaged one."""
        with _reading(folder, stored), folder.storage.open(stored.file, stored.size) as source:
            length, digest = stored.footer
            if source.size != stored.size:
                raise FormatError(f"{source.size} bytes instead of {stored.size}")
            if not 0 < length <= min(stored.size, LARGEST_INDEX):
                raise FormatError(f"an index of {length} bytes in {stored.size}")
            tail = source.read_at(stored.size - length, length)
            if len(tail) != length or xxhash.xxh3_64_hexdigest(tail) != digest:
                raise FormatError("the index is damaged")
            if check_batches(pa.py_buffer(tail), LARGEST_INDEX) != 1:
                raise FormatError("the index is not one batch")
            stream = pa.ipc.open_stream(tail)
            order: Order = "group" if pa.types.is_integer(stream.schema.field("first").type) else "key"
            if not stream.schema.equals(_index_schema(_SCHEMAS[order])):
                raise FormatError("the index has other columns")
            batch = stream.read_next_batch()
            batch.validate(full=True)
            if any(column.null_count for column in batch.columns):
                raise FormatError("the index has NULLs")
            firsts, lasts = (batch.column(name).to_pylist() for name in ("first", "last"))
            numbers = ("offset", "size", "rows", "deleted", "digest")
            offsets, sizes, rows, deleted, digests = (batch.column(name).to_numpy().tolist() for name in numbers)
            if sum(rows) != stored.rows:
                raise FormatError("not the table that was written")
            return cls(
                folder=folder,
                stored=stored,
                schema=_SCHEMAS[order],
                firsts=firsts,
                lasts=lasts,
                extents=list(zip(offsets, sizes, strict=True)),
                rows=rows,
                deleted=deleted,
                digests=digests,
            )

    def blocks(self, lo: Any = None, hi: Any = None) -> range:
        """The blocks that may have an entry whose first column is in [lo, hi)."""
        start = 0 if lo is None else bisect_left(self.lasts, lo)
        return range(start, len(self.firsts) if hi is None else max(start, bisect_left(self.firsts, hi)))

    def between(self, lo: Any = None, hi: Any = None) -> Iterator[pa.RecordBatch]:
        """``read_sorted`` for one of several ranges of this table."""
        yield from together(self._between(lo, hi), BLOCK_BYTES)

    def _between(self, lo: Any, hi: Any) -> Iterator[pa.RecordBatch]:
        for batch in self.read(self.blocks(lo, hi)):
            start, end = rows_in(batch.column(0), lo, hi)
            if start < end:
                yield batch.slice(start, end - start)

    def read(self, blocks: range, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read neighbouring blocks, each as a batch of the columns asked for. Raises TableError."""
        with _reading(self.folder, self.stored):
            for some, messages in self._messages(blocks):
                yield from self._decoded(some, messages, columns)

    def entry_blocks(self, blocks: range) -> Iterator[EntryBlock]:
        """Read neighbouring blocks of a table with the schema ENTRIES. Raises TableError."""
        with _reading(self.folder, self.stored):
            for some, messages in self._messages(blocks):
                for block, message in zip(some, messages, strict=True):
                    yield EntryBlock(message, self.rows[block], LARGEST_BLOCK)

    def _messages(self, blocks: range) -> Iterator[tuple[range, Sequence[memoryview]]]:
        """The messages of neighbouring blocks, those together that one request reads."""
        if not len(blocks):
            return
        with self.folder.storage.open(self.stored.file, self.stored.size) as source:
            start = blocks.start
            while start < blocks.stop:
                end = start + 1
                while end < blocks.stop and sum(self.extents[end]) - self.extents[start][0] <= READ_TOGETHER:
                    end += 1
                some = range(start, end)
                yield some, self._checked(source, some)
                start = end

    def _checked(self, source: ByteSource, blocks: range) -> Sequence[memoryview]:
        begin = self.extents[blocks.start][0]
        data = memoryview(source.read_at(begin, sum(self.extents[blocks.stop - 1]) - begin))
        messages = []
        for block in blocks:
            offset, size = self.extents[block]
            messages.append(data[offset - begin : offset - begin + size])
            if xxhash.xxh3_64_intdigest(messages[-1]) != self.digests[block]:
                raise FormatError("a block is damaged", offset)
        return messages

    def _decoded(
        self, blocks: range, messages: Sequence[memoryview], columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        names = self.schema.names
        options = pa.ipc.IpcReadOptions(
            use_threads=False, included_fields=[] if columns is None else [names.index(name) for name in columns]
        )
        data = pa.py_buffer(b"".join([self.schema.serialize(), *messages]))
        stream = pa.ipc.open_stream(data, options=options)
        if check_batches(data, LARGEST_BLOCK) != len(blocks):
            raise FormatError("not as many blocks as the index says", self.extents[blocks.start][0])
        for block in blocks:
            batch = stream.read_next_batch()
            if batch.num_rows != self.rows[block]:
                raise FormatError("a block has more or fewer entries than the index says", self.extents[block][0])
            batch.validate(full=True)
            yield batch


def rows_in(leading: pa.Array, lo: Any, hi: Any) -> tuple[int, int]:
    """The first row of a sorted column that is in [lo, hi), and the row after the last."""
    start = 0 if lo is None else _first_not_below(leading, lo, 0)
    return start, len(leading) if hi is None else _first_not_below(leading, hi, start)


def _first_not_below(leading: pa.Array, bound: Any, start: int) -> int:
    low, high = start, len(leading)
    while low < high:
        middle = (low + high) // 2
        if leading[middle].as_py() < bound:
            low = middle + 1
        else:
            high = middle
    return low


@contextmanager
def _reading(folder: Folder, stored: StoredTable) -> Iterator[None]:
    try:
        yield
    except (FormatError, pa.ArrowException, OSError, ValueError, IndexError, KeyError, StopIteration) as error:
        raise TableError(folder.storage.absolute(stored.file), f"damaged: {error}") from error
