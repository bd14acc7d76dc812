"""Reading the kept slices: for every predicate and table the rows of the pruned read are those of the full scan.

Predicates that keep the same slices are read together, once, and evaluated as columns over the rows.
"""

from __future__ import annotations

from collections import defaultdict

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from handler.rows.slice_source import SliceSource
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.reading import frame_of
from index_store.opened_table import OpenTable
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, truth_of

AT_ONCE = 80
#: The tables that Sargo reads itself: hudi-rs 0.5.0 does not know TIMESTAMP_NTZ in log blocks ("not yet implemented").
READ_HERE = tuple(name for name in TABLES if not (name.startswith("1.2.0") and name.endswith("_mor")))


def wrong_reads(spark: SparkSession, name: str, table: OpenTable, kept: Kept) -> dict[str, str]:
    """SQL -> the difference, for predicates whose rows are not those of the full scan. The session has ANSI off."""
    truth = truth_of(name)
    together: dict[frozenset[str], list[str]] = defaultdict(list)
    for sql in truth.predicates:
        together[kept.text(name, sql)].append(sql)
    schema = spark_schema(table.table)
    source = SliceSource.of(table.table, table.path)
    wrong = {}
    for file_ids, texts in together.items():
        slices = [file_slice for file_slice in table.at().slices if file_slice.file_id in file_ids]
        frame = frame_of(spark, source, slices, schema)
        for start in range(0, len(texts), AT_ONCE):
            chunk = texts[start : start + AT_ONCE]
            columns = [F.expr(f"({text}) is true").alias(f"c{n}") for n, text in enumerate(chunk)]
            rows = frame.select("_hoodie_record_key", *columns).collect()
            for n, text in enumerate(chunk):
                keys, expected = {row[0] for row in rows if row[n + 1]}, truth.keys(text, "legacy")
                if keys != expected:
                    wrong[text] = f"more {sorted(keys - expected)[:3]}, fewer {sorted(expected - keys)[:3]}"
    return wrong
