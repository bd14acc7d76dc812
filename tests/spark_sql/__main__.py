"""The SQL that Spark tests itself with, over tables of Hudi: the same rows with the extension as without.

    python -m tests.spark_sql [--files subquery/,postgreSQL/] [--ways aqe,static,shuffled]

with the Python of ``.venv/spark35``. Each query of a script is run over tables of Hudi (``stand_ins``) without the
extension and with it. A query whose rows depend on the order that Spark reads files in is asked a third time, without
the extension and with other partitions; it is not held against the extension if its rows are others again. The exit
code is 1 when rows differ otherwise, or one of both fails alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.handler.spark.extension.sessions import all_files_read
from tests.spark_sql.stand_ins import StandIns
from tests.spark_sql.statements import Script, is_query, scripts
from tests.tpc.query_costs import comparable, extended_session

#: Way -> settings, with which Spark plans joins otherwise.
WAYS = {
    "aqe": {},
    "static": {"spark.sql.adaptive.enabled": "false"},
    "shuffled": {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"},
}
#: Keys narrow tables of few bytes, too.
_SETTINGS = {
    "spark.sargo.dynamic": "subquery",
    "spark.sargo.dynamic.subquery.min.bytes": "1",
    "spark.sql.shuffle.partitions": "2",
}
_OTHER_ORDER = {"spark.sql.files.openCostInBytes": "1g", "spark.sql.shuffle.partitions": "3"}


@dataclass(frozen=True)
class Answer:
    rows: tuple[str, ...] | None
    error: str = ""
    files: int = 0

    def is_like(self, other: Answer) -> bool:
        return (self.rows, self.error) == (other.rows, other.error)


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))


def ask(spark: SparkSession, sql: str, settings: Mapping[str, str]) -> Answer:
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        frame = spark.sql(sql)
        rows = tuple(sorted(map(comparable, frame.collect())))
        return Answer(rows, files=all_files_read(frame))
    except PySparkException as error:
        return Answer(None, error.getErrorClass() or type(error).__name__)
    except Exception as error:  # of Python, which has no such date
        return Answer(None, type(error).__name__)
    finally:
        for name, known in before.items():
            if known is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, known)


def compared(spark: SparkSession, sql: str, tally: Tally, place: str) -> None:
    without = ask(spark, sql, {"spark.sargo.enabled": "false"})
    extended = ask(spark, sql, {"spark.sargo.enabled": "true"})
    tally.counts["queries"] += 1
    tally.counts["files"] += without.files
    tally.counts["files, extended"] += extended.files
    if without.is_like(extended):
        tally.counts["failed alike"] += without.rows is None
        return
    if not without.is_like(ask(spark, sql, {"spark.sargo.enabled": "false", **_OTHER_ORDER})):
        tally.counts["other rows each time"] += 1
        return
    tally.counts["DIFFERENT"] += 1
    text = f"DIFFERENT {place}\n{sql}\n  without: {without}\n  extended: {extended}"
    tally.different.append(text)
    print(text, flush=True)


def run(spark: SparkSession, script: Script, way: str, stand_ins: StandIns, tally: Tally) -> None:
    session = spark.newSession()
    for name, value in {**_SETTINGS, **WAYS[way], **script.settings}.items():
        if name in _SETTINGS or session.conf.isModifiable(name):
            session.conf.set(name, value)
    stand_ins.begin(session)
    for statement in script.statements:
        if is_query(statement):
            if stand_ins.reads_a_table(statement):
                tally.counts["tables left as they are"] += stand_ins.stand_in(session)
                compared(session, statement, tally, f"{script.name}, {way}")
            continue
        stand_ins.before(session, statement)
        try:
            session.sql(statement).collect()
        except Exception:  # as the script wants it to, or because it is of another catalog
            tally.counts["statements failed"] += 1
        stand_ins.after(statement)
    session.sql("use default")
    for table in session.catalog.listTables():
        if not table.isTemporary:
            session.sql(f"drop {'view' if table.tableType == 'VIEW' else 'table'} if exists `{table.name}`")


def main(given: argparse.Namespace) -> int:
    wanted = tuple(given.files.split(",")) if given.files else ("",)
    total = Tally()
    with tempfile.TemporaryDirectory() as work, extended_session({"spark.sql.warehouse.dir": f"{work}/home"}) as spark:
        stand_ins = StandIns(spark, Path(work))
        for script in scripts():
            if not script.name.startswith(wanted) or script.name.startswith(("udf/", "udaf/", "udtf/")):
                continue
            for way in given.ways.split(","):
                tally = Tally()
                run(spark, script, way, stand_ins, tally)
                print(f"{script.name}, {way}: {tally}", flush=True)
                total.counts += tally.counts
                total.different += tally.different
    print(f"all: {total}")
    return int(bool(total.different))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.spark_sql")
    parser.add_argument("--files", default="")
    parser.add_argument("--ways", default="aqe")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(_options()))
