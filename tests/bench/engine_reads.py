"""Rows of a Hudi table through each engine, beside those who read the same files without Sargo.

A COPY_ON_WRITE table of 64 files in 16 partitions, 3.2 million rows. Two questions: one that a partition and a bound on
rows answer, and one that needs every file. Wall-clock time of the whole question, from the path to the rows, the least
of some rounds; the ratio is to ``scan.to_table()``. Every reader gives the same number of rows, or the bench stops.

    hudi (hudi-rs)                its snapshot of the partition, filtered by pyarrow
    fragments, as pyiceberg       a pyarrow fragment for each file of the partition, as ``pyiceberg`` scans them
    Polars on the folder          ``scan_parquet`` of all files, with hive partitions: superseded files would count
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset, fs

from handler import scan
from tests.handler.plain_table import plain_table

PARTITIONS, FILES, ROWS, ROUNDS = 16, 4, 50_000, 3
COLUMNS = ["id", "amount", "name"]
SCHEMA = {
    "type": "record",
    "name": "trips",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "amount", "type": ["null", "double"], "default": None},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "fee", "type": ["null", "long"], "default": None},
        {"name": "day", "type": ["null", "string"], "default": None},
    ],
}
#: Name -> (condition, partition, least amount).
QUESTIONS = {
    "one partition": ("day = 'd03' AND amount > 990.0", "d03", 990.0),
    "all files": ("amount > 999.0", "", 999.0),
}

Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures of both questions."""
    with tempfile.TemporaryDirectory() as folder:
        root = plain_table(Path(folder) / "trips", list(_files()), "day", json.dumps(SCHEMA))
        rows: list[Row] = []
        for name, (where, partition, least) in QUESTIONS.items():
            ways = dict(_ways(root, where, partition, least))
            counts = {way: read() for way, read in ways.items()}
            assert len(set(counts.values())) == 1, counts
            seconds = {way: _least(read) for way, read in ways.items()}
            ours = seconds["scan.to_table()"]
            rows += [
                (f"{name}: {way}", f"{spent * 1000:,.1f} ms", f"{spent / ours:.2f} x scan.to_table()")
                for way, spent in seconds.items()
            ]
        return rows


def _ways(root: Path, where: str, partition: str, least: float) -> Iterator[tuple[str, Callable[[], int]]]:
    def few() -> Any:
        return scan(root, where, COLUMNS)

    yield "scan.to_table()", lambda: few().to_table().num_rows
    yield "scan.to_pyarrow_dataset()", lambda: few().to_pyarrow_dataset().to_table(columns=COLUMNS).num_rows
    if find_spec("polars"):
        import polars as pl

        yield "scan.scan_polars()", lambda: few().scan_polars().collect().height
        folder = pl.scan_parquet(f"{root}/day=*/*.parquet", hive_partitioning=True)
        wanted = pl.col("amount") > least
        wanted = wanted & (pl.col("day") == partition) if partition else wanted
        yield "Polars on the folder", lambda: folder.filter(wanted).select(COLUMNS).collect().height
    if find_spec("duckdb"):
        import duckdb

        con = duckdb.connect()
        yield "scan.to_duckdb(con)", lambda: len(few().to_duckdb(con).fetchnumpy()["id"])
        text = f"SELECT id, amount, name FROM read_parquet('{root}/day=*/*.parquet', hive_partitioning = true)"
        text += f" WHERE amount > {least}" + (f" AND day = '{partition}'" if partition else "")
        yield "DuckDB on the folder", lambda: len(con.sql(text).fetchnumpy()["id"])
    if find_spec("hudi"):
        yield "hudi (hudi-rs)", lambda: _through_hudi(root, partition, least)
    yield "fragments, as pyiceberg", lambda: _through_fragments(root, partition, least)


def _through_hudi(root: Path, partition: str, least: float) -> int:
    import hudi

    table = hudi.HudiTableBuilder.from_base_uri(str(root)).build()
    options = hudi.HudiReadOptions()
    if partition:
        options = options.with_filters([("day", "=", partition)])
    rows = pa.Table.from_batches(table.read(options)).filter(pc.field("amount") > least)
    if partition:
        rows = rows.filter(pc.field("day") == partition)
    return int(rows.select(COLUMNS).num_rows)


def _through_fragments(root: Path, partition: str, least: float) -> int:
    form, rows = dataset.ParquetFileFormat(), 0
    for path in sorted(root.glob(f"day={partition or '*'}/*.parquet")):
        fragment = form.make_fragment(str(path), fs.LocalFileSystem())
        found = dataset.Scanner.from_fragment(fragment, columns=COLUMNS, filter=pc.field("amount") > least).to_table()
        rows += found.num_rows
    return rows


def _files() -> Iterator[tuple[str, pa.Table]]:
    draw = np.random.default_rng(20)
    for number in range(PARTITIONS * FILES):
        day = f"d{number // FILES:02d}"
        yield (
            f"day={day}",
            pa.table(
                {
                    "_hoodie_commit_time": ["20260101000000000"] * ROWS,
                    "_hoodie_commit_seqno": [f"{number}_{i}" for i in range(ROWS)],
                    "_hoodie_record_key": [f"k{number}_{i}" for i in range(ROWS)],
                    "_hoodie_partition_path": [f"day={day}"] * ROWS,
                    "_hoodie_file_name": [f"f{number:05d}"] * ROWS,
                    "id": [f"k{number}_{i}" for i in range(ROWS)],
                    "amount": draw.random(ROWS) * 1000,
                    "name": [f"shop-{i % 977:04d}" for i in range(ROWS)],
                    "fee": draw.integers(0, 10**6, ROWS),
                    "day": [day] * ROWS,
                }
            ),
        )


def _least(read: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
