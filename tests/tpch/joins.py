"""The joins of Q3, Q4 and Q10: what ``prune_by_join`` keeps of lineitem, with column statistics and with an own index.

    python -m tests.tpch.joins FOLDER [--save FILE]

FOLDER has ``raw`` and ``tables``, as ``python -m tests.tpch --folder`` keeps them. The exit code is 1 when a slice
with a match is skipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from handler import open_table
from handler.spark import prune_by_join
from tests.tpc.measure import GROUP, Table, tables
from tests.tpc.spellings import LITERAL, SPECIFICATION
from tests.tpc.truth import matching
from tests.tpch.parameters import QUALIFICATION
from tests.tpch.scans import SCANS

#: Q3 joins orders of the customers of a segment; the others join all orders of their own condition.
QUERIES = ("Q3", "Q4", "Q10")


def conditions(query: str) -> dict[str, str]:
    """Table -> the condition of the query on it, in the specification's spelling."""
    return {scan.table: SPECIFICATION.write(scan.filter, QUALIFICATION[query]) for scan in SCANS if scan.query == query}


def orders_of(spark: SparkSession, raw: Path, query: str) -> DataFrame:
    wanted = conditions(query)
    orders = spark.read.parquet(str(raw / "orders.parquet")).where(wanted["orders"])
    if "customer" in wanted:
        customers = spark.read.parquet(str(raw / "customer.parquet")).where(wanted["customer"])
        orders = orders.join(customers, orders.o_custkey == customers.c_custkey, "left_semi")
    return orders


def matching_groups(table: Table, query: str, keys: pa.Array) -> frozenset[str]:
    """The groups with a row that the query joins."""
    literal = next(
        LITERAL.write(scan.filter, QUALIFICATION[query])
        for scan in SCANS
        if scan.query == query and scan.table == "lineitem"
    )
    mask = pc.and_(matching(literal, table.rows), pc.is_in(table.rows["l_orderkey"], value_set=keys))
    return frozenset(pc.unique(table.rows[GROUP].filter(mask)).to_pylist())


def measured(spark: SparkSession, folder: Path, table: Table, index: Path | None) -> tuple[list[str], int]:
    """A line for each query, and the number of slices with a match that were skipped."""
    lines, lost = [], 0
    options = None if index is None else {"sargo.index.paths": str(index)}
    for query in QUERIES:
        orders = orders_of(spark, folder / "raw", query).select("o_orderkey").cache()
        keys = orders.toArrow()["o_orderkey"].combine_chunks()
        condition = conditions(query)["lineitem"]
        opened = open_table(table.home / table.layout.name, options)
        begun = time.monotonic()
        plan = prune_by_join(spark, opened, "l_orderkey", orders, key="o_orderkey", condition=condition)
        seconds = time.monotonic() - begun
        kept = {file_slice.file_id for file_slice in plan.kept}
        ideal = matching_groups(table, query, keys)
        lost += len(ideal - kept)
        lines.append(
            f"{table.layout.name:14}{'statistics' if index is None else 'own index':12}{query:5}{len(keys):>9,}"
            f"{len(table.groups):>8}{len(ideal):>10}{len(kept):>6}{seconds:>9.1f}"
        )
        print(lines[-1], flush=True)
    return lines, lost


def main(folder: Path, save: Path | None) -> int:
    os.environ |= {"SARGO_CACHE": "off", "PYSPARK_PYTHON": sys.executable}
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    lines = ["table         by          query     keys  slices  matching  kept  seconds"]
    lost = 0
    for name in ("lineitem", "lineitem_mor"):
        table = tables("tpch", folder / "tables")[name]
        index = folder / f"{name}.index"
        if not index.exists():
            command = [str(Path(sys.executable).with_name("sargo")), "index", "create", str(table.home / name)]
            using = ["--on", "l_orderkey", "--using", "secondary_index", "--path", str(index)]
            subprocess.run([*command, *using], check=True, stdout=subprocess.DEVNULL)
        for chosen in (None, index):
            rows, wrong = measured(spark, folder, table, chosen)
            lines += rows
            lost += wrong
    spark.stop()
    lines.append(f"{lost} slices with a match are skipped.")
    if save is not None:
        save.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(lost > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.tpch.joins")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--save", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    sys.exit(main(options.folder.resolve(), options.save))
