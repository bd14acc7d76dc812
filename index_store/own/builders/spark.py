"""The builder on Spark: a DataFrame of files, each of which is sketched by one of Spark's workers.

    files (driver)  -> a DataFrame of ids and paths, spread over the partitions
    each worker     -> LocalBuilder: the same pass over a file, for all sketches, as without Spark
    rows (driver)   -> Arrow record batches, ``FILES_PER_JOB`` files at a time

Workers read files through pyarrow, as this process does. They need access to the table under the same path, the same
storage options, and this package. They write the same bytes as ``build.local``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from index_store.own.builder import FILES, IndexedFile, NewFiles
from index_store.own.builders.aggregates import aggregate
from index_store.own.builders.local import LocalBuilder, precedence_of
from index_store.own.builders.sketching import SketchPlan
from index_store.own.definition import Definition
from index_store.storage.storage import Storage
from index_store.table.row_precedence import RowPrecedence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from index_store.own.builder import MakeBuilder
    from index_store.table.table import Table

__all__ = ["FILES_PER_JOB", "SparkBuilder", "build_on", "collect_arrow"]

#: How many files one Spark job sketches: the driver holds their rows in memory.
FILES_PER_JOB = 20_000
#: The least number of files of a task, so that it is worth starting.
_MIN_PER_TASK = 4


def build_on(spark: SparkSession, storage_options: Mapping[str, str] | None = None) -> MakeBuilder:
    """Makes builders that use this session. ``storage_options``: what workers need to open the table's files."""

    def make(table: Table, definition: Definition) -> SparkBuilder:
        plan = SketchPlan.for_table(table, definition)
        return SparkBuilder(spark, table.storage.root, plan, storage_options, precedence=precedence_of(table))

    return make


class SparkBuilder:
    """Sketches files in Spark's workers. A file that cannot be read gets no row."""

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        plan: SketchPlan,
        storage_options: Mapping[str, str] | None = None,
        *,
        precedence: RowPrecedence | None = None,
    ) -> None:
        self._spark, self._root, self._plan, self._precedence = spark, root, plan, precedence
        self._options = dict(storage_options or {})

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        """The rows of the files, in any order."""
        listed = (
            files
            if isinstance(files, NewFiles)
            else NewFiles(
                pa.Table.from_pylist([{name: getattr(one, name) for name in FILES.names} for one in files], FILES)
            )
        )
        for start in range(0, len(listed), FILES_PER_JOB):
            yield from self._job(listed.table.slice(start, FILES_PER_JOB))

    def aggregate(self, rows: pa.Table) -> pa.Table:
        """The aggregates of the partitions of these rows (``aggregates``)."""
        return aggregate(rows, self._plan)

    def _job(self, files: pa.Table) -> Iterator[pa.RecordBatch]:
        from pyspark.sql.pandas.types import from_arrow_schema

        tasks = max(1, min(self._spark.sparkContext.defaultParallelism * 4, files.num_rows // _MIN_PER_TASK))
        frame = self._spark.createDataFrame(
            files.select(FILES.names).to_pylist(), from_arrow_schema(FILES)
        ).repartition(tasks)
        schema = self._plan.schema
        carried = pa.schema([field.with_type(_plain_binary(field.type)) for field in schema])
        sketch = _sketching(self._root, self._options, self._plan, self._precedence, carried)
        rows = frame.mapInArrow(sketch, from_arrow_schema(carried))
        yield from collect_arrow(rows, carried).cast(schema).to_batches()


def collect_arrow(frame: DataFrame, schema: pa.Schema) -> pa.Table:
    """The rows of a DataFrame in the driver. PySpark has ``toArrow`` from version 4.0 on."""
    if hasattr(frame, "toArrow"):
        rows: pa.Table = frame.toArrow()
        return rows
    return pa.Table.from_batches(getattr(frame, "_collect_as_arrow")(), schema)  # noqa: B009


def _plain_binary(of: pa.DataType) -> pa.DataType:
    """The type in which Spark carries large binaries."""
    if pa.types.is_large_binary(of):
        return pa.binary()
    return pa.list_(_plain_binary(of.value_type)) if pa.types.is_list(of) else of


def _sketching(
    root: str, options: Mapping[str, str], plan: SketchPlan, precedence: RowPrecedence | None, carried: pa.Schema
) -> Any:
    """The function that a worker applies to its files."""

    def sketch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        builder = LocalBuilder(Storage.at(root, None, options), plan, threads=2, precedence=precedence)
        for batch in batches:
            files = [IndexedFile(**row) for row in batch.to_pylist()]
            for rows in builder.build(files):
                yield rows.cast(carried)

    return sketch
