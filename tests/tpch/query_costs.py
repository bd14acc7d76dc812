"""The 22 queries of TPC-H over views of Hudi tables: Hudi with its own skipping, and the same with the extension.

    python -m tests.tpch.query_costs FOLDER [--kinds cow,mor] [--rounds N] [--queries Q1,Q6] [--own-index TABLE.COLUMN]
                                     [--save FILE]

with the Python of ``.venv/spark35``. FOLDER is what ``tests.tpch.whole_tables`` writes. In one session, after some
queries that are not measured, each query runs both ways in turns. Seconds are of the CPU: user and system time of the
driver, its JVM and all their children, the sidecar included; the least of the rounds. ``files`` are those that Spark's
scans read, in subqueries too, without log files. ``--own-index lineitem.l_orderkey`` makes an own secondary index
first, if there is none. The exit code is 1 when rows differ.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from handler.indexes.operations import IndexWork
from handler.shipped.artefacts import spark_jar
from handler.spark import register
from tests.handler.spark.extension.sessions import all_files_read, session
from tests.tables.releases import RELEASES
from tests.tpch.queries import QUERIES
from tests.tpch.whole_tables import KINDS, TABLES

#: Way -> settings of the session. Hudi skips by its metadata table in both, where the extension leaves a scan to it.
WAYS = {"Hudi": {"spark.sargo.enabled": "false"}, "Sargo": {"spark.sargo.enabled": "true"}}
_HUDI = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
_SETTINGS = {
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension,io.sargo.spark.SargoExtensions",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseParallelGC",
}
#: They load the classes and compile what all queries use.
_WARM = ("Q3", "Q6", "Q12", "Q14", "Q22", "Q6")
_TICKS = os.sysconf("SC_CLK_TCK")
HEAD = "query   CPU s Hudi   Sargo   ratio   wall s Hudi   Sargo   files Hudi   Sargo"


@dataclass
class Cost:
    """What the runs of a query took one way, at best."""

    cpu: float = math.inf
    wall: float = math.inf
    files: int = 0
    rows: list[str] = field(default_factory=list)


def cpu_seconds() -> float:
    """The CPU time of this process and of all below it, with their children that have ended."""
    parents: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parts = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents.setdefault(int(parts[1]), []).append(int(folder.name))
        spent[int(folder.name)] = sum(map(int, parts[11:15]))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        total += spent.get(process, 0)
        waiting += parents.get(process, [])
    return total / _TICKS


def run_once(spark: SparkSession, sql: str, way: str, cost: Cost) -> None:
    for name, value in WAYS[way].items():
        spark.conf.set(name, value)
    begun, before = time.monotonic(), cpu_seconds()
    frame = spark.sql(sql)
    rows = frame.collect()
    cost.cpu = min(cost.cpu, cpu_seconds() - before)
    cost.wall = min(cost.wall, time.monotonic() - begun)
    cost.files = all_files_read(frame)
    cost.rows = sorted(map(repr, rows))


def line(name: str, hudi: Cost, sargo: Cost) -> str:
    text = f"{name:6}{hudi.cpu:>12.2f}{sargo.cpu:>8.2f}{sargo.cpu / hudi.cpu:>8.2f}{hudi.wall:>14.2f}{sargo.wall:>8.2f}"
    text += f"{hudi.files:>13}{sargo.files:>8}"
    return text + ("" if hudi.rows == sargo.rows else "  OTHER ROWS")


def measured(spark: SparkSession, kind: str, given: argparse.Namespace) -> Iterator[str]:
    home, queries, rounds = given.folder, given.queries.split(","), given.rounds
    for place in given.own_index:
        name, column = place.split(".")
        IndexWork(str(home / kind / name)).create([column], ["secondary_index"], if_needed=True)
    for table in TABLES[kind]:
        spark.read.format("hudi").options(**_HUDI).load(str(home / kind / table)).createOrReplaceTempView(table)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    load = f"load {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores"
    yield f"{today}, {'COPY_ON_WRITE' if kind == 'cow' else 'MERGE_ON_READ'}, {load}, rounds: {rounds}"
    if given.own_index:
        yield f"Own secondary indexes: {', '.join(given.own_index)}"
    yield HEAD
    for name in _WARM:
        for way in WAYS:
            run_once(spark, QUERIES[name], way, Cost())
    totals = {way: Cost(0, 0) for way in WAYS}
    slower = []
    for number, name in enumerate(queries):
        costs = {way: Cost() for way in WAYS}
        for turn in range(rounds):
            for way in list(WAYS) if (turn + number) % 2 else reversed(WAYS):
                run_once(spark, QUERIES[name], way, costs[way])
        yield line(name, costs["Hudi"], costs["Sargo"])
        for way, cost in costs.items():
            totals[way].cpu += cost.cpu
            totals[way].wall += cost.wall
            totals[way].files += cost.files
        if costs["Sargo"].cpu > costs["Hudi"].cpu:
            slower.append(name)
    yield line("all", totals["Hudi"], totals["Sargo"])
    yield f"Slower: {', '.join(slower) or 'none'}"
    yield ""


def main(given: argparse.Namespace) -> int:
    os.environ["SARGO_CACHE"] = "off"
    lines: list[str] = []
    RELEASES["1.2.0"].fetch()
    with tempfile.TemporaryDirectory() as work:
        jar = Path(shutil.copy(spark_jar("3.5"), work))  # it may be built anew meanwhile
        spark = session([jar, RELEASES["1.2.0"].jar], Path(work), _SETTINGS)
        register(spark)
        for kind in given.kinds.split(","):
            for text in measured(spark, kind, given):
                print(text, flush=True)
                lines.append(text)
                if given.save is not None:  # a run that is ended early leaves what it has
                    given.save.write_text("\n".join([*lines, ""]), encoding="utf-8")
        spark.stop()
    return int(any("OTHER ROWS" in text for text in lines))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.tpch.query_costs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--queries", default=",".join(QUERIES))
    parser.add_argument("--own-index", action="append", default=[], metavar="TABLE.COLUMN")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main(_options()))
