"""What a Spark session's settings say about conditions: ANSI mode, time zone, and whether there is a JVM to ask.

Spark names time zones as Java does. Names of regions are Python's too; the rest becomes what the evaluator knows:

    Java                                  here
    ====================================  ====================================
    America/New_York                      the same
    Z, UTC, GMT, UTC+0                    UTC
    +8, +08:00, UTC+8, GMT+08:00          +08:00
    PST, IST, ... (Java's short names)    America/Los_Angeles, Asia/Kolkata, ...
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import SparkSession

from handler.sql.parsing import Engine

__all__ = ["engine_of", "has_jvm", "time_zone_of"]

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
#: The names of Java's ZoneId.SHORT_IDS.
_SHORT = {
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
    """False for a session of Spark Connect, whose analyser runs elsewhere."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


def engine_of(spark: SparkSession) -> Engine:
    """Whose rules the session's conditions follow."""
    return "spark-ansi" if _setting(spark, "spark.sql.ansi.enabled") == "true" else "spark-legacy"


def time_zone_of(spark: SparkSession) -> str:
    """The session's time zone by the name that Python has for it."""
    name = _setting(spark, "spark.sql.session.timeZone")
    if name in ("Z", "UTC", "GMT", "UT"):
        return "UTC"
    if match := _OFFSET.fullmatch(name):
        parts = [int(part or 0) for part in match.groups()[1:]]
        offset = ":".join(f"{part:02}" for part in parts[: 3 if parts[2] else 2])
        return f"{match[1]}{offset}" if any(parts) else "UTC"
    return _SHORT.get(name, name)


def _setting(spark: SparkSession, name: str) -> str:
    value: Any = spark.conf.get(name)
    return str(value)
