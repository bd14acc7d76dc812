"""Builds the typed tree of an ExprNodeGenericFuncDesc from its object graph, and checks that it is plausible.

Bytes that are read under a wrong profile may be readable to the end and mean nothing. This module refuses them: each
class must fit its slot (node, function, type), each node needs a type, each name must be text.

Back-references make the graph a DAG or cyclic. A cycle is an error. A shared subtree counts once for each reference,
so a small input cannot expand to a huge tree (``sarg.kryo.limits``). A constant counts for what is built of it, when it
is built.
"""

from __future__ import annotations

from typing import Any

from sarg.hive_tree.constants import NodeBudget, constant_of
from sarg.hive_tree.exprnode import (
    Bridge,
    ColumnNode,
    ConstantNode,
    DynamicNode,
    ExprNode,
    FieldNode,
    FunctionNode,
    OtherNode,
)
from sarg.hive_tree.typeinfo import TypeTexts
from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.limits import CHARACTERS_PER_NODE, MAX_EXPRESSION_DEPTH, MAX_NODES
from sarg.kryo.values import Boxed, JavaList, JavaObject

__all__ = ["TOP_NODE", "build_tree"]

_NODE_PREFIX = "org.apache.hadoop.hive.ql.plan.ExprNode"
TOP_NODE = _NODE_PREFIX + "GenericFuncDesc"


class _Built:
    """A finished node, with the size and the depth of the tree that it expands to."""

    __slots__ = ("depth", "node", "size")

    def __init__(self, node: ExprNode, size: int, depth: int) -> None:
        self.node = node
        self.size = size
        self.depth = depth


def build_tree(top: JavaObject, max_nodes: int = MAX_NODES) -> ExprNode:
    """The typed tree of an ExprNodeGenericFuncDesc. Raises DecodeError when it is not plausible or too large."""
    types = TypeTexts()
    budget = NodeBudget(max_nodes)
    built_by_id: dict[int, _Built | None] = {}  # None while the node's children are being built
    stack: list[tuple[JavaObject, list[JavaObject] | None]] = [(top, None)]
    while stack:
        instance, child_instances = stack.pop()
        key = id(instance)
        if child_instances is None:
            if key in built_by_id:
                if built_by_id[key] is None:
                    raise DecodeError(instance.offset, "an expression contains itself")
                continue
            built_by_id[key] = None
            child_instances = _child_instances(instance)
            stack.append((instance, child_instances))
            stack.extend((child, None) for child in reversed(child_instances))
            continue
        children = []
        for child in child_instances:
            built = built_by_id[id(child)]
            if built is None:
                raise DecodeError(instance.offset, "an expression contains itself")
            children.append(built)
        built_by_id[key] = _build(instance, children, types, budget)
    root = built_by_id[id(top)]
    if root is None:
        raise DecodeError(top.offset, "an expression contains itself")
    return root.node


def _child_instances(instance: JavaObject) -> list[JavaObject]:
    match instance.java.removeprefix(_NODE_PREFIX):
        case "GenericFuncDesc":
            children = instance.fields.get("children", instance.fields.get("chidren"))  # so spelled before Hive 4
            if not isinstance(children, JavaList):
                raise DecodeError(instance.offset, "a function has no list of children")
            return [_node(child, instance) for child in children.items]
        case "FieldDesc":
            return [_node(instance.fields["desc"], instance)]
        case _:
            return []


def _node(value: Any, owner: JavaObject) -> JavaObject:
    if not isinstance(value, JavaObject) or not value.java.startswith(_NODE_PREFIX):
        raise DecodeError(owner.offset, f"a child of a {owner.simple_name} is not an expression")
    return value


def _build(instance: JavaObject, children: list[_Built], types: TypeTexts, budget: NodeBudget) -> _Built:
    type_text = types.text_of(instance.fields.get("typeInfo"), instance)
    size = 1 + sum(child.size for child in children) + _weight(type_text)
    depth = 1 + max((child.depth for child in children), default=0)
    fields = instance.fields
    node: ExprNode
    match instance.java.removeprefix(_NODE_PREFIX):
        case "GenericFuncDesc":
            function = fields["genericUDF"]
            if not isinstance(function, JavaObject) or ".udf." not in function.java:
                raise DecodeError(instance.offset, "a function node has no function")
            bridge = _bridge(function)
            size += 0 if bridge is None else _weight(bridge.name) + _weight(bridge.java)
            node = FunctionNode(function.java, type_text, tuple(child.node for child in children), bridge)
        case "ColumnDesc":
            name = _text(fields["column"], instance)
            table = _optional_text(fields["tabAlias"], instance)
            size += _weight(name) + _weight(table)
            node = ColumnNode(name, table, fields["isPartitionColOrVirtualCol"], type_text)
        case "ConstantDesc":
            constant = constant_of(fields["value"], instance.offset, budget)
            size += constant.weight() - 1 if constant is not None else 0
            node = ConstantNode(constant, type_text)
        case "FieldDesc":
            field = _text(fields["fieldName"], instance)
            size += _weight(field)
            node = FieldNode(field, fields["isList"] is True, children[0].node, type_text)
        case "DynamicValueDesc":
            dynamic = fields["dynamicValue"]
            if not isinstance(dynamic, JavaObject):
                raise DecodeError(instance.offset, "a dynamic value has no name")
            value_name = _optional_text(dynamic.fields.get("id"), instance)
            size += _weight(value_name)
            node = DynamicNode(value_name, type_text)
        case _:
            node = OtherNode(instance.java, type_text)
    if size > budget.limit:
        raise TooLargeError(instance.offset, f"the expression expands to more than {budget.limit} nodes")
    if depth > MAX_EXPRESSION_DEPTH:
        raise DecodeError(instance.offset, f"the expression is nested more than {MAX_EXPRESSION_DEPTH} deep")
    return _Built(node, size, depth)


def _bridge(function: JavaObject) -> Bridge | None:
    if not function.java.endswith(".GenericUDFBridge"):
        return None
    fields = function.fields
    operator = fields["isOperator"]
    return Bridge(
        _optional_text(fields["udfName"], function),
        _optional_text(fields["udfClassName"], function),
        bool(operator.value if isinstance(operator, Boxed) else operator),
    )


def _text(value: Any, owner: JavaObject) -> str:
    if not isinstance(value, str):
        raise DecodeError(owner.offset, f"a {owner.simple_name} has no name")
    return value


def _optional_text(value: Any, owner: JavaObject) -> str | None:
    return None if value is None else _text(value, owner)


def _weight(text: str | None) -> int:
    """Nodes that a text counts for, so that references to a long shared text are not free."""
    return 0 if text is None else len(text) // CHARACTERS_PER_NODE
