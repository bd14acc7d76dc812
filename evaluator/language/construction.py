"""Shapes of the tree that more than one front end builds: SQL text, Catalyst's tree and Hive's tree share them.

    ===========================================  ====================================================================
    in the filter                                in the tree
    ===========================================  ====================================================================
    CASE WHEN c THEN x WHEN d THEN y ELSE z END  ``If(c, x, If(d, y, z))``
    TRUE, FALSE or NULL used as a condition      ``Constant``
    a constant condition used as a value         ``Literal`` of type BOOLEAN
    a condition c used as a value                ``If(c, TRUE, If(Not(c), FALSE, NULL))``
    a condition c over integers = TRUE           ``Compare("=", c as a value, TRUE)``, other conditions as they are
    s ILIKE 'Ab%'                                ``lower(s) LIKE 'ab%'``
    split(s, '-')[0]                             ``substring_index(s, '-', 1)``
    a part that is not understood                ``Opaque`` as a value, ``Unknown`` as a condition (C1)
    ===========================================  ====================================================================

A boolean column used as a condition is ``column = TRUE``. Each front end decides for itself which of its values are
boolean, and where a condition such as ``a < 5`` may stand for a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from evaluator.language.expression import (
    Call,
    Compare,
    Constant,
    HudiExpression,
    If,
    In,
    Like,
    Literal,
    Node,
    Not,
    Opaque,
    Operand,
    Unknown,
    walk,
)
from evaluator.language.regular_expression import plain_text
from evaluator.language.types import BOOLEAN, INT, STRING, Type

__all__ = [
    "TRUE",
    "any_case_like",
    "as_compared",
    "as_condition",
    "as_operand",
    "case_when",
    "condition_compared",
    "condition_of_truth",
    "item_of_array",
    "truth_of",
]

TRUE = Literal(True, BOOLEAN)
_FALSE, _NULL = Literal(False, BOOLEAN), Literal(None, BOOLEAN)
#: Nodes of a condition that is used as a value. It is repeated there, so nesting would double it at each level.
_MAX_NODES = 500


def case_when(
    branches: Sequence[tuple[HudiExpression, Operand]], otherwise: Operand, result_type: Type | None = None
) -> Operand:
    """CASE with its (condition, result) branches in writing order, as one ``If`` in the ``otherwise`` of the other."""
    case = otherwise
    for condition, result in reversed(branches):
        case = If(condition, result, case, result_type)
    return case


def truth_of(condition: HudiExpression) -> Operand:
    """A condition as a value: TRUE, FALSE or NULL. Opaque for a very large one.

    >>> print(truth_of(Constant(True)))
    True
    """
    plain = as_operand(condition)
    if plain is not None:
        return plain
    if next(islice(walk(condition), _MAX_NODES, None), None) is not None:
        return Opaque("a large condition used as a value is not decided")
    return If(condition, TRUE, If(Not(condition), _FALSE, _NULL))


def as_compared(condition: HudiExpression) -> HudiExpression:
    """A condition that the engine compares with TRUE: ``(l < 1) = TRUE``, where it may compare integers; else itself.

    The value is that of the condition on every row, but in an engine that compares integers in another way where the
    result is a value (``Semantics.long_tests_wrap``). The other engines are asked for the condition itself.

    >>> from evaluator.language.expression import Column
    >>> print(as_compared(Compare("<", Column(("l",)), Literal(1, INT))))
    (l < 1) = True
    >>> print(as_compared(Compare("<", Column(("s",)), Literal("a", STRING))))
    s < 'a'
    """
    if not any(map(_may_compare_integers, walk(condition))):
        return condition
    return Compare("=", truth_of(condition), TRUE)


def condition_compared(node: Node) -> HudiExpression | None:
    """The condition of ``as_compared``; None for any other node."""
    match node:
        case Compare("=", If() as truth, Literal(value=True)):
            return condition_of_truth(truth)
        case _:
            return None


def _may_compare_integers(node: Node) -> bool:
    match node:
        case Compare(left=left, right=right):
            operands: tuple[Node, ...] = (left, right)
        case In(operand=operand, members=members):
            operands = (operand, *members[:1])
        case _:
            return False
    literals = [one for one in operands if isinstance(one, Literal)]
    return all(one.type.kind.is_integer for one in literals)


def any_case_like(operand: Operand, pattern: str, escape: str) -> HudiExpression:
    """``operand ILIKE pattern``: Spark's LIKE of both in lower case. Unknown for a pattern of letters beyond ASCII.

    >>> from evaluator.language.expression import Column
    >>> print(any_case_like(Column(("s",)), "Ab%", "#"))
    lower(s) LIKE 'ab%'
    """
    if not pattern.isascii() or escape.isalpha():
        return Unknown("ILIKE with letters beyond ASCII, or with a letter as its escape, is not decided")
    return Like(Call("lower", (operand,)), pattern.lower(), escape)


def item_of_array(array: Node, place: Node, first: int) -> Operand | None:
    """The first item of a text that is split, whose place is ``first``; None for any other item.

    >>> from evaluator.language.expression import Column
    >>> split = Call("split", (Column(("s",)), Literal("[|]", STRING)))
    >>> print(item_of_array(split, Literal(0, INT), 0), item_of_array(split, Literal(1, INT), 0))
    substring_index(s, '|', 1) None
    """
    match array:
        case Call(function="split", arguments=(text, Literal(value=str(pattern)), *limit)):
            is_whole = all(isinstance(one, Literal) and one.value == -1 for one in limit)
            separator = plain_text(pattern)
            if isinstance(place, Literal) and place.value == first and is_whole and separator is not None:
                return Call("substring_index", (text, Literal(separator, STRING), Literal(1, INT)))
    return None


def condition_of_truth(node: Node) -> HudiExpression | None:
    """The condition that a value of ``truth_of`` stands for; None for any other node."""
    match node:
        case If(
            condition,
            Literal(value=True, type=then),
            If(Not(child=negated), Literal(value=False), Literal(value=None)),
        ) if negated is condition and then == BOOLEAN:
            return condition
        case _:
            return None


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
