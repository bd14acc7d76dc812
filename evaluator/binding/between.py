"""BETWEEN as one test, for engines that have it (``between_is_one_test``).

SQL's ``x BETWEEN a AND b`` is ``x >= a AND x <= b``, and front ends write it so. Hive evaluates it as one function that
converts both bounds first: NULL as soon as one of them is no value of the type in which it compares, where the AND may
be FALSE by the other one. It may also convert bounds of different types to one type. This module corrects the AND, by
the types of x, a and b:

    x                  a, b                                                       becomes
    =================  =========================================================  ============================
    number             numbers, texts of numbers                                  stays
    date, timestamp    dates, timestamps, texts of them                           stays
    date, timestamp    a text beside a value of the other one of these types      unknown
    date               a text with a time beside a date                           unknown
    text               texts                                                      stays
    any                of x's own type                                            stays
    any                NULL                                                       NULL, or FALSE
    number, moment     a text of no such value; no constant                       the same, or NULL
    decimal, integer   numbers that have no common decimal                        unknown
    number             exact numbers beside doubles or floats, from 2^24 on       unknown
    decimal, integer   more than 6 digits, some behind the point, beside a float  unknown
    decimal, integer   more than 15 digits, some behind the point, and a double   unknown
    any                anything else: ``f BETWEEN 1 AND DATE '2020-01-02'``       unknown

A condition that somebody wrote as such an AND looks the same, and is treated the same: it loses nothing but "the same,
or NULL", which neither keeps nor skips a slice by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from evaluator.binding.operands import BoundConstant, BoundOperand
from evaluator.functions.base import common_digits
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.literal import is_number_text, wall_clock_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = ["as_one_test"]


#: Decimal numbers of so many digits stay in order as doubles and as floats.
_DIGITS_OF_DOUBLE, _DIGITS_OF_FLOAT = 15, 6


def as_one_test(
    expression: ex.HudiExpression, bind_operand: Callable[[ex.Operand], BoundOperand], semantics: Semantics
) -> ex.HudiExpression:
    """The filter with every BETWEEN as one test; the same object when nothing changes."""
    replacements: dict[int, ex.HudiExpression] = {}
    stack = [expression]
    while stack:
        node = stack.pop()
        match node:
            case ex.And(children=(ex.Compare(op=">=", left=x, right=low), ex.Compare(op="<=", left=y, right=high))):
                if x == y and (better := _corrected(node, (x, low, high), bind_operand, semantics)) is not node:
                    replacements[id(node)] = better
            case ex.And(children=children) | ex.Or(children=children):
                stack.extend(children)
            case ex.Not(child=child):
                stack.append(child)
            case _:
                pass
    return _replaced(expression, replacements) if replacements else expression


def _replaced(expression: ex.HudiExpression, replacements: dict[int, ex.HudiExpression]) -> ex.HudiExpression:
    def rebuild(node: ex.Node, children: list[Any]) -> Any:
        if id(node) in replacements:
            return replacements[id(node)]
        match node:
            case ex.And():
                return ex.And(tuple(children))
            case ex.Or():
                return ex.Or(tuple(children))
            case ex.Not():
                return ex.Not(children[0])
            case _:
                return node

    result: ex.HudiExpression = ex.fold(expression, rebuild)
    return result


def _corrected(
    node: ex.And,
    operands: tuple[ex.Operand, ex.Operand, ex.Operand],
    bind_operand: Callable[[ex.Operand], BoundOperand],
    semantics: Semantics,
) -> ex.HudiExpression:
    value, *found = (_bound(operand, bind_operand) for operand in operands)
    if value is None:
        return node  # both comparisons become unknown leaves
    bounds = [bound for bound in found if bound is not None]
    if len(bounds) < len(found):  # its comparison becomes the unknown leaf, but its type may round the other one
        leaves_out = value.type.kind.is_number and _loses_numbers(value, bounds)
        return ex.Unknown("BETWEEN with a bound that is not decided") if leaves_out else node
    if any(bound.type.kind is Kind.VOID for bound in bounds):  # NULL in every version that converts both bounds
        return ex.And((ex.Unknown("BETWEEN with a NULL bound"), ex.Constant(None)))
    if not _one_type([value.type, *(bound.type for bound in bounds)]):
        return ex.Unknown(f"{value.type} BETWEEN {bounds[0].type} AND {bounds[1].type} is not decided")
    if _is_moment(value.type) and _reads_text_otherwise(value, bounds):
        return ex.Unknown(f"{value.type} BETWEEN a text and a value of another type is not decided")
    if _may_be_rounded(value, bounds):
        return ex.Unknown("BETWEEN over exact numbers and doubles is not decided where doubles leave numbers out")
    if all(_converts(bound, value.type, semantics) for bound in bounds):
        return node
    may_be_null = ex.And((ex.Unknown("BETWEEN with a bound that may be NULL"), ex.Constant(None)))
    return ex.Or((node, may_be_null))


def _reads_text_otherwise(value: BoundOperand, bounds: list[BoundOperand]) -> bool:
    """Whether the type of one bound decides how the text of the other one is read: as a day or as a timestamp."""
    others = {bound.type.kind for bound in bounds if not bound.type.kind.is_text}
    texts = [bound for bound in bounds if bound.type.kind.is_text]
    if not texts or not others:
        return False
    if others != {value.type.kind}:
        return True
    return value.type.kind is Kind.DATE and not all(
        isinstance(text, BoundConstant) and len(str(text.value)) == 10 for text in texts
    )


def _bound(operand: ex.Operand, bind_operand: Callable[[ex.Operand], BoundOperand]) -> BoundOperand | None:
    try:
        return bind_operand(operand)
    except (UnsupportedError, OverflowError):
        return None


def _one_type(types: list[Type]) -> bool:
    """Whether x and its bounds are compared in one type that holds them all."""
    value, *bounds = types
    if value.kind.is_text:
        return all(member_type.kind.is_text for member_type in bounds)
    if value.kind.is_number:
        exact = [
            member_type for member_type in types if member_type.kind.is_integer or member_type.kind is Kind.DECIMAL
        ]
        return all(member_type.kind.is_number or member_type.kind.is_text for member_type in bounds) and (
            all(member_type.kind is not Kind.DECIMAL for member_type in exact) or common_digits(exact) <= 38
        )
    if _is_moment(value):
        return all(_is_moment(member_type) or member_type.kind.is_text for member_type in bounds)
    return all(member_type.kind is value.kind for member_type in bounds)


def _may_be_rounded(value: BoundOperand, bounds: list[BoundOperand]) -> bool:
    """Whether one bound may take the comparison with the other one to binary, where numbers are left out."""
    types = [operand.type for operand in (value, *bounds)]
    if len({bound.type for bound in bounds}) == 1 or not all(of.kind.is_number for of in types):
        return False
    mixed = any(of.kind.is_fractional for of in types) and not all(of.kind.is_fractional for of in types)
    return mixed and _loses_numbers(value, bounds)


def _loses_numbers(value: BoundOperand, bounds: list[BoundOperand]) -> bool:
    """Whether doubles, or floats where no side is a double, leave out numbers beside these bounds of an exact value."""
    constants = [bound for bound in bounds if isinstance(bound, BoundConstant)]
    if any(constant.is_range for constant in constants):
        return True
    numbers = [constant.value for constant in constants if isinstance(constant.value, (int, float, Decimal))]
    types = [side.type for side in (value, *bounds)]
    scale = max((of.scale for of in types if of.kind is Kind.DECIMAL), default=0)
    if scale == 0 or value.type.kind.is_fractional:
        return any(not -(1 << 24) < n < 1 << 24 for n in numbers)
    digits = _DIGITS_OF_DOUBLE if any(of.kind is Kind.DOUBLE for of in types) else _DIGITS_OF_FLOAT
    return any(not abs(n) < 10 ** (digits - scale) for n in numbers)


def _converts(bound: BoundOperand, value: Type, semantics: Semantics) -> bool:
    """Whether a bound is a constant that is surely a value where it is compared with x."""
    if not isinstance(bound, BoundConstant) or not bound.interval.value:
        return False
    if not bound.type.kind.is_text or value.kind.is_text:
        return True
    if value.kind.is_number:
        return is_number_text(bound.value)
    try:
        wall_clock_of_text(str(bound.value))
    except UnsupportedError:
        return False
    return not (semantics.bare_date_is_null and value.kind.is_timestamp and len(str(bound.value)) <= 10)


def _is_moment(value_type: Type) -> bool:
    return value_type.kind is Kind.DATE or value_type.kind.is_timestamp
