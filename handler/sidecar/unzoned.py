"""A filter of a session whose time zone is not known: what the zone may change is left undecided.

A condition keeps its meaning in every zone when no timestamp takes part in it: no column, constant or cast of a
timestamp type, and no function but those below. Any other becomes unknown at its place; its siblings still prune.
"""

from __future__ import annotations

from evaluator.expression import (
    And,
    Call,
    Cast,
    Column,
    HudiExpression,
    Literal,
    Node,
    Not,
    Or,
    Unknown,
    children_of,
    fold,
    walk,
)
from evaluator.functions import arithmetic, text
from evaluator.schema import Schema

__all__ = ["WHY", "without_time_zone"]

WHY = "the session's time zone was not sent, and a timestamp takes part"
_FUNCTIONS = frozenset({*arithmetic.FUNCTIONS, *text.FUNCTIONS, "coalesce", "nvl", "ifnull", "branches"})


def without_time_zone(expression: HudiExpression, schema: Schema) -> HudiExpression:
    """The filter with every condition unknown that a time zone may change."""
    def combine(node: Node, children: list[HudiExpression]) -> HudiExpression:
        match node:
            case And():
                return And(tuple(children))
            case Or():
                return Or(tuple(children))
            case Not():
                return Not(children[0])
            case _:
                assert isinstance(node, HudiExpression)
                return node if all(_is_zoneless(part, schema) for part in walk(node)) else Unknown(WHY)

    return fold(expression, combine, _conditions_in)


def _conditions_in(node: Node) -> tuple[Node, ...]:
    return children_of(node) if isinstance(node, And | Or | Not) else ()


def _is_zoneless(node: Node, schema: Schema) -> bool:
    match node:
        case Column(name=name, type=said):
            field = schema.resolve(name)
            return field is not None and not field.type.kind.is_timestamp and not (said and said.kind.is_timestamp)
        case Literal(type=of) | Cast(type=of):
            return not of.kind.is_timestamp
        case Call(function=function):
            return function in _FUNCTIONS
        case _:
            return True
