"""Any tree as a rich tree, without recursion and never longer than a screen can bear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.text import Text
from rich.tree import Tree

__all__ = ["MAX_DEPTH", "MAX_NODES", "grow"]

N = TypeVar("N")

MAX_NODES = 200
MAX_DEPTH = 30


def grow(root: N, label_of: Callable[[N], Text], children_of: Callable[[N], Sequence[N]]) -> Tree:
    """Draw a tree; branches beyond ``MAX_NODES`` nodes or ``MAX_DEPTH`` levels are cut, and say so."""
    drawn = Tree(label_of(root))
    stack = [(drawn, root, 1)]
    count = 1
    while stack:
        branch, node, depth = stack.pop()
        children = children_of(node)
        if depth >= MAX_DEPTH and children:
            branch.add(Text("… deeper levels are not shown", style="dim"))
            continue
        room = max(MAX_NODES - count, 0)
        added = [(branch.add(label_of(child)), child, depth + 1) for child in children[:room]]
        count += len(added)
        if len(children) > room:
            branch.add(Text(f"… {len(children) - room} more are not shown", style="dim"))
        stack.extend(reversed(added))
    return drawn
