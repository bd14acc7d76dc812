"""A query planner's case: one library call on a small table whose statistics are loaded. 20 slices, 5 conditions."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from handler import open_table, prune
from handler.demo import unpack_table
from handler.sql import parse

CALLS = 500
CONDITION = "i > 100 AND s LIKE 'b%' AND dt < DATE'2021-06-01' AND dec IN (1.11, 30.51) AND l <= 900000000000"


def run() -> list[tuple[str, str, str]]:
    """Microseconds of one ``prune`` call; the ratio says how many would fit into the target of 1 ms."""
    with tempfile.TemporaryDirectory() as folder:
        table = open_table(unpack_table(Path(folder)))
        expression = parse(CONDITION, "spark")
        plan = prune(table, expression, "spark", time_zone="UTC")
        seconds = []
        for _ in range(CALLS):
            start = time.perf_counter()
            kept = prune(table, expression, "spark", time_zone="UTC").kept
            seconds.append(time.perf_counter() - start)
        assert kept == plan.kept
    median = statistics.median(seconds) * 1e6
    name = f"prune + kept, {len(plan.slices)} slices, 5 conditions"
    return [(name, f"{median:,.0f} µs", f"{1000 / median:.1f} in 1 ms")]
