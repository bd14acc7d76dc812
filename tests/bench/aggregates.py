"""``aggregate`` beside the same aggregates of ``read``, in a warm Spark session.

    table     250 files in 25 partitions, 5 million rows, COPY_ON_WRITE without a metadata table
    all       count, min and max of a date and of a number, without a condition: no file is read
    range     the same where the number is in a range that holds on all rows of most kept files: two files are read
    nothing   the same with a text among the columns, of which no footer has the exact bounds: what looking costs
    sum       the sum of the number, which an own index has: no file is read
    again     a sidecar's second question about the same files, whose footers it has read, beside the first

CPU time of this process and of Spark's JVM, and wall clock, each the median of calls that take turns, from the path to
the row. Both give the same row, or the bench stops.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from handler import open_table
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.answers import answer_slices
from handler.aggregates.footer_facts import KeptFacts
from handler.indexes.operations import IndexWork
from handler.spark import aggregate, read
from tests.handler.plain_table import plain_table

PARTITIONS, FILES, ROWS, CALLS = 25, 10, 20_000, 7
SCHEMA = {
    "type": "record",
    "name": "trips",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "fare", "type": ["null", "long"], "default": None},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "p", "type": ["null", "string"], "default": None},
    ],
}
ASKED = {"n": "count(*)", "few": "min(fare)", "most": "max(fare)", "first": "min(day)", "last": "max(day)"}
LAST = PARTITIONS * FILES * ROWS
QUESTIONS = {
    "all": (ASKED, None),
    "range": (ASKED, f"fare >= {ROWS // 2} AND fare < {LAST - ROWS // 2}"),
    "nothing": (ASKED | {"name": "max(name)"}, None),
    "sum": ({"total": "sum(fare)"}, None),
}

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """CPU and wall-clock milliseconds, and the ratio of ``read``'s to them."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(plain_table(Path(folder) / "trips", list(_files()), "p", json.dumps(SCHEMA)))
        yield _again(path)
        IndexWork(path).create(["fare"], ["sum"])
        if shutil.which("java") is None:
            return
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        try:
            for name, (asked, condition) in QUESTIONS.items():
                yield from _question(spark, path, name, asked, condition)
        finally:
            spark.stop()


def _files() -> Iterator[tuple[str, pa.Table]]:
    for number in range(PARTITIONS * FILES):
        fares = np.arange(number * ROWS, (number + 1) * ROWS)
        partition = f"p{number // FILES:02d}"
        days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=number)] * ROWS
        columns = {"id": fares.astype(str), "fare": fares, "day": days, "name": (fares % 1000).astype(str)}
        yield f"p={partition}", pa.table({**columns, "p": [partition] * ROWS})


def _again(path: str) -> Row:
    opened = open_table(path, cache=None)
    items = list(opened.at().slices)
    asked = [Aggregate.parse(one) for one in ASKED.values()]
    spent: dict[str, list[float]] = {"first": [], "again": []}
    for _ in range(CALLS):
        kept = KeptFacts()
        for times in spent.values():
            began = time.process_time()
            found = answer_slices(opened.table, opened.at().slices, items, frozenset(items), asked, kept=kept)
            times.append(time.process_time() - began)
            assert len(found.answered) == len(items)
    first, again = (statistics.median(times) * 1000 for times in spent.values())
    return f"again, {len(items)} files, CPU", f"{again:,.1f} ms", f"first: {first:,.1f} ms, {first / again:.1f} x"


def _question(spark: SparkSession, path: str, name: str, asked: dict[str, str], condition: str | None) -> Iterator[Row]:
    def by_read() -> DataFrame:
        return read(spark, path, condition).agg(*(F.expr(text).alias(key) for key, text in asked.items()))

    ways: dict[str, Callable[[], Any]] = {
        "aggregate": lambda: aggregate(spark, path, asked, condition).collect(),
        "read and agg": lambda: by_read().collect(),
    }
    rows = {way: call() for way, call in ways.items()}
    assert rows["aggregate"] == rows["read and agg"], rows
    spent: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(CALLS):
        for way, call in ways.items():
            cpu, wall = _cpu(spark), time.perf_counter()
            call()
            spent[way].append((_cpu(spark) - cpu, time.perf_counter() - wall))
    median = {way: [statistics.median(one) for one in zip(*found, strict=True)] for way, found in spent.items()}
    for place, what in enumerate(("CPU", "wall clock")):
        ours, theirs = median["aggregate"][place], median["read and agg"][place]
        yield (
            f"{name}, {what}",
            f"{ours * 1000:,.0f} ms",
            f"read and agg: {theirs * 1000:,.0f} ms, {theirs / ours:.1f} x",
        )


def _cpu(spark: SparkSession) -> float:
    """CPU seconds of this process and of the JVM so far, that of the JVM as Linux counts it."""
    gateway: Any = spark.sparkContext._gateway
    times = Path(f"/proc/{gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return time.process_time() + sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
