"""A filter as tests of columns that every engine decides alike: TRUE exactly on the rows where the filter is TRUE.

A WHERE clause asks one question of a filter: is it TRUE? NOT is pushed down to the conditions, where it asks whether
they are FALSE, so that no engine has to agree on NULL or NaN below a NOT:

    condition              where it is TRUE               under NOT: where it is FALSE
    ---------------------  -----------------------------  ------------------------------------------
    c < 5                  c < 5                          c >= 5, or c is NaN
    c IN (1, NULL)         c is 1                         never
    c = 5.5 of an int      never                          c is not NULL
    c IS NULL              c is NULL                      c is not NULL
    a AND b                both are                       one of them is FALSE

Constants are converted to the column's type exactly, as engines compare them (contract C7). What cannot be said so
exactly raises ``NotExactError``: columns beside columns, functions of columns, types that engines compare in a way of
their own. ``row_filter`` then asks the row-by-row reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

from evaluator.binding.between import as_one_test
from evaluator.binding.operand_resolution import resolve_operand
from evaluator.binding.operands import BoundConstant
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from handler.engines.exact_constants import NotExactError, Outside, in_column_type

__all__ = [
    "AllOf",
    "Always",
    "AnyOf",
    "Comparison",
    "Members",
    "NotExactError",
    "NullTest",
    "Prefix",
    "Test",
    "as_engine_reads",
    "tests",
]

_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TURNED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "<=>": "<=>"}
#: Lists with more members are tested row by row. Doubles are compared one by one, so that -0.0 is 0.0.
MAX_MEMBERS, MAX_DOUBLES = 1_000_000, 1_000


@frozen
class Always:
    """TRUE on all rows, or on none."""

    value: bool


@frozen
class NullTest:
    """Whether a column is NULL, or is not."""

    column: Field
    is_null: bool


@frozen
class Comparison:
    """A column beside a constant in the form of ``language.types``. NaN equals NaN and is greater than all others."""

    column: Field
    op: str
    value: Any


@frozen
class Members:
    """Whether a column that is not NULL is one of these values, or none of them; no value is NULL or NaN."""

    column: Field
    values: tuple[Any, ...]
    is_in: bool


@frozen
class Prefix:
    """Whether a text column that is not NULL starts with a text, or does not."""

    column: Field
    text: str
    starts: bool


@frozen
class AllOf:
    """All of some tests."""

    tests: tuple[Test, ...]


@frozen
class AnyOf:
    """One of some tests."""

    tests: tuple[Test, ...]


Test: TypeAlias = Always | NullTest | Comparison | Members | Prefix | AllOf | AnyOf


def tests(expression: ex.HudiExpression, schema: Schema, semantics: Semantics) -> Test:
    """The filter as tests. Raises NotExactError, which names the condition that is none."""
    expression = as_engine_reads(expression, schema, semantics)
    made: list[Test] = []
    stack: list[tuple[ex.HudiExpression, bool] | tuple[type[AllOf] | type[AnyOf], int]] = [(expression, True)]
    while stack:
        node, sought = stack.pop()
        match node:
            case ex.Not(child=child):
                stack.append((child, not sought))
            case ex.And(children=children) | ex.Or(children=children):
                joined = AllOf if isinstance(node, ex.And) is bool(sought) else AnyOf
                stack.append((joined, len(children)))
                stack.extend((child, bool(sought)) for child in reversed(children))
            case ex.HudiExpression():
                made.append(_leaf(node, bool(sought), schema, semantics))
            case _:
                count = int(sought)
                parts = tuple(made[len(made) - count :])
                del made[len(made) - count :]
                made.append(_joined(node, parts))
    return made[0]


def as_engine_reads(expression: ex.HudiExpression, schema: Schema, semantics: Semantics) -> ex.HudiExpression:
    """The filter with each BETWEEN as the engine evaluates it: Hive's is one test, and not known for some bounds."""
    if not semantics.between_is_one_test:
        return expression
    return as_one_test(expression, lambda operand: resolve_operand(operand, schema, semantics, _undecided), semantics)


def _undecided(condition: ex.HudiExpression) -> Any:
    raise UnsupportedError(f"{condition} in a constant")


def _joined(kind: type[AllOf] | type[AnyOf], parts: tuple[Test, ...]) -> Test:
    """AND or OR, without tests that are always the same."""
    deciding = Always(kind is AnyOf)
    if deciding in parts:
        return deciding
    rest = tuple(part for part in parts if not isinstance(part, Always))
    return rest[0] if len(rest) == 1 else kind(rest) if rest else Always(kind is AllOf)


