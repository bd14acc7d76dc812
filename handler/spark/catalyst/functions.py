"""Catalyst's expression classes that the evaluator knows as SQL functions, by class and by number of arguments.

A class that is not listed is not understood, whatever it computes: functions of the moment (``CurrentDate``,
``Now``, ``Rand``), user functions and subqueries among them.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FUNCTIONS", "MOMENTS", "OF_DAYS", "TRANSPARENT"]

#: class -> the function's SQL name. The arguments are the children, in their order.
FUNCTIONS: Mapping[str, str] = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "Remainder": "%",
    "Pmod": "pmod",
    "IntegralDivide": "div",
    "UnaryMinus": "negative",
    "UnaryPositive": "positive",
    "Abs": "abs",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "BRound": "bround",
    "Exp": "exp",
    "Log": "ln",
    "Log10": "log10",
    "Log2": "log2",
    "Log1p": "log1p",
    "Expm1": "expm1",
    "Sqrt": "sqrt",
    "Signum": "sign",
    "Greatest": "greatest",
    "Least": "least",
    "IsNaN": "isnan",
    "Coalesce": "coalesce",
    "Year": "year",
    "Quarter": "quarter",
    "Month": "month",
    "DayOfMonth": "day",
    "DayOfYear": "dayofyear",
    "Hour": "hour",
    "Minute": "minute",
    "Second": "second",
    "DateAdd": "date_add",
    "DateSub": "date_sub",
    "DateDiff": "datediff",
    "AddMonths": "add_months",
    "LastDay": "last_day",
    "ParseToDate": "to_date",
    "ParseToTimestamp": "to_timestamp",
    "TruncDate": "trunc",
    "TruncTimestamp": "date_trunc",
    "DateFormatClass": "date_format",
    "UnixTimestamp": "unix_timestamp",
    "ToUnixTimestamp": "unix_timestamp",
    "FromUnixTime": "from_unixtime",
    "Lower": "lower",
    "Upper": "upper",
    "Length": "length",
    "StringTrim": "trim",
    "StringTrimLeft": "ltrim",
    "StringTrimRight": "rtrim",
    "Left": "left",
    "Substring": "substring",
    "Concat": "concat",
    "StringRepeat": "repeat",
}

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
