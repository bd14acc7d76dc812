"""``register_source``: add ``spark.read.format("sargo")`` to a session, and let it prune only where that is sound.

Spark 4.1 to 4.3 ``scan_plans`` gives each scan of a DataFrame its own plan, without which rows would be lost
later            Spark does so itself
Spark Connect    no rule can be added to the session: it prunes only if Spark gives each scan its own plan
"""

from __future__ import annotations

import warnings

from pyspark.sql import SparkSession

__all__ = ["MIN_VERSION", "register_source"]

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
#: There is no filter pushdown for Python data sources before.
MIN_VERSION = (4, 1)


def register_source(spark: SparkSession, *, stack_level: int) -> bool:
    """Register ``format("sargo")`` in a session from ``MIN_VERSION`` on; whether its filters prune.

    Warns when they do not. ``stack_level``: how many calls are between the warning and the user's own, with this one.
    Raises UnsupportedError when Spark's Python workers lack Sargo.
    """
    from handler.spark.source.datasource import PruningSource, SargoSource
    from handler.spark.source.scan_plans import install, register_in, scans_are_their_own

    spark.conf.set(_PUSHDOWN, "true")
    install(spark)
    prunes = scans_are_their_own(spark)
    if not prunes:
        warnings.warn(
            f'format("sargo") reads every file: Spark {spark.version} mixes up what the scans of a DataFrame '
            "read, and rows would be lost; handler.spark.read(spark, path, condition) prunes",
            stacklevel=stack_level + 1,
        )
    register_in(spark, PruningSource if prunes else SargoSource)
    return prunes
