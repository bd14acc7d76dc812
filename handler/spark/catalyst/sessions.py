"""What conditions depend on in a Spark session: ANSI mode, time zone, its version, and whether it has a JVM."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from handler.catalyst.time_zones import zone_of_java
from handler.sql.parsing import Engine

__all__ = ["engine_of", "has_jvm", "line_of", "time_zone_of"]

#: Whether a file may be skipped though some of its rows may be errors. The session extension reads it, too.
_HIDES_ERRORS = "spark.sargo.hide.errors"


def has_jvm(spark: SparkSession) -> bool:
    """Whether the session has a JVM; one of Spark Connect has not, because its analyser runs on the server."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


def engine_of(spark: SparkSession) -> Engine:
    """The engine whose rules the session's conditions follow: ANSI, with errors of rows hidden or not, or legacy."""
    if _setting(spark, "spark.sql.ansi.enabled") != "true":
        return "spark-legacy"
    return "spark-try" if str(spark.conf.get(_HIDES_ERRORS, "false")).lower() == "true" else "spark-ansi"


def time_zone_of(spark: SparkSession) -> str:
    """The session's time zone, by a name that ``evaluator.language.zones.zone_named`` takes."""
    return zone_of_java(_setting(spark, "spark.sql.session.timeZone"))


def line_of(version: str) -> tuple[int, ...]:
    """The first two numbers of a version of Spark: (4, 1) of ``4.1.4``."""
    return tuple(int(part) for part in version.split(".")[:2])


def _setting(spark: SparkSession, name: str) -> str:
    value: Any = spark.conf.get(name)
    return str(value)
