"""The rows of one file slice as Arrow batches in the table's schema; pure Python, for Spark's executors.

    a base file alone, or read-optimised    pyarrow, each column as the table has it now (``file_columns``)
    a column that the file lacks            its value of the partition's path, if it is a partition column; else NULL
    a slice with log files                  ``merged_rows``

A file whose columns cannot be given as the table has them is an error that names file and column, never other rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from evaluator.errors import SargoError, UnsupportedError
from handler.spark.file_columns import in_table_type, nullable
from handler.spark.partition_columns import PartitionColumns
from index_store import FileSlice, Table, TableError
from index_store.storage import Storage

__all__ = ["BATCH_ROWS", "SliceSource", "slice_batches"]

BATCH_ROWS = 8192


@dataclass(frozen=True)
class SliceSource:
    """Where a table's slices are and what reading them takes; small, and pickled to executors.

    instant         as of which the slices are read
    options         of the file system (``index_store.storage_options``)
    properties      hoodie.properties
    version         of the table
    """

    path: str
    instant: str | None
    version: int
    properties: Mapping[str, str]
    partitions: PartitionColumns
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: Table, path: str, instant: str | None = None,
           storage_options: Mapping[str, str] | None = None) -> SliceSource:
        """Of an open table; ``path`` as the table was opened with, which may say more than its name for people."""
        return cls(path, instant, table.version, dict(table.properties), PartitionColumns.of(table),
                   dict(storage_options or {}))

    def storage(self) -> Storage:
        return Storage.at(self.path, None, self.options)


def slice_batches(source: SliceSource, item: FileSlice, schema: pa.Schema, columns: Sequence[str] | None = None, *,
                  read_optimized: bool = False, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Batches of the slice's rows, with the columns asked for in that order (None: all of the schema).

    ``schema``: the table's, as ``pyspark.sql.pandas.types.to_arrow_schema`` gives it. Raises TableError when a file
    cannot be read, UnsupportedError when its rows cannot be read rightly.
    """
    wanted = pa.schema([pa.field(name, nullable(schema.field(name).type))
                        for name in (schema.names if columns is None else columns)])
    if item.log_files and not read_optimized:
        raise UnsupportedError(f"{item.log_files[0]}: a slice with log files cannot be read here")
    if item.base_file is None:
        return
    yield from _base_batches(source, item, wanted, batch_rows)


def _base_batches(source: SliceSource, item: FileSlice, wanted: pa.Schema, batch_rows: int
                  ) -> Iterator[pa.RecordBatch]:
    path = item.base_file or ""
    if not path.endswith(".parquet"):
        raise UnsupportedError(f"{path}: only Parquet base files are read")
    storage = source.storage()
    try:
        with storage.input_file(path) as stream, parquet.ParquetFile(
                stream, coerce_int96_timestamp_unit="us", pre_buffer=not storage.is_local) as file:
            have = frozenset(file.schema_arrow.names)
            make = _Columns.of(file.schema_arrow, wanted, source.partitions.values(item.partition, wanted, have), path)
            for batch in file.iter_batches(batch_rows, columns=make.names):
                yield make(batch)
    except SargoError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise TableError(storage.absolute(path), f"cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _Columns:
    """How a file's batches become the table's."""

    schema: pa.Schema
    wanted: pa.Schema
    fixed: Mapping[str, Any]
    path: str

    @classmethod
    def of(cls, schema: pa.Schema, wanted: pa.Schema, fixed: Mapping[str, Any], path: str) -> _Columns:
        """``fixed``: values of columns for all rows, where the file lacks the column."""
        lower = {name.lower() for name in schema.names}
        for name in wanted.names:
            if schema.names.count(name) > 1:
                raise UnsupportedError(f"{path}: column {name} is there twice")
            if name not in schema.names and name.lower() in lower:
                raise UnsupportedError(f"{path}: column {name} is there in other letters only")
        return cls(schema, wanted, fixed, path)

    @property
    def names(self) -> list[str]:
        return [name for name in self.wanted.names if name in self.schema.names]

    def __call__(self, batch: Any) -> Any:
        made = []
        for one in self.wanted:
            if one.name in self.schema.names:
                made.append(in_table_type(batch.column(one.name), one.type, f"{self.path}, column {one.name}"))
            else:
                made.append(pa.repeat(pa.scalar(self.fixed.get(one.name), one.type), batch.num_rows)
                            if one.name in self.fixed else pa.nulls(batch.num_rows, one.type))
        return pa.RecordBatch.from_arrays(made, schema=self.wanted)
