"""``aggregate``: count, min, max and sum of a Hudi table's rows, from Parquet footers where these are exact.

    a kept slice whose footer gives every aggregate exactly    is not read: ``handler.aggregates.split``
    any other kept slice                                       is read as ``read`` does, and aggregated by Spark

The two parts become one row. Its types, and NULL where there is no value, are those of Spark's own aggregates. An
aggregate that footers never answer, such as ``avg(c)``, is left to Spark, with all slices that the condition needs.

    value of the footers   value of Spark           in the frame
    --------------------   ----------------------   ---------------------------------------------------------
    count                  a number                 both added
    min, max               a value, or NULL         ``least`` or ``greatest``, which leave out NULL
    sum                    a value, or NULL         both added in the type of Spark's sum, NULL being 0
"""

from __future__ import annotations

import datetime
import logging
import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, DateType, DecimalType, TimestampNTZType, TimestampType

from evaluator.language.epoch import EPOCH
from evaluator.language.errors import UnsupportedError
from handler.aggregates.aggregate import Aggregate, Function
from handler.aggregates.split import AggregateSplit, scan_all, split_aggregates
from handler.planning.plan import Plan
from handler.spark.catalyst.aggregates import aggregate_columns, known_aggregates
from handler.spark.catalyst.conditions import Condition
from handler.spark.reading.reading import Query, Question, frame_of, narrowed_frame, question_of
from handler.spark.reading.scans import quoted
from index_store.opened_table import OpenTable

__all__ = ["aggregate", "plan_aggregate"]

_LOGGER = logging.getLogger("sargo.spark")
_CALL = "aggregate(spark, table, {'n': 'count(*)'}, condition)"


def aggregate(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    aggregates: Mapping[str, str | Column],
    condition: Condition | None = None,
    *,
    as_of: str | None = None,
    query: Query | None = None,
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    alias: str | None = None,
) -> DataFrame:
    """One row: aggregates over the rows that satisfy a condition, from Parquet footers where these are exact.

        aggregate(spark, "/data/trips", {"n": "count(*)", "last": "max(ts)"}, "city = 'sf'")
        aggregate(spark, "/data/trips", {"n": F.count("*")}, F.col("fare") > 50)

    aggregates   by name, each SQL text or a Column, as in ``DataFrame.agg``. ``count(*)``, ``count(c)``, ``min(c)``,
                 ``max(c)`` and ``sum(c)`` of a plain column need no file whose rows all satisfy the condition, where
                 its footer is exact; with any other aggregate all files are read that the condition needs

    The other arguments, and what is raised, are those of ``read``. The footers are read now, the files when the frame
    is. ``plan_aggregate`` says which files are read, and why.
    """
    question = question_of(
        spark, path, condition, as_of, query, storage_options, options, alias, strict=strict, call=_CALL
    )
    columns = aggregate_columns(aggregates)
    plan, split = _planned(spark, question, columns, strict=strict)
    rest = narrowed_frame(spark, question.source, [one.item for one in split.scanned], question.schema, question.query)
    if rest is None:
        split = scan_all(plan, list(map(str, split.aggregates)), question.source.not_merged, question.kept(plan))
        rest = frame_of(spark, question.source, question.kept(plan), question.schema, question.query)
    _log(split)
    rest = question.filtered(spark, rest)
    if not split.answered:
        return rest.agg(*columns)
    return _with_totals(spark, rest, columns, list(aggregates), split)


def plan_aggregate(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    aggregates: Mapping[str, str | Column],
    condition: Condition | None = None,
    *,
    as_of: str | None = None,
    query: Query | None = None,
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    alias: str | None = None,
) -> AggregateSplit:
    """Which files ``aggregate`` answers from their footers, which it reads, and why. The arguments are the same.

        print(plan_aggregate(spark, "/data/trips", {"n": "count(*)", "last": "max(ts)"}, "city = 'sf'"))

    Where slices with log files can only be merged by Hudi's reader, that reads the whole table, which shows when the
    table is read.
    """
    question = question_of(
        spark, path, condition, as_of, query, storage_options, options, alias, strict=strict, call=_CALL
    )
    return _planned(spark, question, aggregate_columns(aggregates), strict=strict)[1]


