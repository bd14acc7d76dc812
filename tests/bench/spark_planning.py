"""Planning in a warm Spark session: ``prune`` beside ``handler.prune``, ``read`` beside Hudi's own planning.

    table      252 files in 63 partitions, COPY_ON_WRITE, column_stats of one column; written by Hudi 1.0.2 on Spark 3.5
    prune      on an opened table whose statistics are loaded: a text that was given before, one with another constant
               each time, one with other columns and operators each time, three of these, a Column that was made before
    read       from the path to the number of Spark's tasks, without running one: the table is opened, pruned, its
               schemas are read and Spark lists the files. Some files match ("few"), or all of them ("all")
    Hudi       the same from ``format("hudi")``, with its own data skipping; on 3.5, for which its bundles are

Wall clock, median of some calls that take turns, after as many as the JVM's second compiler needs. Goals: ``prune`` at
most 6 ms, ``read`` at most 40 ms. The session of Spark 3.5 is in a virtual environment of its own, as for
``make tables``.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import handler
from handler.spark import prune, read
from tests.tables.many_partitions import FILES, RELEASE, ROWS
from tests.tables.releases import PYTHON, ROOT, session

PARTITIONS, CALLS, WARM = 63, 25, 60
GOALS = {"prune": 6.0, "read": 40.0}
LAST = PARTITIONS * FILES * ROWS - 1

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """Milliseconds and the ratio to the goal, and to what it is compared with."""
    if shutil.which("java") is None or not PYTHON.exists():
        return
    RELEASE.fetch()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "trips"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        _python("tests.tables.many_partitions", str(PARTITIONS), str(table), environment)
        for version in ("3.5", "4.1"):
            printed = _python("tests.bench.spark_planning", version, str(table), environment)
            yield from (tuple(row) for row in json.loads(printed.splitlines()[-1]))


def _python(module: str, first: str, second: str, environment: Mapping[str, str]) -> str:
    python = sys.executable if first == "4.1" else str(PYTHON)
    return subprocess.run(
        [python, "-m", module, first, second], check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ).stdout


def measure(spark: SparkSession, table: Path, hudi: bool) -> Iterator[Row]:
    """The figures of one session."""
    version = spark.version
    opened = handler.open_table(table)
    numbers = itertools.count()
    known, few, every = "amount < 15.0 AND dt >= '2010-01-01'", "amount < 95.0", "amount >= 0.0"

    shapes = _shapes()

    def constant() -> str:
        return f"amount < 15.0 AND dt > '2009-{next(numbers)}'"

    column = (F.col("amount") < 15.0) & (F.col("dt") >= "2010-01-01")
    spent = _in_turns(
        {
            "handler.prune": lambda: handler.prune(opened, known, "spark", time_zone="UTC"),
            "a text given before": lambda: prune(spark, opened, known),
            "a new constant": lambda: prune(spark, opened, constant()),
            "a new text": lambda: prune(spark, opened, next(shapes)),
            "three new texts": lambda: prune(spark, opened, list(itertools.islice(shapes, 3))),
            "a Column": lambda: prune(spark, opened, column),
        }
    )
    assert prune(spark, opened, known).kept == handler.prune(opened, known, "spark", time_zone="UTC").kept
    base = spent.pop("handler.prune")
    for name, milliseconds in spent.items():
        yield (
            f"{version}: prune, {name}",
            f"{milliseconds:.1f} ms",
            f"{milliseconds / GOALS['prune']:.2f} x the goal, handler.prune {base:.1f} ms",
        )
    ways: dict[str, Callable[[], int]] = {}
    for name, condition in (("few files", few), ("all files", every)):
        ways[name] = lambda condition=condition: _tasks(read(spark, table, condition))
        if hudi:
            ways[f"Hudi, {name}"] = lambda condition=condition: _tasks(_by_hudi(spark, table).where(condition))
    for condition in (few, every):
        if hudi:
            assert read(spark, table, condition).count() == _by_hudi(spark, table).where(condition).count()
    spent = _in_turns(ways)
    for name, milliseconds in spent.items():
        ratio = f"{milliseconds / GOALS['read']:.2f} x the goal" if not name.startswith("Hudi") else ""
        if f"Hudi, {name}" in spent:
            ratio += f", {milliseconds / spent[f'Hudi, {name}']:.2f} x Hudi"
        yield f"{version}: read, {name}", f"{milliseconds:.0f} ms", ratio


def _shapes() -> Iterator[str]:
    """Conditions of two comparisons, each with other columns or operators."""
    constants = {"amount": "15.0", "dt": "'2009-01-01'", "id": "100", "ts": "3"}
    for pair in itertools.permutations(constants, 2):
        for operators in itertools.product(("<", "<=", ">", ">=", "=", "<>"), repeat=2):
            leaves = [f"{name} {operator} {constants[name]}" for name, operator in zip(pair, operators, strict=True)]
            yield from (f" {joining} ".join(leaves) for joining in ("AND", "OR"))


def _by_hudi(spark: SparkSession, table: Path) -> Any:
    return spark.read.format("hudi").option("hoodie.enable.data.skipping", "true").load(str(table))


def _tasks(frame: Any) -> int:
    """The number of tasks that would read the frame."""
    return int(frame._jdf.queryExecution().toRdd().getNumPartitions())


def _in_turns(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Median milliseconds of each call."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(WARM + CALLS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn >= WARM:
                spent[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(times) for name, times in spent.items()}


def main(version: str, table: Path) -> None:
    """Measure in this Python, and print the rows as JSON."""
    spark = session(RELEASE if version == "3.5" else None, table.parent, ())
    try:
        rows = list(measure(spark, table, hudi=version == "3.5"))
    finally:
        spark.stop()
    print(json.dumps(rows), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
