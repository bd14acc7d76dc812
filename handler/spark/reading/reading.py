"""``read``: a Hudi table as a DataFrame of the file slices that a condition needs, with the condition still applied.

    slices without log files       Spark's own Parquet reader, one scan for all files that have the same schema
    read-optimised                 the same, of the base files alone
    slices with log files          merged by ``merged_rows`` in Python workers, where that is known to be right;
                                   else the whole table by Hudi's Spark bundle, if it is on the class path

Rows are those that Hudi's reader returns (P19): a column that a file lacks is NULL, and one of an older type is
converted. Columns are matched by name, as Hudi does unless ``hoodie.schema.on.read.enable`` is set. Rows that cannot be
read correctly are an error.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal, get_args

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from handler.planning.arguments import check_session
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.catalyst.conditions import Condition, named_frame
from handler.spark.pruning.prune import check_conditions, check_spark, prune_opened, table_names
from handler.spark.pruning.read_optimized import slices_of_base_files
from handler.spark.pruning.read_options import QUERY_TYPE, Query, agreed, read_options, settings_of
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.columns_by_id import check_names_stay
from handler.spark.reading.scans import quoted, scans_of
from index_store import FileSlice
from index_store.opened_table import open_table

__all__ = ["Query", "RowReader", "frame_of", "read"]

RowReader = Literal["own", "hudi"]

_CALL = "read(spark, table, condition)"
_SLICE_SCHEMA = "partition string, file_id string, base_file string, log_files array<string>"


def read(
    spark: SparkSession,
    path: str | os.PathLike[str],
    condition: Condition | None = None,
    *,
    as_of: str | None = None,
    query: Query | None = None,
    reader: RowReader = "own",
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    alias: str | None = None,
) -> DataFrame:
    """The rows of a Hudi table that satisfy a condition, from the file slices that may hold one.

        read(spark, "/data/trips", "fare > 50 AND city = 'sf'")
        read(spark, "/data/trips", F.col("fare") > 50, as_of="2026-11-01 00:00:00")

    condition         SQL text, a Column, or a list of them (AND); None reads all
    as_of             the table as of an instant or a date, in the schema of that time; by default the latest
    query             "snapshot", as by default, or "read_optimized": base files alone, without what was logged since
    reader            "own", or "hudi": the whole table through Hudi's Spark bundle, nothing skipped
    strict            raise what cannot be used while pruning instead of skipping nothing by it
    storage_options   of the table's file system, for pruning; Spark reads with its own Hadoop configuration
    options           as for ``handler.open_table``, and Hudi's read options (``as.of.instant``,
                      ``hoodie.datasource.query.type``, ...): one that would give other rows raises UnsupportedError

    alias             the table's name or alias in the query, for columns such as ``o.fare``; by default the one that
                      the SQL texts use

    Hudi's reader takes read options from the session's settings, too (``hoodie.datasource.query.type``), and so does
    this. The schema is ``spark_schema``'s. Raises TableError when the table cannot be read, UnsupportedError when its
    rows cannot be read rightly: the message says what to do.
    """
    for name, given, known in (("query", query, get_args(Query)), ("reader", reader, get_args(RowReader))):
        if given not in known and (name, given) != ("query", None):
            raise UnsupportedError(f"{name} {given!r} (known: {', '.join(known)})")
    check_spark(spark, path, _CALL)
    check_session(None, as_of, strict, None)
    conditions = () if condition is None else check_conditions(condition, _CALL)
    asked = read_options(options, settings_of(spark), query)
    as_of, kind = agreed("as_of", as_of, asked.as_of), asked.query or "snapshot"
    opened = open_table(path, asked.table, storage_options=storage_options)
    names = table_names(spark, opened, conditions, as_of, alias)
    slices = opened.at(as_of).slices
    kept: Sequence[FileSlice] = slices.items
    if reader == "own" and asked.by_id:
        check_names_stay(opened.table, 'reader="hudi"')
    if conditions and reader == "own":
        plan = prune_opened(spark, opened, conditions, as_of, names, strict=strict)
        kept = plan.kept if kind == "snapshot" else slices_of_base_files(plan)
    schema = spark_schema(opened.table, slices.instant)
    source = SliceSource.of(opened.table, os.fspath(path), slices.instant, storage_options)
    if reader == "hudi":
        frame = _through_hudi(spark, source, schema, kind, 'asked for by reader="hudi"')
    else:
        frame = frame_of(spark, source, kept, schema, kind)
    frame = named_frame(spark, frame, names.qualifier)
    for part in conditions:
        frame = frame.where(part)
    return frame


def frame_of(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType, query: Query = "snapshot"
) -> DataFrame:
    """All rows of some slices of a table, such as ``plan.kept``, in the schema given. Raises as ``read`` does."""
    merged = [one for one in slices if one.log_files and query == "snapshot"]
    if merged and source.not_merged:
        return _through_hudi(spark, source, schema, query, source.not_merged)
    plain = [one for one in slices if one.base_file and not (one.log_files and query == "snapshot")]
    frames: list[DataFrame] = []
    if plain:
        scans = scans_of(spark, source, plain, schema)
        frames = [_in_workers(spark, source, plain, schema, "read_optimized")] if scans is None else scans
    if merged:
        frames.append(_in_workers(spark, source, merged, schema, query))
    if not frames:
        return spark.createDataFrame([], _nullable(schema))
    return reduce(DataFrame.union, frames)


# -- slices that Python workers read


def _in_workers(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType, query: Query
) -> DataFrame:
    rows = [(one.partition, one.file_id, one.base_file, list(one.log_files)) for one in slices]
    tasks = max(1, min(len(rows), 10_000))
    reads = partial(_rows_of_batches, source, to_arrow_schema(schema), query == "read_optimized")
    return spark.createDataFrame(rows, _SLICE_SCHEMA).repartition(tasks).mapInArrow(reads, _nullable(schema))


def _rows_of_batches(
    source: SliceSource, schema: pa.Schema, read_optimized: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            item = FileSlice(row["partition"], row["file_id"], row["base_file"], tuple(row["log_files"]))
            yield from slice_batches(source, item, schema, read_optimized=read_optimized)


def _nullable(schema: StructType) -> StructType:
    return StructType([type(field)(field.name, field.dataType, True) for field in schema])


# -- tables that only Hudi's reader merges correctly


def _through_hudi(spark: SparkSession, source: SliceSource, schema: StructType, query: Query, why: str) -> DataFrame:
    """The whole table by Hudi's own reader, without its data skipping, which loses rows."""
    storage = source.storage()
    if not _has_hudi(spark):
        raise UnsupportedError(
            f"{storage.root}: {why}. Put the Hudi bundle for this Spark on the class path "
            '(spark.jars.packages), or read the base files alone with query="read_optimized"'
        )
    warnings.warn(f"{storage.root}: nothing is skipped, Hudi reads the whole table: {why}", stacklevel=4)
    reader = spark.read.format("hudi").option(QUERY_TYPE, query).option("hoodie.enable.data.skipping", "false")
    if source.instant is not None:
        reader = reader.option("as.of.instant", source.instant)
    frame = reader.load(f"{'file://' if storage.is_local else ''}{storage.root}")
    return frame.select(*(f"`{quoted(name)}`" for name in schema.names))


def _has_hudi(spark: SparkSession) -> bool:
    try:
        jvm: Any = spark._jvm
        conf = spark._jsparkSession.sessionState().conf()
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource("hudi", conf)
    except Exception:  # the class is missing, or Spark Connect does not say whether it is there
        return False
    return True
