"""Rows through Hudi's own Spark reader, where its bundle is on the class path.

    ``slices_by_hudi``   exactly the slices given: Hudi lists the table as of the plan's instant, and Sargo's jar
                         (``GivenSlices``) leaves those slices of the listing whose base and log files are the plan's
    ``table_by_hudi``    the whole table as of an instant, without Hudi's data skipping, which loses rows

Where Hudi lists other files for a slice than the plan has, or the jar or a tested version of Hudi is not there,
``slices_by_hudi`` has no answer.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from handler.rows.slice_source import SliceSource
from handler.spark.catalyst.analysis import frame_of_plan
from handler.spark.catalyst.refusals import one_line
from handler.spark.catalyst.sessions import has_jvm
from handler.spark.extension.installing import call_own, has_hudi
from handler.spark.pruning.read_options import QUERY_TYPE, Query
from handler.spark.reading.scans import quoted
from index_store import FileSlice

__all__ = ["can_read_by_hudi", "slices_by_hudi", "table_by_hudi"]

_LOGGER = logging.getLogger("sargo.spark")
_READS = "io.sargo.spark.NarrowedReads"
_PLAN = "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"


def can_read_by_hudi(spark: SparkSession) -> bool:
    """Whether the session knows the format "hudi"."""
    try:
        jvm: Any = spark._jvm
        conf = spark._jsparkSession.sessionState().conf()
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource("hudi", conf)
    except Exception:  # the class is missing, or Spark Connect does not say whether it is there
        return False
    return True


def table_by_hudi(spark: SparkSession, source: SliceSource, query: Query) -> DataFrame:
    """The whole table as of the instant of ``source``, in Hudi's schema."""
    storage = source.storage()
    reader = spark.read.format("hudi").option(QUERY_TYPE, query).option("hoodie.enable.data.skipping", "false")
    if source.instant is not None:
        reader = reader.option("as.of.instant", source.instant)
    return reader.load(f"{'file://' if storage.is_local else ''}{storage.root}")


def slices_by_hudi(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType
) -> DataFrame | None:
    """The merged rows of some slices as of the instant of ``source``, in ``schema``; None where Hudi cannot say."""
    if source.filesystem is not None or not has_jvm(spark) or not has_hudi(spark):
        return None
    names = [name for one in slices for name in one.files]
    if any("\n" in name for name in names):
        return None
    try:
        frame: Any = table_by_hudi(spark, source, "snapshot")
        analyzed = frame._jdf.queryExecution().analyzed()
        given = {_PLAN: analyzed, "java.lang.String": "\n".join(names), "int": len(slices)}
        plan = call_own(spark, _READS, "ofSlices", given)
        narrowed = frame_of_plan(spark, plan)
    except (Py4JError, PySparkException, UnsupportedError) as error:
        _log_refusal(source, one_line(str(error))[:300])
        return None
    columns = {field.name: field.dataType.simpleString() for field in narrowed.schema}
    others = [field.name for field in schema if columns.get(field.name) != field.dataType.simpleString()]
    if others:
        _log_refusal(source, f"Hudi reads other types of {', '.join(others)}")
        return None
    return narrowed.select(*(f"`{quoted(name)}`" for name in schema.names))


def _log_refusal(source: SliceSource, why: str) -> None:
    _LOGGER.info("%s: Hudi's reader is not narrowed to slices with log files: %s", source.storage().root, why)
