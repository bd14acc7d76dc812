"""The joins of TPC-H through Spark with the extension: files that are read with dynamic pruning and without, and rows.

    python -m tests.tpch.dynamic_pruning JAR FOLDER [--rounds N] [--save FILE]      with the Python of `.venv/spark35`

FOLDER has tables as ``python -m tests.tpch --folder`` keeps them below ``tables``. Beside each of them an own secondary
index of its order key is looked for (``sargo index create TABLE --on l_orderkey --using secondary_index``); without it
there are the column statistics of Hudi's metadata table alone.

The queries are those of the specification over the columns that the tables have: Q5 and Q10 without nations, Q21
without suppliers. For each of them, in turns: without dynamic pruning, and with it. ``ideal`` is the number of files
with a row that the query joins. Seconds are of the whole query, the best of the rounds. The exit code is 1 when rows
differ.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.bench.sidecar import serving
from tests.handler.spark.extension.dynamic_runs import hudi_session, scans
from tests.tpc.spellings import SPECIFICATION
from tests.tpch.parameters import QUALIFICATION
from tests.tpch.scans import SCANS

#: Query -> what it selects, and the tables that it joins; {table} stands for its condition on that table.
JOINS = {
    "Q3": (
        "select l_orderkey, sum(l_quantity * (1 - l_discount)) revenue, o_orderdate {from_} "
        "group by l_orderkey, o_orderdate order by revenue desc, o_orderdate, l_orderkey limit 10",
        "from customer join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey",
        "{customer} and {orders} and {lineitem}",
    ),
    "Q4": (
        "select o_orderpriority, count(*) {from_} group by o_orderpriority",
        "from orders left semi join (select * from lineitem where {lineitem}) l on l_orderkey = o_orderkey",
        "{orders}",
    ),
    "Q5": (
        "select o_orderstatus, sum(l_quantity * (1 - l_discount)) {from_} group by o_orderstatus",
        "from orders join lineitem on l_orderkey = o_orderkey",
        "{orders}",
    ),
    "Q10": (
        "select c_custkey, sum(l_quantity * (1 - l_discount)) revenue, c_acctbal {from_} "
        "group by c_custkey, c_acctbal order by revenue desc, c_custkey limit 20",
        "from customer join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey",
        "{orders} and {lineitem}",
    ),
    "Q12": (
        "select l_shipmode, count(o_orderpriority) {from_} group by l_shipmode",
        "from orders join lineitem on o_orderkey = l_orderkey",
        "{lineitem}",
    ),
    "Q21": (
        "select count(*) {from_}",
        "from orders join lineitem on o_orderkey = l_orderkey",
        "{orders} and {lineitem}",
    ),
}
WAYS = {"without": {"spark.sargo.dynamic": "false"}, "with": {"spark.sargo.dynamic": "subquery"}}


def query(name: str) -> str:
    return _written(name, JOINS[name][0])


def _written(name: str, select: str) -> str:
    wanted = {s.table: f"({SPECIFICATION.write(s.filter, QUALIFICATION[name])})" for s in SCANS if s.query == name}
    _, tables, where = JOINS[name]
    return select.format(from_=f"{tables.format(**wanted)} where {where.format(**wanted)}")


def ideal(spark: SparkSession, name: str, table: str) -> int:
    """How many files of a table have a row of the join."""
    key = {"lineitem": "l_orderkey", "orders": "o_orderkey"}[table]
    joined = spark.sql(_written(name, f"select distinct {key} k {{from_}}".replace("l_orderkey", "o_orderkey")))
    joined.createOrReplaceTempView("joined")
    wanted = [SPECIFICATION.write(s.filter, QUALIFICATION[name]) for s in SCANS if (s.query, s.table) == (name, table)]
    where = " and ".join(["true", *wanted])
    files = spark.sql(f"select count(distinct _hoodie_file_name) from {table} join joined on {key} = k where {where}")
    return int(files.collect()[0][0])


def read(frame: Any) -> dict[str, int]:
    """Table -> how many files its scans read."""
    found: dict[str, int] = {}
    for scan in scans(frame._jdf.queryExecution().executedPlan()):
        columns = scan.output().mkString(",")
        table = next((t for t in ("lineitem", "orders", "customer") if f"{t[0]}_" in columns), "none")
        found[table] = found.get(table, 0) + scan.metrics().apply("numFiles").value()
    return found


def measured(spark: SparkSession, name: str, rounds: int) -> Iterator[tuple[str, bool]]:
    """Lines, and whether rows are equal."""
    best = dict.fromkeys(WAYS, float("inf"))
    rows: dict[str, list[str]] = {}
    files: dict[str, dict[str, int]] = {}
    for _ in range(rounds):
        for way, settings in WAYS.items():
            for key, value in settings.items():
                spark.conf.set(key, value)
            begun = time.monotonic()
            frame = spark.sql(query(name))
            rows[way] = sorted(map(repr, frame.collect()))
            best[way] = min(best[way], time.monotonic() - begun)
            files[way] = read(frame)
    spark.conf.set("spark.sargo.dynamic", "false")
    for table in ("lineitem", "orders"):
        before, after = (files[way].get(table, 0) for way in WAYS)
        line = f"{name:5}{table:10}{before:>8}{after:>7}{ideal(spark, name, table):>7}"
        line += f"{best['without']:>10.1f}{best['with']:>7.1f}{best['with'] / best['without']:>7.2f}"
        yield line, rows["with"] == rows["without"]


def main(given: argparse.Namespace) -> int:
    os.environ["SARGO_CACHE"] = "off"
    tables = given.folder / "tables"
    lines, wrong = ["     table      without   with  ideal  s without   with  ratio"], 0
    print(lines[0], flush=True)
    with contextlib.ExitStack() as stack:
        port, _ = stack.enter_context(serving(str(tables)))
        spark = hudi_session(given.jar, given.folder)
        spark.conf.unset("spark.sargo.dynamic.subquery.min.bytes")
        spark.conf.set("spark.sargo.sidecar.address", f"127.0.0.1:{port}")
        spark.conf.set("spark.sargo.sidecar.timeout.ms", "20000")
        for table in ("lineitem", "orders", "customer"):
            spark.read.format("hudi").load(str(tables / table)).createOrReplaceTempView(table)
        for name in given.queries.split(","):
            for line, is_equal in measured(spark, name, given.rounds):
                lines.append(line + ("" if is_equal else "  OTHER ROWS"))
                wrong += not is_equal
                print(lines[-1], flush=True)
        spark.stop()
    if given.save is not None:
        given.save.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(wrong > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.tpch.dynamic_pruning")
    parser.add_argument("jar")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--queries", default=",".join(JOINS))
    parser.add_argument("--save", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    options.folder = options.folder.resolve()
    sys.exit(main(options))
