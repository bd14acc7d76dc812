"""A column of a filter as a bound operand: by its name, and by the type that the filter declares for it (C11)."""

from __future__ import annotations

from evaluator.binding.declared_types import Seen, seen
from evaluator.binding.operands import BoundColumn, BoundOperand, BoundReading
from evaluator.language import expression as ex
from evaluator.language.column_resolution import resolve_column
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind

__all__ = ["column_operand"]


def column_operand(column: ex.Column, schema: Schema, semantics: Semantics) -> BoundOperand:
    """The column as the filter sees it. Raises UnsupportedError where its declared type may change values (C11)."""
    field = resolve_column(column.name, schema, case_sensitive=semantics.case_sensitive)
    declared, stored = column.type, field.type
    if declared is not None and len(column.path) > 1 and not field.name.endswith("." + ".".join(column.path[1:])):
        raise UnsupportedError(f"column {column.name} is {field.name} in the table: it may be read as NULL")
    if declared and "." in field.name and semantics.fields_may_shift and any(f.type.kind.is_timestamp for f in schema):
        raise UnsupportedError(f"column {column.name} may be read as another field, as the table has timestamps")
    match seen(declared, stored, field.unit):
        case Seen.VALUE:
            return BoundColumn(field, declared if declared and declared.kind is Kind.CHAR else stored)
        case Seen.PREFIX | Seen.NUMBER if declared is not None:
            return BoundReading("read", (BoundColumn(field, stored),), declared, semantics)
        case Seen.MOMENT:
            return BoundReading("read", (BoundColumn(field, stored),), stored, semantics)
        case _:
            raise UnsupportedError(f"column {column.name} is {stored} in the table but {declared} in the filter")
