"""Shapes of the tree that more than one front end builds: SQL text, Catalyst's tree and Hive's tree share them.

    ===========================================  ====================================================================
    in the filter                                in the tree
    ===========================================  ====================================================================
    CASE WHEN c THEN x WHEN d THEN y ELSE z END  ``If(c, x, If(d, y, z))``
    TRUE, FALSE or NULL used as a condition      ``Constant``
    a constant condition used as a value         ``Literal`` of type BOOLEAN
    a part that is not understood                ``Opaque`` as a value, ``Unknown`` as a condition (C1)
    ===========================================  ====================================================================

A boolean column used as a condition is ``column = TRUE``. Each front end decides for itself which of its values are
boolean, and what becomes of a condition such as ``a < 5`` where a value is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.expression import Constant, HudiExpression, If, Literal, Node, Opaque, Operand, Unknown
from evaluator.language.types import BOOLEAN, Type

__all__ = ["TRUE", "as_condition", "as_operand", "case_when"]

TRUE = Literal(True, BOOLEAN)


def case_when(
    branches: Sequence[tuple[HudiExpression, Operand]], otherwise: Operand, result_type: Type | None = None
) -> Operand:
    """CASE with its (condition, result) branches in writing order, as one ``If`` in the ``otherwise`` of the other."""
    case = otherwise
    for condition, result in reversed(branches):
        case = If(condition, result, case, result_type)
    return case


def as_condition(node: Node) -> HudiExpression | None:
    """A condition, constant or unknown node as a condition; None for a value of the row.

    >>> print(as_condition(TRUE), as_condition(Opaque("a subquery")))
    TRUE ?(a subquery)
    """
    match node:
        case HudiExpression():
            return node
        case Literal(value=bool() | None as value):
            return Constant(value)
        case Opaque(reason=reason):
            return Unknown(reason)
        case _:
            return None


def as_operand(node: Node) -> Operand | None:
    """A value, constant or unknown node as a value; None for a condition on the row.

    >>> print(as_operand(Constant(None)), as_operand(Unknown("a subquery")))
    NULL ?(a subquery)
    """
    match node:
        case Operand():
            return node
        case Constant(value=value):
            return Literal(value, BOOLEAN)
        case Unknown(reason=reason):
            return Opaque(reason)
        case _:
            return None
