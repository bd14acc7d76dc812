"""An Arrow table in a Parquet file, of which single columns are read, each checked against a digest first (C10).

    in the version    file name, size, rows, digests of the footer and of every column in every row group
    read              the footer, and the bytes of the columns asked for: nothing is decoded before its digest matches

So a flipped bit raises an error and never changes a bound. Parquet's own checksums do not cover page headers and the
footer.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import xxhash
from pyarrow import parquet

from evaluator.language.records import frozen
from index_store.formats.bounded.parquet_bounds import check_chunk, read_footer
from index_store.own.store.folder import Folder
from index_store.storage.byte_source import ByteSource
from index_store.storage.errors import FormatError, TableError

__all__ = [
    "Keep",
    "StoredTable",
    "TableWriter",
    "begin_tables",
    "read_groups",
    "read_table",
    "stored_size",
    "write_table",
]

#: The size of a row group: at most so many rows, or bytes of Arrow.
GROUP_ROWS, GROUP_BYTES = 1 << 16, 64 << 20
#: What a column of a row group inflates to at most.
MAX_GROUP = 8 * GROUP_BYTES
_MAGIC = b"PAR1"
#: A column, and whether a row group with these values of it is read.
Keep = tuple[str, Callable[[pa.Table], bool]]


@frozen
class StoredTable:
    """A file of a version: a Parquet file, or one of ``secondary.sorted_table``.

    footer   the length of the footer, up to the end of the file, and its digest
    columns  the digests of each column by name, one for each row group
    """

    file: str
    rows: int
    size: int
    footer: tuple[int, str]
    columns: Mapping[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "file": self.file,
            "rows": self.rows,
            "size": self.size,
            "footer": list(self.footer),
            "columns": [[name, *digests] for name, digests in self.columns.items()],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> StoredTable:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""
        length, digest = plain["footer"]
        columns = {str(name): tuple(map(str, digests)) for name, *digests in plain["columns"]}
        return cls(str(plain["file"]), int(plain["rows"]), int(plain["size"]), (int(length), str(digest)), columns)


class TableWriter:
    """Writes rows of one schema to one file, which is described by ``stored`` after the ``with`` block (``writing``).

    ``sorted_text`` names columns of text in about ascending order. ``on_group`` is called with each row group.
    """

    stored: StoredTable

    def __init__(self, folder: Folder, file: str, schema: pa.Schema, sorted_text: Sequence[str] = ()) -> None:
        self._folder, self._file, self._schema, self._sorted = folder, file, schema, sorted_text
        self.on_group: Callable[[pa.Table], object] | None = None
        self._stack = ExitStack()
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0

    def __enter__(self) -> TableWriter:
        with ExitStack() as stack:
            self._path = stack.enter_context(self._folder.writing(self._file))
            with self._naming():
                self._writer = _writer(self._path, self._schema, self._sorted)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            with self._naming():
                if error[0] is None:
                    self.flush()
                self._writer.close()
                if error[0] is None:
                    self.stored = _described(self._path, self._file)
        except BaseException as fault:
            self._stack.__exit__(type(fault), fault, fault.__traceback__)
            raise
        self._stack.__exit__(*error)

    def write(self, rows: pa.Table) -> None:
        """Add rows. Raises TableError."""
        for start in range(0, rows.num_rows, GROUP_ROWS):
            piece = rows.slice(start, GROUP_ROWS)
            self._waiting.append(piece)
            self._rows, self._bytes = self._rows + piece.num_rows, self._bytes + piece.nbytes
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self.flush()

    def flush(self) -> None:
        """End the row group."""
        if self._rows:
            group = pa.concat_tables(self._waiting)
            self._waiting, self._rows, self._bytes = [], 0, 0
            with self._naming():
                self._writer.write_table(group, row_group_size=group.num_rows)
            if self.on_group is not None:
                self.on_group(group)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            raise TableError(self._folder.storage.absolute(self._file), f"cannot be written: {error}") from error


def _writer(where: Any, schema: pa.Schema, sorted_text: Sequence[str]) -> Any:
    others = [field.name for field in schema if field.name not in sorted_text]
    return parquet.ParquetWriter(
        where,
        schema,
        compression="zstd",
        write_statistics=False,
        use_dictionary=others or False,
        column_encoding=dict.fromkeys(sorted_text, "DELTA_BYTE_ARRAY") or None,
    )


def begin_tables(folder: Folder, tables: Iterable[StoredTable | None]) -> None:
    """Start to read those of these files that are small, side by side. No effect on a local disk."""
    folder.storage.begin_final({one.file: one.size for one in tables if one is not None})


def stored_size(rows: pa.Table, sorted_text: Sequence[str] = ()) -> int:
    """How many bytes a table would have as a file."""
    sink = pa.BufferOutputStream()
    with _writer(sink, rows.schema, sorted_text) as writer:
        writer.write_table(rows, row_group_size=GROUP_ROWS)
    return int(sink.getvalue().size)


def write_table(folder: Folder, file: str, rows: pa.Table, sorted_text: Sequence[str] = ()) -> StoredTable:
    """Write one table. Raises TableError; then there is no file."""
    with TableWriter(folder, file, rows.schema, sorted_text) as writer:
        writer.write(rows)
    return writer.stored


def read_table(folder: Folder, stored: StoredTable, columns: Sequence[str] | None = None) -> pa.Table:
    """The table, or those of the columns that it has. Raises TableError when it is not what was written."""
    groups = list(read_groups(folder, stored, columns))
    return pa.concat_tables(groups)


def read_groups(
    folder: Folder, stored: StoredTable, columns: Sequence[str] | None = None, keep: Keep | None = None
) -> Iterator[pa.Table]:
    """The same, one row group after the other; at least one table without ``keep``, which may have no rows.

    ``keep``: a column, and whether a row group with these values of it is wanted. Of the others it alone is read.
    """
    path = folder.storage.absolute(stored.file)
    wanted = [name for name in stored.columns if columns is None or name in columns]
    try:
        with folder.storage.open(stored.file, stored.size) as source:
            if source.size != stored.size:
                raise FormatError(f"{source.size} bytes instead of {stored.size}")
            length, digest = stored.footer
            tail = source.read_at(stored.size - length, length)
            if len(tail) != length or _digest([tail]) != digest:
                raise FormatError("the footer is damaged")
            metadata = read_footer(pa.BufferReader(_MAGIC + tail))
            leaves = _leaves(metadata)
            if metadata.num_rows != stored.rows or list(leaves) != list(stored.columns):
                raise FormatError("not the table that was written")
            if not metadata.num_row_groups and keep is None:
                yield metadata.schema.to_arrow_schema().empty_table().select(wanted)
            file = _OpenTable(source, stored, metadata, leaves)
            for group in range(metadata.num_row_groups):
                if keep is None or keep[1](file.read(group, [keep[0]])):
                    yield file.read(group, wanted)
    except (FormatError, pa.ArrowException, OSError, ValueError, IndexError, KeyError) as error:
        raise TableError(path, f"damaged: {error}") from error


@frozen(eq=False)
class _OpenTable:
    """An open file whose footer is the one that was written."""

    source: ByteSource
    stored: StoredTable
    metadata: Any
    leaves: Mapping[str, list[int]]

    def read(self, group: int, names: Sequence[str]) -> pa.Table:
        """Columns of a row group, none decoded before its digest matches."""
        image = mmap.mmap(-1, self.stored.size)  # only what is written to it takes memory
        for name in names:
            parts = []
            for start, size in _ranges(self.metadata, group, self.leaves[name]):
                data = self.source.read_at(start, size)
                check_chunk(data, MAX_GROUP)
                image[start : start + len(data)] = data
                parts.append(data)
            if _digest(parts) != self.stored.columns[name][group]:
                raise FormatError(f"column {name} is damaged")
        file = parquet.ParquetFile(pa.BufferReader(pa.py_buffer(image)), metadata=self.metadata)
        indices = [leaf for name in names for leaf in self.leaves[name]]
        return file.reader.read_row_group(group, column_indices=indices).select(names)


def _described(path: Path, file: str) -> StoredTable:
    """The description of a file that was just written."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        length = int.from_bytes(data[-8:-4], "little") + 8
        metadata = parquet.read_metadata(path)
        columns = {
            name: tuple(
                _digest([data[start : start + size] for start, size in _ranges(metadata, group, leaves)])
                for group in range(metadata.num_row_groups)
            )
            for name, leaves in _leaves(metadata).items()
        }
        return StoredTable(file, metadata.num_rows, len(data), (length, _digest([data[-length:]])), columns)


def _ranges(metadata: Any, group: int, leaves: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The offset and length of each leaf of a column in a row group."""
    for leaf in leaves:
        chunk = metadata.row_group(group).column(leaf)
        starts = [chunk.data_page_offset, *([chunk.dictionary_page_offset] if chunk.has_dictionary_page else [])]
        yield min(starts), chunk.total_compressed_size


def _leaves(metadata: Any) -> dict[str, list[int]]:
    """The Parquet columns that make up each Arrow column: a nested one has several."""
    leaves: dict[str, list[int]] = {}
    start = 0
    for field in metadata.schema.to_arrow_schema():
        count = _count(field.type)
        leaves[field.name] = list(range(start, start + count))
        start += count
    return leaves


def _count(kind: pa.DataType) -> int:
    if isinstance(kind, pa.BaseExtensionType):
        return _count(kind.storage_type)
    if pa.types.is_nested(kind):
        return sum(_count(kind.field(number).type) for number in range(kind.num_fields))
    return 1


def _digest(parts: Iterable[bytes]) -> str:
    state = xxhash.xxh3_64()
    for part in parts:
        state.update(part)
    return state.hexdigest()
