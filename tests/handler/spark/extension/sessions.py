"""A Spark session with the extension, and what its plans read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.jvm_flags import SHORT_LIVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["files_read", "scans", "session"]

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
    """The nodes of the plan that ran which read files."""
    jdf: Any = frame._jdf
    leaves = _leaves(jdf.queryExecution().executedPlan())
    return [leaf for leaf in leaves if leaf.metrics().get("numFiles").isDefined()]


def files_read(frame: DataFrame) -> int:
    """The files of all scans, without log files."""
    return sum(leaf.metrics().get("numFiles").get().value() for leaf in scans(frame))


def _leaves(plan: Any) -> Iterator[Any]:
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        yield from _leaves(plan.executedPlan())
    elif name.endswith("QueryStageExec"):
        yield from _leaves(plan.plan())
    elif name == "InMemoryTableScanExec":
        yield from _leaves(plan.relation().cachedPlan())
    elif not name.startswith("ReusedExchange"):
        children = plan.children()
        if not children.size():
            yield plan
        for index in range(children.size()):
            yield from _leaves(children.apply(index))
