"""A query planner's case: one library call on a small table whose statistics are loaded. 20 slices, 5 conditions."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from handler import open_table, prune
from handler.sql.parsing import parse
from tests.index_store.synthetic import write_table

SLICES, CALLS, GOAL_SECONDS = 20, 500, 0.00015
CONDITION = (
    "ts > TIMESTAMP'2020-01-01 00:00:00' AND name LIKE 'b%' AND amount < 50.5 AND fee IN (1.5, 3.25) "
    "AND amount IS NOT NULL"
)


def run() -> list[tuple[str, str, str]]:
    """Median microseconds of one ``prune`` call and its ``kept``; the ratio is to the goal of 150."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "table"
        write_table(root, SLICES)
        table = open_table(root)
        expression = parse(CONDITION, "spark")
        plan = prune(table, expression, "spark", time_zone="UTC", strict=True)
        assert len(plan.slices) == SLICES
        assert len(plan.leaves) == 5
        seconds = []
        for _ in range(CALLS):
            start = time.perf_counter()
            kept = prune(table, expression, "spark", time_zone="UTC").kept
            seconds.append(time.perf_counter() - start)
        assert kept == plan.kept
    median = statistics.median(seconds)
    return [
        (
            f"prune and kept, {SLICES} slices, 5 conditions",
            f"{median * 1e6:,.0f} µs",
            f"{median / GOAL_SECONDS:.2f} x 150 µs",
        )
    ]
