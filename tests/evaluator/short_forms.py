"""Short spellings for filters and statistics in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import ColumnStatistics, from_values

SPARK = Semantics.named("spark", "UTC")
HIVE = Semantics.named("hive", "UTC")
NULL = ex.Literal(None, Type(Kind.VOID))


def col(name: str, of: Type | None = None) -> ex.Column:
    return ex.Column(tuple(name.split(".")), of)


def lit(value: object, column_type: Type) -> ex.Literal:
    return ex.Literal(value, column_type)


def stats(column_type: Type, lo: Any, hi: Any, nulls: int | None = 0, rows: int | None = 10) -> ColumnStatistics:
    """One slice."""
    return from_values(column_type, [lo], [hi], [nulls], [rows])


def outcome_of(
    expression: ex.HudiExpression,
    statistics: Mapping[str, ColumnStatistics],
    semantics: Semantics = SPARK,
    schema: Schema | None = None,
) -> str:
    """The outcome of one slice as letters: "T", "F", "N" in that order. Scalar and vectorised paths must agree."""
    known = schema or Schema([Field(name, s.type) for name, s in statistics.items()])
    bound = bind(expression, known, semantics)
    [result] = evaluate(bound, 1, [StatisticsProvider("column_stats", statistics)]).outcomes.tolist()
    assert result == evaluate_slice(bound, {name: interval_at(s, 0) for name, s in statistics.items()})
    return letters(result)


def letters(result: int) -> str:
    names = {outcome.TRUE: "T", outcome.FALSE: "F", outcome.NULL: "N"}
    return "".join(name for bit, name in names.items() if result & bit)


def reasons_of(
    expression: ex.HudiExpression, columns: Sequence[tuple[str, Type]], semantics: Semantics = SPARK
) -> list[str]:
    bound = bind(expression, Schema([Field(*c) for c in columns]), semantics)
    return [leaf.reason for leaf in bound.leaves if leaf.reason is not None]
