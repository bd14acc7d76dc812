"""Draws any tree as a Rich tree, without recursion and with a limit of nodes and levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.text import Text
from rich.tree import Tree

__all__ = ["MAX_DEPTH", "MAX_NODES", "draw_tree"]

N = TypeVar("N")

MAX_NODES = 200
MAX_DEPTH = 30


def draw_tree(root: N, label_of: Callable[[N], Text], children_of: Callable[[N], Sequence[N]]) -> Tree:
    """Draw a tree; branches beyond ``MAX_NODES`` nodes or ``MAX_DEPTH`` levels are cut, with a note."""
    drawing = Tree(label_of(root))
    stack = [(drawing, root, 1)]
    count = 1
    while stack:
        branch, node, depth = stack.pop()
        children = children_of(node)
        if depth >= MAX_DEPTH and children:
            branch.add(Text("… deeper levels are not shown", style="dim"))
            continue
        remaining = max(MAX_NODES - count, 0)
        added = [(branch.add(label_of(child)), child, depth + 1) for child in children[:remaining]]
        count += len(added)
        if len(children) > remaining:
            branch.add(Text(f"… {len(children) - remaining} more are not shown", style="dim"))
        stack.extend(reversed(added))
    return drawing
