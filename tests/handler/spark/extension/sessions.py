"""A Spark session with the extension, and what its plans read."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.handler.spark.extension.plan_nodes import all_nodes, nodes
from tests.jvm_flags import SHORT_LIVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["all_files_read", "files_read", "scans", "session"]

ROOT = Path(__file__).parents[4]


def session(jars: list[Path], work: Path, settings: Mapping[str, str]) -> SparkSession:
    """A session in this process, which has no other. ``jars`` are on the driver's class path."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("sargo-extension")
    for name, value in {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(("-Duser.timezone=UTC", *SHORT_LIVED)),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.jars": ",".join(map(str, jars)),
        **settings,
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def scans(frame: DataFrame) -> list[Any]:
    """The nodes of the plan that ran which read files, without those of subqueries and reused exchanges."""
    return list(filter(_is_scan, nodes(_plan(frame))))


def files_read(frame: DataFrame) -> int:
    """The files of these scans, without log files."""
    return sum(map(_files, scans(frame)))


def all_files_read(frame: DataFrame) -> int:
    """The files of all scans that ran, those of subqueries too, without log files."""
    return sum(map(_files, filter(_is_scan, all_nodes(_plan(frame)))))


def _plan(frame: DataFrame) -> Any:
    jdf: Any = frame._jdf
    return jdf.queryExecution().executedPlan()


def _is_scan(node: Any) -> bool:
    return not node.children().size() and bool(node.metrics().get("numFiles").isDefined())


def _files(scan: Any) -> int:
    return int(scan.metrics().get("numFiles").get().value())
