"""From the object graph to the typed tree, and the plausibility check on the way.

Bytes that are read under a wrong profile may run to the end with garbage. They do not pass here: each class must fit
its slot (node, function, type), each node needs a type, each text must be a text.

A back-reference makes the graph a DAG or a cycle: a cycle is an error, and a shared subtree counts each time.
"""

from __future__ import annotations

from typing import Any

from sarg.hive_tree.constants import constant_of
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
from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import CHARACTERS_PER_NODE, MAX_EXPRESSION_DEPTH, MAX_NODES
from sarg.kryo.values import Boxed, JavaList, JavaObject

__all__ = ["TOP_NODE", "build_tree"]

_NODE_PREFIX = "org.apache.hadoop.hive.ql.plan.ExprNode"
TOP_NODE = _NODE_PREFIX + "GenericFuncDesc"


class _Built:
    """A finished node with the size and the depth of what it expands to."""

    __slots__ = ("depth", "node", "size")

    def __init__(self, node: ExprNode, size: int, depth: int) -> None:
        self.node = node
        self.size = size
        self.depth = depth


def build_tree(top: JavaObject) -> ExprNode:
    """The typed tree of an ExprNodeGenericFuncDesc. Raises DecodeError when it is not plausible or too large."""
    types = TypeTexts()
    done: dict[int, _Built | None] = {}
    stack: list[tuple[JavaObject, list[JavaObject] | None]] = [(top, None)]
    while stack:
        found, below = stack.pop()
        key = id(found)
        if below is None:
            if key in done:
                if done[key] is None:
                    raise DecodeError(found.offset, "an expression contains itself")
                continue
            done[key] = None
            below = _below(found)
            stack.append((found, below))
            stack.extend((child, None) for child in reversed(below))
            continue
        children = []
        for child in below:
            built = done[id(child)]
            if built is None:
                raise DecodeError(found.offset, "an expression contains itself")
            children.append(built)
        done[key] = _build(found, children, types)
    root = done[id(top)]
    if root is None:
        raise DecodeError(top.offset, "an expression contains itself")
    return root.node


def _below(found: JavaObject) -> list[JavaObject]:
    match found.java.removeprefix(_NODE_PREFIX):
        case "GenericFuncDesc":
            children = found.fields.get("children", found.fields.get("chidren"))
            if not isinstance(children, JavaList):
                raise DecodeError(found.offset, "a function has no list of children")
            return [_node(child, found) for child in children.items]
        case "FieldDesc":
            return [_node(found.fields["desc"], found)]
        case _:
            return []


def _node(found: Any, owner: JavaObject) -> JavaObject:
    if not isinstance(found, JavaObject) or not found.java.startswith(_NODE_PREFIX):
        raise DecodeError(owner.offset, f"a child of a {owner.simple_name} is not an expression")
    return found


def _build(found: JavaObject, children: list[_Built], types: TypeTexts) -> _Built:
    type_text = types.of(found.fields.get("typeInfo"), found)
    size = 1 + sum(child.size for child in children) + _weight(type_text)
    depth = 1 + max((child.depth for child in children), default=0)
    fields = found.fields
    node: ExprNode
    match found.java.removeprefix(_NODE_PREFIX):
        case "GenericFuncDesc":
            function = fields["genericUDF"]
            if not isinstance(function, JavaObject) or ".udf." not in function.java:
                raise DecodeError(found.offset, "a function node has no function")
            below = tuple(child.node for child in children)
            bridge = _bridge(function)
            size += 0 if bridge is None else _weight(bridge.name) + _weight(bridge.java)
            node = FunctionNode(function.java, type_text, below, bridge)
        case "ColumnDesc":
            name = _text(fields["column"], found)
            table = _optional_text(fields["tabAlias"], found)
            size += _weight(name) + _weight(table)
            node = ColumnNode(name, table, fields["isPartitionColOrVirtualCol"], type_text)
        case "ConstantDesc":
            constant = constant_of(fields["value"], found.offset)
            size += constant.weight() - 1 if constant is not None else 0
            node = ConstantNode(constant, type_text)
        case "FieldDesc":
            field = _text(fields["fieldName"], found)
            size += _weight(field)
            node = FieldNode(field, fields["isList"] is True, children[0].node, type_text)
        case "DynamicValueDesc":
            dynamic = fields["dynamicValue"]
            if not isinstance(dynamic, JavaObject):
                raise DecodeError(found.offset, "a dynamic value has no name")
            name_of_value = _optional_text(dynamic.fields.get("id"), found)
            size += _weight(name_of_value)
            node = DynamicNode(name_of_value, type_text)
        case _:
            node = OtherNode(found.java, type_text)
    if size > MAX_NODES:
        raise DecodeError(found.offset, f"the expression expands to more than {MAX_NODES} nodes")
    if depth > MAX_EXPRESSION_DEPTH:
        raise DecodeError(found.offset, f"the expression is nested more than {MAX_EXPRESSION_DEPTH} deep")
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
    """A shared long text must not be multiplied for free."""
    return 0 if text is None else len(text) // CHARACTERS_PER_NODE
