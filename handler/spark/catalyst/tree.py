"""Catalyst's own JSON of a condition (``TreeNode.toJSON``) as a tree of plain nodes, without a JVM.

The JSON lists the nodes parents first, each with its number of children. Two things are settled here:

* What the JSON does not tell (``missing_parts``): timestamps without their zone, binary values, the escape character
  of LIKE, the patterns of LIKE ANY. Whoever has the JVM's tree at hand gives them as ``exact``, by the node's place.
* Spark 4 writes ``a BETWEEN x AND y`` and ``nullif(a, b)`` with a name for ``a`` (``With``, ``CommonExpressionRef``),
  Spark 3.5 repeats ``a``. Here it is always repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CatalystNode", "missing_parts", "read_tree"]

#: By class, the field whose value the JSON leaves out.
_UNTOLD = {
    "Like": "escapeChar",
    "LikeAny": "patterns",
    "LikeAll": "patterns",
    "NotLikeAny": "patterns",
    "NotLikeAll": "patterns",
    "InSet": "hset",
}
_LITERALS_UNTOLD = ("timestamp", "binary")
_DEFINITION, _REFERENCE, _WITH = "CommonExpressionDef", "CommonExpressionRef", "With"


@dataclass(slots=True)
class CatalystNode:
    """One expression: its class without the package, the fields of its JSON, and what ``exact`` says of it."""

    name: str
    fields: Mapping[str, Any]
    children: list[CatalystNode]
    exact: Any = None


def missing_parts(items: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """For which nodes, by place, the JSON leaves a value out, and in which field of the JVM's object it is."""
    found = {}
    names = [_name(item) for item in items]
    tangled = names.count(_DEFINITION) > 1
    for place, (name, item) in enumerate(zip(names, items, strict=True)):
        if name == "Literal" and item.get("dataType") in _LITERALS_UNTOLD and item.get("value") is not None:
            found[place] = "value"
        elif name in _UNTOLD:
            found[place] = _UNTOLD[name]
        elif tangled and name in (_DEFINITION, _REFERENCE):
            found[place] = "id"
    return found


def read_tree(items: Sequence[Mapping[str, Any]], exact: Mapping[int, Any] | None = None) -> CatalystNode:
    """The tree of a condition. Raises ValueError when the list is not one tree."""
    exact = exact or {}
    ready: list[CatalystNode] = []  # subtrees that wait for their parent, the first one last
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        count = item["num-children"]
        if count > len(ready):
            raise ValueError("the tree ends too early")
        children = [ready.pop() for _ in range(count)]
        ready.append(CatalystNode(_name(item), item, children, exact.get(place)))
    if len(ready) != 1:
        raise ValueError("the list is not one tree")
    return _without_names(ready[0])


def _name(item: Mapping[str, Any]) -> str:
    return str(item["class"]).rpartition(".")[2]


def _without_names(root: CatalystNode) -> CatalystNode:
    """The tree with each named expression put where its name stands, from the innermost ``With`` outwards.

    A ``With`` has what its names are used in, then the definitions, which cannot use them. Where there is one name
    there is no doubt which is meant; else ``exact`` gives their numbers. A name that is not found stays: it is unknown.
    """
    nodes = _all_nodes(root)
    one_name = sum(node.name == _DEFINITION for node in nodes) == 1
    meant: dict[int, CatalystNode] = {}

    def settled(node: CatalystNode) -> CatalystNode:
        while id(node) in meant:
            node = meant[id(node)]
        return node

    for node in reversed(nodes):
        node.children = [settled(child) for child in node.children]
        if node.name != _WITH or len(node.children) < 2:
            continue
        body, *definitions = node.children
        if all(one.name == _DEFINITION and len(one.children) == 1 for one in definitions):
            named = {None if one_name else one.exact: one.children[0] for one in definitions}
            meant[id(node)] = _with_names_replaced(body, named, one_name)
    return settled(root)


def _with_names_replaced(body: CatalystNode, named: Mapping[Any, CatalystNode], one_name: bool) -> CatalystNode:
    """What uses the names, with their definitions in place; definitions are left as they are."""

    def of(node: CatalystNode) -> CatalystNode | None:
        number = None if one_name else node.exact
        known = node.name == _REFERENCE and (one_name or number is not None)
        return named.get(number) if known else None

    seen = {id(body)}
    stack = [body]
    while stack:
        node = stack.pop()
        stack += [child for child in node.children if of(child) is None and id(child) not in seen]
        seen.update(map(id, node.children))
        node.children = [of(child) or child for child in node.children]
    return of(body) or body


def _all_nodes(root: CatalystNode) -> list[CatalystNode]:
    found = [root]
    for node in found:
        found += node.children
    return found
