"""The eight tables of TPC-H with all their columns, as COPY_ON_WRITE and as MERGE_ON_READ, written by real Hudi.

    python -m tests.tpch.whole_tables RAW OUT [cow] [mor]     with the Python that has Spark 3.5

RAW has the generator's Parquet files. ``OUT/cow/<table>`` and ``OUT/mor/<table>`` are the tables, in the order and in
as many files as ``layouts`` says. Of the MERGE_ON_READ tables those of ``UPDATES`` have log files beside some base
files. The metadata table has ``column_stats`` of all columns, as Hudi writes them by default.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from pathlib import Path

from tests.tables.releases import RELEASES, session
from tests.tpc.layout import Layout, by_name
from tests.tpc.write import write
from tests.tpch.layouts import LAYOUTS

__all__ = ["KINDS", "TABLES"]

#: Table -> which rows are updated, and their new values.
UPDATES = {
    "lineitem": LAYOUTS["lineitem_mor"].update,
    "orders": LAYOUTS["orders_mor"].update,
    "customer": (
        "c_custkey % 50 = 1 and c_mktsegment = 'BUILDING'",
        {"c_acctbal": "cast(c_acctbal + 10 as decimal(15, 2))"},
    ),
    "partsupp": (
        "ps_partkey % 50 = 1 and ps_partkey < 40000",
        {"ps_supplycost": "cast(ps_supplycost + 1 as decimal(15, 2))"},
    ),
}
_PARTSUPP = Layout(
    name="partsupp", table="partsupp", keys="ps_partkey,ps_suppkey", columns="*", order="ps_partkey", files=(40, 10)
)
_COW = (
    *(
        dataclasses.replace(LAYOUTS[name], columns="*")
        for name in ("lineitem", "orders", "customer", "part", "supplier", "nation", "region")
    ),
    _PARTSUPP,
)
#: Kind -> layout by table.
TABLES = {
    "cow": by_name(*_COW),
    "mor": by_name(*(dataclasses.replace(one, merge_on_read=True, update=UPDATES.get(one.name)) for one in _COW)),
}
KINDS = tuple(TABLES)


def main(raw: Path, out: Path, kinds: tuple[str, ...]) -> None:
    release = RELEASES["1.2.0"]
    release.fetch()
    spark = session(release, out)
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    for kind in kinds or KINDS:
        for layout in TABLES[kind].values():
            begun = time.monotonic()
            path = out / kind / layout.name
            shutil.rmtree(path, ignore_errors=True)
            write(spark, layout, raw, path, small=False)
            print(f"{kind}/{layout.name}: written in {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), tuple(sys.argv[3:]))
