"""Pruning on executors beside pruning here: the same filters over a table of many file slices.

    python -m tests.bench.spark_distributed [slices]
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from handler.planner import prune
from handler.spark.distributed import SLICES_PER_FILE, DistributedTable
from handler.spark.executors import on_executors
from handler.spark.shared_folder import SharedFolder
from handler.tables import OpenTable
from tests.spark.synthetic_tables import SyntheticPlace, make_table

FILTERS = ("amount > 142000000 AND name LIKE '09%'", "fee = 1234567.89 OR ts < TIMESTAMP'1970-01-01 00:00:01'")


def main(slices: int) -> None:
    """Print seconds of both, and what differs, which is nothing."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = Path(tempfile.mkdtemp())
    spark = (SparkSession.builder.master("local[2]").appName("sargo-bench").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "1g").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    try:
        place = SyntheticPlace(str(make_table(folder / "table")), None, (), (), SharedFolder(str(folder / "shared")),
                               SLICES_PER_FILE, slices)
        here, there = OpenTable(place.open()), DistributedTable(partial(on_executors, spark), place)
        listing = _timed(there.at)[0]
        print(f"{slices:,} slices in {-(-slices // SLICES_PER_FILE)} runs on local[2]; written in {listing:.1f} s")
        for text in FILTERS:
            for _ in range(2):      # the second time a column is asked for, its index is built
                prune(here, text, time_zone="UTC")
            first, _ = _timed(partial(prune, there, text, time_zone="UTC"))
            local, ours = _timed(partial(prune, here, text, time_zone="UTC"))
            distributed, theirs = _timed(partial(prune, there, text, time_zone="UTC"))
            same = np.array_equal(ours.outcomes, theirs.outcomes)
            print(f"{text}\n    kept {len(ours.kept_rows):,}; one machine {local:.3f} s, distributed "
                  f"{distributed:.2f} s (first time, with the statistics written, {first:.1f} s); "
                  f"{'the same outcomes' if same else 'DIFFERENT OUTCOMES'}")
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
