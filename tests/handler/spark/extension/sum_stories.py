"""Sums of existing queries, with `spark.sargo.aggregates=footers` and an own index that has the sums of files.

The table has four slices of 100 rows each, of which rows 100 to 109 were changed: ``i`` is an int, ``d`` a decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from handler.indexes.operations import IndexWork
from tests.handler.spark.extension.sessions import files_read
from tests.handler.spark.extension.telling import Outcome, Stories

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AFTER_A_COMMIT", "SUMS", "sums"]

#: A statement over ``t`` -> the files that are read.
SUMS: Mapping[str, tuple[str, int]] = {
    "of all rows": ("SELECT sum(i), sum(d) FROM t", 0),
    "beside others": ("SELECT count(*), SUM(`I`) AS total, max(i), sum(d), sum(ts) FROM t WHERE i < 250", 2),
    "in a calculation": ("SELECT sum(i) / count(i), sum(d) * 2 FROM t WHERE i >= 150 AND i < 400", 1),
    "of no row": ("SELECT sum(i), sum(d) FROM t WHERE i < -5", 0),
    "of rows that are all read": ("SELECT sum(i), sum(d) FROM t WHERE i BETWEEN 210 AND 220", 2),
    "in a subquery": ("SELECT id FROM t WHERE i * 500 > (SELECT sum(i) FROM t)", 3),
    "try_sum": ("SELECT try_sum(i) FROM t", 4),
    "of distinct values": ("SELECT sum(DISTINCT i) FROM t", 4),
    "of groups": ("SELECT p, sum(i) FROM t GROUP BY p", 4),
    "of an expression": ("SELECT sum(i + 1) FROM t", 4),
    "an average": ("SELECT avg(i) FROM t", 4),
}
AFTER_A_COMMIT = "after a commit"
_ANSI = {"spark__sql__ansi__enabled": "true"}


def sums(stories: Stories) -> None:
    stories.make("summed", mor=False)
    work = IndexWork(f"{stories.work}/summed")
    work.create(["i", "d", "ts"], ["sum"], name="totals")
    told: dict[str, Callable[[], Outcome]] = {
        f"sum {name}{', ANSI' if more else ''}": partial(_compared, stories, text, more)
        for name, (text, _) in SUMS.items()
        for more in ({}, _ANSI)
    }
    told[f"sum {AFTER_A_COMMIT}"] = partial(_after_a_commit, stories, work)
    stories.tell_all(told)


def _compared(stories: Stories, text: str, more: Mapping[str, str]) -> Outcome:
    def made() -> DataFrame:
        stories.spark.read.format("hudi").load(f"{stories.work}/summed").createOrReplaceTempView("t")
        return stories.spark.sql(text)

    with stories.set(**more):
        plain = made()
        expected = plain.collect()
        with stories.set(spark__sargo__aggregates="footers"):
            outcome = stories.compare(made)
            narrowed = made()
            same = [str(row) for row in narrowed.collect()] == [str(row) for row in expected] or len(expected) > 1
            types = narrowed._jdf.queryExecution().optimizedPlan().schema().catalogString()
        same = same and types == plain._jdf.queryExecution().optimizedPlan().schema().catalogString()
    return {**outcome, "same": same}


def _after_a_commit(stories: Stories, work: IndexWork) -> Outcome:
    """The sums of new files are not known before the index is refreshed."""
    files, rows = [], []
    stories.write("summed", stories.rows(400, 450, 3), "insert", mor=False)
    for refresh in False, True:
        if refresh:
            work.refresh()
        with stories.set(spark__sargo__aggregates="footers"):
            frame = stories.spark.read.format("hudi").load(f"{stories.work}/summed").selectExpr("sum(i)", "sum(ts)")
            rows.append(list(map(int, frame.collect()[0])))
            files.append(files_read(frame))
    expected = [sum(range(450)) + 10_000, 390 + 20 + 150]
    return {"equal": rows == [expected, expected], "files": files, "rows": rows}