def _planned(
    spark: SparkSession, question: Question, columns: list[Column], *, strict: bool
) -> tuple[Plan, AggregateSplit]:
    question.check_names()
    known = known_aggregates(spark, question.schema, columns, question.names.qualifier)
    plan = question.plan(spark, strict=strict)
    kept = question.kept(plan)
    asked = [one for one in known if isinstance(one, Aggregate)]
    if len(asked) < len(known):
        other = next(one for one in known if isinstance(one, str))
        return plan, scan_all(plan, list(map(str, known)), f"footers do not answer {other:.200}", kept)
    try:
        return plan, split_aggregates(plan, asked, kept)
    except UnsupportedError as error:
        return plan, scan_all(plan, list(map(str, known)), str(error), kept)


def _with_totals(
    spark: SparkSession, rest: DataFrame, columns: list[Column], names: list[str], split: AggregateSplit
) -> DataFrame:
    """The aggregates of the rows that are read, with those of the slices that are not."""
    asked = [one for one in split.aggregates if isinstance(one, Aggregate)]
    counted = [F.lit(0) if one.column is None else F.count(f"`{quoted(one.column)}`") for one in asked]
    read = rest.agg(*columns, *counted)
    if not split.scanned:  # one row, as of no rows, without a scan and an exchange
        empty = [0 if one.function == "count" else None for one in asked] + [0] * len(asked)
        constants = [F.lit(value).cast(of.dataType) for value, of in zip(empty, read.schema, strict=True)]
        read = spark.range(0, 1, 1, 1).select(*constants)
    places = range(len(asked))
    read = read.toDF(*(f"{what} {place}" for what in ("value", "count") for place in places))
    return read.select(
        *(_together(asked[place].function, read, place, split.totals[place]).alias(names[place]) for place in places)
    )


def _together(function: Function, read: DataFrame, place: int, value: Any) -> Column:
    """The value of the rows that are read, with that of the slices that are not."""
    ours, count, of = F.col(f"`value {place}`"), F.col(f"`count {place}`"), read.schema[place].dataType
    if value is None:
        return ours
    theirs = _constant(value, of)
    match function:
        case "count":
            return ours + theirs
        case "min":
            both = F.least(ours, theirs)
        case "max":
            both = F.greatest(ours, theirs)
        case "sum":  # one that overflowed is NULL, too
            both = F.when(count == 0, theirs).otherwise((ours + theirs).cast(of))
    return F.when(count >= 0, both)  # always so, and nullable as Spark's own


def _constant(value: Any, of: DataType) -> Column:
    """A value in ordinal form as a constant of a Spark type, exactly."""
    match of:
        case DateType():
            return F.date_from_unix_date(F.lit(value))
        case TimestampType():
            return F.timestamp_micros(F.lit(value))
        case TimestampNTZType():
            return F.lit((EPOCH + datetime.timedelta(microseconds=value)).isoformat(" ")).cast(of)
        case DecimalType():
            return F.lit(Decimal((value < 0, tuple(map(int, str(abs(value)))), -of.scale))).cast(of)
        case _:
            return F.lit(value).cast(of)


def _log(split: AggregateSplit) -> None:
    """One line. The reasons, which name columns, are told at DEBUG."""
    _LOGGER.info(
        "%s as of %s: %d of %d file slices answered by footers, %d scanned",
        ascii(split.table),
        split.instant or "no commit",
        len(split.answered),
        split.slices,
        len(split.scanned),
    )
    for reason, count in split.reasons:
        _LOGGER.debug("%d scanned: %s", count, ascii(reason))
