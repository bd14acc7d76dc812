"""What planning asks of a filter that is given as a tree: is it one, and does it read the clock?

The answers for small trees are remembered by the tree itself, since nodes never change. Who plans one filter again and
again, as a query planner does, has it walked once.
"""

from __future__ import annotations

from typing import NamedTuple

from evaluator.language.clock import is_moment
from evaluator.language.expression import (
    Call,
    Cast,
    Column,
    Compare,
    HudiExpression,
    InKeys,
    Like,
    Literal,
    Node,
    Operand,
    children_of,
    walk_distinct,
)
from evaluator.language.types import Type
from handler.planning.by_identity import ByIdentity

__all__ = ["TreeFacts", "described", "facts_of"]

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "<=>")
#: Trees of at most this size are remembered, and so many of them. A node counts 1, a set of keys as a whole tree.
_MAX_SIZE, _MAX_TREES = 256, 64


class TreeFacts(NamedTuple):
    """``mistake``: what is wrong with a part such as that of ``Compare("=", "fare", 5)``, or ""."""

    mistake: str
    reads_clock: bool


_KNOWN: ByIdentity[HudiExpression, TreeFacts] = ByIdentity(_MAX_TREES)


def facts_of(tree: HudiExpression) -> TreeFacts:
    """The facts of a tree. After a mistake it is not walked further."""
    known = _KNOWN.get(tree)
    if known is not None:
        return known
    facts, size = _walked(tree)
    if size < _MAX_SIZE:
        _KNOWN.keep(tree, facts)
    return facts


def described(value: object) -> str:
    """The type of a value, for people; None by itself."""
    return "None" if value is None else f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _walked(tree: HudiExpression) -> tuple[TreeFacts, int]:
    """The facts, and the size of what was walked."""
    size, reads_clock = 0, False
    try:
        for node in walk_distinct(tree, _children):
            size += _MAX_SIZE if isinstance(node, InKeys) else 1
            reads_clock = reads_clock or is_moment(node)
            mistake = _mistake_in(node)
            if mistake:
                return TreeFacts(mistake, reads_clock), size
    except _NoChildrenError as error:
        return TreeFacts(str(error), reads_clock), size
    return TreeFacts("", reads_clock), size


class _NoChildrenError(TypeError):
    """A node whose list of parts is none."""


def _children(node: Node) -> tuple[Node, ...]:
    try:
        return tuple(children_of(node))
    except TypeError as error:
        raise _NoChildrenError(f"{type(node).__name__} in the expression has no list of parts: {error}") from None


def _mistake_in(node: Node) -> str:
    """What is wrong with one node, or ""."""
    if not isinstance(node, HudiExpression | Operand):
        return f"a part of the expression is {described(node)}: give Column(('fare',)), Literal(5, INT) and the like"
    mistake = _mistake_in_fields(node)
    return f"{type(node).__name__} in the expression: {mistake}" if mistake else ""


def _mistake_in_fields(node: HudiExpression | Operand) -> str:
    match node:
        case Column(path=path) if not isinstance(path, tuple) or not path or not all(isinstance(p, str) for p in path):
            return f"its path is a tuple of names such as ('st', 'x'), not {path!r:.60}"
        case Literal(type=value_type) | Cast(type=value_type) if not isinstance(value_type, Type):
            return f"its type is one of evaluator's, such as INT, not {value_type!r:.60}"
        case Compare(op=op) if op not in _COMPARISONS:
            return f"its operator is one of {' '.join(_COMPARISONS)}, not {op!r:.60}"
        case Call(function=function) if not isinstance(function, str):
            return f"its function is a name, not {described(function)}"
        case Like(pattern=pattern, escape=escape) if not isinstance(pattern, str) or not isinstance(escape, str):
            return "its pattern and its escape character are texts"
        case _:
            return ""
