"""Benchmarks of Spark's extension: their own process, which has Spark 3.5 and Hudi 1.2.0, and hands figures over."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handler.shipped.artefacts import MissingError, spark_jar
from tests.tables.releases import PYTHON, RELEASES, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Row", "hand_over", "median", "ratio", "shown", "told_by", "turns"]

Row = tuple[str, str, str]

_NAME = "figures.json"


def told_by(module: str, rows: int, told: Callable[[int, dict[str, Any]], Iterator[Row]]) -> Iterator[Row]:
    """What ``told`` makes of the figures of a program over so many rows, or as many as ROWS says; else why not."""
    rows = int(os.environ.get("ROWS", rows))
    if why := _why_not_run():
        yield "not run", why, ""
    else:
        yield from told(rows, _figures_of(module, rows))


def _why_not_run() -> str:
    """What lacks here, with what to do; "" when nothing does."""
    try:
        spark_jar("3.5")
    except MissingError as error:
        return str(error)
    return "" if PYTHON.exists() else "there is no Spark 3.5: make .venv/spark35/.installed"


def _figures_of(module: str, rows: int) -> dict[str, Any]:
    """What ``python -m MODULE FOLDER ROWS`` hands over. Raises CalledProcessError when it fails."""
    RELEASES["1.2.0"].fetch()
    with tempfile.TemporaryDirectory() as folder:
        program = [str(PYTHON), "-m", module, folder, str(rows)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(program, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
        figures: dict[str, Any] = json.loads((Path(folder) / _NAME).read_text("utf-8"))
    return figures


def hand_over(folder: Path, figures: dict[str, Any]) -> None:
    """Write the figures for the process that asked for them."""
    (folder / _NAME).write_text(json.dumps(figures), encoding="utf-8")


def turns(
    spark: SparkSession, ways: Mapping[str, Mapping[str, str]], queries: Sequence[str], warm: int
) -> dict[str, list[dict[str, float]]]:
    """The ``wall`` and ``cpu`` seconds of each query after the first ``warm``, by way: settings of the session.

    The ways take turns at who begins. All give the same rows.
    """
    spent: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    names = list(ways)
    for turn, query in enumerate(queries):
        answers = set()
        for way in names[turn % len(names) :] + names[: turn % len(names)]:
            for name, value in ways[way].items():
                spark.conf.set(name, value)
            wall, cpu = time.perf_counter(), _cpu_seconds(jvm)
            answers.add(str(spark.sql(query).collect()))
            if turn >= warm:
                spent[way].append({"wall": time.perf_counter() - wall, "cpu": _cpu_seconds(jvm) - cpu})
        assert len(answers) == 1, answers
    return spent


def _cpu_seconds(jvm: int) -> float:
    """CPU seconds of the JVM and of this process so far."""
    fields = Path(f"/proc/{jvm}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()


def median(spent: list[dict[str, float]], what: str) -> float:
    """Of the rounds of a way, each with its ``wall`` and ``cpu`` seconds."""
    return statistics.median(one[what] for one in spent)


def shown(spent: list[dict[str, float]]) -> str:
    """The medians of wall clock and CPU."""
    return f"{1000 * median(spent, 'wall'):,.0f} ms, {1000 * median(spent, 'cpu'):,.0f} ms of CPU"


def ratio(spent: list[dict[str, float]], others: list[dict[str, float]]) -> str:
    """The ratio of the medians of wall clock and CPU, and the middle half of the rounds' ratios of CPU."""
    wall, cpu = (median(spent, what) / median(others, what) for what in ("wall", "cpu"))
    low, _, high = statistics.quantiles(a["cpu"] / b["cpu"] for a, b in zip(spent, others, strict=True))
    return f"{wall:.2f} x the time, {cpu:.2f} x ({low:.2f} to {high:.2f}) the CPU of"
