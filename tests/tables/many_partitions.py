"""A COPY_ON_WRITE table of many small partitions, written by real Hudi.

    python -m tests.tables.many_partitions PARTITIONS PATH          with the Python that has Spark 3.5

Each partition has FILES files of ROWS rows. File f, which is one of partition f // FILES, has the amounts from
f * ROWS to f * ROWS + ROWS - 1. After the bulk insert each of UPDATES commits writes one file of the first partition
anew, with the same amounts. The metadata table is compacted at every commit that Hudi allows to.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.tables.releases import RELEASES, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RELEASE = RELEASES["1.0.2"]
FILES, ROWS, UPDATES = 4, 10, 2
_WRITE = "hoodie.datasource.write"


def write(spark: SparkSession, partitions: int, path: Path) -> None:
    """The table at this path, which does not exist."""
    rows = FILES * ROWS * partitions
    # Task k of the FILES tasks has the k-th file of every partition.
    frame = spark.range(0, rows, 1, FILES).selectExpr(
        "id",
        "1L as ts",
        f"cast(date_add(date '2010-01-01', cast(id div {ROWS} % {partitions} as int)) as string) as dt",
        f"cast((id div {ROWS} % {partitions} * {FILES} + id div {ROWS * partitions}) * {ROWS} + id % {ROWS} as double)"
        " as amount",
    )
    _save(frame, path, "bulk_insert")
    for update in range(UPDATES):
        _save(frame.where(f"id = {update}").selectExpr("id", f"{update} + 2L as ts", "dt", "amount"), path, "upsert")
    for checksum in path.rglob("*.crc"):  # of Hadoop's local file system; no store has them
        checksum.unlink()


def _save(frame: DataFrame, path: Path, operation: str) -> None:
    options = {
        "hoodie.table.name": path.name,
        f"{_WRITE}.operation": operation,
        f"{_WRITE}.recordkey.field": "id",
        f"{_WRITE}.precombine.field": "ts",
        f"{_WRITE}.partitionpath.field": "dt",
        f"{_WRITE}.table.type": "COPY_ON_WRITE",
        f"{_WRITE}.hive_style_partitioning": "true",
        "hoodie.bulkinsert.sort.mode": "PARTITION_SORT",
        "hoodie.bulkinsert.shuffle.parallelism": str(FILES),
        "hoodie.index.type": "SIMPLE",
        "hoodie.index.bloom.num_entries": "10",
        "hoodie.bloom.index.filter.dynamic.max.entries": "10",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.embed.timeline.server": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.metadata.enable": "true",
        "hoodie.metadata.compact.max.delta.commits": "1",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.column.stats.column.list": "amount",
        "hoodie.metadata.index.column.stats.file.group.count": "1",
        "hoodie.metadata.index.partition.stats.enable": "false",
    }
    frame.write.format("hudi").options(**options).mode("append").save(str(path))


def main(partitions: int, path: Path) -> None:
    begun = time.monotonic()
    spark = session(RELEASE, path.parent)
    write(spark, partitions, path)
    spark.stop()
    print(f"{partitions:,} partitions: {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]).resolve())
