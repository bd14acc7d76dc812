"""The size of a filter when every shared subtree is written out, found without writing it out.

Front ends build some conditions out of one operand several times: ``nullif(x, 1)`` is ``if(x = 1, NULL, x)``. The
operand is one object in memory, but every walk over the tree meets it twice, and 60 of them in each other give a tree
of 2^60 nodes. A front end therefore asks for the size before anything walks the tree.

A text counts as one node for each ``CHARACTERS_PER_NODE`` characters, because it is printed wherever it stands.
"""

from __future__ import annotations

from evaluator.language.expression import Call, Cast, Column, If, Like, Literal, Node, Opaque, Unknown, children_of
from evaluator.language.types import Type

__all__ = ["CHARACTERS_PER_NODE", "expanded_size"]

CHARACTERS_PER_NODE = 256


def expanded_size(root: Node) -> int:
    """How many nodes a walk over the tree meets. Each object is looked at once. The number may be astronomical."""
    sizes: dict[int, int] = {}
    stack: list[tuple[Node, tuple[Node, ...] | None]] = [(root, None)]
    while stack:
        node, children = stack.pop()
        if children is not None:
            size = _own_size(node)
            for child in children:
                size += sizes[id(child)]
            sizes[id(node)] = size
        elif id(node) not in sizes:
            children = children_of(node)
            if children:
                stack.append((node, children))
                stack.extend([(child, None) for child in children])
            else:
                sizes[id(node)] = _own_size(node)
    return sizes[id(root)]


def _own_size(node: Node) -> int:
    match node:
        case Literal(value=value, type=literal_type):
            return 1 + _texts(value, literal_type)
        case Column(path=path, type=column_type):
            return 1 + _texts(*path, column_type)
        case Cast(type=target):
            return 1 + _texts(target)
        case Call(function=name, type=result):
            return 1 + _texts(name, result)
        case If(type=result):
            return 1 + _texts(result)
        case Like(pattern=pattern):
            return 1 + _texts(pattern)
        case Unknown(reason=reason) | Opaque(reason=reason):
            return 1 + _texts(reason)
        case _:
            return 1


def _texts(*values: object) -> int:
    length = 0
    for value in values:
        if isinstance(value, str | bytes):
            length += len(value)
        elif isinstance(value, Type):
            length += len(value.name)
    return length // CHARACTERS_PER_NODE
