"""Joins, groups and windows over tables with Hudi's bucket index, on real Spark 3.5 with real Hudi, in one session.

    python -m tests.handler.spark.extension.bucket_stories FOLDER RELEASE     with the Python that has Spark 3.5

``FOLDER/outcomes.json`` has an outcome by story: whether the rows are those without the extension, and how many
exchanges and scans by buckets the plan has.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handler.shipped.artefacts import spark_jar
from handler.sidecar.settings import Settings
from tests.handler.sidecar.conftest import Running
from tests.handler.spark.extension.bucket_queries import KEYS, QUERIES, REFUSED
from tests.handler.spark.extension.bucket_random import random_query
from tests.handler.spark.extension.sessions import session
from tests.handler.spark.extension.stories import SETTINGS
from tests.handler.spark.extension.telling import Outcome, Stories
from tests.tables.releases import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MORE = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.shuffle.partitions": "4"}
QUERIES_OF_CHANCE = 60


class Buckets:
    """Tables with buckets in a session, and queries over views of them."""

    def __init__(self, stories: Stories) -> None:
        self.stories = stories
        self.spark = stories.spark
        self.work = stories.work

    def write(
        self,
        name: str,
        frame: DataFrame,
        buckets: int,
        key: str = "id",
        operation: str = "upsert",
        **more: str,
    ) -> None:
        """One commit. ``more`` are options of it, with ``__`` for a dot."""
        partition = more.get("hoodie__datasource__write__partitionpath__field", "")
        generator = "Nonpartitioned" if not partition else "Simple"
        options = {
            "hoodie.table.name": name,
            "hoodie.datasource.write.recordkey.field": key,
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": partition,
            "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{generator}KeyGenerator",
            "hoodie.datasource.write.operation": operation,
            "hoodie.embed.timeline.server": "false",
            "hoodie.clean.automatic": "false",
            "hoodie.compact.inline": "false",
            "hoodie.upsert.shuffle.parallelism": "2",
            **self.index(buckets),
            **{option.replace("__", "."): value for option, value in more.items()},
        }
        frame.write.format("hudi").options(**options).mode("append").save(f"{self.work}/{name}")

    @staticmethod
    def index(buckets: int) -> dict[str, str]:
        return {
            "hoodie.index.type": "BUCKET",
            "hoodie.index.bucket.engine": "SIMPLE",
            "hoodie.bucket.index.num.buckets": str(buckets),
        }

    def view(self, name: str, buckets: int, folder: str | None = None, **more: str) -> None:
        options = self.index(buckets) | {option.replace("__", "."): value for option, value in more.items()}
        frame = self.spark.read.format("hudi").options(**options).load(f"{self.work}/{folder or name}")
        frame.createOrReplaceTempView(name)

    def rows(self, count: int, ts: int = 1) -> DataFrame:
        text = f"concat('k', id) id, int(id) i, concat('p', id % 2) p, id / 7 f, int({ts}) ts"
        return self.spark.sql(f"SELECT {text} FROM range({count})")

    def typed(self) -> DataFrame:
        """Rows with a column of each type that has a certain text, among them NULLs and empty texts."""
        return self.spark.sql(
            """SELECT int(id - 20) i, bigint(id * 7919 * 1000003 - 5) l, id % 2 = 0 t,
                      date_add(DATE'1969-12-20', int(id)) d, CAST(id / 100 AS decimal(10, 2)) m,
                      CAST(id / 100000000 AS decimal(20, 9)) e, concat('schlüssel', id, '€😀') u,
                      IF(id % 5 = 0, NULL, concat('n', id % 10)) n, IF(id % 3 = 0, '', concat('', id)) v,
                      concat('k', id) id, int(1) ts FROM range(40)"""
        )

    # -- outcomes

    @contextmanager
    def settings(self, mode: str, aqe: str) -> Iterator[None]:
        with self.stories.set(spark__sargo__buckets=mode, spark__sql__adaptive__enabled=aqe):
            yield

    def ask(self, sql: str, mode: str, aqe: str) -> tuple[list[str], str]:
        """The rows, and the plan that ran."""
        with self.settings(mode, aqe):
            frame = self.spark.sql(sql)
            rows = self.stories.rows_of(frame)
            jdf: Any = frame._jdf
            return rows, jdf.queryExecution().executedPlan().toString().split("== Initial Plan")[0]

    def compare(self, sql: str, mode: str = "true") -> Outcome:
        """A query without buckets and with them, with AQE and without."""
        outcome: Outcome = {"equal": True}
        for aqe in ("true", "false"):
            expected, _ = self.ask(sql, "false", aqe)
            rows, plan = self.ask(sql, mode, aqe)
            outcome["equal"] &= rows == expected
            outcome["rows"] = len(rows)
            outcome[f"aqe {aqe}"] = [plan.count("Exchange "), plan.count("BucketedScan")]
        return outcome


def tables(buckets: Buckets) -> None:
    """The tables of ``bucket_queries``, and a view of each."""
    log = {"hoodie__datasource__write__table__type": "MERGE_ON_READ"}
    by_p = {"hoodie__datasource__write__partitionpath__field": "p"}
    buckets.write("facts", buckets.rows(200), 8)
    buckets.write("logs", buckets.rows(120), 8, **log)
    buckets.write("logs", buckets.rows(30, 2).selectExpr("id", "i + 1000 i", "p", "f", "ts"), 8, **log)
    buckets.write("parts", buckets.rows(150), 8, **by_p)
    buckets.write("tiny", buckets.rows(3), 8)
    buckets.write("four", buckets.rows(100), 4)
    ring = {"hoodie__index__bucket__engine": "CONSISTENT_HASHING", **log}
    buckets.write("ring", buckets.rows(20), 8, **ring)
    buckets.write("doubles", buckets.rows(20), 8, "f")
    for name, key in KEYS.items():
        buckets.write(name, buckets.typed(), 5, key)
        buckets.view(name, 5)
    bulk = {"hoodie__datasource__write__row__writer__enable": "true"}
    buckets.write("bulk", buckets.typed(), 5, KEYS["typed"], "bulk_insert", **bulk)
    for name, number in {"facts": 8, "logs": 8, "parts": 8, "tiny": 8, "four": 4, "doubles": 8, "bulk": 5}.items():
        buckets.view(name, number)
    buckets.view("ring", 8, hoodie__index__bucket__engine="CONSISTENT_HASHING")
    buckets.view("wrong_number", 16, "facts")
    buckets.view("by_rule", 8, "parts", hoodie__bucket__index__partition__expressions="p1,4")
    buckets.spark.read.format("hudi").load(f"{buckets.work}/facts").createOrReplaceTempView("untold")
    buckets.rows(130).createOrReplaceTempView("plain")


def random_queries(buckets: Buckets, seeds: range) -> Outcome:
    """Random queries, with as many partitions of a shuffle as there are buckets, and with fewer."""
    different, scans = [], 0
    for seed in seeds:
        sql = random_query(seed)
        settings = {"spark__sql__shuffle__partitions": str(4 + seed % 2 * 4)}
        if seed % 3 == 0:
            settings["spark__sql__autoBroadcastJoinThreshold"] = "3000"
        with buckets.stories.set(**settings):
            expected, _ = buckets.ask(sql, "false", "true")
            for mode, aqe in (("true", "true"), ("true", "false"), ("auto", "true")):
                rows, plan = buckets.ask(sql, mode, aqe)
                scans += plan.count("BucketedScan")
                if rows != expected:
                    different.append([seed, mode, aqe, sql])
    return {"equal": not different, "different": different, "scans": scans}


def elsewhere(buckets: Buckets) -> dict[str, Outcome]:
    """Where else the options of the index may stand, and what else may stand between a scan and its join."""
    spark = buckets.spark
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in buckets.index(8).items())
    spark.sql(f"CREATE TABLE c_facts USING hudi TBLPROPERTIES ({properties}) LOCATION '{buckets.work}/facts'")
    join = "SELECT x.id, y.i FROM {} x JOIN logs y ON x.id = y.id"
    told = {"a table of the catalog": buckets.compare(join.format("c_facts"))}
    with buckets.stories.set(**{name.replace(".", "__"): value for name, value in buckets.index(8).items()}):
        told["settings of the session"] = buckets.compare(join.format("untold"))
    spark.sql("CACHE TABLE cached AS SELECT id, i FROM facts WHERE i < 150")
    told["a cached table"] = buckets.compare(join.format("cached"))
    spark.sql("UNCACHE TABLE cached")
    instant = spark.sql("SELECT max(_hoodie_commit_time) FROM facts").collect()[0][0]
    buckets.view("then", 8, "facts", as__of__instant=str(instant))
    told["time travel"] = buckets.compare("SELECT id, count(*) FROM then GROUP BY id")
    return told


def swapped(buckets: Buckets) -> Outcome:
    """The rows of two buckets have changed places: a join must not lose them."""
    folder = buckets.work / "swapped"
    shutil.copytree(buckets.work / "facts", folder)
    first, second = sorted(folder.glob("0000000[01]-*.parquet"))
    for one in (first, second):
        (folder / f".{one.name}.crc").unlink(missing_ok=True)
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    buckets.view("swapped", 8)
    sql = "SELECT x.id FROM swapped x JOIN facts y ON x.id = y.id"
    expected, _ = buckets.ask(sql, "false", "true")
    try:
        rows, plan = buckets.ask(sql, "true", "true")
    except Exception as error:
        return {"equal": len(expected) == 200, "error": str(error)}
    return {"equal": rows == expected, "bucketed": plan.count("BucketedScan")}


def narrowed_by_keys(buckets: Buckets) -> dict[str, Outcome]:
    """Joins whose keys narrow a scan by buckets, few of them and more than a subquery may have."""
    keys = "(SELECT concat('k', a.id * 1000 + b.id) id FROM range({}) a CROSS JOIN range(1000) b WHERE a.id >= 0)"
    sql = "SELECT f.id, f.i FROM facts f JOIN {} k ON f.id = k.id"
    given = {"spark__sargo__dynamic": "subquery", "spark__sargo__dynamic__subquery__min__bytes": "0"}
    with buckets.stories.set(**given):
        return {
            f"{size} keys of a join": buckets.compare(sql.format(keys.format(count)))
            for size, count in (("few", 1), ("very many", 3000))
        }


def explained(buckets: Buckets) -> Outcome:
    """What a user sees of it."""
    with buckets.settings("true", "false"):
        frame = buckets.spark.sql("SELECT f.id, g.i FROM facts f JOIN logs g ON f.id = g.id WHERE f.i < 50")
        frame.collect()
        jdf: Any = frame._jdf
        leaf = jdf.queryExecution().executedPlan().collectLeaves().apply(0)
        jvm: Any = buckets.spark._jvm
        formatted = jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")
        return {
            "equal": True,
            "explained": jdf.queryExecution().explainString(formatted),
            "rows_counted": leaf.metrics().apply("numOutputRows").value(),
            "tasks": leaf.outputPartitioning().numPartitions(),
        }


def main(folder: str, release: str) -> None:
    work = Path(folder)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spark = session([spark_jar("3.5"), RELEASES[release].jar], work, SETTINGS | _MORE)
    stories = Stories(spark, work)
    buckets = Buckets(stories)
    with Running(Settings(port=0, metrics_port=-1, roots=(str(work),), refresh_seconds=0)) as sidecar:
        tables(buckets)
        spark.conf.set("spark.sargo.sidecar.address", f"127.0.0.1:{sidecar.port}")
        spark.conf.set("spark.sargo.sidecar.timeout.ms", "20000")
        for name, (_, sql) in {**QUERIES, **REFUSED}.items():
            stories.tell(name, lambda sql=sql: buckets.compare(sql))  # type: ignore[misc]
        join = "SELECT f.id, g.i FROM facts f JOIN logs g ON f.id = g.id"
        stories.tell("auto joins", lambda: buckets.compare(join, "auto"))
        with stories.set(spark__sql__autoBroadcastJoinThreshold="10000000"):
            stories.tell("auto leaves a broadcast", lambda: buckets.compare(join, "auto"))
        for name, outcome in elsewhere(buckets).items():
            stories.tell(name, lambda outcome=outcome: outcome)  # type: ignore[misc]
        for name, outcome in narrowed_by_keys(buckets).items():
            stories.tell(name, lambda outcome=outcome: outcome)  # type: ignore[misc]
        stories.tell("random queries", lambda: random_queries(buckets, range(QUERIES_OF_CHANCE)))
        stories.tell("explained", lambda: explained(buckets))
        stories.tell("swapped", lambda: swapped(buckets))
    (work / "outcomes.json").write_text(json.dumps(stories.outcomes, indent=1), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
