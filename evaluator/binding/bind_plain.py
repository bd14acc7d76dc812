"""The commonest conditions, bound in a few microseconds: a column against a constant of its very own type.

``bind`` tries this way first. The result is that of the general way (a test compares them). It leaves out the steps
that have nothing to do here: there is no cast to look through, no literal to convert, and all engines agree.
"""

from __future__ import annotations

import math
from typing import Any

from evaluator.binding.leaves import BoundLeaf, Comparison, Lookup, Membership, NullTest, starts_with
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.language import expression as ex
from evaluator.language.epoch import FIRST_GREGORIAN_DAY
from evaluator.language.interval import Interval
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import array_dtype
from evaluator.statistics.ranges import Members

__all__ = ["bind_plain"]

#: The values of integer kinds, and the days that have one name in all calendars.
_LIMITS = {kind: Type(kind).integer_range() for kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)}
_LIMITS[Kind.DATE] = (FIRST_GREGORIAN_DAY, Type(Kind.BIGINT).integer_range()[1])


def bind_plain(leaf: object, schema: Schema, semantics: Semantics) -> tuple[BoundLeaf, Field] | None:
    """``column op constant`` of one type, ``IS NULL``, ``IN`` or ``LIKE 'prefix%'``, with the column; or None."""
    form = type(leaf)
    if form is ex.Compare:
        column = leaf.left  # type: ignore[attr-defined]
    elif form is ex.IsNull or form is ex.Like or form is ex.In:
        column = leaf.operand  # type: ignore[attr-defined]
    else:
        return None
    if type(column) is not ex.Column or len(column.path) != 1:
        return None
    field = schema.resolve(column.path[0], case_sensitive=semantics.case_sensitive)
    if field is None or "." in field.name:
        return None
    column_type, declared = field.type, column.type
    if not (declared is None or declared is column_type or declared == column_type):
        return None
    if isinstance(leaf, ex.IsNull):
        return BoundLeaf(leaf, NullTest(BoundColumn(field, column_type)), (field.name,)), field
    if isinstance(leaf, ex.Like):
        return _bind_prefix(leaf, field)
    if isinstance(leaf, ex.In):
        return _bind_members(leaf, field)
    assert isinstance(leaf, ex.Compare)
    op, constant = leaf.op, leaf.right
    if type(constant) is not ex.Literal or not (constant.type is column_type or constant.type == column_type):
        return None
    value, kind = constant.value, column_type.kind
    limits = _LIMITS.get(kind)
    if limits is not None:
        if type(value) is not int or not limits[0] <= value <= limits[1]:
            return None
    elif kind is Kind.STRING:
        if type(value) is not str:
            return None
    elif kind is not Kind.DOUBLE or type(value) is not float or not math.isfinite(value) or value == 0.0:
        return None  # NaN, infinity and the two zeros are compared differently by engines
    test = Comparison(
        op, BoundColumn(field, column_type), BoundConstant(None, Interval(value, value, False, True), column_type)
    )
    lookup = Lookup(field, (value,)) if op in ("=", "<=>") else None
    return BoundLeaf(leaf, test, (field.name,), None, lookup), field


def _bind_members(leaf: ex.In, field: Field) -> tuple[BoundLeaf, Field] | None:
    """``column IN (...)`` over whole numbers of any width, or dates or text, of the column's type; or NULL of it."""
    column_type, has_null = field.type, False
    is_integer = column_type.kind.is_integer
    values: list[Any] = []
    limits, form = _LIMITS.get(column_type.kind), (str if column_type.kind is Kind.STRING else int)
    if limits is None and form is int:
        return None
    for member in leaf.members:
        if type(member) is not ex.Literal:
            return None
        value = member.value
        if value is None and (member.type.kind is Kind.VOID or member.type == column_type):
            has_null = True  # a NULL of another type may decide in which type the list is compared
        elif type(value) is form and (
            member.type is column_type or member.type == column_type or (is_integer and member.type.kind.is_integer)
        ):
            values.append(value)
        else:
            return None
    if not values or (limits is not None and not limits[0] <= min(values) <= max(values) <= limits[1]):
        return None
    test = Membership(BoundColumn(field, column_type), Members.of(values, array_dtype(column_type), has_null))
    return BoundLeaf(leaf, test, (field.name,), None, Lookup(field, tuple(values))), field


def _bind_prefix(leaf: ex.Like, field: Field) -> tuple[BoundLeaf, Field] | None:
    """``column LIKE 'prefix%'`` without any other special character."""
    prefix = leaf.pattern[:-1]
    if (
        field.type.kind is not Kind.STRING
        or leaf.pattern[-1:] != "%"
        or "%" in prefix
        or "_" in prefix
        or (leaf.escape in leaf.pattern)
    ):
        return None
    return BoundLeaf(leaf, starts_with(BoundColumn(field, field.type), prefix, exact=True), (field.name,)), field
