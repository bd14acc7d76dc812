"""Writes small tables in states that decide which files are a table's, and zips them as states.zip beside this file.

    python make_states.py DIRECTORY

Needs what make_tables.py needs. Each table has 8 files of 20 rows, as those of make_tables.py.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from make_tables import archive, changed, rows, session, stretches, write
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

STATS = {"hoodie.metadata.index.column.stats.column.list": "id,k"}
Maker = Callable[[SparkSession, DataFrame, Path], None]


def merge_on_read(base: DataFrame, path: Path, **more: str) -> None:
    """8 base files; 8 rows of two of them are moved out of their bounds by log files."""
    write(stretches(base, 8), path, "bulk_insert", mor=True, **{**STATS, **more})
    write(
        changed(base, "id between 15 and 18 or id between 55 and 58", k="k + 1000"),
        path,
        "upsert",
        mor=True,
        **{**STATS, **more},
    )


def moved_again(base: DataFrame, path: Path) -> None:
    write(
        changed(base, "id between 16 and 19 or id between 95 and 96", k="k + 2000"), path, "upsert", mor=True, **STATS
    )


def pending_compaction(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """A compaction is requested, and log files are written after it."""
    merge_on_read(base, path)
    spark.sql(f"CALL run_compaction(op => 'schedule', path => 'file://{path}')").collect()
    moved_again(base, path)


def uncommitted(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """The last commit has its files, and is in the metadata table, but never completed."""
    merge_on_read(base, path)
    moved_again(base, path)
    max((path / ".hoodie/timeline").glob("*.deltacommit")).unlink()


def version_6(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """The table version of Hudi 0.14 to 0.15, whose log files carry the instant of their base file."""
    merge_on_read(base, path, hoodie__write__table__version="6", hoodie__write__auto__upgrade="false")


def copy_on_write(base: DataFrame, path: Path) -> None:
    """8 files, of which one has two versions."""
    write(stretches(base, 8), path, "bulk_insert", mor=False, **STATS)
    write(changed(base, "id between 15 and 18", k="k + 1000"), path, "upsert", mor=False, **STATS)


def pending_clustering(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """A clustering is requested."""
    copy_on_write(base, path)
    spark.sql(f"CALL run_clustering(path => 'file://{path}', op => 'schedule')").collect()


def replaced(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """One partition is overwritten, another deleted; their old files are still there."""
    copy_on_write(base, path)
    some = changed(base, "dt = '2024-01-02' and id < 50", k="k + 5")
    write(some, path, "insert_overwrite", mor=False, **STATS)
    gone = base.where("dt = '2024-01-03'").drop("stretch")
    deleted = {"hoodie__datasource__write__partitions__to__delete": "dt=2024-01-03"}
    write(gone, path, "delete_partition", mor=False, **STATS, **deleted)


def nested_folders(spark: SparkSession, base: DataFrame, path: Path) -> None:
    """Partitions of one column are folders in folders: 2024/01/02."""
    days = base.withColumn("dt", F.regexp_replace("dt", "-", "/"))
    plain = {"hoodie__datasource__write__hive_style_partitioning": "false"}
    write(stretches(days, 8), path, "bulk_insert", mor=False, **STATS, **plain)


STATES: tuple[Maker, ...] = (
    pending_compaction,
    uncommitted,
    version_6,
    pending_clustering,
    replaced,
    nested_folders,
)


def main(directory: str) -> None:
    spark = session()
    base = rows(spark, 8, 20)
    folder = Path(directory).resolve() / "states"
    shutil.rmtree(folder, ignore_errors=True)
    for state in STATES:
        state(spark, base, folder / state.__name__)
    target = Path(__file__).parent / "states.zip"
    archive(folder, target)
    print(target.stat().st_size, "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
