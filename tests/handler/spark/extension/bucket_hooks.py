"""Joins by buckets on Spark 4: Parquet files named as those of Hudi's buckets, and a stand-in for Hudi's index.

    python -m tests.handler.spark.extension.bucket_hooks FOLDER        writes FOLDER/outcomes.json

No bundle of Hudi for Scala 2.13 was at hand. This shows that Spark's hooks work, and nothing about Hudi.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

from handler.shipped.artefacts import spark_jar
from handler.sidecar.idl import PROTOCOL_VERSION, LayoutReply
from index_store.buckets.hashes import simple_hash
from tests.handler.spark.extension.bucket_stories import Buckets
from tests.handler.spark.extension.fake_sidecar import FakeSidecar
from tests.handler.spark.extension.hooks import stand_in, table
from tests.handler.spark.extension.sessions import session
from tests.handler.spark.extension.telling import Stories

__all__ = ["QUERIES"]

#: Story -> ((exchanges, scans by buckets), the query).
QUERIES = {
    "join": ((0, 2), "SELECT x.i, y.i FROM eight x JOIN more y ON x.id = y.id AND x.n = y.n"),
    "group": ((0, 1), "SELECT n, id, count(*) FROM eight GROUP BY n, id"),
    "window": ((0, 1), "SELECT i, count(*) OVER (PARTITION BY id, n) FROM eight"),
    "8 buckets join 4": ((0, 2), "SELECT x.i, y.i FROM eight x LEFT JOIN four y ON x.n = y.n AND x.id = y.id"),
    "a table without buckets": ((1, 1), "SELECT x.i FROM eight x FULL JOIN plain y ON x.id = y.id AND x.n = y.n"),
    "a part of the key": ((1, 0), "SELECT id, count(*) FROM eight GROUP BY id"),
}


def make(folder: Path, rows: int, buckets: int, *, misplaced: bool = False) -> None:
    """Rows of the key ``id, n`` in the files of their buckets; ``misplaced``: in those after them."""
    folder.mkdir()
    by_bucket: dict[int, list[dict[str, Any]]] = {}
    for i in range(rows):
        row = {"id": f"k{i}", "n": None if i % 5 == 0 else i % 3, "i": i}
        bucket = simple_hash((row["id"], None if row["n"] is None else str(row["n"]))) % buckets
        by_bucket.setdefault((bucket + misplaced) % buckets, []).append(row)
    schema = pa.schema([("id", pa.string()), ("n", pa.int32()), ("i", pa.int64())])
    for bucket, kept in by_bucket.items():
        name = f"{bucket:08d}-0011-4a3b-8c4d-0123456789ab-0_0-1-2_20250101000000000.parquet"
        pq.write_table(pa.Table.from_pylist(kept, schema), folder / name)


def main(folder: str) -> None:
    work = Path(folder)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    more = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.extensions": "io.sargo.spark.SargoExtensions"}
    spark: SparkSession = session([spark_jar(pyspark.__version__), stand_in(work)], work, more)
    numbers = {"eight": 8, "more": 8, "four": 4, "wrong": 8}
    fake = FakeSidecar()
    fake.layout = lambda request: LayoutReply(
        protocol_version=PROTOCOL_VERSION, buckets=numbers[request.table.rpartition("/")[2]], columns=["id", "n"]
    )
    spark.conf.set("spark.sargo.sidecar.address", fake.address)
    spark.conf.set("hoodie.index.type", "BUCKET")
    for name, rows in {"eight": 100, "more": 60, "four": 70, "wrong": 40}.items():
        make(work / name, rows, numbers[name], misplaced=name == "wrong")
        table(spark, work / name).createOrReplaceTempView(name)
    spark.sql("SELECT concat('k', id) id, int(id % 3) n, id i FROM range(80)").createOrReplaceTempView("plain")
    stories = Stories(spark, work)
    buckets = Buckets(stories)
    for name, (_, sql) in QUERIES.items():
        stories.tell(name, lambda sql=sql: buckets.compare(sql))  # type: ignore[misc]
    stories.tell("misplaced", lambda: buckets.compare("SELECT id, n, count(*) FROM wrong GROUP BY id, n"))
    fake.close()
    (work / "outcomes.json").write_text(json.dumps(stories.outcomes, indent=1), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
