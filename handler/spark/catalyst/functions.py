"""Catalyst's expression classes that need more than a name.

``evaluator.language.function_names`` has the names of functions. A class that is in neither table is not understood:
user functions and subqueries, for example.
"""

from __future__ import annotations

__all__ = ["DAY_FUNCTIONS", "RUN_TIME_CLASSES", "TRANSPARENT"]

#: Functions, by SQL name, of a day. Spark casts a timestamp to its day for them.
DAY_FUNCTIONS = frozenset(
    [
        "year",
        "quarter",
        "month",
        "day",
        "dayofyear",
        "date_add",
        "date_sub",
        "datediff",
        "add_months",
        "last_day",
        "trunc",
    ]
)

#: Classes that have their only child's value: names, hints to the optimiser, and ``try_`` forms (an error is NULL).
TRANSPARENT = frozenset(["Alias", "KnownNotNull", "KnownNullable", "TryEval"])

#: Classes whose value depends on the time, the session or chance. A plan may be used after that value has changed.
RUN_TIME_CLASSES = frozenset(
    [
        "CurrentDate",
        "CurrentTimestamp",
        "Now",
        "LocalTimestamp",
        "CurrentTime",
        "CurrentTimeZone",
        "CurrentUser",
        "SessionUser",
        "CurrentDatabase",
        "CurrentCatalog",
        "Rand",
        "Randn",
        "Uuid",
        "MonotonicallyIncreasingID",
        "SparkPartitionID",
        "CurrentBatchTimestamp",
    ]
)
