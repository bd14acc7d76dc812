"""Building an index of our own: footers alone, one pass for all sketches, and Spark's plain aggregation beside it.

    10,000 footers                    min_max of three columns of 10,000 small files; nothing but footers is read
    one pass                          min_max, null counts, a value list, prefixes and two bloom filters of all rows
    the same on Spark                 ``build.spark`` over the same files
    spark.read.parquet(...).agg(...)  by file, of each column: min, max, count of NULLs; the distinct values of the one
                                      with few, and approx_count_distinct where the sketches build a filter

Wall time, since threads and workers share the cores; Spark is started and warm before it is timed. The ratio is rows a
second to those of Spark's aggregation, so more is better. Without Java, Spark's lines are left out.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from index_store.own.builder import IndexedFile
from index_store.own.builders.local import LocalBuilder
from index_store.own.builders.sketching import SketchPlan
from index_store.own.builders.spark import SparkBuilder
from index_store.storage.storage import Storage

SMALL_FILES, FILES, ROWS = 10_000, 8, 400_000
Row = tuple[str, str, str]
FOOTERS = SketchPlan.of([(name, "min_max") for name in ("id", "city", "ts")])
ALL = SketchPlan.of(
    [
        *((name, "min_max") for name in ("id", "city", "amount", "ts")),
        ("city", "value_list(limit=2000)"),
        ("city", "prefix_set"),
        ("id", "bloom_filter(fpp=0.01)"),
        ("ts", "bloom_filter(fpp=0.01)"),
        ("amount", "nan_count"),
    ]
)


def run() -> list[Row]:
    """The figures."""
    small, large = _made(SMALL_FILES, 20), _made(FILES, ROWS)
    footers = _seconds(lambda: _build(LocalBuilder(Storage.at(small), FOOTERS), SMALL_FILES))
    rows: list[Row] = [
        (
            f"footers of {SMALL_FILES:,} files, min_max of 3 columns",
            f"{footers:.2f} s",
            f"{SMALL_FILES / footers:,.0f} files a second",
        )
    ]
    total = FILES * ROWS
    local = _seconds(lambda: _build(LocalBuilder(Storage.at(large), ALL), FILES))
    rows.append((f"one pass over {total:,} rows in {FILES} files, 9 sketches, threads", _rate(total, local), ""))
    if shutil.which("java") is None:
        return rows
    spark = spark_session()
    try:
        _aggregate(spark, large)
        plain = min(_seconds(lambda: _aggregate(spark, large)) for _ in range(2))
        remote = min(_seconds(lambda: _build(SparkBuilder(spark, str(large), ALL), FILES)) for _ in range(2))
    finally:
        spark.stop()
    rows[-1] = (*rows[-1][:2], f"{plain / local:.2f} x Spark's aggregation")
    rows.append(("the same on Spark's workers", _rate(total, remote), f"{plain / remote:.2f} x Spark's aggregation"))
    rows.append(("spark.read.parquet(...).groupBy(file).agg(...)", _rate(total, plain), ""))
    return rows


def _rate(rows: int, seconds: float) -> str:
    return f"{seconds:.2f} s, {rows / seconds / 1e6:.2f} million rows/s"


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _build(builder: Any, files: int) -> None:
    rows_built = sum(
        batch.num_rows
        for batch in builder.build([IndexedFile(number, f"{number}.parquet", 0, "") for number in range(files)])
    )
    assert rows_built == files


def spark_session() -> Any:
    """Spark on two cores of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("sargo-bench")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def _aggregate(spark: Any, folder: Path) -> None:
    from pyspark.sql import functions as f

    columns = [
        aggregate(name)
        for name in ("id", "city", "amount", "ts")
        for aggregate in (f.min, f.max, lambda column: f.count_if(f.isnull(column)))
    ]
    columns += [
        f.collect_set("city"),
        f.approx_count_distinct("id"),
        f.approx_count_distinct("ts"),
        f.count_if(f.isnan("amount")),
    ]
    rows = spark.read.parquet(str(folder)).groupBy(f.input_file_name()).agg(*columns).collect()
    assert rows


def _made(files: int, rows: int) -> Path:
    root = Path(tempfile.gettempdir()) / f"sargo-bench-own-{files}-{rows}"
    if not root.exists():
        rng = np.random.default_rng(1)
        making = Path(f"{root}.making")
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        cities = np.array([f"city-{number:04d}" for number in range(1000)])
        for number in range(files):
            table = pa.table(
                {
                    "id": rng.integers(0, 1 << 40, rows),
                    "city": cities[rng.integers(0, 1000, rows)],
                    "amount": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.05),
                    "ts": pa.array(rng.integers(1 << 50, 1 << 51, rows), pa.timestamp("us", "UTC")),
                }
            )
            pq.write_table(table, making / f"{number}.parquet", row_group_size=100_000)
        making.rename(root)
    return root
