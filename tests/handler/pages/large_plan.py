"""A plan of a large table, made of statistics alone: partitions of as many files each, a column that climbs in each."""

from __future__ import annotations

import numpy as np

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, STRING
from evaluator.statistics.columns import from_values
from handler.planning.explanation import Explanation
from handler.planning.plan import Plan
from handler.sql.parsing import parse
from index_store import FileSlice, FileSlices

SCHEMA = Schema([Field("ts", BIGINT), Field("fare", DOUBLE), Field("city", STRING)])


def large_plan(partitions: int, files: int, where: str) -> Plan:
    """``ts`` is clustered, ``fare`` is spread over every file, ``city`` is known of every second file."""
    n = partitions * files
    rng = np.random.default_rng(7)
    ts = np.arange(n) * 1000
    fare = rng.uniform(0, 60, n)
    known = {
        "ts": from_values(BIGINT, ts.tolist(), (ts + 1500).tolist(), [0] * n, [100] * n),
        "fare": from_values(DOUBLE, fare.tolist(), (fare + 40).tolist(), [0] * n, [100] * n),
    }
    cities = [None if i % 2 else f"city{i % 700:03d}" for i in range(n)]
    own = {"city": from_values(STRING, cities, cities, [0] * n, [100] * n)}
    providers = [StatisticsProvider("column_stats", known), StatisticsProvider("own_index cities", own)]
    expression = parse(where, "spark")
    bound = bind(expression, SCHEMA, Semantics.named("spark", "UTC"))
    evaluation = evaluate(bound, n, providers)
    items = tuple(
        FileSlice(
            f"day={p:05d}",
            name := f"{p:08x}-{f:04x}-4000-8000-{p * files + f:012x}-0",
            f"day={p:05d}/{name}_0-1-0_20260101000000000.parquet",
        )
        for p in range(partitions)
        for f in range(files)
    )
    return Plan(
        table="s3://lake/trips",
        instant="20260101000000000",
        expression=expression,
        engine="spark",
        time_zone="UTC",
        slices=FileSlices("20260101000000000", "metadata table", items),
        kept_rows=evaluation.kept_rows,
        reasons=(),
        seconds={"open": 0.1, "statistics": 0.4, "evaluate": 0.01},
        explanation=Explanation(evaluation, providers, n, SCHEMA),
        schema=SCHEMA,
    )
