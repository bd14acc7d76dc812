"""Catalyst's JSON of a condition (``org.apache.spark.sql.catalyst.trees.TreeNode.toJSON``) as a tree of plain nodes.

The JSON lists the nodes, parents first, each with its number of children. No JVM is needed here.

    i < 5   [{"class": "...LessThan", "num-children": 2}, {"class": "...AttributeReference", "num-children": 0, ...},
             {"class": "...Literal", "num-children": 0, "value": "5", "dataType": "integer"}]

* The JSON leaves some values out: timestamps without their zone, binary values, the escape character of LIKE, the
  patterns of LIKE ANY. ``missing_parts`` lists them, and the caller reads them from the JVM's nodes and passes them
  as ``exact``, by the node's index.
* Spark 4 gives ``a`` a name in ``a BETWEEN x AND y`` and in ``nullif(a, b)`` (``With``, ``CommonExpressionRef``).
  Spark 3.5 repeats ``a``. In this tree ``a`` is always repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CatalystNode", "class_name", "missing_parts", "read_tree"]

#: The field that the JSON leaves out, by class.
_MISSING_FIELDS = {
    "Like": "escapeChar",
    "ILike": "escapeChar",
    "LikeAny": "patterns",
    "LikeAll": "patterns",
    "NotLikeAny": "patterns",
    "NotLikeAll": "patterns",
    "InSet": "hset",
}
_MISSING_LITERALS = ("timestamp", "binary")
_DEFINITION, _REFERENCE, _WITH = "CommonExpressionDef", "CommonExpressionRef", "With"


@dataclass(slots=True)
class CatalystNode:
    """One expression: its class without the package, the fields of its JSON, and the value that the JSON leaves out."""

    name: str
    fields: Mapping[str, Any]
    children: list[CatalystNode]
    exact: Any = None


def missing_parts(items: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The nodes, by index, whose JSON leaves a value out, each with the field of the JVM's object that has it."""
    fields = {}
    names = [class_name(item) for item in items]
    needs_ids = names.count(_DEFINITION) > 1
    for index, (name, item) in enumerate(zip(names, items, strict=True)):
        if name == "Literal" and item.get("dataType") in _MISSING_LITERALS and item.get("value") is not None:
            fields[index] = "value"
        elif name in _MISSING_FIELDS:
            fields[index] = _MISSING_FIELDS[name]
        elif needs_ids and name in (_DEFINITION, _REFERENCE):
            fields[index] = "id"
    return fields


def read_tree(items: Sequence[Mapping[str, Any]], exact: Mapping[int, Any] | None = None) -> CatalystNode:
    """The tree of a condition. Raises ValueError when the list is not one tree."""
    exact = exact or {}
    subtrees: list[CatalystNode] = []  # subtrees without a parent yet, the leftmost last
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        count = item["num-children"]
        if count > len(subtrees):
            raise ValueError("the tree ends too early")
        children = [subtrees.pop() for _ in range(count)]
        subtrees.append(CatalystNode(class_name(item), item, children, exact.get(index)))
    if len(subtrees) != 1:
        raise ValueError("the list is not one tree")
    return _without_common_expressions(subtrees[0])


def class_name(item: Mapping[str, Any]) -> str:
    """The class of a node of Catalyst's JSON, without its package."""
    return str(item["class"]).rpartition(".")[2]


def _without_common_expressions(root: CatalystNode) -> CatalystNode:
    """The tree with the definition of each common expression in place of its references, innermost ``With`` first.

    The first child of a ``With`` uses the references; the others are the definitions, which have none of them. With one
    definition in the whole tree every reference means it; else ``exact`` has their ids. A reference without a
    definition stays, and its node is unknown.
    """
    nodes = _all_nodes(root)
    has_one_definition = sum(node.name == _DEFINITION for node in nodes) == 1
    replacements: dict[int, CatalystNode] = {}

    def replaced(node: CatalystNode) -> CatalystNode:
        while id(node) in replacements:
            node = replacements[id(node)]
        return node

    for node in reversed(nodes):
        node.children = [replaced(child) for child in node.children]
        if node.name != _WITH or len(node.children) < 2:
            continue
        body, *definitions = node.children
        if all(child.name == _DEFINITION and len(child.children) == 1 for child in definitions):
            by_id = {None if has_one_definition else child.exact: child.children[0] for child in definitions}
            replacements[id(node)] = _with_definitions(body, by_id, has_one_definition)
    return replaced(root)


def _with_definitions(
    body: CatalystNode, definitions: Mapping[Any, CatalystNode], has_one_definition: bool
) -> CatalystNode:
    """The body with the definitions in place of their references; the definitions themselves are not changed."""

    def definition_of(node: CatalystNode) -> CatalystNode | None:
        if node.name != _REFERENCE or (node.exact is None and not has_one_definition):
            return None
        return definitions.get(None if has_one_definition else node.exact)

    seen = {id(body)}
    stack = [body]
    while stack:
        node = stack.pop()
        stack += [child for child in node.children if definition_of(child) is None and id(child) not in seen]
        seen.update(map(id, node.children))
        node.children = [definition_of(child) or child for child in node.children]
    return definition_of(body) or body


def _all_nodes(root: CatalystNode) -> list[CatalystNode]:
    nodes = [root]
    for node in nodes:
        nodes += node.children
    return nodes
