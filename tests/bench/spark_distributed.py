"""Pruning on executors beside pruning here: the same filters over a table of 2,000,000 file slices."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from handler.planning.prune import prune
from handler.spark.distributed.distributed import SLICES_PER_FILE, DistributedTable
from handler.spark.distributed.executors import on_executors
from handler.spark.distributed.shared_folder import SharedFolder
from index_store.opened_table import OpenTable
from tests.handler.spark.synthetic_tables import SyntheticPlace, make_table

FILTERS = ("amount > 142000000 AND name LIKE '09%'", "fee = 1234567.89 OR ts < TIMESTAMP'1970-01-01 00:00:01'")
#: How often executors are asked once the statistics are written.
LATER = 7


def run(slices: int = 2_000_000) -> Iterator[tuple[str, str, str]]:
    """Seconds of both, each after the column was asked for before."""
    if shutil.which("java") is None:
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = Path(tempfile.mkdtemp())
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("sargo-bench")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    try:
        place = SyntheticPlace(
            str(make_table(folder / "table")),
            None,
            (),
            (),
            SharedFolder(str(folder / "shared")),
            SLICES_PER_FILE,
            slices,
        )
        here, there = OpenTable(place.open()), DistributedTable(partial(on_executors, spark), place)
        listing = _timed(there.at)[0]
        runs = -(-slices // SLICES_PER_FILE)
        yield f"write {slices:,} slices in {runs} runs, on local[2], once", f"{listing:.1f} s", ""
        for text in FILTERS:
            for _ in range(2):  # the second time a column is asked for, its index is built
                prune(here, text, time_zone="UTC")
            first, _ = _timed(partial(prune, there, text, time_zone="UTC"))
            local, ours = _timed(partial(prune, here, text, time_zone="UTC"))
            later = sorted((_timed(partial(prune, there, text, time_zone="UTC")) for _ in range(LATER)), key=_seconds)
            distributed, theirs = later[LATER // 2]
            if not np.array_equal(ours.outcomes, theirs.outcomes):
                raise AssertionError(f"{text}: the outcomes differ")
            yield f"{text}: first time, with its statistics written", f"{first:.1f} s", ""
            yield (
                f"{text}: {len(ours.kept_rows):,} kept, the median of {LATER} later times",
                f"{distributed:.2f} s (worst {later[-1][0]:.2f} s)",
                f"{distributed / local:.0f} x one machine ({1000 * local:.0f} ms)",
            )
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _seconds(timed: tuple[float, Any]) -> float:
    return timed[0]


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
