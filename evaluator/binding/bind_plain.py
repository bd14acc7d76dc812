"""The commonest conditions, bound in a few microseconds: a column against a constant of its very own type.

A decimal constant is one of them beside a decimal or a double, too: in SQL text ``fare > 50.5`` has one. So is a
timestamp beside either kind of them.

``bind`` tries this way first. The result is that of the general way (a test compares them). It leaves out the steps
that have nothing to do here: there is no cast to look through, no engine that converts a literal in a way of its own.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from evaluator.binding.leaves import BoundLeaf, Comparison, Lookup, Membership, NullTest, starts_with
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.language import expression as ex
from evaluator.language.epoch import FIRST_GREGORIAN_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import exact_number, in_domain
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import array_dtype
from evaluator.statistics.ranges import Members

__all__ = ["bind_plain"]

#: The values of integer kinds, and the days that have one name in all calendars.
_LIMITS = {kind: Type(kind).integer_range() for kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)}
_LIMITS[Kind.DATE] = (FIRST_GREGORIAN_DAY, Type(Kind.BIGINT).integer_range()[1])

_MOMENTS = (Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ)


def bind_plain(leaf: object, schema: Schema, semantics: Semantics) -> tuple[BoundLeaf, Field] | None:
    """``column op constant``, ``IS NULL``, ``IN`` or ``LIKE 'prefix%'``, with the column; or None."""
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
    constant = leaf.right
    if type(constant) is not ex.Literal:
        return None
    if column_type.kind in _MOMENTS and constant.type.kind in _MOMENTS:
        return _bind_moment(leaf, field, constant, semantics)
    if constant.type.kind is Kind.DECIMAL:
        decimal = _decimal(constant, column_type)
        return None if decimal is None else (_compared(leaf, field, *decimal), field)
    if not (constant.type is column_type or constant.type == column_type):
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
    return _compared(leaf, field, value, value), field


def _compared(leaf: ex.Compare, field: Field, ordinal: Any, key: Any) -> BoundLeaf:
    """A comparison with a constant: ``ordinal`` is its value among the bounds, ``key`` among keys."""
    constant = BoundConstant(None, Interval(ordinal, ordinal, False, True), field.type)
    lookup = Lookup(field, (key,)) if leaf.op in ("=", "<=>") else None
    return BoundLeaf(leaf, Comparison(leaf.op, BoundColumn(field, field.type), constant), (field.name,), None, lookup)


def _bind_moment(
    leaf: ex.Compare, field: Field, literal: ex.Literal, semantics: Semantics
) -> tuple[BoundLeaf, Field] | None:
    """``timestamp op constant``: one instant, or those at which the session's clock may show the constant."""
    if type(literal.value) is not int:
        return None
    try:
        interval = in_domain(literal.value, literal.type, field.type, semantics)
    except UnsupportedError:
        return None
    constant = BoundConstant(None, interval, field.type)
    lookup = Lookup(field, (interval.lo,)) if leaf.op in ("=", "<=>") and interval.is_point else None
    test = Comparison(leaf.op, BoundColumn(field, field.type), constant)
    return BoundLeaf(leaf, test, (field.name,), None, lookup), field


def _decimal(constant: ex.Literal, column: Type) -> tuple[Any, Any] | None:
    """A decimal constant as an ordinal and as a key of a decimal or double column; None for the general way.

    The general way is for 38 digits or more together, for 0 beside a double, which has two, and for a constant that
    is no value of the column.
    """
    value, of = constant.value, constant.type
    if type(value) is not Decimal or not value.is_finite() or of.precision + column.precision >= 38:
        return None
    if column.kind is Kind.DOUBLE:
        nearest = float(value)
        return (nearest, nearest) if nearest != 0.0 and math.isfinite(nearest) else None
    if column.kind is not Kind.DECIMAL:
        return None
    numerator, denominator = value.as_integer_ratio()
    ordinal, rest = divmod(numerator * 10**column.scale, denominator)
    if rest or not -(1 << 63) <= ordinal < 1 << 63:
        return None
    return ordinal, exact_number(value)


def _bind_members(leaf: ex.In, field: Field) -> tuple[BoundLeaf, Field] | None:
    """``column IN (...)`` over whole numbers of any width, or dates or text, of the column's type; or NULL of it."""
    column_type, has_null = field.type, False
    if column_type.kind is Kind.DECIMAL:
        return _bind_decimals(leaf, field)
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


def _bind_decimals(leaf: ex.In, field: Field) -> tuple[BoundLeaf, Field] | None:
    """``column IN (...)`` over decimals."""
    found = []
    for member in leaf.members:
        decimal = (
            _decimal(member, field.type) if type(member) is ex.Literal and member.type.kind is Kind.DECIMAL else None
        )
        if decimal is None:
            return None
        found.append(decimal)
    if not found:
        return None
    ordinals, keys = zip(*found, strict=True)
    test = Membership(BoundColumn(field, field.type), Members.of(ordinals, array_dtype(field.type), has_null=False))
    return BoundLeaf(leaf, test, (field.name,), None, Lookup(field, keys)), field


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
