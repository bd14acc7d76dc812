"""Joins on Spark 3.5 whose keys skip nothing, and some whose keys skip files: as a session is by default, and without.

    python -m tests.bench dynamic_join                 2 million rows of facts in 16 files
    ROWS=20000000 python -m tests.bench dynamic_join

A table of facts is joined with a table of 1,000 rows, of which a filter leaves 100. Both are COPY_ON_WRITE, written by
Hudi 1.2.0 with statistics of columns. The joins are broadcast, with adaptive execution.

    without     ``spark.sargo.enabled=false``: Hudi alone
    static      ``spark.sargo.dynamic=false``: the filters of the query skip files, the keys of joins do not
    default     the keys of the broadcast narrow the scan

The ways take turns, each begins a round as often as the others. After three joins whose keys skip nothing of a column,
few more are asked about. So each round joins by a column of its own, which has the same values in another order: this
is what the first joins cost. Wall clock and CPU time of the whole application, with the sidecar in its process, are
medians over the rounds. The spread is that of the rounds' ratios, half of which are within.
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

ROWS, FILES, DIMENSION, ROUNDS, WARM = 2_000_000, 16, 1_000, 12, 3
WAYS = {
    "without": {"spark.sargo.enabled": "false", "spark.sargo.dynamic": "broadcast"},
    "static": {"spark.sargo.enabled": "true", "spark.sargo.dynamic": "false"},
    "default": {"spark.sargo.enabled": "true", "spark.sargo.dynamic": "auto"},
}
_JOIN = "SELECT count(*), sum(f.v) FROM facts f JOIN dimension d ON f.{column} = d.x WHERE d.name LIKE '%7'"
#: ``{column}``: keys that are in every file, of the round; ``o``: keys in order, of which one file has all.
QUERIES = {
    "keys that skip nothing": _JOIN,
    "keys that skip nothing of a sixteenth": f"{_JOIN} AND f.o < {{sixteenth}}",
    "two joins, keys that skip nothing": (
        "SELECT count(*), sum(f.v) FROM facts f JOIN dimension d ON f.{column} = d.x "
        "JOIN dimension e ON f.{other} = e.x WHERE d.name LIKE '%7' AND e.name LIKE '%3'"
    ),
    "keys that skip 15 of 16 files": _JOIN.replace("{column}", "o"),
}


def run() -> Iterator[Row]:
    """The figures."""
    return told_by("tests.bench.dynamic_join", ROWS, _told)


def _told(rows: int, figures: dict[str, Any]) -> Iterator[Row]:
    for name, measured in figures.items():
        for way, spent in measured.items():
            ratios = [f"{ratio(spent, measured[other])} {other}" for other in WAYS if other != way == "default"]
            yield f"{name}, {rows:,} rows: {way}", shown(spent), "; ".join(ratios)


# -- in the process that has Spark 3.5


def _measure(folder: str, rows: int) -> None:
    from handler.spark import register
    from tests.handler.spark.extension.sessions import session
    from tests.handler.spark.extension.stories import SETTINGS
    from tests.handler.spark.extension.telling import Stories

    work = Path(folder)
    more = {
        "spark.driver.memory": "4g",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "true",
        "spark.ui.liveUpdate.period": "0",
    }
    spark = session([spark_jar("3.5"), RELEASES["1.2.0"].jar], work, SETTINGS | more)
    stories = Stories(spark, work)
    columns = ", ".join(f"int((id * 7919 + {number} * 31) % {DIMENSION}) k{number}" for number in range(WARM + ROUNDS))
    facts = spark.range(rows).selectExpr(
        "concat('k', id) id", "int(1) ts", "id v", f"int(id div {rows // (DIMENSION * FILES)}) o", *columns.split(", ")
    )
    dimension = f"SELECT string(id) id, int(1) ts, int(id) x, concat('name ', id) name FROM range({DIMENSION})"
    spark.conf.set("spark.sargo.enabled", "false")
    stories.write("facts", facts.repartitionByRange(FILES, "o"), "bulk_insert", mor=False)
    stories.write("dimension", spark.sql(dimension).coalesce(1), "bulk_insert", mor=False)
    for name in ("facts", "dimension"):
        spark.read.format("hudi").load(f"{work}/{name}").createOrReplaceTempView(name)
    register(spark)
    given = [
        {"column": f"k{turn}", "other": f"k{(turn + 1) % (WARM + ROUNDS)}", "sixteenth": DIMENSION}
        for turn in range(WARM + ROUNDS)
    ]
    figures = {name: turns(spark, WAYS, [sql.format(**one) for one in given], WARM) for name, sql in QUERIES.items()}
    hand_over(work, figures)
    spark.stop()


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
