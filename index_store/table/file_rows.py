"""The rows of one file of a table, in batches of columns in plain form.

    file                what is read
    ------------------  ------------------------------------------------------------------------------------
    Parquet base file   the columns asked for, through pyarrow
    log file            the records of all data blocks, Avro or Parquet, also of rolled-back ones; deletions are left
                        out, as they add no rows
    anything else       nothing: its columns are unknown

A merged row has each of its values from one of its slice's files (C3), so a fact about the rows of all files holds for
it. Where a log file may not have the value, the column is unknown in the file: partial updates, blocks without the
column, blocks that disagree on its type. INT96 timestamps (P14), unsigned numbers and text that is not UTF-8 are also
unknown.

Pitfall P14 is described in docs/facts/pitfalls.md#p14.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_numpy
from evaluator.language.records import entity
from evaluator.language.types import Kind
from index_store.formats.bounded.avro_schema import check_schema
from index_store.formats.bounded.avro_values import decode_value
from index_store.formats.bounded.json_text import parse_schema
from index_store.formats.bounded.parquet_bounds import check_pages, read_footer
from index_store.formats.log_file import AVRO_DATA, CDC, COMMAND, DELETE, PARQUET_DATA, LogBlock, read_log_blocks
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import Storage
from index_store.table.file_types import ABSENT, FileType, parquet_types, type_in
from index_store.table.plain_values import plain_array, plain_type
from index_store.table.table_schema import from_avro

__all__ = [
    "BYTES_PER_BATCH",
    "ROWS_PER_BATCH",
    "ColumnRows",
    "RowBatch",
    "block_rows",
    "log_batches",
    "parquet_rows",
    "read_rows",
]

ROWS_PER_BATCH = 1 << 17
#: Texts of a batch in bytes, unless one row has more.
BYTES_PER_BATCH = 128 << 20
#: Rows of a batch with texts inside of structs: pyarrow writes those out at once.
NESTED_ROWS = 1 << 12
_COUNT, _LENGTH = struct.Struct(">ii"), struct.Struct(">i")


@entity
class ColumnRows:
    """One column in a batch: its type in the file, and its values in plain form, None where they are unknown."""

    type: FileType
    values: pa.Array | None = None


@entity
class RowBatch:
    """A batch of rows: how many (-1: unknown), and the columns that were asked for, by name."""

    rows: int
    columns: Mapping[str, ColumnRows]


def read_rows(storage: Storage, path: str, names: Sequence[str]) -> Iterator[RowBatch]:
    """The rows of a file, in batches. Raises TableError when the file cannot be read or is damaged."""
    name = path.rpartition("/")[2]
    if name.startswith("."):
        data = storage.read(path)
        with naming_table(storage.absolute(path)):
            yield from _log_rows(data, names)
    elif name.endswith(".parquet"):
        try:
            with storage.input_file(path) as stream:
                yield from parquet_rows(stream, names)
        except (FormatError, OSError, pa.ArrowException) as error:
            raise TableError(storage.absolute(path), f"cannot be read: {error}") from error
    else:
        yield RowBatch(-1, dict.fromkeys(names, ColumnRows(FileType.unknown("a base file that is not Parquet"))))


# -- Parquet


def parquet_rows(stream: Any, names: Sequence[str]) -> Iterator[RowBatch]:
    """The rows of an open Parquet file (pyarrow's), in batches. Raises FormatError, OSError or pa.ArrowException."""
    metadata = read_footer(stream)
    with parquet.ParquetFile(stream, metadata=metadata, coerce_int96_timestamp_unit="us") as file:
        types = parquet_types(file.metadata, file.schema_arrow, names)
        wanted = [name for name, of in types.items() if of.is_known]
        check_pages(
            stream, metadata, [i for i in range(metadata.num_columns) if metadata.schema.column(i).path in wanted]
        )
        if not wanted:
            yield RowBatch(file.metadata.num_rows, {name: ColumnRows(of) for name, of in types.items()})
            return
        top = set(file.schema_arrow.names)
    leaves = [leaf for leaf in map(metadata.schema.column, range(metadata.num_columns)) if leaf.path in wanted]
    every_text = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    texts = [path for path in every_text if path in top]
    longest = max((leaf.length for leaf in leaves if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY"), default=1)
    most = ROWS_PER_BATCH if len(texts) == len(every_text) else NESTED_ROWS
    rows = max(1, min(most, BYTES_PER_BATCH // max(1, longest)))
    # a text that a dictionary repeats is not repeated in memory before the batch is cut into pieces
    with parquet.ParquetFile(
        stream, metadata=metadata, coerce_int96_timestamp_unit="us", read_dictionary=texts
    ) as file:
        seen = 0
        for batch in file.iter_batches(rows, columns=wanted, use_threads=len(wanted) > 1):
            seen += batch.num_rows
            arrays = {name: _array_of(batch, name) for name in wanted}
            for start, stop in _pieces(list(arrays.values()), batch.num_rows):
                columns = {
                    name: _plain(_decoded(arrays[name][start:stop]), of) if of.is_known else ColumnRows(of)
                    for name, of in types.items()
                }
                yield RowBatch(stop - start, columns)
        if not seen:
            yield RowBatch(0, {name: ColumnRows(of) for name, of in types.items()})


def _array_of(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name in batch.schema.names:
        return batch.column(name)
    first, *rest = name.split(".")
    array = batch.column(first)
    for part in rest:
        array = pc.struct_field(array, part)
    return array


def _pieces(arrays: Sequence[pa.Array], rows: int) -> Iterator[tuple[int, int]]:
    """Where pieces start and stop whose texts have BYTES_PER_BATCH when they are written out, or one row."""
    until = np.zeros(rows, np.int64)
    for array in arrays:
        if pa.types.is_dictionary(array.type) and len(array.dictionary):
            lengths = pc.binary_length(array.dictionary).cast(pa.int64()).take(array.indices)
            until += to_numpy(lengths, null=0)
    until = np.cumsum(until)
    start, before = 0, 0
    while start < rows:
        stop = max(start + 1, int(np.searchsorted(until, before + BYTES_PER_BATCH, "right")))
        yield start, stop
        start, before = stop, int(until[stop - 1])


def _decoded(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _plain(array: pa.Array, of: FileType) -> ColumnRows:
    try:
        return ColumnRows(of, plain_array(array, of))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        return ColumnRows(FileType.unknown(f"values that are none of {of.text}: {str(error).splitlines()[0]}"))


# -- log files


def _log_rows(data: bytes, names: Sequence[str]) -> Iterator[RowBatch]:
    """Raises FormatError for a damaged file."""
    for block in read_log_blocks(data):
        if block.type not in (DELETE, COMMAND, CDC):
            yield block_rows(block, names)


def block_rows(block: LogBlock, names: Sequence[str]) -> RowBatch:
    """The rows of a data block, with the columns unknown that it may lack.

    Raises FormatError for a damaged block, and for one of another type.
    """
    batch = _rows_of_block(block, names)
    if batch is None:
        raise FormatError(f"the rows of a block of type {block.type} are not read")
    if block.is_partial:
        why = FileType.unknown("partial updates")
        batch = RowBatch(batch.rows, dict.fromkeys(names, ColumnRows(why)))
    return RowBatch(
        batch.rows,
        {
            name: ColumnRows(FileType.unknown("a log block without the column")) if column.type == ABSENT else column
            for name, column in batch.columns.items()
        },
    )


def log_batches(data: bytes, names: Sequence[str]) -> Iterator[tuple[LogBlock, RowBatch | None]]:
    """Each block of a log file that may hold rows, and what it holds; None for a block of a type that is not read.

    A column that the block does not have is ``ABSENT`` there, also of partial updates. Raises FormatError for damage.
    """
    for block in read_log_blocks(data):
        if block.type not in (DELETE, COMMAND, CDC):
            yield block, _rows_of_block(block, names)


def _rows_of_block(block: LogBlock, names: Sequence[str]) -> RowBatch | None:
    """The rows of a data block, with what it lacks ``ABSENT``; None for a block of a type that is not read."""
    if block.type == AVRO_DATA:
        return _avro_rows(block, names)
    if block.type == PARQUET_DATA:
        return _parquet_block(block, names)
    return None


def _parquet_block(block: LogBlock, names: Sequence[str]) -> RowBatch:
    try:
        batches = list(parquet_rows(pa.BufferReader(block.content), names))
    except (OSError, pa.ArrowException) as error:
        raise FormatError(f"a Parquet block cannot be read: {error}") from error
    columns = {}
    for name in names:
        parts = [batch.columns[name] for batch in batches]
        unknown = next((part for part in parts if part.values is None), None)
        columns[name] = unknown or ColumnRows(parts[0].type, pa.concat_arrays([part.values for part in parts]))
    return RowBatch(sum(batch.rows for batch in batches), columns)


def _avro_rows(block: LogBlock, names: Sequence[str]) -> RowBatch:
    columns = from_avro(block.schema)
    types = {name: type_in(columns, name) for name in names}
    records = list(_records(block))
    by_name: dict[str, ColumnRows] = {}
    for name, of in types.items():
        if not of.is_known:
            by_name[name] = ColumnRows(of)
            continue
        parts = name.split(".")
        try:
            by_name[name] = ColumnRows(of, _plain_of([_at(record, parts) for record in records], of))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            by_name[name] = ColumnRows(FileType.unknown(f"values that are none of {of.text}: {error}"))
    return RowBatch(len(records), by_name)


def _at(record: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if record is None:
            return None
        record = record[part]
    return record


def _records(block: LogBlock) -> Iterator[Mapping[str, Any]]:
    """The records of an Avro block with the stored values: logical types are not applied."""
    try:
        version, count = _COUNT.unpack_from(block.content)
        schema = check_schema(parse_schema(block.schema))
    except struct.error as error:
        raise FormatError(f"an Avro block cannot be understood: {error}") from error
    if version not in (1, 2, 3):
        raise FormatError(f"Avro block version {version} is not supported")
    position = 8
    for _ in range(count):
        if position + 4 > len(block.content):
            raise FormatError("an Avro block is cut off", position)
        length = _LENGTH.unpack_from(block.content, position)[0]
        start, position = position + 4, position + 4 + length
        if length < 0 or position > len(block.content):
            raise FormatError("an Avro block is cut off", start)
        record: Any = decode_value(block.content[start:position], schema)
        if not isinstance(record, Mapping):
            raise FormatError("an Avro value is not a record", start)
        yield record
    if count < 0 or position != len(block.content):
        raise FormatError("an Avro block does not end with its last record", position)


def _plain_of(values: list[Any], of: FileType) -> pa.Array:
    """The plain form of values as Avro stores them."""
    column_type = of.type
    plain = plain_type(column_type)
    match column_type.kind:
        case Kind.DECIMAL:
            unscaled = [None if value is None else int.from_bytes(value, "big", signed=True) for value in values]
            most = 10**column_type.precision
            if any(value is not None and abs(value) >= most for value in unscaled):
                raise ValueError("more digits than the type has")
            return pa.array(unscaled, plain)
        case Kind.STRING:
            return pa.array([None if value is None else value.encode("utf-8") for value in values], plain)
        case Kind.FLOAT | Kind.DOUBLE:
            return pa.array([None if value is None else value + 0.0 for value in values], plain)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ if of.unit == "millis":
            return pa.array([None if value is None else value * 1000 for value in values], plain)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ if of.unit == "nanos":
            return pa.array([None if value is None else value // 1000 for value in values], plain)
        case Kind.BOOLEAN:
            return pa.array([None if value is None else int(value) for value in values], plain)
        case _:
            return pa.array(values, plain)
