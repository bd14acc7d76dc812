"""Queries over tables of real Hudi, each with the most files that it reads with the extension.

The tables ``cow``, ``cow_p``, ``mor``, ``mor_p`` hold rows ``i`` 0 to 399 in four ranges of ``i``, those with ``_p`` in
two partitions ``p``. Then rows 100 to 109 got another ``s``, and ``i`` + 1000. ``Tables.first`` is the instant before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["QUERIES", "Tables"]


@dataclass(frozen=True)
class Tables:
    """Reads the tables of a folder; ``first`` is the first instant of each."""

    spark: SparkSession
    folder: str
    first: Mapping[str, str]

    def frame(self, name: str, **options: str) -> DataFrame:
        named = {key.replace("__", "."): value for key, value in options.items()}
        return self.spark.read.format("hudi").options(**named).load(f"{self.folder}/{name}")

    def before(self, name: str) -> DataFrame:
        return self.frame(name, as__of__instant=self.first[name])

    def read_optimized(self, name: str) -> DataFrame:
        return self.frame(name, hoodie__datasource__query__type="read_optimized")


def _two_filters(tables: Tables) -> DataFrame:
    frame = tables.frame("mor")
    return frame.where("i < 50").unionByName(frame.where("i BETWEEN 350 AND 360"))


def _cached(tables: Tables) -> DataFrame:
    frame = tables.frame("cow").where("i = 7").cache()
    frame.count()
    return frame.where("s IS NOT NULL")


def _self_join(tables: Tables) -> DataFrame:
    left = tables.frame("cow_p").where("i BETWEEN 310 AND 320").alias("a")
    right = tables.frame("cow_p").where("i BETWEEN 315 AND 330").alias("b")
    return left.join(right, "id").selectExpr("id", "a.i", "b.s")


Query = Callable[[Tables], "DataFrame"]
QUERIES: dict[str, tuple[int, Query]] = {
    "a range": (2, lambda t: t.frame("cow").where("i BETWEEN 310 AND 320")),
    "a range in partitions": (4, lambda t: t.frame("cow_p").where("i BETWEEN 310 AND 320")),
    "a range of merged rows": (1, lambda t: t.frame("mor").where("i BETWEEN 310 AND 320")),
    "a range of merged rows in partitions": (2, lambda t: t.frame("mor_p").where("i BETWEEN 310 AND 320")),
    "values of log files": (1, lambda t: t.frame("mor").where("i BETWEEN 1100 AND 1109")),
    "values that log files replace": (1, lambda t: t.frame("mor").where("i BETWEEN 100 AND 109")),
    "no row": (0, lambda t: t.frame("mor_p").where("i = -1")),
    "a partition and a range": (1, lambda t: t.frame("mor_p").where("p = 'p1' AND i = 7")),
    "a partition alone": (4, lambda t: t.frame("cow_p").where("p = 'p1'")),
    "a partition or a range": (2, lambda t: t.frame("cow_p").where("(p = 'p1' AND i = 7) OR (p = 'p0' AND i = 8)")),
    "a partition or another column": (5, lambda t: t.frame("cow_p").where("p = 'p1' OR i = 8")),
    "a partition or another column in other letters": (5, lambda t: t.frame("cow_p").where("P = 'p1' OR I = 8")),
    "a partition or another column of merged rows": (5, lambda t: t.frame("mor_p").where("p = 'p1' OR i = 1105")),
    "a column by the partition": (2, lambda t: t.frame("mor_p").where("CASE WHEN p = 'p1' THEN i = 7 ELSE i = 8 END")),
    "a field of a struct": (1, lambda t: t.frame("cow").where("st.x = 3000").select("id", "st.y")),
    "names in other letters": (
        1,
        lambda t: t.frame("cow_p").where("P = 'p1' AND ID = 'k0007' AND St.X = 70").select("S"),
    ),
    "a function and a cast": (1, lambda t: t.frame("cow").where("CAST(i AS STRING) = '7' AND abs(i) < 50")),
    "a list of values": (2, lambda t: t.frame("cow").where(f"i IN ({','.join(map(str, range(200, 230)))})")),
    "a moment": (1, lambda t: t.frame("cow").where("t >= TIMESTAMP '2025-01-01 06:35:00'")),
    "a decimal": (1, lambda t: t.frame("cow").where("d > 398.5")),
    "a key": (1, lambda t: t.frame("cow").where("id = 'k0007'")),
    "a column of Hudi's own": (1, lambda t: t.frame("cow").where("_hoodie_record_key = 'k0007'")),
    "columns of Hudi's own": (1, lambda t: t.frame("cow").where("i = 7").select("_hoodie_file_name", "id")),
    "what nobody can decide": (4, lambda t: t.frame("cow").where("reverse(s) = '4s'")),
    "no filter": (4, lambda t: t.frame("mor")),
    "count": (1, lambda t: t.frame("mor").where("i = 7").selectExpr("count(*)")),
    "an aggregate": (1, lambda t: t.frame("cow").where("i < 30").groupBy("s").count()),
    "base files alone": (1, lambda t: t.read_optimized("mor").where("i BETWEEN 100 AND 109")),
    "the past": (1, lambda t: t.before("cow").where("i BETWEEN 100 AND 109")),
    "the past of merged rows": (1, lambda t: t.before("mor").where("i BETWEEN 100 AND 109")),
    "the past in SQL": (
        1,
        lambda t: t.spark.sql(
            f"SELECT id, s FROM c_mor TIMESTAMP AS OF '{t.first['c_mor']}' WHERE i BETWEEN 100 AND 109"
        ),
    ),
    "a table of the catalog": (1, lambda t: t.spark.sql("SELECT id, s FROM c_mor WHERE i = 1105")),
    "a view": (1, lambda t: t.spark.sql("SELECT id FROM v_mor WHERE j = 1605")),
    "a table expression": (
        2,
        lambda t: t.spark.sql(
            "WITH x AS (SELECT id, i, s FROM c_mor WHERE i < 1200) "
            "SELECT a.id, b.s FROM x a JOIN x b ON a.id = b.id WHERE a.i = 7 AND b.i = 7"
        ),
    ),
    "a subquery": (5, lambda t: t.spark.sql("SELECT id FROM c_mor WHERE i IN (SELECT i FROM c_mor WHERE i = 7)")),
    "a scalar subquery": (
        4,
        lambda t: t.spark.sql("SELECT id FROM c_mor WHERE i = (SELECT max(i) FROM c_mor WHERE i < 30) AND i < 1000"),
    ),
    "two filters on a frame": (2, _two_filters),
    "a frame that is cached": (1, _cached),
    "a join with itself": (8, _self_join),
    "a left join": (
        5,
        lambda t: (
            t.frame("cow")
            .alias("a")
            .join(t.frame("mor").where("i < 20").alias("b"), "id", "left")
            .selectExpr("id", "b.i")
        ),
    ),
    "a sorted limit": (1, lambda t: t.frame("cow").where("i < 90").orderBy("i").limit(3).select("id")),
    "a window": (
        1,
        lambda t: t.frame("cow").where("i < 90").selectExpr("id", "row_number() OVER (PARTITION BY s ORDER BY i) n"),
    ),
}
