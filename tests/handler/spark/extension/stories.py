"""Runs stories of the extension on real Spark 3.5 with real Hudi, in one session, and writes what happened.

    python -m tests.handler.spark.extension.stories FOLDER RELEASE [PART [NAME=VALUE ...]]     with `.venv/spark35`

PART is ``quick``, ``reads`` or ``all``; NAME=VALUE are settings of the session.
``FOLDER/outcomes.json`` has an outcome by story: whether the rows are those without the extension, and what was read.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handler.shipped.artefacts import spark_jar
from handler.sidecar.client import Clients
from handler.sidecar.settings import Settings
from tests.handler.sidecar.conftest import Running
from tests.handler.spark.extension.aggregate_stories import aggregates
from tests.handler.spark.extension.exact_conditions import COLUMNS, read_conditions
from tests.handler.spark.extension.fake_sidecar import FakeSidecar
from tests.handler.spark.extension.fault_stories import faults, untouched
from tests.handler.spark.extension.merge_stories import merges
from tests.handler.spark.extension.queries import QUERIES, Tables
from tests.handler.spark.extension.read_stories import reads
from tests.handler.spark.extension.sessions import scans, session
from tests.handler.spark.extension.shapes import shapes
from tests.handler.spark.extension.sum_stories import sums
from tests.handler.spark.extension.telling import ADDRESS, TABLES, Outcome, Stories, reasons
from tests.handler.spark.extension.write_stories import unseen, writes
from tests.tables.releases import RELEASES, Release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTINGS = {
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension,io.sargo.spark.SargoExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
}


def queries(stories: Stories, tables: Tables) -> None:
    """Each query without the extension and with it."""
    for name in TABLES:
        tables.frame(name).where("i = 7").collect()  # the sidecar opens the table
    for name, (_, query) in QUERIES.items():
        stories.tell(name, lambda query=query: stories.compare(lambda: query(tables)))  # type: ignore[misc]


def seen(stories: Stories, tables: Tables) -> None:
    """What a user sees of it."""

    def told(name: str) -> Outcome:
        frame = tables.frame(name).where("i = 7")
        frame.collect()
        jdf: Any = frame._jdf
        return {
            "equal": True,
            "nodes": [scan.nodeName() for scan in scans(frame)],
            "input_files": len(frame.inputFiles()),
            "explained": "Sargo: 1 of 4 file slices" in jdf.queryExecution().toString(),
            "in_batches": [scan.supportsColumnar() for scan in scans(frame.select("id", "i", "s"))],
            "reasons": reasons(tables.spark),
        }

    for name in ("cow", "mor"):
        stories.tell(f"the plan of {name}", lambda name=name: told(name))  # type: ignore[misc]
    for what, made in {"a frame": frame_of_hours, "a view": view_of_hours}.items():
        stories.tell(f"{what} of another time zone", lambda made=made: in_another_zone(stories, made))  # type: ignore[misc]
    stories.tell("small integers of a bulk insert", lambda: small_integers(stories))
    stories.tell("errors of rows", lambda: errors_of_rows(stories))
    stories.tell("the report of a query", lambda: reported(tables))


#: In UTC the rows of one file, and in Tokyo those of others.
_HOURS = "hour(t) = 1 AND minute(t) < 30"


def frame_of_hours(stories: Stories) -> DataFrame:
    return stories.spark.read.format("hudi").load(f"{stories.work}/cow").where(_HOURS).select("id", "i")


def view_of_hours(stories: Stories) -> DataFrame:
    stories.spark.sql(f"CREATE TABLE IF NOT EXISTS z_cow USING hudi LOCATION '{stories.work}/cow'")
    stories.spark.sql(f"CREATE OR REPLACE VIEW z_view AS SELECT id, i FROM z_cow WHERE {_HOURS}")
    return stories.spark.table("z_view")


def in_another_zone(stories: Stories, made: Callable[[Stories], DataFrame]) -> Outcome:
    """What is made in UTC and read in Tokyo has the hours of UTC."""
    expected = [i for i in range(400) if i // 60 == 1 and i % 60 < 30]
    frame = made(stories)
    with stories.set(spark__sql__session__timeZone="Asia/Tokyo"):
        found = sorted(row.i % 1000 for row in frame.collect())  # an update added 1000 to some
    return {"equal": found == expected, "rows": len(found)}


def small_integers(stories: Stories) -> Outcome:
    """Hudi calls them INT in the table's schema, writes them as what they are, and as batches reads them so."""
    rows = stories.rows(0, 400, parts=4).selectExpr("id", "ts", "tinyint(i % 100) a", "smallint(i) b", "p")
    with stories.set(spark__sargo__enabled="false"):
        stories.write("small", rows, "bulk_insert", mor=True)
    frame = stories.spark.read.format("hudi").load(f"{stories.work}/small").select("id", "a", "b")
    expected = stories.rows_of(rows.selectExpr("id", "int(a) a", "int(b) b").where("b >= 390"))
    found = {}
    for off_heap in ("true", "false"):
        with stories.set(spark__sql__columnVector__offheap__enabled=off_heap):
            found[off_heap] = stories.rows_of(frame.where("b >= 390"))
    return {"equal": found == {"true": expected, "false": expected}, "rows": len(expected)}


