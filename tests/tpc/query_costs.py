"""What whole queries of a benchmark cost over views of Hudi tables: Hudi with its own skipping, and with the extension.

In one session, after some queries that are not measured, each query runs both ways in turns. Seconds are of the CPU:
user and system time of the driver, its JVM and all their children, the sidecar included; the least of the rounds.
``files`` are those that Spark's scans read, in subqueries too, without log files. Floating-point numbers are compared
by eight digits: Spark sums them in another order each time.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from handler.indexes.operations import IndexWork
from handler.shipped.artefacts import spark_jar
from handler.spark import register
from tests.handler.spark.extension.sessions import all_files_read, session
from tests.tables.releases import RELEASES

__all__ = ["Run", "comparable", "costs", "extended_session", "options", "reported"]

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
    cost.rows = sorted(map(comparable, rows))


def comparable(value: Any) -> str:
    """A value as a text, without the digits of a number that depend on the order of a sum."""
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, tuple):
        return f"({', '.join(map(comparable, value))})"
    if isinstance(value, list):
        return f"[{', '.join(map(comparable, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{comparable(k)}: {comparable(v)}' for k, v in value.items()))}}}"
    return repr(value)


def line(name: str, hudi: Cost, sargo: Cost) -> str:
    text = f"{name:6}{hudi.cpu:>12.2f}{sargo.cpu:>8.2f}{sargo.cpu / hudi.cpu:>8.2f}{hudi.wall:>14.2f}{sargo.wall:>8.2f}"
    text += f"{hudi.files:>13}{sargo.files:>8}"
    return text + ("" if hudi.rows == sargo.rows else "  OTHER ROWS")


@dataclass(frozen=True)
class Run:
    """Queries by their names, over the tables of a folder; those of ``warm`` load classes and compile code before.

    ``own_index``: TABLE.COLUMN, of which an own secondary index is made if there is none.
    """

    title: str
    home: Path
    tables: Sequence[str]
    queries: Mapping[str, str]
    warm: Sequence[str]
    own_index: Sequence[str] = ()


def costs(spark: SparkSession, run: Run, rounds: int) -> Iterator[str]:
    """The lines of a report, each as soon as it is known."""
    for place in run.own_index:
        name, column = place.split(".")
        IndexWork(str(run.home / name)).create([column], ["secondary_index"], if_needed=True)
    for table in run.tables:
        spark.read.format("hudi").options(**_HUDI).load(str(run.home / table)).createOrReplaceTempView(table)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    load = f"load {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores"
    yield f"{today}, {run.title}, {load}, rounds: {rounds}"
    if run.own_index:
        yield f"Own secondary indexes: {', '.join(run.own_index)}"
    yield HEAD
    for sql in run.warm:
        for way in WAYS:
            run_once(spark, sql, way, Cost())
    totals = {way: Cost(0, 0) for way in WAYS}
    slower = []
    for number, (name, sql) in enumerate(run.queries.items()):
        found = {way: Cost() for way in WAYS}
        for turn in range(rounds):
            for way in list(WAYS) if (turn + number) % 2 else reversed(WAYS):
                run_once(spark, sql, way, found[way])
        yield line(name, found["Hudi"], found["Sargo"])
        for way, cost in found.items():
            totals[way].cpu += cost.cpu
            totals[way].wall += cost.wall
            totals[way].files += cost.files
        if found["Sargo"].cpu > found["Hudi"].cpu:
            slower.append(name)
    yield line("all", totals["Hudi"], totals["Sargo"])
    yield f"Slower: {', '.join(slower) or 'none'}"
    yield ""


@contextmanager
def extended_session(settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session with Hudi 1.2.0 and the extension, registered."""
    os.environ["SARGO_CACHE"] = "off"
    RELEASES["1.2.0"].fetch()
    with tempfile.TemporaryDirectory() as work:
        jar = Path(shutil.copy(spark_jar("3.5"), work))  # it may be built anew meanwhile
        spark = session([jar, RELEASES["1.2.0"].jar], Path(work), {**_SETTINGS, **settings})
        try:
            register(spark)
            yield spark
        finally:
            spark.stop()


def options(program: str, queries: Iterable[str]) -> argparse.ArgumentParser:
    """What the programs have in common; ``queries`` are those that can be named."""
    parser = argparse.ArgumentParser(f"python -m {program}")
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--queries", type=lambda text: text.split(","), default=list(queries))
    parser.add_argument("--save", type=Path)
    return parser


def reported(lines: Iterator[str], save: Path | None) -> int:
    """Prints the lines, and saves them; the exit code is 1 when rows differ."""
    known: list[str] = []
    for text in lines:
        print(text, flush=True)
        known.append(text)
        if save is not None:  # a run that is ended early leaves what it has
            save.write_text("\n".join([*known, ""]), encoding="utf-8")
    return int(any("OTHER ROWS" in text for text in known))
