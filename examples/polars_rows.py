"""Reads the rows of a Hudi table that satisfy a condition into Polars, and prints a summary.

pip install 'sargo[polars]'
python polars_rows.py /data/trips "fare > 50 AND city = 'sf'"
"""

from __future__ import annotations

import sys

import polars as pl

import sargo


def main(path: str, where: str) -> None:
    """Print the plan and the number of rows for each partition."""
    plan = sargo.prune(path, where, engine="spark")
    print(plan)
    for reason in plan.reasons:
        print("not used:", reason.text)
    rows = plan.scan_polars()  # lazy: only the columns of the query are read
    print(rows.group_by("_hoodie_partition_path").agg(pl.len().alias("rows")).sort("_hoodie_partition_path").collect())


if __name__ == "__main__":
    main(*sys.argv[1:])
