"""What a schema's NOT NULL says of every slice, as one more provider.

    column_stats       id in [30, 79], its NULL count is not known    id >= 30   {true, null}
    schema             id is NOT NULL                                 id >= 30   {true, false}
    both                                                              id >= 30   {true}

A slice whose statistics count NULLs all the same is left as they have it: there the schema is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics

__all__ = ["SCHEMA", "not_null_columns"]

#: The name of the provider.
SCHEMA = "schema"


def not_null_columns(
    bound: BoundExpression, n: int, providers: Sequence[StatisticsProvider]
) -> Sequence[StatisticsProvider]:
    """The provider of what the schema says of the filter's columns in n slices; none where all are nullable."""
    statistics = {}
    for column in bound.columns:
        if not column.nullable:
            null_count = np.zeros(n, np.int64)
            for provider in providers:
                counted = provider.statistics.get(column.name)
                if counted is not None:
                    null_count[counted.null_count > 0] = UNKNOWN_COUNT
            statistics[column.name] = replace(ColumnStatistics.unknown(column.type, n), null_count=null_count)
    return [StatisticsProvider(SCHEMA, statistics)] if statistics else []
