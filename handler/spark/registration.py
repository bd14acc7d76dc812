"""``register``: make a session skip files of Hudi tables, in existing queries and as ``format("sargo")``.

Spark            existing queries over ``format("hudi")``              ``format("sargo")``
===============  ====================================================  ===============================================
3.5              by Sargo's extension, where Hudi is on the class      there is none: needs filter pushdown for Python
                 path                                                  data sources
4.0              by the extension, as on 3.5                           the same
4.1 to 4.3       by the extension, as on 3.5                           ``source.registration``
Spark Connect    the server has the extension, or has it not           from 4.1 on
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from pyspark.sql import SparkSession

from evaluator.language.errors import UnsupportedError
from handler.spark.catalyst.sessions import has_jvm, line_of
from handler.spark.extension.installing import CLASS, has_hudi, install_extension
from handler.spark.source.registration import MIN_VERSION, register_source

__all__ = ["register"]

_READ = "handler.spark.read(spark, path, condition) prunes on any version"


def register(spark: SparkSession, *, storage_options: Mapping[str, str] | None = None) -> bool:
    """Make this session skip files of Hudi tables. Called again, it does nothing new.

    Existing queries: where Hudi's bundle is on the class path, Sargo's extension is put into the session. From then on
    SQL, DataFrames and views over ``format("hudi")`` read the file slices that may hold a matching row, and
    ``EXPLAIN`` says how many. The extension asks a sidecar that is started in this process, unless
    ``spark.sargo.sidecar.address`` names one. Sessions that ``newSession`` makes later have it, too.
    ``spark.conf.set("spark.sargo.enabled", "false")`` turns it off.

    ``format("sargo")``: from Spark 4.1 on the data source is registered, and
    ``spark.sql.python.filterPushdown.enabled`` set. To test whether its filters prune, two rows of a small source are
    read, which takes a second or two. The Python of the driver's and the executors' workers (``PYSPARK_PYTHON``) needs
    Sargo.

    storage_options   for reading the tables' metadata in this process, as for ``handler.open_table``

    Returns whether filters of ``format("sargo")`` prune; before Spark 4.1, which has no such format, True. A warning
    says what does not work, every file is then read, and the rows are correct. Raises UnsupportedError before Spark 4.1
    when the extension cannot be installed, and from 4.1 on when the Python of Spark's workers lacks Sargo: the message
    says why.
    """
    has_source = line_of(spark.version) >= MIN_VERSION
    why = _extend(spark, storage_options)
    if not has_source:
        if why:
            raise UnsupportedError(f"existing queries cannot be made to skip files: {why}; {_READ}")
        return True
    if why and has_jvm(spark) and has_hudi(spark):
        warnings.warn(f"existing queries over Hudi tables read every file that Hudi reads: {why}", stacklevel=2)
    return register_source(spark, stack_level=2)


def _extend(spark: SparkSession, storage_options: Mapping[str, str] | None) -> str:
    """Install the extension; why that is not possible, or ""."""
    if not has_jvm(spark):
        return (
            "with Spark Connect they are planned on the server: start it with sargo's jar (sargo jar --spark "
            f"{'.'.join(spark.version.split('.')[:2])}), spark.sql.extensions={CLASS} and "
            "spark.sargo.sidecar.address of a sidecar (sargo serve)"
        )
    if not has_hudi(spark):
        return "Hudi's Spark bundle is not on the class path (spark.jars, or --packages)"
    try:
        install_extension(spark, storage_options)
    except UnsupportedError as error:
        return str(error)
    return ""
