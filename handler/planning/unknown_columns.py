"""The columns of a filter that the table does not have. With ``strict`` they are an error, else reasons of the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluator.language.column_resolution import resolve_column, with_near_names
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.expression import Column, HudiExpression, walk_distinct
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics

__all__ = ["unknown_columns"]

#: For so many unknown columns similar names are looked for.
_MAX_NEAR = 5


def unknown_columns(
    expression: HudiExpression, named: Iterable[str], schema: Schema, semantics: Semantics
) -> Iterator[UnknownColumnError]:
    """An error for each unknown column of the expression, and of those that its text names."""
    found = 0
    for name in dict.fromkeys((*_columns(expression), *named)):
        try:
            resolve_column(name, schema, case_sensitive=semantics.case_sensitive)
        except UnknownColumnError as error:
            found += 1
            yield with_near_names(error, schema) if found <= _MAX_NEAR else error
        except UnsupportedError:
            pass  # a part of an array or a map


def _columns(expression: HudiExpression) -> Iterator[str]:
    """The columns in order of appearance. An operand that stands in several places is looked at once."""
    return (node.name for node in walk_distinct(expression) if isinstance(node, Column))
