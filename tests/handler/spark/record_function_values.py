"""Asks Spark without ANSI mode for its part of ``tests/evaluator/function_grid.py``:

    python -m tests.handler.spark.record_function_values

Spark 4.1 with the Python of .venv, Spark 3.5 with that of .venv/spark35: each has its own answers.
"""

from __future__ import annotations

import json
import lzma
import tempfile
from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from tests.evaluator.function_grid import DATA, ROWS, TABLE, ZONES, calls
from tests.hive.grids.asking import texts

_AT_ONCE = 60
#: Python has no days beyond the year 9999.
_SHOWN = {"timestamp": "unix_micros({})", "timestamp_ntz": "CAST({} AS string)", "date": "CAST({} AS string)"}


def record(spark: SparkSession, folder: str) -> dict[str, Any]:
    """Zone -> call -> [type, values]."""
    found: dict[str, Any] = {}
    for zone in ZONES:
        spark.conf.set("spark.sql.session.timeZone", zone)
        written = spark.createDataFrame(
            [(n, *(values[n] for _, values in TABLE.values())) for n in range(ROWS)],
            "n int, " + ", ".join(f"{name} string" for name in TABLE),
        )
        typed = [expr(f"CAST({name} AS {of})").alias(name) for name, (of, _) in TABLE.items()]
        path = f"{folder}/{zone.partition('/')[2] or zone}"
        written.select("n", *typed).coalesce(1).write.parquet(path)
        found[zone] = dict(_values(spark.read.parquet(path), zone))
        print(f"Spark {spark.version}, {zone}: {len(found[zone])} calls", flush=True)
    return found


def _values(table: DataFrame, zone: str) -> Iterator[tuple[str, list[Any]]]:
    asked = []
    for column, call in calls():
        if zone != "UTC" and column not in ("dt", "ts", "i", "l"):
            continue
        try:
            of = table.select(expr(call)).schema[0].dataType.simpleString().partition("(")[0]
        except PySparkException:
            continue
        if not of.startswith("interval"):
            asked.append((call, of))
    parts = [asked[first : first + _AT_ONCE] for first in range(0, len(asked), _AT_ONCE)]
    while parts:
        part = parts.pop()
        shown = [expr(_SHOWN.get(of, "{}").format(call)) for call, of in part]
        try:
            rows = sorted(table.select("n", *(one.alias(f"x{k}") for k, one in enumerate(shown))).collect())
        except (PySparkException, Py4JError):  # a function that fails without ANSI mode, too
            if len(part) > 1:
                parts += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        for k, (call, of) in enumerate(part, 1):
            yield call, [of, texts(bytes(row[k]) if isinstance(row[k], bytearray) else row[k] for row in rows)]


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.ansi.enabled", "false")
    for form in ("parquet.datetimeRebaseModeInWrite", "parquet.int96RebaseModeInWrite"):
        session.conf.set(f"spark.sql.{form}", "CORRECTED")
    with tempfile.TemporaryDirectory() as scratch:
        answers = record(session, scratch)
    before = json.loads(lzma.decompress(DATA.read_bytes())) if DATA.exists() else {}
    name = "spark " + ".".join(session.version.split(".")[:2])
    text = json.dumps({**before, name: answers}, ensure_ascii=False, separators=(",", ":"))
    DATA.write_bytes(lzma.compress(text.encode(), preset=9))
