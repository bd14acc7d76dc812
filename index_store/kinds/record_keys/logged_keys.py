"""The record keys in a table's log files, and how many base rows have others.

The merged row of a key in a log file depends on the table's merge rules, on late deletions, and on which blocks are
valid. A row whose key is in no log file is as its base file has it. So the keys of all blocks are read, valid or not,
and rows fall into two classes:

    key in no log file       one row for each row of a base file; an index can be proven to know all of them
    key in some log file     may be in every slice whose log or base files have it

Log files are read whole, and the key column of the base files below them; limits bound both.
Source: ``HoodieAvroDataBlock``, ``HoodieDeleteBlock``.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_text
from evaluator.language.records import record
from index_store.formats.avro_record import RecordReader
from index_store.formats.bounded.json_text import parse_schema
from index_store.formats.bounded.parquet_bounds import read_footer, read_texts
from index_store.formats.log_file import AVRO_DATA, CDC, COMMAND, DELETE, PARQUET_DATA, deleted_keys, read_log_blocks
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlice, FileSlices
    from index_store.table.table import Table

__all__ = ["LoggedKeys", "read_logged_keys"]

#: Limits of what is read: bytes of log files, keys in them, rows of the base files below them.
LOG_BYTES, KEYS, BASE_ROWS = 64 << 20, 200_000, 5_000_000
#: Bytes of the keys of a file.
KEY_BYTES = 512 << 20
#: Base files that are read side by side where each costs a round trip; they share KEY_BYTES.
BASE_FILES_AT_ONCE = 16
_META = ("_hoodie_commit_time", "_hoodie_commit_seqno", RECORD_KEY)
_LENGTH = struct.Struct(">i")

#: Partition path ("" unless a key may occur once in each partition) and record key.
Name = tuple[str, str]


@record
class LoggedKeys:
    """``slices_of``: for each key in a log file the slices that have it; ``base_rows``: base rows with such keys.

    Only base files below log files are looked into.
    """

    slices_of: Mapping[Name, frozenset[int]]
    base_rows: int


def read_logged_keys(table: Table, slices: FileSlices, *, partitioned: bool) -> LoggedKeys | None:
    """The keys in the log files of all slices; None beyond the limits. Raises TableError for an unreadable file.

    ``partitioned``: a key may stand for one row in each partition.
    """
    below_logs = [number for number, one in enumerate(slices) if one.log_files and one.base_file]
    table.storage.begin(path for one in slices for path in one.log_files)
    with _KeyColumns(table, [slices[number] for number in below_logs]) as columns:
        return _read(table, slices, below_logs, columns, partitioned=partitioned)


def _read(
    table: Table, slices: FileSlices, below_logs: Sequence[int], columns: Iterable[Any], *, partitioned: bool
) -> LoggedKeys | None:
    """``columns``: the record keys of the base files of the slices ``below_logs``."""
    found: dict[Name, set[int]] = {}
    room = LOG_BYTES
    for slice_index, one in enumerate(slices):
        partition = one.partition if partitioned else ""
        for path in one.log_files:
            with table.storage.open(path) as source:
                room -= source.size
                if room < 0:
                    return None
                data = source.read_at(0, source.size)
            with naming_table(table.storage.absolute(path)):
                for key in _keys(data):
                    found.setdefault((partition, key), set()).add(slice_index)
            if len(found) > KEYS:
                return None
    texts = to_text(list({key for _, key in found}))
    rows_left, base_rows = BASE_ROWS, 0
    for slice_index, column in zip(below_logs, columns, strict=True):
        if column is None or len(column) > rows_left:
            return None
        rows_left -= len(column)
        partition = slices[slice_index].partition if partitioned else ""
        for key in column.filter(pc.is_in(column, value_set=texts)).to_pylist():
            if (partition, key) in found:
                found[partition, key].add(slice_index)
                base_rows += 1
    return LoggedKeys({name: frozenset(slice_indices) for name, slice_indices in found.items()}, base_rows)


class _KeyColumns:
    """The record keys of base files, in their order; None for one of more than BASE_ROWS rows.

    Where each costs a round trip, BASE_FILES_AT_ONCE of them are read ahead, from the beginning on.
    """

    def __init__(self, table: Table, slices: Sequence[FileSlice]) -> None:
        self._table = table
        self._left = iter(slices)
        self._at_once = 0 if table.storage.is_local else min(len(slices), BASE_FILES_AT_ONCE)
        self._max_bytes = KEY_BYTES // max(self._at_once, 1)
        self._pool = ThreadPoolExecutor(self._at_once, "sargo-keys") if self._at_once else None
        self._begun: deque[Future[tuple[str, Any, Any]]] = deque()
        for _ in range(self._at_once):
            self._begin_next()

    def _begin_next(self) -> None:
        one = next(self._left, None)
        if one is not None and self._pool is not None:
            self._begun.append(self._pool.submit(self._read, one))

    def _read(self, one: FileSlice) -> tuple[str, Any, Any]:
        return _key_column(self._table, one, BASE_ROWS, self._max_bytes)

    def __iter__(self) -> Iterator[Any]:
        while self._begun:
            yield self._known(*self._begun.popleft().result())
            self._begin_next()
        for one in self._left:
            yield self._known(*self._read(one))

    def _known(self, path: str, footer: Any, column: Any) -> Any:
        self._table.footers.know(path, footer)
        return column

    def __enter__(self) -> _KeyColumns:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _key_column(table: Table, one: FileSlice, max_rows: int, max_bytes: int) -> tuple[str, Any, Any]:
    """The path of a base file, its footer, and its record keys; no keys of a file of more rows."""
    path = one.base_file or ""
    try:
        with table.storage.input_file(path) as stream:
            footer = read_footer(stream)
            if footer.num_rows > max_rows:
                return path, footer, None
            [column] = read_texts(stream, [RECORD_KEY], max_rows, max_bytes)
    except (FormatError, OSError, pa.ArrowException, KeyError) as error:
        raise TableError(table.storage.absolute(path), f"no record keys: {error}") from error
    if column.null_count:
        raise TableError(table.storage.absolute(path), "a row without a record key")
    return path, footer, column


def _keys(data: bytes) -> Iterator[str]:
    """Every record key in the blocks of a log file. Raises FormatError."""
    for block in read_log_blocks(data):
        if block.type == DELETE:
            yield from deleted_keys(block.content)
        elif block.type == AVRO_DATA:
            yield from _avro_keys(block.content, block.schema)
        elif block.type == PARQUET_DATA:
            try:
                [column] = read_texts(pa.BufferReader(block.content), [RECORD_KEY], KEYS, KEY_BYTES)
                yield from column.to_pylist()
            except (OSError, pa.ArrowException, KeyError) as error:
                raise FormatError(f"no record keys in a Parquet block: {error}") from error
        elif block.type not in (COMMAND, CDC):
            raise FormatError(f"the keys of a block of type {block.type} are not read")


def _avro_keys(content: bytes, schema: str) -> Iterator[str]:
    """The keys of an Avro data block: version, number of records, and each with its length before it."""
    try:
        version, count = struct.unpack_from(">ii", content)
        parsed = parse_schema(schema)
        fields = parsed["fields"]
        plain = tuple(field["name"] for field in fields[:3]) == _META and all(
            field["type"] == ["null", "string"] for field in fields[:3]
        )
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise FormatError("an Avro block cannot be understood") from error
    if version not in (1, 2, 3):
        raise FormatError(f"Avro block version {version} is not supported")
    reader = None if plain else RecordReader(parsed)
    position = 8
    for _ in range(count):
        if position + 4 > len(content):
            raise FormatError("an Avro block is cut off", position)
        length = _LENGTH.unpack_from(content, position)[0]
        start, position = position + 4, position + 4 + length
        if length < 0 or position > len(content):
            raise FormatError("an Avro block is cut off", start)
        key = reader.read(content[start:position]).get(RECORD_KEY) if reader else _third_text(content, start, position)
        if not isinstance(key, str):
            raise FormatError("a record in a log file has no record key", start)
        yield key
    if count < 0 or position != len(content):
        raise FormatError("an Avro block does not end with its last record", position)


def _third_text(data: bytes, at: int, end: int) -> str | None:
    """The third of three texts, each of which may be null."""
    text = b""
    for field in range(3):
        branch, at = data[at], at + 1
        if branch == 0:
            if field == 2:
                return None
            continue
        size = shift = 0
        while True:
            if at >= end or shift > 28:
                raise FormatError("a record in a log file is cut off", at)
            byte, at = data[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        size >>= 1
        if branch != 2 or at + size > end:
            raise FormatError("a record in a log file is cut off", at)
        text, at = data[at : at + size], at + size
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("a record key is not text", at) from error
