"""The types of functions: of their results, and those to which engines cast an argument before they call one.

    lower(s)                          string
    i + 1, stated as bigint           bigint: the filter may state a wider type
    from_unixtime(ms / 1000)          from_unixtime(CAST(ms / 1000 AS bigint))
    year(s), hour(s)                  year(CAST(s AS date)), hour(CAST(s AS timestamp))
    concat(y, '-', m)                 concat(CAST(y AS string), '-', CAST(m AS string))
    timestampdiff(HOUR, '...', t)     timestampdiff(HOUR, CAST('...' AS timestamp), t)

Source: Spark ``ImplicitTypeCasts``.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.binding.operands import BoundConstant, BoundFunction, BoundOperand
from evaluator.functions import FUNCTIONS
from evaluator.functions.argument_counts import check_count
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type

__all__ = ["agreed", "as_text", "implied_cast", "result_of", "wrong_arguments"]


_OF_DATES = (
    *("year", "quarter", "month", "day", "dayofyear", "weekofyear", "yearofweek", "dayofweek", "weekday"),
    *("date_add", "date_sub", "add_months", "last_day", "trunc", "to_date", "next_day"),
)
_OF_TEXTS = (
    *("lower", "upper", "initcap", "left", "substring", "trim", "ltrim", "rtrim", "substring_index"),
    *("repeat", "length"),
)
#: Functions of dates and of moments, and the places of these arguments: a text there is read as one.
_READ_AS_DATES = {**dict.fromkeys(_OF_DATES, range(1)), "datediff": range(2)}
_READ_AS_MOMENTS = {
    **dict.fromkeys(("hour", "minute", "second", "date_format", "to_timestamp"), range(1)),
    **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp"), range(1)),
    "date_trunc": range(1, 2),
    "months_between": range(2),
}
#: Functions of texts, and the places where a number, a date or a moment is written as text.
_WRITTEN = {**dict.fromkeys(_OF_TEXTS, range(1)), "concat": range(1 << 8)}


def implied_cast(name: str, place: int, argument: BoundOperand, semantics: Semantics) -> Type | None:
    """The type to which the engine casts an argument; None where it is called with the argument as it is."""
    if not semantics.known_casts:
        return None
    kind = argument.type.kind
    is_text = kind in (Kind.STRING, Kind.VARCHAR)
    match name, place:
        case "add_months", 0 if is_text and not (semantics.functions_of_spark or isinstance(argument, BoundConstant)):
            return TIMESTAMP  # Hive 3 reads a time with it, which may lead to another day
        case _ if is_text and place in _READ_AS_DATES.get(name, ()) and not isinstance(argument, BoundConstant):
            return DATE
        case "to_timestamp" | "from_utc_timestamp" | "to_utc_timestamp", _ if not semantics.functions_of_spark:
            return None
        case _ if is_text and place in _READ_AS_MOMENTS.get(name, ()) and not isinstance(argument, BoundConstant):
            return TIMESTAMP_LTZ if semantics.functions_of_spark else TIMESTAMP
        case _ if place in _WRITTEN.get(name, ()) and _is_written(argument):
            return STRING
        case _ if not semantics.functions_of_spark:
            return None
        case "from_unixtime", 0 if kind.is_fractional or kind is Kind.DECIMAL:
            return BIGINT
        case "timestampdiff", 1 | 2 if isinstance(argument, BoundConstant) and argument.type == STRING:
            return TIMESTAMP_LTZ
        case _:
            return None


def as_text(operand: BoundOperand, semantics: Semantics) -> BoundOperand:
    """An operand where an engine wants a text: of a number, a date or a moment the text that shows it."""
    if not semantics.known_casts or isinstance(operand, BoundConstant) or not _is_written(operand):
        return operand
    return BoundFunction("cast", (operand,), STRING, semantics)


def _is_written(operand: BoundOperand) -> bool:
    kind = operand.type.kind
    return kind.is_integer or kind.is_timestamp or kind is Kind.DATE


def result_of(name: str, types: Sequence[Type]) -> Type:
    """The type of a function's result. Raises UnsupportedError for arguments that are not decided."""
    check_count(name, len(types))
    try:
        return FUNCTIONS[name].result(types)
    except (IndexError, ValueError) as error:
        raise wrong_arguments(name, len(types)) from error


def wrong_arguments(name: str, count: int) -> UnsupportedError:
    """The error for a call with a number of arguments that the function does not take."""
    return UnsupportedError(f"function {name} with {count} arguments is not decided")


def agreed(name: str, result: Type, declared: Type | None) -> Type:
    """The type of a result of which the filter states one, too: an engine that computes in another may overflow.

    Raises UnsupportedError where the results may differ.
    """
    if declared is None or declared == result or result.kind is Kind.VOID:
        return result
    kinds = (declared.kind, result.kind)
    if all(kind.is_integer for kind in kinds) or (
        kinds == (Kind.DECIMAL, Kind.DECIMAL) and declared.scale >= result.scale
    ):
        return declared
    if result.kind is Kind.FLOAT and declared.kind is Kind.DOUBLE:
        return declared  # a float result is widened beyond the difference
    if (
        (kinds[0] is kinds[1] and declared.kind is not Kind.DECIMAL)
        or set(kinds) == {Kind.STRING, Kind.VARCHAR}
        or all(kind.is_timestamp for kind in kinds)
    ):
        return result
    raise UnsupportedError(f"function {name} with a result of type {declared} is not decided")
