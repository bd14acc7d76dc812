"""The typed Hive tree: the nodes of a pushed expression, before any translation.

An ``ExprNode`` is one of five nodes, or ``OtherNode`` for a class that is not used in filters of scans:

    ===============  ==========================  =======================================================================
    node             Hive class                  ``to_dict``
    ===============  ==========================  =======================================================================
    FunctionNode     ExprNodeGenericFuncDesc     {"func", ["udfName", "udfClassName", "isOperator"], "type", "children"}
    ColumnNode       ExprNodeColumnDesc          {"col", "tab", "part", "type"}
    ConstantNode     ExprNodeConstantDesc        {"const", "java", "type"}: the text that Java prints, or null
    FieldNode        ExprNodeFieldDesc           {"field", "isList", "of", "type"}
    DynamicNode      ExprNodeDynamicValueDesc    {"dynamic", "type"}: a value that is known at run time only
    ===============  ==========================  =======================================================================

``type`` is Hive's type text, such as ``decimal(10,2)``. Subtrees may be shared. In ``to_dict``, ``a < 5`` is:

    {"func": "org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPLessThan", "type": "boolean", "children": [
        {"col": "a", "tab": "t", "part": False, "type": "int"},
        {"const": "5", "java": "java.lang.Integer", "type": "int"}]}

Facts: docs/facts/hive-kryo.md#nodes-and-their-fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from evaluator.language.records import frozen
from sarg.hive_tree.constants import Constant

__all__ = [
    "Bridge",
    "ColumnNode",
    "ConstantNode",
    "DynamicNode",
    "ExprNode",
    "FieldNode",
    "FunctionNode",
    "OtherNode",
    "fold_tree",
]

R = TypeVar("R")


@frozen
class Bridge:
    """The old-style function (a UDF class) that a GenericUDFBridge calls."""

    name: str | None
    java: str | None
    is_operator: bool

    @property
    def simple_name(self) -> str:
        return (self.java or "").rpartition(".")[2]


class ExprNode:
    """A node of the typed Hive tree. ``type`` is Hive's type text."""

    __slots__ = ()
    type: str

    def children_of(self) -> tuple[ExprNode, ...]:
        """The nodes below, in writing order."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The tree, of any depth, as plain dicts and lists, as in the table of this module."""
        return fold_tree(self, lambda node: node.children_of(), _as_dict)


@frozen(eq=False)
class FunctionNode(ExprNode):
    """A function or operator; ``java`` is the class of the GenericUDF."""

    java: str
    type: str
    children: tuple[ExprNode, ...]
    bridge: Bridge | None = None

    @property
    def simple_name(self) -> str:
        return self.java.rpartition(".")[2]

    def children_of(self) -> tuple[ExprNode, ...]:
        return self.children


@frozen(eq=False)
class ColumnNode(ExprNode):
    """A column; ``is_partition_or_virtual`` is Hive's isPartitionColOrVirtualCol."""

    name: str
    table: str | None
    is_partition_or_virtual: bool
    type: str


@frozen(eq=False)
class ConstantNode(ExprNode):
    """A constant; a ``value`` of None is NULL."""

    value: Constant | None
    type: str


@frozen(eq=False)
class FieldNode(ExprNode):
    """A field of a struct, or of each struct of a list."""

    field: str
    is_list: bool
    struct: ExprNode
    type: str

    def children_of(self) -> tuple[ExprNode, ...]:
        return (self.struct,)


@frozen(eq=False)
class DynamicNode(ExprNode):
    """A bound of a semi-join; its value is never in the bytes."""

    id: str | None
    type: str


@frozen(eq=False)
class OtherNode(ExprNode):
    """A node class that filters of scans do not use, such as ExprNodeColumnListDesc."""

    java: str
    type: str


def fold_tree(
    root: ExprNode, children_of: Callable[[ExprNode], tuple[ExprNode, ...]], combine: Callable[[ExprNode, list[R]], R]
) -> R:
    """Compute a value bottom-up, ``combine(node, values of its children)``, without recursion."""
    order: list[tuple[ExprNode, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        children = children_of(node)
        order.append((node, len(children)))
        stack.extend(children)
    values: list[R] = []
    while order:
        node, count = order.pop()
        child_values = values[len(values) - count :]
        del values[len(values) - count :]
        values.append(combine(node, child_values))
    return values[0]


def _as_dict(node: ExprNode, children: list[dict[str, Any]]) -> dict[str, Any]:
    match node:
        case FunctionNode(java=java, bridge=None):
            return {"func": java, "type": node.type, "children": children}
        case FunctionNode(java=java, bridge=Bridge() as bridge):
            return {
                "func": java,
                "udfName": bridge.name,
                "udfClassName": bridge.java,
                "isOperator": bridge.is_operator,
                "type": node.type,
                "children": children,
            }
        case ColumnNode():
            return {"col": node.name, "tab": node.table, "part": node.is_partition_or_virtual, "type": node.type}
        case ConstantNode(value=None):
            return {"const": None, "java": None, "type": node.type}
        case ConstantNode(value=Constant(java=java) as constant):
            return {"const": str(constant), "java": java, "type": node.type}
        case FieldNode():
            return {"field": node.field, "isList": node.is_list, "of": children[0], "type": node.type}
        case DynamicNode():
            return {"dynamic": node.id, "type": node.type}
        case OtherNode():
            return {"other": node.java, "type": node.type}
        case _:
            raise TypeError(f"not a node: {node!r}")
