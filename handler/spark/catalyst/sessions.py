"""The settings of a Spark session that conditions depend on: ANSI mode, time zone, and whether it has a JVM.

Spark names time zones as Java does. The evaluator takes names of regions and offsets such as ``+08:00``:

    Java                                  here
    ====================================  ====================================
    America/New_York                      the same
    Z, UTC, GMT, UTC+0                    UTC
    +8, +08:00, UTC+8, GMT+08:00          +08:00
    PST, IST, ... (Java's short names)    America/Los_Angeles, Asia/Kolkata, ...
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from evaluator.language.zones import offset_parts
from handler.sql.parsing import Engine

__all__ = ["engine_of", "has_jvm", "time_zone_of"]

#: Java's short names: ``java.time.ZoneId.SHORT_IDS``.
_SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


def has_jvm(spark: SparkSession) -> bool:
    """Whether the session has a JVM; one of Spark Connect has not, because its analyser runs on the server."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


def engine_of(spark: SparkSession) -> Engine:
    """The engine whose rules the session's conditions follow: ANSI or legacy."""
    return "spark-ansi" if _setting(spark, "spark.sql.ansi.enabled") == "true" else "spark-legacy"


def time_zone_of(spark: SparkSession) -> str:
    """The session's time zone, by a name that ``evaluator.language.zones.zone_named`` takes."""
    name = _setting(spark, "spark.sql.session.timeZone")
    if name in ("Z", "UTC", "GMT", "UT"):
        return "UTC"
    if parts := offset_parts(name):
        sign, hours, minutes, seconds = parts
        if not (hours or minutes or seconds):
            return "UTC"
        return f"{sign}{hours:02}:{minutes:02}" + (f":{seconds:02}" if seconds else "")
    return _SHORT_NAMES.get(name, name)


def _setting(spark: SparkSession, name: str) -> str:
    value: Any = spark.conf.get(name)
    return str(value)
