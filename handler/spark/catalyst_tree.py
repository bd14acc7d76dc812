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
_UNTOLD = {"Like": "escapeChar", "LikeAny": "patterns", "LikeAll": "patterns", "NotLikeAny": "patterns",
           "NotLikeAll": "patterns", "InSet": "hset"}
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
    tangled = names.count(_WITH) > 1
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
    ready: list[CatalystNode] = []                           # subtrees that wait for their parent, the first one last
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
    """The tree with each named expression put where its name stands.

    With one name in the whole tree there is no doubt which is meant; among more, ``exact`` gives their numbers. A name
    whose expression is not found stays and will be unknown.
    """
    nodes = _all_nodes(root)
    definitions = [node for node in nodes if node.name == _DEFINITION]
    if not definitions:
        return root
    if len(definitions) == 1:
        only = definitions[0].children[0]
        meant = {id(node): only for node in nodes if node.name == _REFERENCE}
    else:
        numbered = {node.exact: node.children[0] for node in definitions if node.exact is not None}
        meant = {id(node): numbered[node.exact] for node in nodes
                 if node.name == _REFERENCE and node.exact in numbered}

    def settled(node: CatalystNode) -> CatalystNode:
        while node.name == _WITH or id(node) in meant:
            node = node.children[0] if node.name == _WITH else meant[id(node)]
        return node

    for node in nodes:
        node.children = [settled(child) for child in node.children]
    return settled(root)


def _all_nodes(root: CatalystNode) -> list[CatalystNode]:
    found = [root]
    for node in found:
        found += node.children
    return found
