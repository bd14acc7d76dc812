"""The rows of one file slice as Arrow batches in the table's schema; pure Python, for Spark's executors.

    a base file alone, or read-optimised    pyarrow, each column converted to the table's type (``file_columns``)
    a partition column                      its value in the partition's path, where Hudi's reader takes it from there
    another column that the file lacks      NULL
    a slice with log files                  ``merged_rows``

A column that cannot be converted to the table's type is an error that names file and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import SargoError, UnsupportedError
from handler.rows.file_columns import in_table_type, nullable
from handler.rows.merged_rows import merged_batches
from handler.rows.slice_source import SliceSource
from index_store import FileSlice, TableError
from index_store.table.file_slices import parse_base_name

__all__ = ["BATCH_ROWS", "check_base_file", "check_names", "instants_in_int96", "slice_batches"]

BATCH_ROWS = 8192
#: The instant of files that hold Hudi's own columns alone (``HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS``).
_BOOTSTRAPPED = "00000000000001"


def slice_batches(
    source: SliceSource,
    item: FileSlice,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    *,
    read_optimized: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Batches of the slice's rows, with the columns asked for in that order (None: all of the schema).

    ``schema``: the table's, as ``handler.spark.arrow_schemas.to_arrow_schema`` gives it. Raises TableError when a file
    cannot be read, UnsupportedError when its rows cannot be read rightly.
    """
    wanted = pa.schema(
        [pa.field(name, nullable(schema.field(name).type)) for name in (schema.names if columns is None else columns)]
    )
    if item.log_files and not read_optimized:
        if source.not_merged:
            raise UnsupportedError(f"{item.log_files[0]}: {source.not_merged}")
        if item.base_file:
            check_base_file(item.base_file)
        fixed = source.partitions.values(item.partition, wanted, frozenset(wanted.names))
        for batch in merged_batches(source, item, wanted, batch_rows):
            yield _with_fixed(batch, fixed)
    elif item.base_file is not None:
        yield from _base_batches(source, item, wanted, batch_rows)


def _base_batches(source: SliceSource, item: FileSlice, wanted: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    path = item.base_file or ""
    check_base_file(path)
    storage = source.storage()
    try:
        with (
            storage.input_file(path) as stream,
            parquet.ParquetFile(stream, coerce_int96_timestamp_unit="us", pre_buffer=not storage.is_local) as file,
        ):
            have = instants_in_int96(file)
            check_names(have, wanted.names, path)
            fixed = source.partitions.values(item.partition, wanted, frozenset(have.names))
            names = [name for name in wanted.names if name in have.names and name not in fixed]
            for batch in file.iter_batches(batch_rows, columns=names):
                yield _as_wanted(batch, have, wanted, fixed, path)
    except SargoError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise TableError(storage.absolute(path), f"cannot be read: {error}") from error


def instants_in_int96(file: Any) -> pa.Schema:
    """Columns and types of an open Parquet file; INT96 is an instant, as in Spark."""
    columns = file.metadata.schema
    int96 = {columns.column(i).path for i in range(len(columns)) if columns.column(i).physical_type == "INT96"}
    nested = int96.difference(file.schema_arrow.names)
    if nested:
        raise UnsupportedError(f"column {min(nested)}: a nested INT96 timestamp")
    return pa.schema(
        [
            pa.field(one.name, pa.timestamp("us", "UTC") if one.name in int96 else nullable(one.type))
            for one in file.schema_arrow
        ]
    )


def check_base_file(path: str) -> None:
    """Raise UnsupportedError for a base file that is not Parquet, or that a bootstrap left without the data columns."""
    if not path.endswith(".parquet"):
        raise UnsupportedError(f"{path}: only Parquet base files are read")
    parsed = parse_base_name(path.rpartition("/")[2])
    if parsed is not None and parsed.instant == _BOOTSTRAPPED:
        raise UnsupportedError(
            f'{path}: a bootstrapped file has no data columns; Hudi\'s bundle reads it (reader="hudi")'
        )


def check_names(schema: pa.Schema, names: Sequence[str], path: str) -> None:
    """Raise UnsupportedError when a file has a column twice, or only with other upper and lower case."""
    lower = {name.lower() for name in schema.names}
    for name in names:
        if schema.names.count(name) > 1:
            raise UnsupportedError(f"{path}: column {name} is there twice")
        if name not in schema.names and name.lower() in lower:
            raise UnsupportedError(f"{path}: column {name} is there in other letters only")


def _as_wanted(batch: Any, have: pa.Schema, wanted: pa.Schema, fixed: Mapping[str, Any], path: str) -> Any:
    """A file's batch with the table's columns; ``fixed``: the values of partition columns that the path says."""
    made = []
    for one in wanted:
        if one.name in fixed:
            made.append(_repeated(fixed[one.name], one.type, batch.num_rows))
        elif one.name in have.names:
            column = batch.column(one.name)
            if have.field(one.name).type != column.type and pa.types.is_timestamp(column.type):
                column = pc.assume_timezone(column, "UTC")
            made.append(in_table_type(column, one.type, f"{path}, column {one.name}"))
        else:
            made.append(pa.nulls(batch.num_rows, one.type))
    return pa.RecordBatch.from_arrays(made, schema=wanted)


def _with_fixed(batch: Any, fixed: Mapping[str, Any]) -> Any:
    """Merged rows with the values of partition columns that the path says."""
    for name, value in fixed.items():
        index = batch.schema.get_field_index(name)
        column = _repeated(value, batch.schema.field(index).type, batch.num_rows)
        batch = batch.set_column(index, batch.schema.field(index), column)
    return batch


def _repeated(value: Any, arrow_type: pa.DataType, rows: int) -> Any:
    return pa.repeat(pa.scalar(value, arrow_type), rows)
