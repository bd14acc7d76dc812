"""What a filter would skip if errors of rows were hidden: ``CAST(s AS DATE) >= DATE '2026-05-01'`` in ANSI mode.

A text that is no date is an error there, and most ranges of texts may hold one, so nothing is decided. Engine
``spark-try`` counts such a text as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evaluator.binding.bind import bind
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate_slice, interval_at
from evaluator.language.expression import HudiExpression
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics

__all__ = ["intervals_in", "remedy_of_errors"]

_REMEDY = (
    "engine spark-legacy if the query runs without ANSI mode; with it spark-try (spark.sargo.hide.errors=true), "
    "if errors of rows may go unseen"
)


def intervals_in(row: int, columns: Iterable[str], sources: Sequence[StatisticsProvider]) -> dict[str, Interval]:
    """What is known of some columns in one slice, by the first source that has statistics of them; none of others."""
    return {
        name: interval_at(source.statistics[name], row)
        for name in columns
        for source in reversed(sources)
        if name in source.statistics
    }


def remedy_of_errors(
    condition: HudiExpression,
    sought: TruthValue,
    schema: Schema,
    semantics: Semantics,
    sources: Sequence[StatisticsProvider],
    rows: Iterable[int],
) -> str:
    """The engines to take, where they decide an open condition in one of these slices; else ""."""
    if semantics.unreadable_rows_are_null or not semantics.functions_of_spark:
        return ""
    hidden = bind(condition, schema, replace(semantics, lists_read_texts=True, unreadable_rows_are_null=True))
    unknown = {field.name: UNKNOWN for field in hidden.columns}
    outcomes = (evaluate_slice(hidden, unknown | intervals_in(row, unknown, sources)) for row in rows)
    return _REMEDY if any(not outcome & sought.bit for outcome in outcomes) else ""
