"""Joins and groups of tables with Hudi's bucket index on Spark 3.5: with an exchange, and without one.

    python -m tests.bench bucketed_join                 1 million rows in each table
    ROWS=10000000 python -m tests.bench bucketed_join

Two tables of as many rows and 16 buckets, COPY_ON_WRITE, keys of text, written by Hudi 1.2.0. Both ways take turns on
two cores. ``join``: all rows meet one of the other table; ``group``: by the key, each row is a group of its own. The
bytes are those of Spark's shuffle files. ``read and hashed``: with the bucket of each key, which is what the check of a
row computes.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from handler.shipped.artefacts import spark_jar
from handler.sidecar.settings import Settings
from tests.bench.extension_program import Row, hand_over, told_by
from tests.tables.releases import RELEASES

__all__ = ["run"]

ROWS, BUCKETS, ROUNDS = 1_000_000, 16, 3
QUERIES = {
    "join": "SELECT count(*), sum(f.i + g.i) FROM facts f JOIN others g ON f.id = g.id",
    "left join": "SELECT count(*), sum(f.i + g.i) FROM facts f LEFT JOIN others g ON f.id = g.id",
    "group": "SELECT count(*), sum(n) FROM (SELECT id, count(*) n FROM facts GROUP BY id)",
    "join a table without buckets": "SELECT count(*), sum(f.i + g.i) FROM facts f JOIN plain g ON f.id = g.id",
}


def run() -> Iterator[Row]:
    """The figures."""
    return told_by("tests.bench.bucketed_join", ROWS, _told)


def _told(rows: int, figures: dict[str, Any]) -> Iterator[Row]:
    for name, measured in figures["queries"].items():
        seconds = {mode: statistics.median(measured[mode]["seconds"]) for mode in measured}
        yield f"{name}, {rows:,} rows: with an exchange", _text(seconds["false"], measured["false"]), ""
        ratio = f"{seconds['true'] / seconds['false']:.2f} x the time"
        yield f"{name}, {rows:,} rows: by buckets", _text(seconds["true"], measured["true"]), ratio
    for name, seconds in figures["keys"].items():
        yield f"{rows:,} keys {name}", f"{seconds:.2f} s", ""


def _text(seconds: float, measured: dict[str, Any]) -> str:
    return f"{seconds:.2f} s, {measured['bytes'] / 1e6:,.1f} MB shuffled"


# -- in the process that has Spark 3.5


def _measure(folder: str, rows: int) -> None:
    from tests.handler.sidecar.conftest import Running
    from tests.handler.spark.extension.bucket_stories import Buckets
    from tests.handler.spark.extension.sessions import session
    from tests.handler.spark.extension.stories import SETTINGS
    from tests.handler.spark.extension.telling import Stories

    work = Path(folder)
    more = {
        "spark.driver.memory": "6g",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.shuffle.partitions": str(BUCKETS),
        "spark.ui.liveUpdate.period": "0",
    }
    spark = session([spark_jar("3.5"), RELEASES["1.2.0"].jar], work, SETTINGS | more)
    buckets = Buckets(Stories(spark, work))
    for name, add in (("facts", 0), ("others", 7)):
        frame = spark.range(rows).selectExpr(
            f"concat('key-', lpad(id * 7919 % {rows}, 12, '0')) id", f"id + {add} i", "int(1) ts"
        )
        buckets.write(name, frame, BUCKETS, "id", "bulk_insert")
        buckets.view(name, BUCKETS)
    spark.read.parquet(*map(str, (work / "others").glob("*.parquet"))).createOrReplaceTempView("plain")
    figures: dict[str, Any] = {"queries": {}}
    with Running(Settings(port=0, metrics_port=-1, roots=(str(work),))) as sidecar:
        spark.conf.set("spark.sargo.sidecar.address", f"127.0.0.1:{sidecar.port}")
        spark.conf.set("spark.sargo.sidecar.timeout.ms", "20000")
        for name, sql in QUERIES.items():
            figures["queries"][name] = _turns(spark, sql)
        figures["keys"] = _key_seconds(spark)
    hand_over(work, figures)
    spark.stop()
    for table in ("facts", "others"):
        shutil.rmtree(work / table)


def _turns(spark: Any, sql: str) -> dict[str, Any]:
    """The seconds of each round and the shuffled bytes, by mode. Both give the same rows."""
    measured: dict[str, Any] = {mode: {"seconds": [], "bytes": 0} for mode in ("false", "true")}
    answers = set()
    for turn in range(ROUNDS + 1):  # the first is not timed
        for mode, figures in measured.items():
            spark.conf.set("spark.sargo.buckets", mode)
            before = _shuffled(spark)
            seconds = _seconds(lambda: answers.add(str(spark.sql(sql).collect())))
            if turn:
                figures["seconds"].append(seconds)
                figures["bytes"] = _shuffled(spark) - before
    assert len(answers) == 1, answers
    return measured


def _shuffled(spark: Any) -> int:
    return int(spark._jsc.sc().statusStore().executorSummary("driver").totalShuffleWrite())


def _key_seconds(spark: Any) -> dict[str, float]:
    """Reading all keys, and reading them and computing the bucket of each: medians."""
    spark.conf.set("spark.sargo.buckets", "false")
    jvm: Any = spark._jvm
    frame = spark.table("facts").select("id")
    key = frame._jdf.queryExecution().analyzed().output().apply(0)
    bucket = jvm.io.sargo.spark.hashing.BucketPartitioning([key], BUCKETS).partitionIdExpression()
    hashed = frame._jdf.select(
        jvm.scala.collection.JavaConverters.asScalaBuffer([jvm.org.apache.spark.sql.Column(bucket)])
    )
    with_hash = hashed.toDF(jvm.scala.collection.JavaConverters.asScalaBuffer(["b"])).selectExpr(
        _texts(spark, "sum(b)")
    )
    without = frame._jdf.selectExpr(_texts(spark, "count(id)"))
    calls = {"read": without.collect, "read and hashed": with_hash.collect}
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(3 * ROUNDS):
        for name, call in calls.items():
            spent[name].append(_seconds(call))
    return {name: statistics.median(seconds[ROUNDS:]) for name, seconds in spent.items()}


def _texts(spark: Any, text: str) -> Any:
    texts = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 1)
    texts[0] = text
    return texts


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
