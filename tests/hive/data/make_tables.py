"""Writes the Hudi tables of the Hive tests anew, and zips them beside this file.

    python make_tables.py DIRECTORY [TABLE ...]

Needs pyspark 3.5 and org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2 in the local Maven repository. The zips in the
repository were written with pyspark 3.5.5, UTC, local[2].

Row i has id = i, k = i, name, amount, price, d, ts, maybe (NULL in every third file); in `dt` the partition. Files have
disjoint ranges of i, so a test knows how many files a condition needs.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

HUDI = "1.0.2"
BUNDLE = Path.home() / (
    f".m2/repository/org/apache/hudi/hudi-spark3.5-bundle_2.12/{HUDI}/hudi-spark3.5-bundle_2.12-{HUDI}.jar"
)
PARTITIONS = [f"2024-01-0{day}" for day in range(1, 5)]
COLUMNS = "id,k,name,amount,price,d,ts,maybe"


def session() -> SparkSession:
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", str(BUNDLE))
        .config("spark.driver.extraClassPath", str(BUNDLE))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
        .getOrCreate()
    )


def rows(spark: SparkSession, files: int, per_file: int) -> DataFrame:
    """`files` runs of `per_file` rows, in four partitions of equally many runs."""
    every = files // len(PARTITIONS)
    stretch = F.col("stretch")
    names = F.array(*[F.lit(name) for name in PARTITIONS])
    return (
        spark.range(files * per_file)
        .withColumn("stretch", (F.col("id") / per_file).cast("int"))
        .withColumn("dt", F.element_at(names, (stretch / every).cast("int") + 1))
        .withColumn("k", F.col("id").cast("int"))
        .withColumn("name", F.concat(F.lit("n"), F.lpad(F.col("id").cast("string"), 8, "0")))
        .withColumn("amount", (F.col("id") * F.lit(1.5)).cast("double"))
        .withColumn("price", (F.col("id") / 4).cast("decimal(10,2)"))
        .withColumn("d", F.expr("date_add(date'2020-01-01', stretch)"))
        .withColumn("ts", F.expr("timestamp'2020-01-01 00:00:00' + make_interval(0,0,0,stretch)"))
        .withColumn("maybe", F.when(stretch % 3 != 0, F.col("id")))
        .withColumn("version", F.lit(0))
    )


def write(frame: DataFrame, path: Path, operation: str, *, mor: bool, partitioned: bool = True, **options: str) -> None:
    settings = {
        "hoodie.table.name": path.name,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "version",
        "hoodie.datasource.write.operation": operation,
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.metadata.enable": "true",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.column.stats.column.list": COLUMNS,
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.embed.timeline.server": "false",
    }
    if partitioned:
        settings["hoodie.datasource.write.partitionpath.field"] = "dt"
    else:
        settings["hoodie.datasource.write.keygenerator.class"] = "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
    settings.update({name.replace("__", "."): value for name, value in options.items()})
    frame.write.format("hudi").options(**settings).mode("append").save(f"file://{path}")


def stretches(frame: DataFrame, files: int) -> DataFrame:
    return frame.repartitionByRange(files, "stretch").drop("stretch")


def changed(frame: DataFrame, condition: str, **columns: str) -> DataFrame:
    chosen = frame.where(condition).drop("stretch").withColumn("version", F.lit(1))
    for name, expression in columns.items():
        chosen = chosen.withColumn(name, F.expr(expression))
    return chosen.coalesce(1)


def trips(spark: SparkSession, path: Path) -> None:
    """COPY_ON_WRITE, partitioned, 20 files of 100 rows; then 10 rows of files 3 and 12 renamed: two versions."""
    frame = rows(spark, 20, 100)
    write(stretches(frame, 20), path, "bulk_insert", mor=False)
    write(
        changed(frame, "id between 310 and 314 or id between 1210 and 1214", name="concat('renamed', id)"),
        path,
        "upsert",
        mor=False,
    )


def trips2(spark: SparkSession, path: Path) -> None:
    """Like trips, without changes."""
    write(stretches(rows(spark, 20, 100), 20), path, "bulk_insert", mor=False)


def flat(spark: SparkSession, path: Path) -> None:
    """COPY_ON_WRITE, not partitioned, 8 files of 100 rows."""
    write(stretches(rows(spark, 8, 100), 8), path, "bulk_insert", mor=False, partitioned=False)


def rides(spark: SparkSession, path: Path) -> None:
    """MERGE_ON_READ, partitioned, 12 base files of 50 rows; log files move rows of files 1, 5, 9 out of the base files'
    bounds (k + 100000), rename rows of file 6, and delete rows of file 2. rides_before: before all that."""
    frame = rows(spark, 12, 50)
    write(stretches(frame, 12), path, "bulk_insert", mor=True)
    archive(path, Path(__file__).parent / "rides_before.zip")
    write(changed(frame, "id in (55, 56, 255, 256, 455, 456)", k="cast(id + 100000 as int)"), path, "upsert", mor=True)
    write(changed(frame, "id in (301, 302)", name="concat('renamed', id)"), path, "upsert", mor=True)
    write(changed(frame, "id in (101, 102)"), path, "delete", mor=True)


def flat_mor(spark: SparkSession, path: Path) -> None:
    """MERGE_ON_READ, not partitioned, bucket index of 4 buckets; then an update that moves two rows."""
    frame = rows(spark, 4, 50)
    bucket = {"hoodie__index__type": "BUCKET", "hoodie__bucket__index__num__buckets": "4"}
    write(frame.drop("stretch").coalesce(1), path, "upsert", mor=True, partitioned=False, **bucket)
    write(
        changed(frame, "id in (7, 8)", k="cast(id + 100000 as int)"),
        path,
        "upsert",
        mor=True,
        partitioned=False,
        **bucket,
    )


#: Values of a partition column, and so names of folders, that a URI, a glob or an escape would change.
AWKWARD = ["a b", "a%b", "a%20b", "a#b", "a?b", "a+b", "a&b", "a=b", "a'b", 'a"b', "a\u00e4\u00f6\u20acb", "a{b}"]


def places(spark: SparkSession, path: Path) -> None:
    """COPY_ON_WRITE, a file of 10 rows for each name of AWKWARD: row i is in the partition of name i / 10."""
    names = F.array(*[F.lit(name) for name in AWKWARD])
    frame = rows(spark, len(AWKWARD), 10).withColumn("dt", F.element_at(names, (F.col("id") / 10).cast("int") + 1))
    write(stretches(frame, len(AWKWARD)), path, "bulk_insert", mor=False)


TABLES: dict[str, Callable[[SparkSession, Path], None]] = {
    made.__name__: made for made in (trips, trips2, flat, rides, flat_mor, places)
}


def archive(path: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for item in sorted(path.rglob("*")):
            if not item.name.endswith(".crc"):
                out.write(item, item.relative_to(path))


def main(directory: str, *names: str) -> None:
    spark = session()
    for name in names or TABLES:
        path = Path(directory).resolve() / name
        shutil.rmtree(path, ignore_errors=True)
        TABLES[name](spark, path)
        target = Path(__file__).parent / f"{name}.zip"
        archive(path, target)
        print(name, spark.read.format("hudi").load(f"file://{path}").count(), "rows,", target.stat().st_size, "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
