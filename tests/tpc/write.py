"""Writes the tables of a benchmark with real Hudi, and asks Hudi's own data skipping about every scan.

    python -m tests.tpc.write BENCHMARK RAW OUT SCALE [LAYOUT ...]      with the Python that has Spark 3.5

RAW has the generator's Parquet files. Below OUT there are afterwards, for each layout:

    <layout>/             the table
    <layout>.parquet      the rows of a full scan of a MERGE_ON_READ table, with the file group of each in ``_group``
    <layout>.hudi.json    the condition in the specification's spelling -> the file ids that Hudi's data skipping keeps;
                          null when Spark needs no scan, {"error": why} when it fails
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.full_scan import FILE_ID, first_line, kept_by_hudi
from tests.tables.releases import RELEASES, session
from tests.tpc.benchmark import Benchmark, benchmark
from tests.tpc.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RELEASE = RELEASES["1.2.0"]
#: Files stay as they were written, with column_stats alone.
PLAIN = {
    "hoodie.index.type": "SIMPLE",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.embed.timeline.server": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "false",
}


def options(layout: Layout, files: int, operation: str, small: bool) -> dict[str, str]:
    generator = "NonpartitionedKeyGenerator"
    if layout.partition:
        generator = "ComplexKeyGenerator" if "," in layout.keys else "SimpleKeyGenerator"
    write = "hoodie.datasource.write"
    given = {
        "hoodie.table.name": layout.name,
        f"{write}.operation": operation,
        f"{write}.recordkey.field": layout.keys,
        f"{write}.partitionpath.field": layout.partition,
        f"{write}.keygenerator.class": f"org.apache.hudi.keygen.{generator}",
        f"{write}.table.type": "MERGE_ON_READ" if layout.merge_on_read else "COPY_ON_WRITE",
        f"{write}.hive_style_partitioning": "true",
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.bulkinsert.shuffle.parallelism": str(files),
        "hoodie.upsert.shuffle.parallelism": "4",
        **PLAIN,
    }
    if small:  # what is packed shrinks most when nothing in it is compressed yet
        given |= {
            "hoodie.parquet.compression.codec": "uncompressed",
            "hoodie.index.bloom.num_entries": "10",
            "hoodie.bloom.index.filter.dynamic.max.entries": "10",
            "hoodie.metadata.index.column.stats.file.group.count": "1",
        }
    return given


def write(spark: SparkSession, layout: Layout, raw: Path, path: Path, *, small: bool) -> None:
    files = layout.files[1 if small else 0]
    rows = spark.read.parquet(str(raw / f"{layout.table}.parquet"))
    if small and layout.sample:
        rows = rows.where(layout.sample)
    rows = rows.select(*layout.columns.split())
    order = layout.order.split(",")

    def save(frame: DataFrame, operation: str) -> None:
        chosen = options(layout, files, operation, small)
        frame.write.format("hudi").options(**chosen).mode("append").save(str(path))

    save(rows.repartitionByRange(files, *order).sortWithinPartitions(*order), "bulk_insert")
    if layout.update:
        condition, values = layout.update
        changed = [f"{values.get(name, name)} as {name}" for name in rows.columns]
        save(rows.where(condition).selectExpr(*changed).coalesce(2), "upsert")


def full_scan(spark: SparkSession, layout: Layout, path: Path, out: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    frame = (
        spark.read.format("hudi")
        .option("hoodie.metadata.enable", "false")
        .option("hoodie.enable.data.skipping", "false")
        .load(str(path))
    )
    group = F.regexp_extract("_hoodie_file_name", FILE_ID.replace("\\\\", "\\"), 1).alias("_group")
    folder = out.with_suffix(".folder")
    frame.select(*layout.columns.split(), group).coalesce(1).write.mode("overwrite").parquet(str(folder))
    next(folder.glob("*.parquet")).replace(out)
    shutil.rmtree(folder)


def kept(spark: SparkSession, measured: Benchmark, layout: Layout, path: Path) -> dict[str, Any]:
    frame = (
        spark.read.format("hudi")
        .option("hoodie.metadata.enable", "true")
        .option("hoodie.enable.data.skipping", "true")
        .load(str(path))
    )
    answers: dict[str, Any] = {}
    for question in measured.questions(layout.table):
        if question.specification in answers:
            continue
        try:
            answers[question.specification] = kept_by_hudi(frame, question.specification)
        except Exception as error:
            answers[question.specification] = {"error": first_line(error)}
    return answers


def main(name: str, raw: Path, out: Path, scale: float, wanted: tuple[str, ...]) -> None:
    spark = session(RELEASE, out)
    measured = benchmark(name)
    small = scale < measured.small
    if not small:  # many rows are worth the compiling
        spark.conf.set("spark.sql.codegen.wholeStage", "true")
        spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    for layout in measured.layouts.values():
        if wanted and layout.name not in wanted:
            continue
        begun = time.monotonic()
        path = out / layout.name
        shutil.rmtree(path, ignore_errors=True)
        write(spark, layout, raw, path, small=small)
        if layout.merge_on_read:
            full_scan(spark, layout, path, out / f"{layout.name}.parquet")
        written = time.monotonic() - begun
        answers = json.dumps(kept(spark, measured, layout, path), indent=0)
        (out / f"{layout.name}.hudi.json").write_text(answers + "\n", encoding="utf-8")
        print(
            f"{layout.name}: written in {written:.0f} s, Hudi asked in {time.monotonic() - begun - written:.0f} s",
            flush=True,
        )
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).resolve(), float(sys.argv[4]), tuple(sys.argv[5:]))