def errors_of_rows(stories: Stories) -> Outcome:
    """In ANSI mode a text that is no date fails the query, unless the user hides the errors of skipped files."""
    days = "CASE WHEN i = 7 THEN '2026-01-32' ELSE cast(date_add(DATE '2026-01-01', int(i / 4)) AS string) END"
    rows = stories.rows(0, 400, parts=4).selectExpr("id", "ts", f"{days} ds", "p")
    with stories.set(spark__sargo__enabled="false"):
        stories.write("days", rows, "bulk_insert", mor=False)
    frame = stories.spark.read.format("hudi").load(f"{stories.work}/days").select("id", "ds")
    expected = stories.rows_of(rows.select("id", "ds").where("ds = '2026-04-01'"))
    found: Outcome = {"rows": len(expected)}
    for hidden in ("false", "true"):
        with stories.set(spark__sql__ansi__enabled="true", spark__sargo__hide__errors=hidden):
            wanted = frame.where("to_date(ds) = DATE '2026-04-01'")
            try:
                found[hidden] = [stories.rows_of(wanted) == expected, len(wanted.inputFiles())]
            except Exception as error:  # of any engine
                found[hidden] = "2026-01-32" in str(error)
    return {"equal": True, **found}


def reported(tables: Tables) -> Outcome:
    """What ``sargo report`` says of the last query that ran, by the number that Spark's page of SQL gives it."""
    tables.frame("cow").where("i = 7 AND s LIKE 's%'").collect()
    session: Any = tables.spark._jsparkSession
    store = session.sharedState().statusStore()
    number = store.executionsList().last().executionId()
    report = Clients(str(tables.spark.conf.get(ADDRESS))).explain(
        f"spark-{tables.spark.sparkContext.applicationId}-{number}"
    )
    return {"equal": True, "report": report}


def exact(stories: Stories) -> None:
    """What the sidecar reads of conditions whose values Catalyst's JSON does not hold."""
    row = stories.spark.sql(f"SELECT 'k' id, 1 ts, 'p' p, {COLUMNS}")
    with stories.set(spark__sargo__enabled="false"):
        stories.write("one", row, "bulk_insert", mor=False)
    fake = FakeSidecar()
    frame = stories.spark.read.format("hudi").load(f"{stories.work}/one")
    with stories.set(spark__sargo__sidecar__address=fake.address):
        stories.tell("conditions", lambda: dict(read_conditions(lambda: frame, fake)))


def main(folder: str, release: str, part: str = "all", *settings: str) -> None:
    work = Path(folder)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    hudi = RELEASES.get(release) or Release(release, 0)
    given = dict(one.split("=", 1) for one in settings)
    spark = session([spark_jar("3.5"), hudi.jar], work, SETTINGS | given)
    stories = Stories(spark, work)
    stories.outcomes["release"] = {"hudi": release, "settings": given}
    with stories.set(spark__sargo__enabled="false"):
        for name, (mor, partition) in TABLES.items():
            stories.make(name, mor=mor, partition=partition)
        stories.make("c_mor", mor=True)
        spark.sql(f"CREATE TABLE c_mor USING hudi LOCATION '{work}/c_mor'")
        spark.sql("CREATE TEMPORARY VIEW v_mor AS SELECT id, i + 500 AS j, s FROM c_mor")
    tables = Tables(spark, str(work), stories.first)
    with Running(Settings(port=0, metrics_port=-1, roots=(str(work),), refresh_seconds=0)) as sidecar:
        spark.conf.set("spark.sargo.sidecar.address", f"127.0.0.1:{sidecar.port}")
        if part != "reads":
            told(stories, tables, part)
        if part != "quick":
            reads(stories)
    (work / "outcomes.json").write_text(json.dumps(stories.outcomes, indent=1), encoding="utf-8")
    spark.stop()


def told(stories: Stories, tables: Tables, part: str) -> None:
    """All stories of existing queries."""
    queries(stories, tables)
    seen(stories, tables)
    aggregates(stories, tables)
    sums(stories)
    merges(stories)
    exact(stories)
    faults(stories, tables)
    untouched(stories, tables)
    if part != "quick":
        shapes(stories)
        writes(stories)
        unseen(stories)


if __name__ == "__main__":
    main(*sys.argv[1:])
