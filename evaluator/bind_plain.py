"""The commonest conditions, bound in a few microseconds: a column against a constant of its very own type.

``bind`` takes this way first. It gives what the general way gives (a test compares them); it only leaves out the
questions whose answer is known: no cast to look through, no literal to convert, no engine that sees it otherwise.
"""

from __future__ import annotations

import math

from evaluator import expression as ex
from evaluator.interval import Interval
from evaluator.leaves import BoundLeaf, Comparison, Lookup, NullTest, starts_with
from evaluator.operands import BoundColumn, BoundConstant
from evaluator.schema import Field, Schema
from evaluator.semantics import Semantics
from evaluator.types import Kind, Type

__all__ = ["bind_plain"]

_INTEGERS = frozenset([Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT])


def bind_plain(leaf: ex.HudiExpression, schema: Schema, semantics: Semantics) -> tuple[BoundLeaf, Field] | None:
    """``column op constant`` of one type, ``column IS NULL`` or ``column LIKE 'prefix%'``, with the column; or None."""
    if type(leaf) is ex.Compare:
        column = leaf.left
    elif type(leaf) is ex.IsNull or type(leaf) is ex.Like:
        column = leaf.operand
    else:
        return None
    if type(column) is not ex.Column or len(column.path) != 1:
        return None
    field = schema.resolve(column.path[0], case_sensitive=semantics.case_sensitive)
    if field is None or "." in field.name or not (column.type is None or column.type == field.type):
        return None
    if type(leaf) is ex.Like:
        return _bind_prefix(leaf, field)
    if not isinstance(leaf, ex.Compare):
        return BoundLeaf(leaf, NullTest(BoundColumn(field, field.type)), (field.name,)), field
    constant = leaf.right
    if type(constant) is not ex.Literal or not (constant.type is field.type or constant.type == field.type):
        return None
    value, kind = constant.value, field.type.kind
    if not _has_one_meaning(value, field.type):
        return None
    bound = BoundConstant(None, Interval(value, value, False, True), field.type)
    lookup = Lookup(field, (value,)) if kind is not Kind.DOUBLE and leaf.op in ("=", "<=>") else None
    test = Comparison(leaf.op, BoundColumn(field, field.type), bound)
    return BoundLeaf(leaf, test, (field.name,), None, lookup), field


def _bind_prefix(leaf: ex.Like, field: Field) -> tuple[BoundLeaf, Field] | None:
    """``column LIKE 'prefix%'`` without any other special character."""
    prefix = leaf.pattern[:-1]
    if field.type.kind is not Kind.STRING or leaf.pattern[-1:] != "%" or "%" in prefix or "_" in prefix or (
            leaf.escape in leaf.pattern):
        return None
    return BoundLeaf(leaf, starts_with(BoundColumn(field, field.type), prefix, exact=True), (field.name,)), field


def _has_one_meaning(value: object, of: Type) -> bool:
    """True when no engine takes the constant for anything but this very value: no NULL, NaN, infinity or zero."""
    kind = of.kind
    if kind in _INTEGERS:
        smallest, largest = of.integer_range()
        return type(value) is int and smallest <= value <= largest
    if kind is Kind.STRING:
        return type(value) is str
    if kind is Kind.DATE:
        return type(value) is int
    return kind is Kind.DOUBLE and type(value) is float and math.isfinite(value) and value != 0.0
