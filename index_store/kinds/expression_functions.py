"""The functions of a column whose expression index is used, and the differences between engines.

Hudi's index was computed by the Spark session that wrote a file; a filter is computed by the engine that reads it. A
function is listed only if both yield the same value, or if the difference can be bounded:

    function               column   result   what may differ
    ---------------------  -------  -------  ------------------------------------------------------------------------
    year, month, day       DATE     INT      days before 1582, by calendar: the column's own lower bound must be later
    length                 STRING   INT      nothing: characters in both
    trim, ltrim, rtrim     STRING   STRING   nothing: spaces only in both
    lower                  STRING   STRING   'I', and what is beyond ASCII, by locale and version of Unicode
    upper                  STRING   STRING   'i', and what is beyond ASCII
    identity               STRING   STRING   nothing: the column itself, in bloom filters only

Functions of a timestamp (hour, date_format, from_unixtime) depend on the time zone of the writer's session, which is
not stored. Functions with options would have to agree in each option. Indexes of such expressions are not used.
Source: ``ExpressionIndexSparkFunctions``; the names are those of ``indexFunction`` in ``index.json``.

Facts: docs/facts/hudi-expression-index.md#what-differs-between-the-writer-and-the-reader-of-an-index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluator.language.function_names import spellings
from evaluator.language.records import record
from evaluator.language.types import INT, STRING, Kind, Type

__all__ = ["EXPRESSION_FUNCTIONS", "IDENTITY", "ExpressionFunction", "why_not_used"]


@record
class ExpressionFunction:
    """A function of one column.

    names    what a filter may call it; "" for the column itself
    over     the kind of the column
    result   its type
    letters  "lower" or "upper", where case mappings differ between engines
    """

    names: tuple[str, ...]
    over: Kind
    result: Type
    letters: str = ""


EXPRESSION_FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "year": ExpressionFunction(("year",), Kind.DATE, INT),
    "month": ExpressionFunction(("month",), Kind.DATE, INT),
    "day": ExpressionFunction(spellings("day"), Kind.DATE, INT),
    "length": ExpressionFunction(("length",), Kind.STRING, INT),
    "trim": ExpressionFunction(("trim",), Kind.STRING, STRING),
    "ltrim": ExpressionFunction(("ltrim",), Kind.STRING, STRING),
    "rtrim": ExpressionFunction(("rtrim",), Kind.STRING, STRING),
    "lower": ExpressionFunction(spellings("lower"), Kind.STRING, STRING, "lower"),
    "upper": ExpressionFunction(spellings("upper"), Kind.STRING, STRING, "upper"),
}
IDENTITY = ExpressionFunction(("",), Kind.STRING, STRING)

#: Options that a bloom filter's size depends on, not its values.
_SIZE_OPTIONS = frozenset({"numentries", "fpp", "filtertype", "maxentries"})


def why_not_used(definition: Mapping[str, Any], type_of: Callable[[str], Type | None]) -> str:
    """The reason why an index of this definition in ``index.json`` is not used; "" if it is used.

    It is used when the function's name alone determines the function. ``type_of``: the type of a column, by name.
    """
    kind, function = definition.get("indexType"), definition.get("indexFunction")
    options: Mapping[str, Any] = definition.get("indexOptions") or {}
    columns: Sequence[str] = definition.get("sourceFields") or ()
    if kind not in ("column_stats", "bloom_filters"):
        return f"an expression index of type {kind} is not known"
    known = IDENTITY if kind == "bloom_filters" and function == "identity" else EXPRESSION_FUNCTIONS.get(str(function))
    if known is None:
        return f"{function} may depend on the writer's time zone, or on the engine"
    if options.get("expr", function) != function:
        return f"it calls itself {options['expr']} and {function}"
    more = set(options) - {"expr"} - (_SIZE_OPTIONS if kind == "bloom_filters" else frozenset())
    if more:
        return f"its function has options: {', '.join(sorted(more))}"
    if len(columns) != 1 or "." in columns[0]:
        return "it is not of one column of the table"
    found = type_of(columns[0])
    if found is None or found.kind is not known.over:
        return f"{function} of type {found or 'unknown'} may depend on the writer's time zone, or on the engine"
    return ""