def _leaf(node: ex.HudiExpression, sought: bool, schema: Schema, semantics: Semantics) -> Test:
    """Where a condition is TRUE; where it is FALSE, if that is ``sought``."""
    try:
        match node:
            case ex.Constant(value=value):
                return Always(value is sought)
            case ex.IsNull(operand=operand):
                return NullTest(_column(operand, schema, semantics), sought)
            case ex.Compare(op=op, left=left, right=right):
                if not isinstance(left, ex.Column):
                    op, left, right = _TURNED[op], right, left
                return _comparison(_column(left, schema, semantics), op, right, sought, schema, semantics)
            case ex.In(operand=operand, members=members):
                column = _column(operand, schema, semantics)
                constants = [_constant(one, schema, semantics) for one in members]
                return _members(column, constants, sought, semantics)
            case ex.Like(operand=operand, pattern=pattern, escape=escape):
                return _like(_column(operand, schema, semantics), pattern, escape, sought)
    except (UnsupportedError, NotExactError) as error:
        why = error.what if isinstance(error, UnsupportedError) else str(error)
        raise NotExactError(f"{_shown(node)}: {why}") from error
    raise NotExactError(_shown(node))


def _shown(node: ex.HudiExpression) -> str:
    text = ex.to_text(node)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _column(operand: ex.Operand, schema: Schema, semantics: Semantics) -> Field:
    if not isinstance(operand, ex.Column):
        raise NotExactError("not a column beside a constant")
    field = schema.resolve(operand.name, case_sensitive=semantics.case_sensitive)
    if field is None:
        raise NotExactError(f"column {operand.name} is not in the table, or its name is ambiguous")
    if "." in field.name:
        raise NotExactError("a field of a struct")
    if operand.type is not None and operand.type.kind is not field.type.kind:
        raise NotExactError(f"column {field.name} is {field.type} in the table and {operand.type} in the filter")
    return field


def _constant(operand: ex.Operand, schema: Schema, semantics: Semantics) -> ex.Literal:
    """The literal, or the one that a constant operand is."""
    if isinstance(operand, ex.Literal):
        return operand
    if any(isinstance(part, ex.Column) for part in ex.walk(operand)):
        raise NotExactError("a column beside a column, or in a function")
    bound = resolve_operand(operand, schema, semantics, _undecided)
    if not isinstance(bound, BoundConstant) or bound.is_range or not bound.interval.is_point or bound.interval.null:
        raise NotExactError(f"the constant {ex.to_text(operand)} has no one value")
    return ex.Literal(bound.value, bound.type)


def _comparison(
    column: Field, op: str, operand: ex.Operand, sought: bool, schema: Schema, semantics: Semantics
) -> Test:
    literal = _constant(operand, schema, semantics)
    if op == "<=>":
        if literal.value is None:
            return NullTest(column, sought)
        equal = _compared(column, "=" if sought else "!=", literal, semantics)
        return equal if sought else _joined(AnyOf, (equal, NullTest(column, True)))
    if literal.value is None:
        return Always(False)
    return _compared(column, op if sought else _NEGATED[op], literal, semantics)


def _compared(column: Field, op: str, literal: ex.Literal, semantics: Semantics) -> Test:
    converted = in_column_type(literal, column.type, op, semantics)
    if converted is Outside.NEVER:
        return Always(False)
    if converted is Outside.EVERY_VALUE:
        return NullTest(column, False)
    op, value = converted
    return Comparison(column, op, value)


def _members(column: Field, literals: list[ex.Literal], sought: bool, semantics: Semantics) -> Test:
    most = MAX_DOUBLES if column.type.kind.is_fractional else MAX_MEMBERS
    if len(literals) > most:
        raise NotExactError(f"a list of more than {most} members")
    kinds = {literal.type.kind for literal in literals if literal.value is not None}
    one_kind = kinds <= {column.type.kind} or (column.type.kind.is_integer and all(kind.is_integer for kind in kinds))
    text = column.type.kind.is_text and kinds <= {Kind.STRING, Kind.VARCHAR}
    if not (one_kind or text) or (column.type.kind is Kind.BINARY and semantics.binary_lists_fail):
        raise NotExactError("a list of another type than the column's")
    if column.type.kind.is_fractional and semantics.zeros_differ_in_lists:
        raise NotExactError("a list of doubles that is looked up by bits")
    if not sought and any(literal.value is None for literal in literals):
        return Always(False)
    values, nan = [], False
    for literal in literals:
        if literal.value is None:
            continue
        converted = in_column_type(literal, column.type, "=", semantics)
        if not isinstance(converted, Outside):
            is_nan = isinstance(converted[1], float) and math.isnan(converted[1])
            nan = nan or is_nan
            if not is_nan:
                values.append(converted[1])
    found: Test = Members(column, tuple(dict.fromkeys(values)), sought)
    if not values:
        found = Always(False) if sought else NullTest(column, False)
    if not nan:
        return found
    return _joined(AnyOf if sought else AllOf, (found, Comparison(column, "=" if sought else "!=", math.nan)))


def _like(column: Field, pattern: str, escape: str, sought: bool) -> Test:
    if column.type.kind not in (Kind.STRING, Kind.VARCHAR):
        raise NotExactError("LIKE of a column that is no text")
    text, rest = "", iter(pattern)
    for char in rest:
        if char == escape or char == "_":
            raise NotExactError("a pattern of more than a fixed start")
        if char == "%":
            if set(_rest_of(rest)) - {"%"}:
                raise NotExactError("a pattern of more than a fixed start")
            return Prefix(column, text, sought)
        text += char
    return Comparison(column, "=" if sought else "!=", text)


def _rest_of(chars: Iterator[str]) -> str:
    return "".join(chars)
