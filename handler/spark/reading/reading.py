"""``read``: a Hudi table as a DataFrame of the file slices that a condition needs, with the condition still applied.

    slices without log files       Spark's own Parquet reader, one scan for all files that have the same schema
    read-optimised                 the same, of the base files alone
    slices with log files          merged by ``merged_rows`` in Python workers, where that is known to be right;
                                   else the whole table by Hudi's Spark bundle, if it is on the class path

Rows are those that Hudi's reader returns (P19): a column that a file lacks is NULL, and one of an older type is
converted. Columns are matched by name, as Hudi does unless ``hoodie.schema.on.read.enable`` is set. Rows that cannot be
read correctly are an error. Dictionary filtering is off for files with floats, because parquet-mr distinguishes -0.0
and 0.0 in a dictionary, and Spark would lose rows.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal, get_args

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

from evaluator.language.errors import UnsupportedError
from handler.planning.arguments import check_session
from handler.rows.slice_rows import check_base_file, check_names, slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.catalyst.conditions import Condition, named_frame
from handler.spark.pruning.prune import check_conditions, check_spark, prune_opened, table_names
from handler.spark.pruning.read_optimized import slices_of_base_files
from handler.spark.pruning.read_options import QUERY_TYPE, Query, agreed, read_options, settings_of
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.column_changes import converted, reads_alike
from handler.spark.reading.columns_by_id import check_names_stay
from handler.spark.reading.file_schemas import group_by_schema
from index_store import FileSlice
from index_store.opened_table import open_table

__all__ = ["Query", "RowReader", "frame_of", "read"]

RowReader = Literal["own", "hudi"]

#: The number of scans in one DataFrame; with more schemas, Python workers read the files.
MAX_SCANS = 32
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
    frames = _scans(spark, source, plain, schema)
    if merged:
        frames.append(_in_workers(spark, source, merged, schema, query))
    if not frames:
        return spark.createDataFrame([], _nullable(schema))
    return reduce(DataFrame.union, frames)


# -- slices without log files


def _scans(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType
) -> list[DataFrame]:
    """A scan for each schema of the base files; Python workers, if there are more than ``MAX_SCANS``."""
    if not slices:
        return []
    for one in slices:
        check_base_file(one.base_file or "")
    partitions = {one.base_file: one.partition for one in slices}
    wanted = to_arrow_schema(schema)
    groups: dict[tuple[int, tuple[tuple[str, Any], ...]], list[str]] = {}
    schemas = group_by_schema(spark, source, [one.base_file or "" for one in slices])
    for number, group in enumerate(schemas):
        check_names(group.schema, wanted.names, group.files[0])
        have = frozenset(group.schema.names)
        for file in group.files:
            fixed = source.partitions.values(partitions[file], wanted, have)
            groups.setdefault((number, tuple(fixed.items())), []).append(file)
    if len(groups) > MAX_SCANS:
        return [_in_workers(spark, source, slices, schema, "read_optimized")]
    return [
        _scan(spark, source, files, schemas[number].schema, dict(fixed), schema)
        for (number, fixed), files in groups.items()
    ]


def _scan(
    spark: SparkSession,
    source: SliceSource,
    files: Sequence[str],
    have: pa.Schema,
    fixed: Mapping[str, Any],
    wanted: StructType,
) -> DataFrame:
    """Files of one schema, read in their own types; then each column is converted to the table's type."""
    names = [name for name in wanted.names if name in have.names and name not in fixed]
    physical = _spark_types(pa.schema([have.field(name) for name in names]), files[0])
    storage = source.storage()
    prefix = "file://" if storage.is_local else ""
    options = {
        "__globPaths__": "false",
        "recursiveFileLookup": "true",
        "mergeSchema": "false",
        "ignoreMissingFiles": "false",
        "ignoreCorruptFiles": "false",
    }
    if any(_holds_floats(field.dataType) for field in physical):
        options |= {"parquet.filter.dictionary.enabled": "false", "parquet.filter.bloom.enabled": "false"}
    frame = (
        spark.read.schema(physical).options(**options).parquet(*(f"{prefix}{storage.absolute(file)}" for file in files))
    )
    if physical.names == wanted.names and all(
        reads_alike(a.dataType, b.dataType) for a, b in zip(physical, wanted, strict=True)
    ):
        return frame
    columns = []
    for field in wanted:
        if field.name in names:
            column = converted(
                frame[f"`{_quoted(field.name)}`"],
                physical[field.name].dataType,
                field.dataType,
                f"{files[0]}, column {field.name}",
            )
        else:
            column = F.lit(fixed.get(field.name)).cast(field.dataType)
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def _spark_types(schema: pa.Schema, file: str) -> StructType:
    for one in schema:
        if pa.types.is_timestamp(one.type) and one.type.unit == "ns":
            raise UnsupportedError(f"{file}, column {one.name}: timestamps in nanoseconds")
    try:
        return from_arrow_schema(schema, prefer_timestamp_ntz=True)
    except PySparkException as error:
        raise UnsupportedError(f"{file}: {error}") from error


def _quoted(name: str) -> str:
    return name.replace("`", "``")


def _holds_floats(kind: DataType) -> bool:
    match kind:
        case FloatType() | DoubleType():
            return True
        case StructType():
            return any(_holds_floats(field.dataType) for field in kind)
        case ArrayType():
            return _holds_floats(kind.elementType)
        case MapType():
            return _holds_floats(kind.keyType) or _holds_floats(kind.valueType)
        case _:
            return False


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
    return frame.select(*(f"`{_quoted(name)}`" for name in schema.names))


def _has_hudi(spark: SparkSession) -> bool:
    try:
        jvm: Any = spark._jvm
        conf = spark._jsparkSession.sessionState().conf()
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource("hudi", conf)
    except Exception:  # the class is missing, or Spark Connect does not say whether it is there
        return False
    return True
