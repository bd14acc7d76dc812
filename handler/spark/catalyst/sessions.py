"""The settings of a Spark session that conditions depend on: ANSI mode, time zone, and whether it has a JVM."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from handler.catalyst.time_zones import zone_of_java
from handler.sql.parsing import Engine

__all__ = ["engine_of", "has_jvm", "time_zone_of"]


def has_jvm(spark: SparkSession) -> bool:
    """Whether the session has a JVM; one of Spark Connect has not, because its analyser runs on the server."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


def engine_of(spark: SparkSession) -> Engine:
    """The engine whose rules the session's conditions follow: ANSI or legacy."""
    return "spark-ansi" if _setting(spark, "spark.sql.ansi.enabled") == "true" else "spark-legacy"


def time_zone_of(spark: SparkSession) -> str:
    """The session's time zone, by a name that ``evaluator.language.zones.zone_named`` takes."""
    return zone_of_java(_setting(spark, "spark.sql.session.timeZone"))


def _setting(spark: SparkSession, name: str) -> str:
    value: Any = spark.conf.get(name)
    return str(value)
