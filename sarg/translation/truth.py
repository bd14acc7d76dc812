"""IS TRUE, IS FALSE and IS NULL over conditions. They are never NULL, so a NULL below must come out as FALSE.

For a leaf it is known when it is NULL (when one of its operands is), and the result is exact:

    (a > 1) IS TRUE     a > 1 AND a IS NOT NULL
    (a > 1) IS FALSE    NOT (a > 1) AND a IS NOT NULL
    (a > 1) IS NULL     a IS NULL

For anything larger it is ``condition AND ?``: TRUE only where the condition can be, and FALSE possible everywhere.
"""

from __future__ import annotations

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
    operands = _null_makers(condition)
    if operands is None:
        return And((condition, Unknown("IS TRUE over a condition that may be NULL")))
    return _and_not_null(condition, operands)


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
            operands = _null_makers(node)
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


def _null_makers(condition: HudiExpression) -> list[Operand] | None:
    """The operands of which one is NULL exactly when the condition is; None when that is not so simple."""
    while isinstance(condition, Not):
        condition = condition.child
    match condition:
        case IsNull() | Compare(op="<=>") | Constant(value=bool()):
            return []
        case Compare(left=left, right=right) if _compare_alike(left, right):
            operands = [left, right]
        case Like(operand=operand):
            operands = [operand]
        case In(operand=operand, members=members) if all(_is_value(member) for member in members):
            operands = [operand]
        case _:
            return None
    if any(isinstance(operand, Opaque) for operand in operands):
        return None
    return [operand for operand in operands if not _is_value(operand)]


def _is_value(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value is not None


def _compare_alike(left: Operand, right: Operand) -> bool:
    """Whether no conversion stands between the two that could itself yield NULL, as a text that is no number does."""
    of_left, of_right = _type_of(left), _type_of(right)
    if of_left is None or of_right is None:
        return False
    return of_left.kind is of_right.kind or (of_left.kind.is_number and of_right.kind.is_number)


def _type_of(operand: Operand) -> Type | None:
    return operand.type if isinstance(operand, Column | Literal | Cast | Call) else None
