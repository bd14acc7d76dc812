"""The releases of Hudi that write the tables, one for each table version, and a Spark session with one of them.

All run on Spark 3.5, for which every one of them has a bundle, in a virtual environment of its own (`.venv/spark35`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.jvm_flags import SHORT_LIVED
from tests.tables.maven import fetched, place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / os.environ.get("SPARK35", ".venv/spark35") / "bin" / "python"
BUNDLE = "hudi-spark3.5-bundle_2.12"
#: Hudi 0.15.0 reads snapshots of merged tables by an index of files where this is set, as later releases always do.
BY_INDEX = {"hoodie.datasource.read.use.new.parquet.file.format": "true"}


@dataclass(frozen=True)
class Release:
    hudi: str
    table_version: int

    @property
    def jar(self) -> Path:
        return place("org.apache.hudi", BUNDLE, self.hudi)

    def fetch(self) -> None:
        """Download the bundle into the local Maven repository, unless it is there."""
        fetched("org.apache.hudi", BUNDLE, self.hudi)


RELEASES = {release.hudi: release for release in (Release("0.15.0", 6), Release("1.0.2", 8), Release("1.2.0", 9))}


def session(
    release: Release | None,
    home: Path,
    flags: Sequence[str] = SHORT_LIVED,
    extension: Path | None = None,
    master: str = "local[2]",
) -> SparkSession:
    """A session in UTC of the installed Spark, with a release of Hudi or without. ``flags``: of the JVM.

    ``extension``: the jar of Sargo's, to be one of the session's beside Hudi's.

    It interprets expressions instead of compiling them: hundreds are used once each.
    """
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    jvm = f"-Duser.timezone=UTC {' '.join(flags)} --add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED"
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": jvm,
        "spark.executor.extraJavaOptions": jvm,
        "spark.executor.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": home / "warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.avro.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    }
    if release is not None:
        jars, classes = [release.jar], ["org.apache.spark.sql.hudi.HoodieSparkSessionExtension"]
        if extension is not None:
            from handler.spark.extension.installing import CLASS

            jars, classes = [*jars, extension], [*classes, CLASS]
        settings |= {
            "spark.jars": ",".join(map(str, jars)),
            "spark.driver.extraClassPath": ":".join(map(str, jars)),
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.extensions": ",".join(classes),
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        }
    builder = SparkSession.builder.master(master).appName("sargo-tables")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if release is not None:
        lock = "org.apache.hudi.client.transaction.lock.InProcessLockProvider"
        spark.sql(f"set hoodie.write.lock.provider={lock}")
    return spark
