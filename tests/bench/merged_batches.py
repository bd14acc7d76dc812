"""Scans of a MERGE_ON_READ table on Spark 3.5: slices in batches, as a session is by default, and row by row.

    python -m tests.bench merged_batches                  4 million rows in 8 files
    ROWS=20000000 python -m tests.bench merged_batches

Of the 8 slices none, 2 or all have a log file, which updates one row in 200. Hudi 1.2.0 writes them. The ways take
turns, each begins a round as often as the other.

    rows       ``spark.sargo.batches=false``: Hudi alone returns rows, whatever a slice has
    batches    slices without log files in batches; base files of the others are decoded by columns, and the merged rows
               put into batches

CPU time of the whole application is the median over the rounds. The spread is that of the rounds' ratios, half of which
are within.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handler.shipped.artefacts import spark_jar
from tests.bench.extension_program import Row, hand_over, ratio, shown, told_by, turns
from tests.tables.releases import RELEASES

__all__ = ["run"]

ROWS, FILES, ROUNDS, WARM = 4_000_000, 8, 6, 3
WITH_LOGS = (0, 2, FILES)
WAYS = {"rows": {"spark.sargo.batches": "false"}, "batches": {"spark.sargo.batches": "true"}}
QUERIES = {
    "two columns": "SELECT max(day), max(v) FROM {table}",
    "a filter": "SELECT count(*), sum(i) FROM {table} WHERE i < 500",
    "groups": "SELECT s, count(*), sum(d), max(day) FROM {table} GROUP BY s ORDER BY s LIMIT 3",
}


def run() -> Iterator[Row]:
    """The figures."""
    return told_by("tests.bench.merged_batches", ROWS, _told)


def _told(rows: int, figures: dict[str, Any]) -> Iterator[Row]:
    for name, measured in figures.items():
        for way, spent in measured.items():
            yield f"{name}: {way}", shown(spent), "" if way == "rows" else f"{ratio(spent, measured['rows'])} rows"


# -- in the process that has Spark 3.5


def _measure(folder: str, rows: int) -> None:
    from handler.spark import register
    from tests.handler.spark.extension.sessions import session
    from tests.handler.spark.extension.stories import SETTINGS
    from tests.handler.spark.extension.telling import Stories

    work = Path(folder)
    more = {"spark.driver.memory": "4g", "spark.driver.extraJavaOptions": "-Duser.timezone=UTC"}
    spark = session([spark_jar("3.5"), RELEASES["1.2.0"].jar], work, SETTINGS | more)
    stories = Stories(spark, work)
    spark.conf.set("spark.sargo.enabled", "false")
    columns = (
        "concat('text ', id % 5000) s",
        "cast(id / 7 as decimal(12, 2)) d",
        "date_add(date '2026-01-01', int(id % 300)) day",
    )
    for logged in WITH_LOGS:
        made = spark.range(rows).selectExpr("concat('k', id) id", "int(1) ts", "id v", "int(id % 1000) i", *columns)
        stories.write(f"logged_{logged}", made.repartitionByRange(FILES, "v"), "bulk_insert", mor=True)
        if logged:
            updated = made.where(f"v % 200 = 3 AND v < {rows * logged // FILES}").withColumn("ts", made.ts + 1)
            stories.write(f"logged_{logged}", updated, "upsert", mor=True)
        frame = spark.read.format("hudi").load(f"{work}/logged_{logged}")
        frame.createOrReplaceTempView(f"logged_{logged}")
    register(spark)
    spark.conf.set("spark.sargo.enabled", "true")
    figures = {
        f"{name}, {logged} of {FILES} slices with a log file": turns(
            spark, WAYS, [sql.format(table=f"logged_{logged}")] * (WARM + ROUNDS), WARM
        )
        for name, sql in QUERIES.items()
        for logged in WITH_LOGS
    }
    hand_over(work, figures)
    spark.stop()


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
