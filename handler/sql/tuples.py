"""Tuples in the text of a condition: ``(a, b) IN ((1, 2), (3, 4))``, also written ``struct(a, b) IN (struct(1, 2))``.

    (a, b) IN ((1, 'x'), (3, 'y'))    (a <=> 1 AND b <=> 'x') OR (a <=> 3 AND b <=> 'y')
    (a, b) = (1, 'x')                 a <=> 1 AND b <=> 'x'
    (a, b) < (1, 2), (a, f(b)) ...    ?(reason)

The type of a column is not known in a text, and engines refuse tuples of other types or convert them by rules of their
own. So each column is taken to be declared with the type of its constant: binding leaves it open where the table says
something else. Constants are integers, texts, dates and booleans: engines differ in -0.0 and NaN in a tuple.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from evaluator.language.expression import Column, HudiExpression, Literal, Not, Operand, Unknown
from evaluator.language.tuples import among_tuples, equal_tuples
from evaluator.language.types import Kind

__all__ = ["compared", "in_tuples", "is_tuple"]

_Read = Callable[[exp.Expr], Operand]


def is_tuple(node: exp.Expr) -> bool:
    """Whether a parsed value is a tuple or a struct of values."""
    return _members(node) is not None


def in_tuples(value: exp.Expr, members: list[exp.Expr], read: _Read) -> HudiExpression:
    """``value IN (members)`` for a tuple. ``read`` gives the operand of a parsed value."""
    if not members:
        return Unknown("IN of tuples needs at least one member")
    return among_tuples([_equal(value, member, read) for member in members])


def compared(op: str, left: exp.Expr, right: exp.Expr, read: _Read) -> HudiExpression | None:
    """``left op right`` of tuples for an equality; None for any other comparison."""
    if op in ("=", "<=>"):
        return _equal(left, right, read)
    if op == "!=":
        return Not(_equal(left, right, read))
    return None


def _members(node: exp.Expr) -> list[exp.Expr] | None:
    match node.unnest():
        case exp.Tuple(expressions=members):
            return list(members)
        case exp.Anonymous() as call if call.name.lower() == "struct":
            return list(call.expressions)
        case _:
            return None


def _equal(left: exp.Expr, right: exp.Expr, read: _Read) -> HudiExpression:
    sides = [_members(left), _members(right)]
    fields, values = ([read(one) for one in side or ()] for side in sides)
    if None in sides or not fields or len(fields) != len(values):
        return Unknown("a tuple compared with something that is no tuple of as many values is not decided")
    pairs = [_pair(field, value) for field, value in zip(fields, values, strict=True)]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return Unknown("a tuple of anything but columns, compared with plain constants, is not decided")
    return equal_tuples([field for field, _ in known], [value for _, value in known])


def _pair(field: Operand, value: Operand) -> tuple[Column, Literal] | None:
    match field, value:
        case Column(path=path), Literal(value=constant, type=of) if constant is not None and (
            of.kind.is_integer or of.kind in (Kind.STRING, Kind.DATE, Kind.BOOLEAN)
        ):
            return Column(path, of), value
        case _:
            return None
