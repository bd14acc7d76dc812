"""Aggregates of existing queries over tables of real Hudi, with `spark.sargo.aggregates=footers` and without.

The tables are those of ``queries``: in ``cow`` and ``mor`` the slices have 100 rows each, and rows 100 to 109 were
changed. Of ``mor`` the second slice has a log file, of ``mor_p`` the second one in each partition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from handler.sidecar.idl import AggregateReply
from tests.handler.spark.extension.fake_sidecar import FakeSidecar, Question
from tests.handler.spark.extension.queries import Tables
from tests.handler.spark.extension.sessions import files_read
from tests.handler.spark.extension.telling import Outcome, Stories, reasons

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ANSWERED", "AS_BEFORE", "BELIEVED", "FAULTS", "aggregates"]

#: Table, and a statement over ``t`` -> the files that are read.
ANSWERED: Mapping[str, tuple[str, str, int]] = {
    "rows": ("cow", "SELECT count(*) FROM t", 0),
    "rows of merged slices": ("mor", "SELECT count(*) FROM t", 1),
    "rows of partitions": ("mor_p", "SELECT count(*), count(1) FROM t WHERE p = 'p1'", 1),
    "columns": ("cow", "SELECT count(i), min(i), max(i), min(t), max(d), max(ts), count(st) FROM t", 0),
    "columns of merged slices": ("mor", "SELECT max(i), min(t), max(d) FROM t", 1),
    "columns in other letters": ("cow", "SELECT MAX(I) AS Most, Min(`T`) FROM t", 0),
    "a range": ("cow", "SELECT count(*), min(i), max(t) FROM t WHERE i < 250", 2),
    "a range of merged slices": ("mor", "SELECT count(*), max(i) FROM t WHERE i >= 150", 1),
    "a range that ends with a file": ("cow", "SELECT count(*), max(d) FROM t WHERE i >= 300 AND i < 400", 1),
    "no row": ("cow", "SELECT count(*), count(i), max(i) FROM t WHERE i < -5", 0),
    "a partition": ("cow_p", "SELECT count(*), min(p), max(p), max(i) FROM t WHERE p = 'p1'", 0),
    "a partition and a range": ("cow_p", "SELECT count(*), max(i) FROM t WHERE p = 'p1' AND i < 250", 2),
    "a partition or a range": ("cow_p", "SELECT count(*), max(t) FROM t WHERE p = 'p1' OR i >= 150", 1),
    "a calculation": ("cow", "SELECT max(i) - min(i) AS span, count(*) + 1, now() > max(t), 7 FROM t", 0),
    "a calculation of merged slices": ("mor", "SELECT max(i) - min(i), coalesce(max(d), 0) FROM t", 1),
    "HAVING": ("cow", "SELECT count(*) n FROM t HAVING count(*) > 500", 0),
    "a subquery": ("cow", "SELECT id, i FROM t WHERE i > (SELECT max(i) - 3 FROM t)", 1),
    "two parts": ("cow", "SELECT max(i) FROM t WHERE i < 300 UNION ALL SELECT min(i) FROM t WHERE i >= 300", 2),
    "a table of the rest": ("cow", "SELECT * FROM (SELECT max(i) m FROM t) JOIN (SELECT id, i FROM t) ON i = m", 1),
    "a column of another table": ("cow", "SELECT max(i) FROM (SELECT i, s FROM t WHERE s IS NOT NULL) WHERE i > 0", 1),
}
#: The same of what footers do not answer: the plan is that without the setting.
AS_BEFORE: Mapping[str, tuple[str, str]] = {
    "groups": ("cow", "SELECT p, count(*) FROM t GROUP BY p"),
    "a sum": ("cow", "SELECT sum(i) FROM t"),
    "a sum beside a count": ("cow", "SELECT count(*), sum(i) FROM t"),
    "an average": ("cow", "SELECT avg(i) FROM t"),
    "distinct values": ("cow", "SELECT count(DISTINCT i) FROM t"),
    "a FILTER": ("cow", "SELECT count(*) FILTER (WHERE i < 250) FROM t"),
    "a column of Hudi's": ("cow", "SELECT count(_hoodie_commit_time) FROM t"),
    "texts": ("cow", "SELECT max(s) FROM t"),
    "a field": ("cow", "SELECT max(st.x) FROM t"),
    "an expression": ("cow", "SELECT max(i + 1) FROM t"),
    "a column that was computed": ("cow", "SELECT max(j) FROM (SELECT i + 500 AS j FROM t)"),
    "a condition that is not known": ("cow", "SELECT count(*) FROM t WHERE crc32(id) % 2 = 0"),
    "a condition that is random": ("cow", "SELECT count(*) >= 0 FROM t WHERE rand(3) < 0.5"),
    "a limit below": ("cow", "SELECT count(*) FROM (SELECT * FROM t LIMIT 250)"),
    "a sample": ("cow", "SELECT count(*) >= 0 FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (3)"),
    "a join below": ("cow", "SELECT count(*) FROM t a JOIN t b ON a.i = b.i"),
    "distinct rows below": ("cow", "SELECT count(*) FROM (SELECT DISTINCT p FROM t)"),
}


def _one_value(text: str, kind: str) -> Callable[[Question, AggregateReply], object]:
    def set_value(_: Question, reply: AggregateReply) -> None:
        reply.values, reply.types = [text], [kind]

    return set_value


def _of_other_names(_: Question, reply: AggregateReply) -> None:
    reply.values, reply.types, reply.digest = ["=7"], ["int"], 0


def _miscounted(_: Question, reply: AggregateReply) -> None:
    reply.values, reply.types, reply.answered_count = ["=7"], ["int"], 1


def _too_many(_: Question, reply: AggregateReply) -> None:
    reply.values, reply.types = ["=7", "=8"], ["int", "int"]


#: What a sidecar answers to ``max(i)`` -> the plan stays as it is. The last one is believed: 7 is no value of the rows.
FAULTS: Mapping[str, Callable[[Question, AggregateReply], object] | None] = {
    "an earlier sidecar": None,
    "another type": _one_value("=7", "bigint"),
    "a value beyond its type": _one_value("=2147483648", "int"),
    "no number": _one_value("=seven", "int"),
    "no value": _one_value("7", "int"),
    "no values at all": lambda _, __: None,
    "values of other names": _of_other_names,
    "a wrong count": _miscounted,
    "too many values": _too_many,
}
BELIEVED = "one that is believed"


def aggregates(stories: Stories, tables: Tables) -> None:
    told: dict[str, Callable[[], Outcome]] = {
        f"aggregates: {name}": partial(_compared, stories, tables, table, text)
        for name, (table, text, _) in ANSWERED.items()
    }
    told |= {
        f"aggregates: {name}": partial(_compared, stories, tables, table, text)
        for name, (table, text) in AS_BEFORE.items()
    }
    told["aggregates: the past"] = lambda: _by_frame(stories, lambda: tables.before("cow"))
    told["aggregates: base files alone"] = lambda: _by_frame(stories, lambda: tables.read_optimized("mor"))
    told["aggregates: kept in memory"] = lambda: _cached(stories, tables)
    told["aggregates: after a commit"] = lambda: _after_commits(stories)
    told |= {f"aggregates: {name}": partial(_fault, stories, tables, answer) for name, answer in FAULTS.items()}
    told[f"aggregates: {BELIEVED}"] = lambda: _fault(stories, tables, _one_value("=7", "int"))
    told["aggregates: another word"] = lambda: _another_word(stories, tables)
    stories.tell_all(told)


def _fault(stories: Stories, tables: Tables, answer: Callable[[Question, AggregateReply], object] | None) -> Outcome:
    fake = FakeSidecar()
    fake.aggregate = answer
    try:
        with stories.set(spark__sargo__sidecar__address=fake.address, spark__sargo__aggregates="footers"):
            frame = tables.frame("cow").selectExpr("max(i)")
            return {"equal": True, "rows": [row[0] for row in frame.collect()], "files": files_read(frame)}
    finally:
        fake.close()


def _another_word(stories: Stories, tables: Tables) -> Outcome:
    with stories.set(spark__sargo__aggregates="yes"):
        outcome = stories.compare(lambda: tables.frame("cow").selectExpr("max(i)"))
    return {**outcome, "reasons": reasons(stories.spark)}


def _compared(stories: Stories, tables: Tables, table: str, text: str) -> Outcome:
    """With the extension off, with it on, and by footers."""

    def made() -> DataFrame:
        tables.frame(table).createOrReplaceTempView("t")
        return stories.spark.sql(text)

    off = stories.compare(made)
    with stories.set(spark__sargo__aggregates="footers"):
        on = stories.compare(made)
        types = _types(made())
    return {**on, "equal": off["equal"] and on["equal"], "files_off": off["files"], "same": types == _types(made())}


def _types(frame: DataFrame) -> str:
    """Of the columns of the plan that runs; those of the frame were fixed before."""
    jdf: Any = frame._jdf
    return str(jdf.queryExecution().optimizedPlan().schema().catalogString())


def _by_frame(stories: Stories, made: Callable[[], DataFrame]) -> Outcome:
    with stories.set(spark__sargo__aggregates="footers"):
        outcome = stories.compare(lambda: made().selectExpr("count(*)", "max(i)", "min(t)"))
        counted = made().count()
    return {**outcome, "equal": outcome["equal"] and counted == made().count()}


def _cached(stories: Stories, tables: Tables) -> Outcome:
    """A frame that was cached before is read from memory, and so is an aggregate that was."""
    with stories.set(spark__sargo__aggregates="footers"):

        def made() -> DataFrame:
            frame = tables.frame("cow").where("i < 250").cache()
            frame.count()
            counted = frame.selectExpr("count(*) AS n", "max(i) AS m").cache()
            counted.count()
            return counted.where("n > 0")

        return stories.compare(made)


def _after_commits(stories: Stories) -> Outcome:
    """Each query has the rows of its own time; a plan that was made before a commit has the rows of then."""
    found: list[Any] = []
    stories.make("a_cow", mor=False)
    spark, path = stories.spark, f"{stories.work}/a_cow"

    def counted() -> DataFrame:
        return spark.read.format("hudi").load(path).selectExpr("count(*)", "max(i)", "min(i)")

    with stories.set(spark__sargo__aggregates="footers"):
        found.append(tuple(counted().collect()[0]))
        stories.write("a_cow", stories.rows(400, 450, 3), "insert", mor=False)
        found.append(tuple(counted().collect()[0]))
        read = counted()
        read.collect()
        stories.write("a_cow", stories.rows(0, 3, 4).select("id", "ts", "p"), "delete", mor=False)
        frame = counted()
        found.append(tuple(frame.collect()[0]))
        files = files_read(frame)
    return {"equal": found == [(400, 1109, 0), (450, 1109, 0), (447, 1109, 3)], "rows": found, "files": files}
