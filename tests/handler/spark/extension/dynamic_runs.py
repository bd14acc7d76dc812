"""Runs the joins of ``dynamic_stories`` on real Spark, over Hudi's tables.

    python -m tests.handler.spark.extension.dynamic_runs JAR WORK OUT      with the Python of `.venv/spark35`

OUT gets for each way of each story the rows, those without, and the number of files that its scans of fact tables read.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.handler.spark.extension.dynamic_stories import (
    BY_VALUE,
    FAILING,
    MIN_BYTES,
    STORIES,
    SWITCHES,
    WAYS,
    Story,
    Switch,
)
from tests.handler.spark.extension.dynamic_tables import rows_of, write_tables
from tests.handler.spark.extension.dynamic_truth import Truth
from tests.handler.spark.extension.fake_sidecar import FakeSidecar
from tests.handler.spark.extension.plan_nodes import SCALAR, all_nodes, name_of, nodes
from tests.handler.spark.extension.random_joins import random_join
from tests.jvm_flags import SHORT_LIVED
from tests.tables.releases import RELEASES

__all__ = ["hudi_session", "scans", "session", "told"]

#: Joins whose keys are in each file.
IN_A_ROW = 6
#: So many joins the queries of ``scans_of_chain`` have.
CHAINS = (1, 4, 8, 12, 16)
RANDOM_JOINS, RANDOM_SEED = int(os.environ.get("RANDOM_JOINS", "40")), int(os.environ.get("RANDOM_SEED", "1"))


def session(jars: Sequence[str | Path], extensions: Sequence[str], home: Path) -> SparkSession:
    """A session in this process, which has no other."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(("-Duser.timezone=UTC", *SHORT_LIVED)),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": ",".join(extensions),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        # The keys are a list in the query: no rule of Spark may join it before the query runs.
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
        "spark.sargo.dynamic.subquery.min.bytes": "0",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def hudi_session(jar: str, home: Path) -> SparkSession:
    """A session with Hudi 1.2.0 and Sargo's extension."""
    extensions = ("org.apache.spark.sql.hudi.HoodieSparkSessionExtension", "io.sargo.spark.SargoExtensions")
    return session([jar, RELEASES["1.2.0"].jar], extensions, home)


def scans(plan: Any) -> Iterator[Any]:
    """The nodes of a plan and its scalar subqueries that read files, those of the exchanges that it reuses once."""
    return filter(_is_scan, nodes(plan, SCALAR, set()))


def _is_scan(node: Any) -> bool:
    return name_of(node) in ("FileSourceScanExec", "DynamicScan")


def rows_exchanged(plan: Any) -> int:
    """How many rows the exchanges of a physical plan wrote, without those of its subqueries."""
    exchanges = (one for one in nodes(plan, exchanges=set()) if name_of(one) == "ShuffleExchangeExec")
    return sum(int(exchange.metrics().apply("shuffleRecordsWritten").value()) for exchange in exchanges)


def files_read(scans: Iterable[Any], table: str) -> int:
    """How many files the scans of tables of a name read, each time that they are in the plan."""
    count = 0
    for scan in scans:
        own, _, _ = scan.toString().partition("\n")  # without the plans of its subqueries
        if table in own or table in str(scan.metrics()):
            count += scan.metrics().apply("numFiles").value()
    return count


def class_sent(spark: SparkSession, node: Any) -> str:
    """What a node is in an executor, to which Spark sends the plan around it where it generates no code."""
    jvm: Any = spark._jvm
    utils = jvm.org.apache.spark.util.Utils
    return str(utils.deserialize(utils.serialize(node)).getClass().getName())


def run(spark: SparkSession, story: Story, settings: Mapping[str, str]) -> dict[str, Any]:
    """The rows of a query and the scans of its plan. ``error``: why it failed instead."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        frame = spark.sql(story.sql)
        rows = sorted(repr(tuple(row)) for row in frame.collect())
        plan = frame._jdf.queryExecution().executedPlan()
        read = list(scans(plan))
        own = sum(str(scan).count("dynamicpruning") for scan in read)
        names = [scan.nodeName() for scan in read]
        sent = [class_sent(spark, scan) for scan in read if name_of(scan) == "DynamicScan"]
        told = {"rows": rows, "files": files_read(read, "/fact"), "own": own, "names": names, "sent": sent}
        return {
            **told,
            "files everywhere": files_read(filter(_is_scan, all_nodes(plan)), "/fact"),
            "exchanged": rows_exchanged(plan),
        }
    except Exception as error:
        return {
            "error": f"{type(error).__name__}: {str(error)[:2000]}",
            "rows": [],
            "files": -1,
            "files everywhere": -1,
            "names": [],
            "sent": [],
            "exchanged": -1,
        }
    finally:
        for key in settings:
            spark.conf.unset(key)


def switched(spark: SparkSession, switch: Switch, home: Path) -> dict[str, Any]:
    """A switch with the keys of joins and without; ``own``: how often Spark's own plan of a scan waits for keys."""
    whole = sum(file.stat().st_size for file in (home / "fact").glob("*.parquet"))
    given = {**WAYS[switch.way], "spark.sargo.dynamic": "subquery"}
    given |= {name: value.format(bytes=whole) for name, value in switch.settings.items()}
    if not given.get(MIN_BYTES, "0"):
        spark.conf.unset(MIN_BYTES)
        del given[MIN_BYTES]
    print(switch.name, flush=True)
    try:
        found = {"with": given, "without": {**given, "spark.sargo.dynamic": "false"}}
        return {name: run(spark, Story(switch.name, switch.sql, None), settings) for name, settings in found.items()}
    finally:
        spark.conf.set(MIN_BYTES, "0")


