"""Two Hudi tables of facts, in eight files by the order of ``k``, and two of dimensions, for the stories of joins.

fact        COW, 800 rows: k and the other types of key count up, n is NULL in every fifth row, g is k % 40
fact_p      COW, 800 rows in four partitions by p, which is k % 4
fact_mor    the same as fact, as MOR; rows 300 to 307 have log files, in which v is negative
places      COW, 40 rows: g, and a name
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.handler.spark.extension.dynamic_truth import Rows, file_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CHANGED", "FACT", "FILES", "PLACES", "ROWS", "rows_of", "write_tables"]

ROWS, FILES = 800, 8
_FACT = """
    select cast(id as int) k, id big, concat('s', lpad(id, 4, '0')) s,
           date_add(date '2020-01-01', cast(id as int)) d,
           timestamp '2020-01-01 00:00:00' + make_interval(0, 0, 0, 0, cast(id as int)) ts,
           cast(id / 4 as decimal(10, 2)) dec, cast(id as double) dbl,
           if(id % 5 = 0, null, cast(id as int)) n, cast(id % 40 as int) g, cast(id * 3 as int) v, 1L seen
    from range({low}, {high})"""
FACT = _FACT.format(low=0, high=ROWS)
#: What the log files of ``fact_mor`` say.
CHANGED = _FACT.format(low=300, high=308).replace("cast(id * 3 as int) v, 1L", "cast(-id as int) v, 2L")
PLACES = "select cast(id as int) g, concat('place ', id) name, 1L seen from range(40)"
#: Column -> its internal form, as SQL.
_INTERNAL = {
    **{name: name for name in ("k", "big", "s", "n", "g", "v")},
    "d": "unix_date(d)",
    "ts": "unix_micros(ts)",
    "dec": "string(dec)",
}


def _options(name: str, key: str, *, merge_on_read: bool, partition: str) -> dict[str, str]:
    generator = "SimpleKeyGenerator" if partition else "NonpartitionedKeyGenerator"
    return {
        "hoodie.table.name": name,
        "hoodie.datasource.write.recordkey.field": key,
        "hoodie.datasource.write.precombine.field": "seen",
        "hoodie.datasource.write.partitionpath.field": partition,
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if merge_on_read else "COPY_ON_WRITE",
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{generator}",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.merge.small.file.group.candidates.limit": "0",
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.bulkinsert.shuffle.parallelism": str(FILES),
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.index.type": "SIMPLE",
        "hoodie.embed.timeline.server": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.metadata.enable": "false",
    }


def write_tables(spark: SparkSession, home: Path) -> None:
    """Write the tables into a folder, and make a view of each."""

    def write(name: str, sql: str, operation: str, key: str, parts: int, partition: str = "") -> None:
        writer = spark.sql(sql).repartitionByRange(parts, key).write.format("hudi")
        writer = writer.options(**_options(name, key, merge_on_read=name.endswith("_mor"), partition=partition))
        writer.option("hoodie.datasource.write.operation", operation).mode("append").save(str(home / name))

    for name in ("fact", "fact_mor"):
        write(name, FACT, "bulk_insert", "k", FILES)
    write("fact_mor", CHANGED, "upsert", "k", 1)
    write("places", PLACES, "bulk_insert", "g", 4)
    write("fact_p", f"select *, k % 4 p from ({FACT})", "bulk_insert", "k", 2, "p")
    for name in ("fact", "fact_p", "fact_mor", "places"):
        spark.read.format("hudi").load(str(home / name)).createOrReplaceTempView(name)


def rows_of(spark: SparkSession, name: str) -> Rows:
    """The rows of a table by the id of their file group, as it is now."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    columns = [column for column in _INTERNAL if column in spark.table(name).columns]
    selected = ", ".join(f"{_INTERNAL[column]} {column}" for column in columns)
    file = "_hoodie_file_name" if "_hoodie_file_name" in spark.table(name).columns else "input_file_name()"
    for row in spark.sql(f"select {file} file, {selected} from {name}").collect():
        values = {column: row[column] for column in columns}
        if "dec" in values:
            values["dec"] = Decimal(values["dec"])
        found[file_id(row["file"])].append(values)
    return found
