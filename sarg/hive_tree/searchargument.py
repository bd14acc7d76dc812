"""Hive's SearchArgument: the tree, as decoded, of a filter that was already cut down by whoever wrote it.

    ====================================  ========================================  ================================
    layout                                fields                                    a tree's leaf
    ====================================  ========================================  ================================
    storage-api 2.4 to 2.7 (Hive 2.3, 3)  expression, leaves                        index into ``leaves``
    storage-api 2.8 (Hive 4, Spark)       compactExpression, leaves,                the PredicateLeaf itself
                                          normalizedExpression
    ====================================  ========================================  ================================

``compactExpression`` is preferred: it is not in conjunctive normal form, and keeps what that form gives up on.

Facts: docs/facts/hive-search-argument.md#wire-form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sarg.hive_tree.constants import Constant, constant_of
from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import MAX_EXPRESSION_DEPTH, MAX_NODES
from sarg.kryo.values import JavaList, JavaObject

__all__ = ["TOP_ARGUMENT", "ArgumentTree", "PredicateLeaf", "SearchArgument", "argument_text", "build_argument"]

_PACKAGE = "org.apache.hadoop.hive.ql.io.sarg."
TOP_ARGUMENT = _PACKAGE + "SearchArgumentImpl"
_DYNAMIC = "org.apache.hadoop.hive.ql.plan.DynamicValue"
_OPERATORS = ("OR", "AND", "NOT", "LEAF", "CONSTANT")


@dataclass(frozen=True, slots=True)
class PredicateLeaf:
    """``operator column literal``. A literal that is known at run time only is a Constant of class DynamicValue."""

    operator: str
    type: str
    column: str
    literal: Constant | None
    literals: tuple[Constant | None, ...] | None

    def weight(self) -> int:
        """How many nodes this leaf counts for (limits)."""
        return sum(1 if literal is None else literal.weight() for literal in (self.literal, *(self.literals or ())))

    def __str__(self) -> str:
        shown = [self.literal] if self.literals is None else list(self.literals)
        if self.literals is None and self.literal is None and self.operator != "NULL_SAFE_EQUALS":
            shown = []
        return " ".join(["(" + self.operator, self.column, *("null" if c is None else str(c) for c in shown)]) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentTree:
    """OR, AND, NOT, LEAF or CONSTANT (a TruthValue such as YES_NO_NULL)."""

    operator: str
    children: tuple[ArgumentTree, ...] = ()
    leaf: PredicateLeaf | None = None
    constant: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SearchArgument:
    """Both trees of a SearchArgument (the same one where its version has only one) and its leaves."""

    compact: ArgumentTree
    normalized: ArgumentTree
    leaves: tuple[PredicateLeaf, ...]


def argument_text(tree: ArgumentTree) -> str:
    """The tree as storage-api 2.8 prints it: ``(and leaf-(EQUALS a 5) (not leaf-(IS_NULL b)))``."""
    pieces: list[str] = []
    stack: list[ArgumentTree | str] = [tree]
    while stack:
        node = stack.pop()
        match node:
            case str():
                pieces.append(node)
            case ArgumentTree(operator="LEAF", leaf=leaf):
                pieces.append(f"leaf-{leaf}")
            case ArgumentTree(operator="CONSTANT", constant=constant):
                pieces.append(str(constant))
            case ArgumentTree(operator=operator, children=children):
                stack.append(")")
                for child in reversed(children):
                    stack.extend((child, " "))
                pieces.append("(" + operator.lower())
    return "".join(pieces)


def build_argument(top: JavaObject) -> SearchArgument:
    """The SearchArgument of an object graph. Raises DecodeError when it is not plausible or too large."""
    fields = top.fields
    found_leaves = fields.get("leaves")
    if not isinstance(found_leaves, JavaList):
        raise DecodeError(top.offset, "a SearchArgument has no list of leaves")
    memory: dict[int, PredicateLeaf] = {}
    leaves = [_leaf(item, top, memory) for item in found_leaves.items]
    normalized = _tree(fields.get("normalizedExpression", fields.get("expression")), leaves, memory, top)
    compact = fields.get("compactExpression")
    if compact is None:
        return SearchArgument(normalized, normalized, tuple(leaves))
    return SearchArgument(_tree(compact, leaves, memory, top), normalized, tuple(leaves))


def _leaf(found: Any, owner: JavaObject, memory: dict[int, PredicateLeaf]) -> PredicateLeaf:
    """A leaf, read once however often it is referred to."""
    if not isinstance(found, JavaObject) or not found.java.endswith("$PredicateLeafImpl"):
        raise DecodeError(owner.offset, "a leaf is not a PredicateLeaf")
    if id(found) not in memory:
        memory[id(found)] = _new_leaf(found)
    return memory[id(found)]


def _new_leaf(found: JavaObject) -> PredicateLeaf:
    fields = found.fields
    operator, kind, column = fields["operator"], fields["type"], fields["columnName"]
    if not (isinstance(operator, str) and isinstance(kind, str) and isinstance(column, str)):
        raise DecodeError(found.offset, "a leaf lacks its operator, type or column")
    listed = fields["literalList"]
    if listed is None:
        return PredicateLeaf(operator, kind, column, _literal(fields["literal"], found), None)
    if not isinstance(listed, JavaList) or len(listed.items) > MAX_NODES:
        raise DecodeError(found.offset, "a leaf's literals are not a list, or too many")
    return PredicateLeaf(operator, kind, column, None, tuple(_literal(item, found) for item in listed.items))


def _literal(found: Any, owner: JavaObject) -> Constant | None:
    if isinstance(found, JavaObject) and found.java == _DYNAMIC:
        return Constant(_DYNAMIC, f"DynamicValue({found.fields.get('id')})")
    return constant_of(found, owner.offset)


def _tree(found: Any, leaves: list[PredicateLeaf], memory: dict[int, PredicateLeaf], owner: JavaObject) -> ArgumentTree:
    """One expression tree. Shared subtrees count each time; a cycle runs into the same limit."""
    done: dict[int, tuple[ArgumentTree, int, int]] = {}
    open_now: set[int] = set()
    stack: list[tuple[JavaObject, bool]] = [(_argument(found, owner), False)]
    top = stack[0][0]
    while stack:
        node, is_ready = stack.pop()
        key = id(node)
        if key in done:
            continue
        below = [_argument(item, node) for item in _children(node)]
        if not is_ready:
            if key in open_now:
                raise DecodeError(node.offset, "a SearchArgument contains itself")
            open_now.add(key)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(below) if id(child) not in done)
            continue
        built = [done[id(child)] for child in below]
        tree = _argument_node(node, tuple(entry[0] for entry in built), leaves, memory)
        size = 1 + sum(entry[1] for entry in built) + (0 if tree.leaf is None else tree.leaf.weight())
        depth = 1 + max((entry[2] for entry in built), default=0)
        if size > MAX_NODES or depth > MAX_EXPRESSION_DEPTH:
            raise DecodeError(node.offset, "a SearchArgument expands to too many nodes or is nested too deep")
        done[key] = (tree, size, depth)
    return done[id(top)][0]


def _children(node: JavaObject) -> list[Any]:
    children = node.fields["children"]
    if children is None:
        return []
    if not isinstance(children, JavaList):
        raise DecodeError(node.offset, "the children of a SearchArgument are not a list")
    return children.items


def _argument(found: Any, owner: JavaObject) -> JavaObject:
    if not isinstance(found, JavaObject) or found.java != _PACKAGE + "ExpressionTree":
        raise DecodeError(owner.offset, "a SearchArgument has no expression")
    return found


def _argument_node(
    node: JavaObject, children: tuple[ArgumentTree, ...], leaves: list[PredicateLeaf], memory: dict[int, PredicateLeaf]
) -> ArgumentTree:
    operator, constant, leaf = node.fields["operator"], node.fields["constant"], node.fields["leaf"]
    if operator not in _OPERATORS:
        raise DecodeError(node.offset, "a SearchArgument lacks its operator")
    match operator:
        case "LEAF":
            if isinstance(leaf, int):
                if not 0 <= leaf < len(leaves):
                    raise DecodeError(node.offset, f"a SearchArgument has no leaf {leaf}")
                return ArgumentTree(operator, leaf=leaves[leaf])
            return ArgumentTree(operator, leaf=_leaf(leaf, node, memory))
        case "CONSTANT":
            return ArgumentTree(operator, constant=constant if isinstance(constant, str) else None)
        case _:
            if not children or (operator == "NOT" and len(children) != 1):
                raise DecodeError(node.offset, f"{operator} with {len(children)} children")
            return ArgumentTree(operator, children)
