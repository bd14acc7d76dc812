"""``register``: add ``spark.read.format("sargo")`` to a session, and let it prune only where that is sound.

Spark 3.5, 4.0   there is no filter pushdown for Python data sources: a clear error; use ``handler.spark.read``
Spark 4.1, 4.2   ``scan_plans`` gives each scan of a DataFrame its own plan, without which rows would be lost
later            Spark does so itself
Spark Connect    no rule can be added to the session: it prunes only if Spark gives each scan its own plan
"""

from __future__ import annotations

import warnings

from pyspark.sql import SparkSession

from evaluator.language.errors import UnsupportedError

__all__ = ["register"]

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_MIN_VERSION = (4, 1)


def register(spark: SparkSession) -> bool:
    """Register ``format("sargo")`` in this session, and set ``spark.sql.python.filterPushdown.enabled``.

    Returns whether filters prune. If they do not, a warning says so, every file is read, and the rows are correct. To
    test it, two rows of a small source are read, which takes a second or two. The Python of the driver's and the
    executors' workers (``PYSPARK_PYTHON``) needs Sargo.

    Raises UnsupportedError before Spark 4.1.
    """
    version = tuple(int(part) for part in spark.version.split(".")[:2])
    if version < _MIN_VERSION:
        raise UnsupportedError(
            f'format("sargo") needs Spark 4.1 or later, not {spark.version}: use '
            "handler.spark.read(spark, path, condition), which prunes on any version"
        )
    from handler.spark.source.datasource import PruningSource, SargoSource
    from handler.spark.source.scan_plans import install, scans_are_their_own

    spark.conf.set(_PUSHDOWN, "true")
    install(spark)
    prunes = scans_are_their_own(spark)
    if not prunes:
        warnings.warn(
            f'format("sargo") reads every file: Spark {spark.version} mixes up what the scans of a DataFrame '
            "read, and rows would be lost; handler.spark.read(spark, path, condition) prunes",
            stacklevel=2,
        )
    spark.dataSource.register(PruningSource if prunes else SargoSource)
    return prunes
