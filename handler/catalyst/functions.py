"""Catalyst's expression classes that need more than a name.

``evaluator.language.function_names`` has the names of functions. A class that is in neither table is not understood:
user functions and subqueries, for example.
"""

from __future__ import annotations

__all__ = ["DAY_FUNCTIONS", "IN_WORDS", "RUN_TIME_CLASSES", "TRANSPARENT"]

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

#: What reasons say of classes that are no function in SQL.
IN_WORDS = {
    "GetArrayItem": "an element of an array",
    "ElementAt": "an element of an array or a map",
    "GetMapValue": "an element of a map",
    "GetArrayStructFields": "a field of an array of structs",
    "SubtractDates": "the difference of two dates",
    "SubtractTimestamps": "the difference of two timestamps",
    "Collate": "a collation",
    "CalendarInterval": "an interval",
    **dict.fromkeys(
        ("MultiplyYMInterval", "MultiplyDTInterval", "DivideYMInterval"), "an interval of a computed length"
    ),
    **dict.fromkeys(("DivideDTInterval", "ExtractANSIIntervalDays"), "an interval of a computed length"),
    **dict.fromkeys(("DateAddInterval", "TimestampAdd", "TimestampDiff"), "a date function with a unit"),
    **dict.fromkeys(("BitwiseNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor"), "an operator on bits"),
}
