"""What would help in ANSI mode: the engine that hides errors of rows, where it decides more, and nowhere else."""

from __future__ import annotations

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain.pruning_blockers import pruning_blockers
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT, STRING
from evaluator.statistics.columns import from_values
from handler.sql import Engine, parse

SOURCE = StatisticsProvider(
    "column_stats",
    {
        "ds": from_values(STRING, ["2026-03-01", "2026-05-01"], ["2026-04-30", "2026-06-30"], [0, 0], [9, 9]),
        "i": from_values(INT, [0, 0], [9, 9], [0, 0], [9, 9]),
    },
)


@pytest.mark.parametrize(
    ("engine", "text", "helps"),
    [
        ("spark-ansi", "CAST(ds AS DATE) >= DATE '2026-05-01'", True),
        ("spark", "ds >= DATE '2026-05-01'", True),
        ("spark-ansi", "year(ds) = 2025", True),
        ("spark-ansi", "ds IN (30260501, 5)", True),
        ("spark-ansi", "NOT (CAST(ds AS DATE) < DATE '2026-05-01')", True),
        ("spark-ansi", "CAST(ds AS DATE) >= DATE '2026-03-20'", False),  # both slices may have a row
        ("spark-ansi", "i = 5", False),
        ("spark-ansi", "ds >= '2026-04'", False),
        ("spark-try", "year(ds) = 2026", False),
        ("spark-legacy", "CAST(ds AS DATE) >= DATE '2026-03-20'", False),
        ("hive", "CAST(ds AS DATE) >= DATE '2026-05-01'", False),
    ],
)
def test_the_engine_is_named_where_it_would_skip_more(engine: Engine, text: str, helps: bool) -> None:
    schema = Schema([Field("ds", STRING), Field("i", INT)])
    bound = bind(parse(text, engine), schema, Semantics.named(engine, "UTC"))
    [blocker] = pruning_blockers(evaluate(bound, 2, [SOURCE]), [SOURCE], schema)
    assert ("spark-try" in blocker.remedy) == helps