def _random_joins() -> Iterator[tuple[str, str]]:
    rng = random.Random(RANDOM_SEED)
    for _ in range(RANDOM_JOINS):
        yield random_join(rng), rng.choice(tuple(WAYS))


def compared(spark: SparkSession, sql: str, way: str) -> dict[str, Any]:
    """A query without the keys of joins and with them, by each setting."""
    story = Story(sql, sql, None)
    return {
        name: run(spark, story, {**WAYS[way], "spark.sargo.dynamic": name}) for name in ("false", "auto", "subquery")
    }


def not_reused(spark: SparkSession) -> dict[str, Any]:
    """A query that Spark planned to reuse a subquery in, and ran without."""
    setting = "spark.sql.execution.reuseSubquery"
    frame = spark.sql(BY_VALUE)
    planned = frame._jdf.queryExecution().executedPlan().toString()
    spark.conf.set(setting, "false")
    try:
        rows = len(frame.collect())
        read = scans(frame._jdf.queryExecution().executedPlan())
        return {"is_planned": "DynamicScan" in planned, "rows": rows, "files": files_read(read, "/fact")}
    finally:
        spark.conf.unset(setting)


def asked_in_a_row(spark: SparkSession, truth: Truth, way: str) -> dict[str, Any]:
    """How often keys of each file are asked about, join by join, the rows exchanged, and the files for another side."""
    settings = {**WAYS[way], "spark.sargo.dynamic": "subquery"}
    column, asked, exchanged = f"of_{way.replace(' ', '_')}", [], []
    for number in range(IN_A_ROW):
        rows = ", ".join(f"({first + number})" for first in range(10, 800, 100))
        sql = f"select f.k from fact f join (select * from values {rows} as t({column})) t on f.k = t.{column}"
        truth.skipped.clear()
        exchanged.append(run(spark, Story(sql, sql, None), settings)["exchanged"])
        asked.append(sum(bool({"In", "InSet"} & set(classes)) for _, classes, *_ in truth.skipped))
    other = f"select f.k from fact f join (select * from values (105), (717) as t(o_{column})) t on f.k = o_{column}"
    files = run(spark, Story(other, other, None), settings)["files"]
    return {"asked": asked, "exchanged": exchanged, "files of another side": files}


def scans_of_chain(spark: SparkSession, joins: int) -> int:
    """How many scans the plan of so many shuffled joins has, each by another column, with those of its subqueries."""
    sides = [
        f"join (select * from fact where v % {i + 90} > -2) f{i} on f{i - 1}.{c} = f{i}.{c}" for i, c in _chain(joins)
    ]
    settings = {**WAYS["shuffled"], "spark.sargo.dynamic": "subquery"}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        frame = spark.sql(f"select f0.k from fact f0 {' '.join(sides)}")
        return str(frame._jdf.queryExecution().optimizedPlan()).count("Relation ")
    finally:
        for key in settings:
            spark.conf.unset(key)


def _chain(joins: int) -> Iterator[tuple[int, str]]:
    return zip(range(1, joins + 1), itertools.cycle(("k", "big", "n", "v", "s")))


def told(spark: SparkSession, home: Path) -> dict[str, Any]:
    """What each story, random join and switch came to, over the views of the tables of ``home``."""
    spark.conf.set("spark.sargo.dynamic", "false")
    fake = FakeSidecar()
    truth = Truth({name: rows_of(spark, name) for name in ("fact", "fact_mor", "places")})
    fake.answer = truth
    spark.conf.set("spark.sargo.sidecar.address", fake.address)
    results: dict[str, Any] = {}
    chosen = os.environ.get("STORY")
    for story in STORIES:
        if chosen is not None and chosen != story.name:
            continue
        without = run(spark, story, {"spark.sargo.dynamic": "false"})
        results[story.name] = {"without": without}
        print(story.name, flush=True)
        for way, settings in WAYS.items():
            truth.skipped.clear()
            result = run(spark, story, {**settings, "spark.sargo.dynamic": "subquery"})
            results[story.name][way] = {**result, "asked": list(truth.skipped)}
    results["random"] = {} if chosen else {sql: compared(spark, sql, way) for sql, way in _random_joins()}
    results["failing"] = {
        f"{name}, {way}": compared(spark, sql, way) for name, (ways, sql) in FAILING.items() for way in ways
    }
    spark.conf.set("spark.sargo.dynamic", "auto")
    results["not reused"] = not_reused(spark)
    results["switches"] = {switch.name: switched(spark, switch, home) for switch in SWITCHES}
    results["chains"] = {joins: scans_of_chain(spark, joins) for joins in CHAINS}
    results["in a row"] = {way: asked_in_a_row(spark, truth, way) for way in WAYS}
    fake.close()
    return results


def main(jar: str, home: Path, out: Path) -> None:
    spark = hudi_session(jar, home)
    spark.conf.set("spark.sargo.dynamic", "false")
    write_tables(spark, home)
    out.write_text(json.dumps(told(spark, home), indent=1), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
