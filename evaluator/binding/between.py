"""BETWEEN as one test, for engines that have it (``between_is_one_test``).

SQL's ``x BETWEEN a AND b`` is ``x >= a AND x <= b``, and front ends write it so. Hive evaluates it as one function that
converts both bounds first: NULL as soon as one of them is no value of the type in which it compares, where the AND may
be FALSE by the other one. It may also convert bounds of different types to one type. This module corrects the AND, by
the types of x, a and b:

    x                  a, b                                                       becomes
    =================  =========================================================  ============================
    number             numbers, texts of numbers                                  stays
    date, timestamp    dates, timestamps, texts of them                           stays
    text               texts                                                      stays
    any                of x's own type                                            stays
    number, moment     a text of no such value; no constant                       the same, or NULL
    decimal, integer   numbers that have no common decimal                        unknown
    number             exact numbers beside doubles or floats, from 2^24 on       unknown
    any                anything else: ``f BETWEEN 1 AND DATE '2020-01-02'``       unknown

A condition that somebody wrote as such an AND looks the same, and is treated the same: it loses nothing but "the same,
or NULL", which neither keeps nor skips a slice by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluator.binding.operands import BoundConstant, BoundOperand
from evaluator.functions.base import common_digits
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.literal import is_number_text, wall_clock_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = ["as_one_test"]


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
    try:
        value, *bounds = map(bind_operand, operands)
    except (UnsupportedError, OverflowError):
        return node  # one of its comparisons becomes the unknown leaf
    if not _one_type([value.type, *(bound.type for bound in bounds)]):
        return ex.Unknown(f"{value.type} BETWEEN {bounds[0].type} AND {bounds[1].type} is not decided")
    if _may_be_rounded(value, bounds):
        return ex.Unknown("BETWEEN over exact numbers and doubles of more than 24 bits is not decided")
    if all(_converts(bound, value.type, semantics) for bound in bounds):
        return node
    may_be_null = ex.And((ex.Unknown("BETWEEN with a bound that may be NULL"), ex.Constant(None)))
    return ex.Or((node, may_be_null))


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
    constants = [bound for bound in bounds if isinstance(bound, BoundConstant)]
    if mixed and any(bound.is_range for bound in constants):
        return True
    values: list[Any] = [bound.value for bound in constants]
    return mixed and any(not -(1 << 24) < n < 1 << 24 for n in values if n is not None)


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
