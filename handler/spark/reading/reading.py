"""``read``: a Hudi table as a DataFrame of the file slices that a condition needs, with the condition still applied.

    slices without log files       Spark's own Parquet reader, one scan for all files that have the same schema
    read-optimised                 the same, of the base files alone
    slices with log files          Hudi's own reader, narrowed to exactly them (``by_hudi``), with Hudi's bundle on the
                                   class path; else merged by ``merged_rows`` in Python workers, where that is known
                                   to be right; else an error
    ``reader="hudi"``              Hudi's own reader. The session's extension narrows it, by ``condition`` and by what
                                   the frame is filtered by later

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
from typing import Literal, get_args

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from handler.planning.arguments import check_session
from handler.planning.plan import Plan
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.catalyst.conditions import Condition, TableNames, named_frame
from handler.spark.catalyst.sessions import has_jvm
from handler.spark.distributed.python_workers import for_workers
from handler.spark.extension.installing import install_extension
from handler.spark.pruning.prune import check_conditions, check_spark, prune_opened, table_names
from handler.spark.pruning.read_optimized import slices_of_base_files
from handler.spark.pruning.read_options import Query, agreed, read_options, settings_of
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.by_hudi import can_read_by_hudi, slices_by_hudi, table_by_hudi
from handler.spark.reading.columns_by_id import check_names_stay
from handler.spark.reading.scans import quoted, scans_of
from index_store import FileSlice
from index_store.opened_table import OpenTable, open_table

__all__ = ["Query", "Question", "RowReader", "frame_of", "narrowed_frame", "question_of", "read", "source_of"]

RowReader = Literal["own", "hudi"]

_CALL = "read(spark, table, condition)"
_SLICE_SCHEMA = "partition string, file_id string, base_file string, log_files array<string>"


def read(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
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

    path              the table's path or URI, or what ``handler.open_table`` returned for one: its timeline is read
    condition         SQL text, a Column, or a list of them (AND); None reads all
    as_of             the table as of an instant or a date, in the schema of that time; by default the latest
    query             "snapshot", as by default, or "read_optimized": base files alone, without what was logged since
    reader            "own", or "hudi": the table through Hudi's Spark bundle. Sargo's extension is put into the
                      session, as ``register`` does, and narrows it by the filters of the query, also by those that
                      the frame gets later; a warning says why, where it cannot
    strict            raise what cannot be used while pruning instead of skipping nothing by it
    storage_options   of the table's file system, for pruning; Spark reads with its own Hadoop configuration
    options           as for ``handler.open_table``, and Hudi's read options (``as.of.instant``,
                      ``hoodie.datasource.query.type``, ...): one that would give other rows raises UnsupportedError.
                      Of an opened table, ``storage_options`` and what ``open_table`` takes are those it has
    alias             the table's name or alias in the query, for columns such as ``o.fare``; by default the one that
                      the SQL texts use

    Hudi's reader takes read options from the session's settings, too (``hoodie.datasource.query.type``), and so does
    this. ``frame.inputFiles()`` names the base files that Spark and Hudi read, without those that Python workers merge
    with log files. The schema is ``spark_schema``'s. Raises TableError when the table cannot be read, UnsupportedError
    when its rows cannot be read rightly: the message says what to do.
    """
    if reader not in get_args(RowReader):
        raise UnsupportedError(f"reader {reader!r} (known: {', '.join(get_args(RowReader))})")
    question = question_of(
        spark, path, condition, as_of, query, storage_options, options, alias, strict=strict, call=_CALL
    )
    if reader == "hudi":
        frame = _narrowed_by_hudi(spark, question.source, question.schema, question.query)
    else:
        question.check_names()
        kept: Sequence[FileSlice] = question.opened.at(question.as_of).slices.items
        if question.conditions:
            kept = question.kept(question.plan(spark, strict=strict))
        frame = frame_of(spark, question.source, kept, question.schema, question.query)
    return question.filtered(spark, frame)


@frozen(kw_only=True)
class Question:
    """What is asked of a table: its rows, or aggregates of them, under conditions, as of an instant or the latest."""

    opened: OpenTable
    conditions: tuple[str | Column, ...]
    as_of: str | None
    query: Query
    names: TableNames
    source: SliceSource
    schema: StructType
    by_id: bool

    def check_names(self) -> None:
        """Raise UnsupportedError where reading by name, as is done here, would give other rows than Hudi's reader."""
        if self.by_id:
            check_names_stay(self.opened.table, 'reader="hudi"')

    def plan(self, spark: SparkSession, *, strict: bool) -> Plan:
        """The plan of the conditions; without any, of all slices."""
        return prune_opened(spark, self.opened, self.conditions, self.as_of, self.names, strict=strict)

    def kept(self, plan: Plan) -> Sequence[FileSlice]:
        """The slices that the query reads of those that the plan keeps."""
        return plan.kept if self.query == "snapshot" else slices_of_base_files(plan)

    def filtered(self, spark: SparkSession, frame: DataFrame) -> DataFrame:
        """Those rows of a frame, under the table's name, that satisfy the conditions."""
        frame = named_frame(spark, frame, self.names.qualifier)
        for part in self.conditions:
            frame = frame.where(part)
        return frame


