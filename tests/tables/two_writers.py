"""Write tables to which two writers of real Hudi wrote at once, by its non-blocking concurrency control.

    python -m tests.tables.two_writers                          packed into tests/data/hudi/two_writers
    python -m tests.tables.two_writers --write RELEASE FOLDER   with the Python that has Spark 3.5

The slow writer begins first and ends last. Meanwhile the quick one changes rows, and compacts the table:

    quick    ----- upsert ----- compaction -----
    slow       begins ........................... ends

So the log files of the slow one have an older instant than the base files beside which they belong: what counts is when
a write ended. ``rows.json`` has the rows as Hudi's reader in Spark gave them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.tables.releases import PYTHON, RELEASES, ROOT, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATA = ROOT / "tests" / "data" / "hudi" / "two_writers"
WRITTEN_BY = ("1.0.2", "1.2.0")
_WRITE = "hoodie.datasource.write"
_COMPACTED = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
_SECONDS = 120


def write(release: str, folder: Path) -> None:
    """The table, and its rows."""
    from pyspark.sql import functions

    spark = session(RELEASES[release], folder, flags=(), master="local[4]")
    table, begun, may_end = (folder / name for name in ("table", "begun", "may_end"))

    def wait(amount: float) -> float:
        begun.touch()
        _until(may_end)
        return amount

    waited = functions.udf(wait, "double")
    _save(_frame(spark, 0, 60, ts=1, amount=0), table, "bulk_insert")
    slow = _frame(spark, 0, 6, ts=5, amount=100_000).repartition(1).withColumn("amount", waited("amount"))
    writer = threading.Thread(target=_save, args=(slow, table, "upsert"))
    writer.start()
    _until(begun)
    _save(_frame(spark, 4, 20, ts=3, amount=200_000), table, "upsert", _COMPACTED)
    may_end.touch()
    writer.join()
    rows = spark.read.format("hudi").load(str(table)).select("_hoodie_file_name", "id", "ts", "amount", "p").collect()
    (folder / "rows.json").write_text(json.dumps(sorted((row.asDict() for row in rows), key=lambda row: row["id"])))
    spark.stop()


def _until(there: Path) -> None:
    end = time.monotonic() + _SECONDS
    while not there.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"{there} is not there after {_SECONDS} s")
        time.sleep(0.05)


def _frame(spark: SparkSession, first: int, end: int, *, ts: int, amount: int) -> DataFrame:
    return spark.range(first, end, 1, 2).selectExpr(
        "id", f"{ts}L as ts", f"cast({amount} + id as double) as amount", "concat('p', id % 2) as p"
    )


def _save(frame: DataFrame, path: Path, operation: str, more: dict[str, str] | None = None) -> None:
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "MERGE_ON_READ",
        f"{_WRITE}.table.type": "MERGE_ON_READ",
        f"{_WRITE}.operation": operation,
        f"{_WRITE}.recordkey.field": "id",
        f"{_WRITE}.precombine.field": "ts",
        f"{_WRITE}.partitionpath.field": "p",
        "hoodie.index.type": "BUCKET",
        "hoodie.index.bucket.engine": "SIMPLE",
        "hoodie.bucket.index.num.buckets": "3",
        "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        "hoodie.cleaner.policy.failed.writes": "LAZY",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.column.stats.column.list": "id,ts,amount",
        "hoodie.embed.timeline.server": "false",
        **(more or {}),
    }
    frame.write.format("hudi").options(**options).mode("append").save(str(path))


def record() -> None:
    DATA.mkdir(exist_ok=True)
    for release in WRITTEN_BY:
        RELEASES[release].fetch()
        with tempfile.TemporaryDirectory(prefix="sargo-writers-") as home:
            command = [str(PYTHON), "-m", "tests.tables.two_writers", "--write", release, home]
            subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})
            with tarfile.open(DATA / f"{release}.tar.xz", "w:xz", preset=9) as archive:
                for name in ("table", "rows.json"):
                    archive.add(Path(home) / name, name, filter=_kept)


def _kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    item.uid = item.gid = item.mtime = 0
    item.uname = item.gname = ""
    return None if item.name.endswith(".crc") or "/.temp" in item.name else item


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], Path(sys.argv[3]).resolve())
    else:
        record()
