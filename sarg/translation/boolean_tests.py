"""SQL's boolean tests: IS TRUE, IS FALSE and IS NULL over conditions. A test is never NULL itself.

A leaf is NULL exactly when one of its operands is, so the test of a leaf is exact:

    ================  =============================
    test              tree
    ================  =============================
    (a > 1) IS TRUE   a > 1 AND a IS NOT NULL
    (a > 1) IS FALSE  NOT (a > 1) AND a IS NOT NULL
    (a > 1) IS NULL   a IS NULL
    ================  =============================

IS TRUE of a larger condition is ``condition AND ?``: TRUE is possible only where the condition can be TRUE, and FALSE
is possible everywhere (C1). IS NULL of a larger condition is unknown.
"""

from __future__ import annotations

from evaluator.language.construction import as_compared
from evaluator.language.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Constant,
    HudiExpression,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Opaque,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.types import Type

__all__ = ["is_false", "is_null", "is_true"]


def is_true(condition: HudiExpression) -> HudiExpression:
    """``condition IS TRUE``."""
    operands = _nullable_operands(condition)
    if operands is None:
        return And((as_compared(condition), Unknown("IS TRUE over a condition that may be NULL")))
    return _and_not_null(as_compared(condition), operands)


def is_false(condition: HudiExpression) -> HudiExpression:
    """``condition IS FALSE``."""
    return is_true(Not(condition))


def is_null(node: Node) -> HudiExpression:
    """``node IS NULL`` for an operand or a condition."""
    match node:
        case Literal(value=value):
            return Constant(value is None)
        case Operand():
            return IsNull(node)
        case HudiExpression():
            operands = _nullable_operands(node)
            if operands is None:
                return Unknown("IS NULL over a condition")
            tests = tuple(IsNull(operand) for operand in operands)
            return Constant(False) if not tests else tests[0] if len(tests) == 1 else Or(tests)
        case _:
            return Unknown("IS NULL over something strange")


def _and_not_null(condition: HudiExpression, operands: list[Operand]) -> HudiExpression:
    if not operands:
        return condition
    return And((condition, *(Not(IsNull(operand)) for operand in operands)))


def _nullable_operands(condition: HudiExpression) -> list[Operand] | None:
    """The operands such that the condition is NULL exactly when one of them is; None for any other condition."""
    while isinstance(condition, Not):
        condition = condition.child
    match condition:
        case IsNull() | Compare(op="<=>") | Constant(value=bool()):
            return []
        case Compare(left=left, right=right) if _compares_without_conversion(left, right):
            operands = [left, right]
        case Like(operand=operand):
            operands = [operand]
        case In(operand=operand, members=members) if all(_is_non_null_literal(member) for member in members):
            operands = [operand]
        case _:
            return None
    if any(isinstance(operand, Opaque) for operand in operands):
        return None
    return [operand for operand in operands if not _is_non_null_literal(operand)]


def _is_non_null_literal(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value is not None


def _compares_without_conversion(left: Operand, right: Operand) -> bool:
    """Whether the comparison needs no conversion that can yield NULL, as that of a text that is no number does."""
    left_type, right_type = _type_of(left), _type_of(right)
    if left_type is None or right_type is None:
        return False
    return left_type.kind is right_type.kind or (left_type.kind.is_number and right_type.kind.is_number)


def _type_of(operand: Operand) -> Type | None:
    return operand.type if isinstance(operand, Column | Literal | Cast | Call) else None