def question_of(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    condition: Condition | None,
    as_of: str | None,
    query: Query | None,
    storage_options: Mapping[str, str] | None,
    options: Mapping[str, str] | None,
    alias: str | None,
    *,
    strict: bool,
    call: str,
) -> Question:
    """The arguments of ``read`` as one, with the table opened; ``call``: how the function is called.

    Raises as ``read`` does.
    """
    if query is not None and query not in get_args(Query):
        raise UnsupportedError(f"query {query!r} (known: {', '.join(get_args(Query))})")
    check_spark(spark, path, call)
    check_session(None, as_of, strict, None)
    conditions = () if condition is None else check_conditions(condition, call)
    asked = read_options(options, settings_of(spark), query)
    as_of = agreed("as_of", as_of, asked.as_of)
    opened = path if isinstance(path, OpenTable) else open_table(path, asked.table, storage_options=storage_options)
    names = table_names(spark, opened, conditions, as_of, alias)
    instant = opened.at(as_of).slices.instant
    return Question(
        opened=opened,
        conditions=conditions,
        as_of=as_of,
        query=asked.query or "snapshot",
        names=names,
        source=source_of(opened, instant),
        schema=spark_schema(opened.table, instant),
        by_id=asked.by_id,
    )


def source_of(opened: OpenTable, instant: str | None) -> SliceSource:
    """What Spark reads of an opened table. Raises UnsupportedError for one that only this process can read."""
    opening = opened.opening
    if opening.filesystem is not None:
        raise UnsupportedError(
            f"{opened.path} was opened with a file system of this process, by which Spark cannot read: open it by its "
            "URI and storage_options"
        )
    return SliceSource.of(opened.table, opening.path, instant, opening.storage_options)


def frame_of(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType, query: Query = "snapshot"
) -> DataFrame:
    """All rows of some slices of a table, such as ``plan.kept``, in the schema given. Raises as ``read`` does.

    Of the whole table, with a warning, where only Hudi's reader can merge them.
    """
    frame = narrowed_frame(spark, source, slices, schema, query)
    return _whole_by_hudi(spark, source, schema, query, source.not_merged) if frame is None else frame


def narrowed_frame(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType, query: Query
) -> DataFrame | None:
    """The rows of exactly these slices; None where only Hudi's reader can merge them, and reads the whole table."""
    merged = [one for one in slices if one.log_files and query == "snapshot"]
    by_hudi = slices_by_hudi(spark, source, merged, schema) if merged else None
    if merged and by_hudi is None and source.not_merged:
        return None
    plain = [one for one in slices if one.base_file and not (one.log_files and query == "snapshot")]
    frames: list[DataFrame] = []
    if plain:
        scans = scans_of(spark, source, plain, schema)
        frames = [_in_workers(spark, source, plain, schema, "read_optimized")] if scans is None else scans
    if merged:
        frames.append(_in_workers(spark, source, merged, schema, query) if by_hudi is None else by_hudi)
    if not frames:
        return spark.createDataFrame([], _nullable(schema))
    return reduce(DataFrame.union, frames)


# -- slices that Python workers read


def _in_workers(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType, query: Query
) -> DataFrame:
    rows = [(one.partition, one.file_id, one.base_file, list(one.log_files)) for one in slices]
    tasks = max(1, min(len(rows), 10_000))
    reads = for_workers(partial(_rows_of_batches, source, to_arrow_schema(schema), query == "read_optimized"))
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


# -- Hudi's reader


def _narrowed_by_hudi(spark: SparkSession, source: SliceSource, schema: StructType, query: Query) -> DataFrame:
    """The table by Hudi's own reader, which the session's extension narrows by the filters of the query."""
    _check_hudi(spark, source, 'asked for by reader="hudi"')
    blocker = _install(spark, source)
    if blocker:
        warnings.warn(
            f"{source.storage().root}: nothing is skipped, Hudi reads the whole table: {blocker}", stacklevel=3
        )
    return _in_schema(table_by_hudi(spark, source, query), schema)


def _whole_by_hudi(spark: SparkSession, source: SliceSource, schema: StructType, query: Query, why: str) -> DataFrame:
    """The whole table by Hudi's own reader, without its data skipping, which loses rows."""
    _check_hudi(spark, source, why)
    warnings.warn(f"{source.storage().root}: nothing is skipped, Hudi reads the whole table: {why}", stacklevel=4)
    return _in_schema(table_by_hudi(spark, source, query), schema)


def _check_hudi(spark: SparkSession, source: SliceSource, why: str) -> None:
    """Raise UnsupportedError where the session has no Hudi bundle. ``why``: why it is needed."""
    if not can_read_by_hudi(spark):
        raise UnsupportedError(
            f"{source.storage().root}: {why}. Put the Hudi bundle for this Spark on the class path "
            '(spark.jars.packages), or read the base files alone with query="read_optimized"'
        )


def _install(spark: SparkSession, source: SliceSource) -> str:
    """Put the extension into the session; why it cannot narrow there, or ""."""
    if not has_jvm(spark):
        return "with Spark Connect the server needs Sargo's extension"
    if str(spark.conf.get("spark.sargo.enabled", "true")).lower() != "true":
        return "spark.sargo.enabled is false"
    try:
        install_extension(spark, source.options)
    except UnsupportedError as error:
        return str(error)
    return ""


def _in_schema(frame: DataFrame, schema: StructType) -> DataFrame:
    return frame.select(*(f"`{quoted(name)}`" for name in schema.names))
