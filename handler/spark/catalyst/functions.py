"""Catalyst's expression classes that need more than a name.

The names of functions stand in ``evaluator.language.function_names``. A class that stands in neither table is not
understood, whatever it computes: user functions and subqueries among them.
"""

from __future__ import annotations

__all__ = ["MOMENTS", "OF_DAYS", "TRANSPARENT"]

#: Functions, by SQL name, that take the day of a timestamp; Spark casts it for them.
OF_DAYS = frozenset(
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

#: Classes that give their only child's value: names, hints to the optimiser, and ``try_`` forms, whose errors are NULL.
TRANSPARENT = frozenset(["Alias", "KnownNotNull", "KnownNullable", "TryEval"])

#: Classes whose value is that of the moment or of chance: a plan may outlive it.
MOMENTS = frozenset(
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
