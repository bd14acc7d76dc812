"""The reader of entries on Spark: each slice is read by one of Spark's workers, as ``slice_entries`` reads it.

    slices (driver)    -> a DataFrame of numbers and files, spread over the partitions
    each worker        -> LocalReader: the entries of its slices, the same as without Spark, byte for byte
    entries (driver)   -> Arrow record batches, of slices of ``BYTES_PER_JOB`` at a time, which are staged and sorted

Workers read files through pyarrow, as this process does. They need access to the table under the same path, the same
storage options, and this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from index_store.own.builders.spark import collect_arrow
from index_store.own.definition import Definition
from index_store.own.secondary.slice_entries import RAW, SLICES, LocalReader, MakeReader, key_columns
from index_store.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from index_store.table.table import Table

__all__ = ["BYTES_PER_JOB", "SparkReader", "read_on"]

#: How many bytes of files one Spark job reads: the driver holds their entries in memory.
BYTES_PER_JOB = 1 << 30
#: The least bytes of files of a task, so that it is worth starting.
_MIN_PER_TASK = 4 << 20


def read_on(spark: SparkSession, storage_options: Mapping[str, str] | None = None) -> MakeReader:
    """Makes readers that use this session. ``storage_options``: what workers need to open the table's files."""

    def make(table: Table, definition: Definition) -> SparkReader:
        return SparkReader(spark, table.storage.root, key_columns(definition), storage_options)

    return make


class SparkReader:
    """Reads slices in Spark's workers."""

    def __init__(
        self, spark: SparkSession, root: str, columns: Sequence[str], storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._spark, self._root, self._columns = spark, root, tuple(columns)
        self._options = dict(storage_options or {})

    def read(self, slices: pa.Table) -> Iterator[pa.RecordBatch]:
        """The entries, in any order."""
        upto = np.cumsum(slices.column("bytes").to_numpy())
        start = 0
        while start < slices.num_rows:
            done = int(upto[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(upto, done + BYTES_PER_JOB, "right")))
            yield from self._job(slices.slice(start, end - start), int(upto[end - 1]) - done)
            start = end

    def _job(self, slices: pa.Table, size: int) -> Iterator[pa.RecordBatch]:
        from pyspark.sql.pandas.types import from_arrow_schema

        tasks = max(1, min(self._spark.sparkContext.defaultParallelism * 4, slices.num_rows, size // _MIN_PER_TASK))
        frame = self._spark.createDataFrame(slices.to_pylist(), from_arrow_schema(SLICES)).repartition(tasks)
        entries = frame.mapInArrow(_reading(self._root, self._options, self._columns), from_arrow_schema(RAW))
        yield from collect_arrow(entries, RAW).cast(RAW).to_batches()


def _reading(root: str, options: Mapping[str, str], columns: Sequence[str]) -> Any:
    """The function that a worker applies to its slices."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = LocalReader(Storage.at(root, None, options), columns, threads=2)
        for batch in batches:
            yield from reader.read(pa.Table.from_batches([batch]))

    return read
