"""Queries over tables of a Hive metastore, as Hudi's sync and Spark's SQL make them, after ``register`` and without.

    python -m tests.handler.spark.extension.metastore FOLDER HUDI     with `.venv/spark35`

The metastore is Hive's own, in a Derby database of FOLDER. The JVM and the session are in ZONE, as on a machine there.

    synced_cow, synced_mor    written as DataFrames and synced, with ``_ro`` and ``_rt`` beside the merged one
    made                      CREATE TABLE and INSERT, then an UPDATE that is in log files
    view                      a permanent one over ``made``

``outcomes.json`` says for each query over each table its rows with the extension and without, and what its scans say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from handler.spark import register
from tests.conformance.extension_session import said
from tests.handler.spark.extension.sessions import scans, session
from tests.tables.releases import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ZONE = "Asia/Kolkata"
QUERIES = (
    "id = 42",
    "id IN (3, 299)",
    "g >= 100",
    "s = 'changed' OR s LIKE 's25%'",
    "day > DATE'2024-01-24'",
    "CAST(day AS STRING) = '2024-01-13'",
    "price < 1.5",
    "dt = '2024-01-02' AND id < 130",
    "dt > '2024-01-02'",
    "at BETWEEN TIMESTAMP'2024-01-01 02:00:00' AND TIMESTAMP'2024-01-01 02:10:00'",
    "hour(at) = 3",
)
_ROWS = (
    "id",
    "id % 7 AS g",
    "concat('s', id) AS s",
    "id AS version",
    "date_add(DATE'2024-01-01', CAST(id / 10 AS INT)) AS day",
    "CAST(id / 10 AS DECIMAL(10, 2)) AS price",
    "TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, 0, CAST(id AS INT)) AS at",
)
_COLUMNS = "id BIGINT, g BIGINT, s STRING, version BIGINT, day DATE, price DECIMAL(10, 2), at TIMESTAMP, dt STRING"


def started(home: Path, hudi: str) -> SparkSession:
    bundle = RELEASES[hudi].jar
    settings = {
        "spark.driver.extraClassPath": str(bundle),
        "spark.driver.extraJavaOptions": f"-Duser.timezone={ZONE} -Dderby.stream.error.file={home}/derby.log",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.session.timeZone": ZONE,
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
    }
    return session([bundle], home, settings)


def write_synced(spark: SparkSession, home: Path, name: str, kind: str) -> None:
    """Three partitions of a file each, and rows of one that are changed."""
    options = {
        "hoodie.table.name": name,
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "version",
        "hoodie.datasource.write.partitionpath.field": "dt",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.datasource.hive_sync.enable": "true",
        "hoodie.datasource.hive_sync.mode": "hms",
        "hoodie.datasource.hive_sync.database": "db",
        "hoodie.datasource.hive_sync.table": name,
        "hoodie.datasource.hive_sync.partition_fields": "dt",
        "hoodie.datasource.hive_sync.partition_extractor_class": "org.apache.hudi.hive.MultiPartKeysValueExtractor",
        "hoodie.datasource.hive_sync.support_timestamp": "true",
    }
    days = [spark.range(100 * n, 100 * n + 100).selectExpr(*_ROWS, f"'2024-01-0{n + 1}' AS dt") for n in range(3)]
    changed = days[1].where("id BETWEEN 150 AND 155").selectExpr(
        "id", "g + 100 AS g", "'changed' AS s", "version + 1000 AS version", "day", "price", "at", "dt"
    )  # fmt: skip
    for frame in (*days, changed):
        frame.coalesce(1).write.format("hudi").options(**options).mode("append").save(str(home / name))


def make_by_sql(spark: SparkSession) -> None:
    spark.sql(
        f"CREATE TABLE db.made ({_COLUMNS}) USING hudi PARTITIONED BY (dt) TBLPROPERTIES (primaryKey = 'id', "
        "preCombineField = 'version', type = 'mor', 'hoodie.metadata.index.column.stats.enable' = 'true')"
    )
    for n in range(3):
        rows = f"SELECT {', '.join(_ROWS)}, '2024-01-0{n + 1}' AS dt FROM range({100 * n}, {100 * n + 100})"
        spark.sql(f"INSERT INTO db.made {rows}")
    spark.sql("UPDATE db.made SET s = 'changed', g = 500 WHERE id = 42")
    spark.sql("CREATE VIEW db.view AS SELECT id, g, s, day, price, at, dt FROM db.made WHERE id < 250")


def rows_of(frame: DataFrame) -> list[str]:
    """By name: the columns of a table that was synced change their order after its first query, without Sargo, too."""
    rows = (row.asDict() for row in frame.collect())
    return sorted(str({name: row[name] for name in sorted(row)}) for row in rows)


def main(folder: str, hudi: str) -> None:
    home = Path(folder)
    spark = started(home, hudi)
    spark.sql("CREATE DATABASE db")
    write_synced(spark, home, "synced_cow", "COPY_ON_WRITE")
    write_synced(spark, home, "synced_mor", "MERGE_ON_READ")
    make_by_sql(spark)
    register(spark)
    outcomes = {}
    for table in sorted(row.tableName for row in spark.sql("SHOW TABLES IN db").collect()):
        for query in QUERIES:
            told = {}
            for enabled in ("false", "true"):
                spark.conf.set("spark.sargo.enabled", enabled)
                frame = spark.sql(f"SELECT * FROM db.{table} WHERE {query}")
                told["rows" if enabled == "true" else "truth"] = rows_of(frame)
                told["says"] = said(scans(frame))
            outcomes[f"{table}: {query}"] = told
    (home / "outcomes.json").write_text(json.dumps(outcomes), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
