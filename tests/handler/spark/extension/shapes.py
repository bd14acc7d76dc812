"""The shapes that queries have: SQL and frames over a merged table with partitions, without the extension and with it.

What they keep of the table is not said here: only that no row is lost, whatever Spark makes of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.window import Window

from tests.handler.spark.extension.telling import Outcome, Stories

__all__ = ["FRAMES", "STATEMENTS", "shapes"]

#: Over ``q_mor_p``, which has an ``i`` of 0 to 399, those of 100 to 109 raised by 1,000 in log files.
STATEMENTS = """
SELECT id, s FROM q_mor_p WHERE i > 390 LIMIT 1000
SELECT count(*) FROM q_mor_p TABLESAMPLE (100 PERCENT) WHERE i > 390
SELECT * FROM (SELECT p, ts, d FROM q_mor_p WHERE i < 100) PIVOT (sum(d) FOR p IN ('p0' a, 'p1' b))
SELECT id, x FROM q_mor_p LATERAL VIEW explode(array(1, 2)) e AS x WHERE i = 15 AND x = 2
SELECT id, x FROM q_mor_p LATERAL VIEW OUTER explode(if(i > 10, array(i), null)) e AS x WHERE x < 20 OR x IS NULL
SELECT p, sum(d) FROM q_mor_p WHERE i > 390 GROUP BY ROLLUP(p)
SELECT p, ts, sum(d) FROM q_mor_p WHERE i < 50 GROUP BY GROUPING SETS ((p), (ts), ())
SELECT p, count(DISTINCT s), count(*) FILTER (WHERE i > 395) FROM q_mor_p WHERE i > 380 GROUP BY p HAVING count(*) > 1
SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY p ORDER BY i DESC) r FROM q_mor_p WHERE i > 300) WHERE r <= 2
SELECT id, lag(i) OVER (ORDER BY i) FROM q_mor_p WHERE i < 20
SELECT id FROM q_mor_p WHERE d > (SELECT avg(d) FROM q_mor_p WHERE i < 30) AND id < 'k0390'
SELECT id FROM q_mor_p a WHERE EXISTS (SELECT 1 FROM q_mor_p b WHERE b.d = a.d + 1 AND b.i = 7)
SELECT id FROM q_mor_p a WHERE NOT EXISTS (SELECT 1 FROM q_mor_p b WHERE b.p = a.p AND b.d > a.d)
SELECT id FROM q_mor_p WHERE id NOT IN (SELECT id FROM q_mor_p WHERE i > 5)
SELECT id FROM q_mor_p WHERE i IN (SELECT i FROM q_mor_p WHERE st.x BETWEEN 30 AND 50) OR i = 390
SELECT id, (SELECT max(b.s) FROM q_mor_p b WHERE b.id = a.id AND b.i > 395) FROM q_mor_p a WHERE a.i > 390
SELECT a.id, b.s FROM q_mor_p a LEFT JOIN q_mor_p b ON a.id = b.id AND b.i > 395 WHERE a.i > 390
SELECT a.id, b.s FROM q_mor_p a RIGHT JOIN q_mor_p b ON a.id = b.id AND a.i > 395 WHERE b.i > 390
SELECT a.id, b.s FROM q_mor_p a FULL JOIN q_mor_p b ON a.id = b.id AND b.i > 395 WHERE a.i > 390 OR b.i = 7
SELECT a.id FROM q_mor_p a LEFT ANTI JOIN q_mor_p b ON a.st.x = b.st.x AND b.i > 5
SELECT a.id FROM q_mor_p a LEFT SEMI JOIN q_mor_p b ON a.id = b.id AND b.i > 390
SELECT a.id, b.id FROM q_mor_p a CROSS JOIN q_mor_p b WHERE a.i = 7 AND b.i = 8
SELECT a.id, b.id FROM q_mor_p a JOIN q_mor_p b ON a.i BETWEEN b.i - 1 AND b.i + 1 AND b.id = 'k0007'
SELECT a.id FROM q_mor_p a JOIN LATERAL (SELECT b.s FROM q_mor_p b WHERE b.id = a.id AND b.i > 390) l WHERE a.i > 380
SELECT /*+ BROADCAST(b) */ a.id FROM q_mor_p a JOIN q_mor_p b ON a.i = b.i WHERE b.st.x IN (50, 3990)
SELECT /*+ MERGE(b) */ a.id FROM q_mor_p a JOIN q_mor_p b ON a.i = b.i WHERE b.st.x IN (50, 3990)
SELECT /*+ SHUFFLE_HASH(b) */ a.id FROM q_mor_p a JOIN q_mor_p b ON a.i = b.i AND a.p = b.p WHERE b.st.x IN (50, 3990)
SELECT * FROM (VALUES (15.00, 's1'), (390.00, 's5')) v(amount, name) JOIN q_mor_p ON d = amount
SELECT id FROM q_mor_p WHERE i > 390 UNION SELECT id FROM q_mor_p WHERE i < 5
SELECT id FROM q_mor_p WHERE i > 300 INTERSECT SELECT id FROM q_mor_p WHERE i > 390
SELECT id FROM q_mor_p WHERE i > 380 EXCEPT ALL SELECT id FROM q_mor_p WHERE i > 390
WITH x AS (SELECT * FROM q_mor_p WHERE i > 300), y AS (SELECT id FROM x WHERE i < 330) SELECT s FROM x JOIN y USING (id)
WITH x AS (SELECT /*+ COALESCE(1) */ id, s, sum(d) n FROM q_mor_p GROUP BY id, s) SELECT * FROM x WHERE id = 'k0007'
SELECT sum(c) FROM (SELECT p, count(*) c FROM q_mor_p WHERE i BETWEEN 10 AND 15 GROUP BY p) WHERE p <> 'zz'
SELECT count(1) FROM (SELECT * FROM q_mor_p WHERE i > 380 DISTRIBUTE BY p SORT BY s)
SELECT DISTINCT p FROM q_mor_p WHERE i BETWEEN 10 AND 11
SELECT id FROM q_mor_p ORDER BY i DESC LIMIT 5
SELECT id FROM q_mor_p WHERE i > 100 ORDER BY i LIMIT 5 OFFSET 3
SELECT id FROM q_mor_p WHERE CASE WHEN p = 'p0' THEN i > 390 ELSE i = 7 END
SELECT id FROM q_mor_p WHERE if(i > 390, true, null)
SELECT id FROM q_mor_p WHERE nullif(i, 7) IS NULL
SELECT id FROM q_mor_p WHERE NOT (i <= 390)
SELECT id FROM q_mor_p WHERE i > 390 AND rand() >= 0
SELECT id FROM q_mor_p WHERE i <=> 15
SELECT id FROM q_mor_p WHERE (i, s) IN ((15, 's1'), (16, 's2'))
SELECT id FROM q_mor_p WHERE named_struct('a', i, 'b', s) = named_struct('a', 15, 'b', 's1')
SELECT id FROM q_mor_p WHERE array_contains(array(15, 16), i)
SELECT id FROM q_mor_p WHERE exists(array(i), x -> x > 390)
SELECT id FROM q_mor_p WHERE map('a', i)['a'] = 15
SELECT id FROM q_mor_p WHERE id RLIKE '^k039[0-5]$' OR id ILIKE 'K0001'
SELECT id FROM q_mor_p WHERE t + INTERVAL 1 HOUR > TIMESTAMP'2025-01-01 07:30:00'
SELECT id FROM q_mor_p WHERE date_trunc('hour', t) = TIMESTAMP'2025-01-01 03:00:00'
SELECT id FROM q_mor_p WHERE unix_timestamp(t) % 3600 = 0
SELECT st.* FROM q_mor_p WHERE st.x IN (70, 80)
SELECT input_file_name() != '', _hoodie_commit_time > '0', count(*) FROM q_mor_p WHERE i < 20 GROUP BY ALL
SELECT id FROM q_mor_p WHERE _hoodie_partition_path LIKE '%p1' AND i < 20
SELECT count(*) FROM q_mor_p WHERE 1 = 0
SELECT count(*) FROM q_mor_p WHERE p IS NULL OR i < 3
""".strip().splitlines()


def _last(t: DataFrame) -> DataFrame:
    return t.where("i > 390")


def _plus_one(name: str) -> Column:
    return functions.udf(lambda number: number + 1, "int")(name)


def _rank() -> Column:
    return functions.rank().over(Window.partitionBy("p").orderBy("i"))


#: Over the same table.
FRAMES: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "a sample": lambda t: t.sample(1.0, seed=1).where("i > 390").select("id"),
    "values for NULL": lambda t: t.na.fill({"s": "x"}).where("s = 'new'").select("id"),
    "replaced values": lambda t: t.replace("new", "old", ["s"]).where("s = 'old'").select("id"),
    "a column made of another": lambda t: t.withColumn("n", functions.col("i") * 2).where("n = 30").select("id", "n"),
    "a column renamed to another": lambda t: t.drop("s").withColumnRenamed("i", "s").where("s = 15").select("id"),
    "two columns that swap names": lambda t: t.selectExpr("id AS s", "s AS id").where("s = 'k0007'"),
    "a function in Python": lambda t: t.where(_plus_one("i") == 16).select("id"),
    "batches in Python": lambda t: _last(t).select("id", "i").mapInPandas(lambda batches: batches, "id string, i int"),
    "other partitions": lambda t: t.repartition(3, "p").where("i > 390").select("id"),
    "a frame that is kept": lambda t: t.where("i > 300").persist().where("s = 's3'").select("id"),
    "a checkpoint": lambda t: _last(t).select("id").localCheckpoint(),
    "without duplicates": lambda t: _last(t).dropDuplicates(["p"]).select("p"),
    "by way of an RDD": lambda t: t.sparkSession.createDataFrame(_last(t).select("id", "i").rdd),
    "a join by name": lambda t: t.join(_last(t).select("id"), "id").select("id", "s"),
    "a rank": lambda t: t.withColumn("r", _rank()).where("r = 1").select("id"),
    "columns as rows": lambda t: t.where("i = 15").unpivot(["id"], ["s", "p"], "k", "v"),
    "what is observed": lambda t: t.observe("m", functions.count(functions.lit(1))).where("i > 390").select("id"),
    "a union": lambda t: t.where("i = 15").unionByName(t.where("i = 7")).where("p IS NOT NULL").select("id"),
    "three filters": lambda t: _last(t).filter(functions.col("s") != "s3").filter("p = 'p1'").select("id"),
    "a table of counts": lambda t: _last(t).crosstab("p", "ts"),
    "a summary": lambda t: _last(t).select("i").summary("count", "max"),
}


def shapes(stories: Stories) -> None:
    """Each shape with adaptive execution and without it, the keys of joins taken wherever they can be."""
    spark = stories.spark
    spark.sql(f"CREATE TABLE IF NOT EXISTS q_mor_p USING hudi LOCATION '{stories.work}/mor_p'")
    made = {text: lambda text=text: spark.sql(text) for text in STATEMENTS}
    made |= {name: lambda frame=frame: frame(spark.table("q_mor_p")) for name, frame in FRAMES.items()}
    keys = {"spark__sargo__dynamic": "subquery", "spark__sargo__dynamic__subquery__min__bytes": "1"}
    for adaptive in ("true", "false"):
        with stories.set(spark__sql__adaptive__enabled=adaptive, **keys):
            for name, make in made.items():
                stories.tell(f"{name} (adaptive: {adaptive})", lambda make=make: _compared(stories, make))  # type: ignore[misc]


def _compared(stories: Stories, make: Callable[[], DataFrame]) -> Outcome:
    outcome = stories.compare(make)
    stories.spark.catalog.clearCache()
    return outcome
