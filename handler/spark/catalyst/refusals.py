"""What Spark's refusal of a condition means: text that is none, a mistake of the caller, or a doubt about the table.

    Spark's error class                                  raised here
    ==================================================   ========================================================
    PARSE_...                                            ConditionSyntaxError: it cannot be parsed
    DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN                 NoConditionError: a value, such as ``i + 1``
    INVALID_WHERE_CONDITION, a window in WHERE           NoConditionError: it is known of many rows together
    UNSUPPORTED_GENERATOR                                NoConditionError: it makes rows
    INVALID_USAGE_OF_STAR_OR_REGEX, grouping             NoConditionError
    UNBOUND_SQL_PARAMETER                                NoConditionError: it holds a parameter without a value
    MISSING_ATTRIBUTES                                   NoConditionError: a column of another DataFrame
    any other, such as a column that is not there        ConditionError

The first two have no meaning on any table, so they are always raised. The table may have the column of a ConditionError
tomorrow: where nothing has to be strict, it skips nothing.
"""

from __future__ import annotations

import re

from pyspark.errors import ParseException, PySparkException

from evaluator.language.errors import SargoError
from handler.sql.parsing import excerpt

__all__ = ["ConditionError", "ConditionSyntaxError", "NoConditionError", "one_line", "refusal"]

_STATEMENT = re.compile(
    r"\s*(select|with|from|where|having|explain|insert|update|delete|merge|create|drop|alter|show|describe|values|table)"
    r"\b(?!\s*[=<>!.])",
    re.IGNORECASE,
)
_MANY_ROWS = "holds an aggregate or window function, which is known of many rows together: prune by a column"
_MAKES_ROWS = "holds a function that makes rows, such as explode: compare with array_contains or exists"
#: The beginning of an error class -> what is wrong with the condition.
_NO_CONDITION = {
    "INVALID_WHERE_CONDITION": _MANY_ROWS,
    "UNSUPPORTED_GROUPING_EXPRESSION": _MANY_ROWS,
    "UNSUPPORTED_GENERATOR": _MAKES_ROWS,
    "INVALID_USAGE_OF_STAR_OR_REGEX": "names no single column: * is known only in a list of columns",
    "UNBOUND_SQL_PARAMETER": "holds a parameter without a value: put the value into the text",
}


class ConditionError(SargoError):
    """Spark refuses a condition. ``condition`` is its text, ``why`` Spark's message."""

    def __init__(self, condition: str, why: str) -> None:
        super().__init__(f"Spark cannot resolve the condition {excerpt(condition)}: {why}")
        self.condition = condition
        self.why = why


class ConditionSyntaxError(ConditionError):
    """Spark cannot parse the text of a condition."""


class NoConditionError(ConditionError):
    """What is given can be no condition on the rows of a table: a value, an aggregate, another DataFrame's column."""


def refusal(condition: str, error: PySparkException) -> ConditionError:
    """The error to raise for a condition, by its text, that Spark refused."""
    message = one_line(str(error))
    if isinstance(error, ParseException):
        return ConditionSyntaxError(condition, _hint(condition) + message)
    wrong = _why_no_condition(error)
    return NoConditionError(condition, f"it {wrong}") if wrong else ConditionError(condition, message)


def one_line(message: str) -> str:
    """Spark's message without the query plan that follows it, in one line."""
    return " ".join(message.partition(";\n")[0].split())


def _hint(condition: str) -> str:
    if not condition.strip():
        return "it is empty, and to read all files one gives 'TRUE'. "
    if _STATEMENT.match(condition):
        return "give the condition alone, which is what follows WHERE in a statement. "
    return ""


def _why_no_condition(error: PySparkException) -> str:
    error_class, parameters = _class_of(error), error.getMessageParameters() or {}
    if error_class == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN":
        kind = str(parameters.get("type", "another type")).strip('"')
        return f"is of type {kind}, and a condition is true or false, as a comparison is"
    if error_class.startswith("MISSING_ATTRIBUTES"):
        names = str(parameters.get("missingAttributes", "")).replace('"', "")
        return (
            f"names column {names} of another DataFrame: give text, or a Column that is of none, such as "
            f"F.col('{names.split(',')[0]}')"
        )
    if "window functions inside WHERE" in str(error):  # a class without a name
        return _MANY_ROWS
    return next((why for start, why in _NO_CONDITION.items() if error_class.startswith(start)), "")


def _class_of(error: PySparkException) -> str:
    """The name of the error's class, which Spark 4 calls a condition."""
    named = getattr(error, "getCondition", None) or error.getErrorClass
    return str(named() or "")
