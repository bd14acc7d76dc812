"""A node of the translated tree as a condition, and as a value."""

from __future__ import annotations

from evaluator.language.construction import TRUE, as_condition, as_operand
from evaluator.language.expression import Compare, HudiExpression, If, Literal, Node, Not, Operand
from evaluator.language.types import BOOLEAN

__all__ = ["condition_form", "operand_form"]

_FALSE, _NULL = Literal(False, BOOLEAN), Literal(None, BOOLEAN)


def condition_form(node: Node) -> HudiExpression:
    """A node as a condition: a boolean value is compared with TRUE."""
    condition = as_condition(node)
    if condition is not None:
        return condition
    assert isinstance(node, Operand)
    return Compare("=", node, TRUE)


def operand_form(node: Node) -> Operand:
    """A node as a value: a condition is TRUE, FALSE or NULL."""
    operand = as_operand(node)
    if operand is not None:
        return operand
    if isinstance(node, Compare) and node.op == "=" and node.right is TRUE:
        return node.left
    assert isinstance(node, HudiExpression)
    return If(node, TRUE, If(Not(node), _FALSE, _NULL))
