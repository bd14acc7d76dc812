"""Hive's SearchArgument, as decoded: a filter that its writer has already reduced to what ORC can evaluate.

    ====================================  ========================================  ================================
    layout                                fields                                    leaf of a tree
    ====================================  ========================================  ================================
    storage-api 2.4 to 2.7 (Hive 2.3, 3)  expression, leaves                        index into ``leaves``
    storage-api 2.8 (Hive 4, Spark)       compactExpression, leaves,                the PredicateLeaf itself
                                          normalizedExpression
    ====================================  ========================================  ================================

``compactExpression`` is preferred: it keeps the tree. ``normalizedExpression`` is in conjunctive normal form, which
gives up beyond 256 combinations.

Facts: docs/facts/hive-search-argument.md#wire-form.
"""

from __future__ import annotations

from typing import Any

from evaluator.language.records import frozen
from sarg.hive_tree.constants import Constant, NodeBudget, constant_of
from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.limits import MAX_EXPRESSION_DEPTH, MAX_NODES
from sarg.kryo.values import JavaList, JavaObject

__all__ = ["TOP_ARGUMENT", "ArgumentTree", "PredicateLeaf", "SearchArgument", "build_argument"]

_PACKAGE = "org.apache.hadoop.hive.ql.io.sarg."
TOP_ARGUMENT = _PACKAGE + "SearchArgumentImpl"
_DYNAMIC = "org.apache.hadoop.hive.ql.plan.DynamicValue"
_OPERATORS = ("OR", "AND", "NOT", "LEAF", "CONSTANT")


@frozen
class PredicateLeaf:
    """``operator column literal``; IN and BETWEEN have ``literals``. A run-time value has the class DynamicValue."""

    operator: str
    type: str
    column: str
    literal: Constant | None
    literals: tuple[Constant | None, ...] | None

    def weight(self) -> int:
        """How many nodes this leaf counts for (``sarg.kryo.limits``)."""
        return sum(1 if literal is None else literal.weight() for literal in (self.literal, *(self.literals or ())))


@frozen
class _KnownLeaves:
    """Leaves by the ``id`` of the Java object that they were built of, and how many nodes more of them may have."""

    by_id: dict[int, PredicateLeaf]
    budget: NodeBudget


@frozen(eq=False)
class ArgumentTree:
    """OR, AND, NOT, LEAF or CONSTANT (a TruthValue such as YES_NO_NULL)."""

    operator: str
    children: tuple[ArgumentTree, ...] = ()
    leaf: PredicateLeaf | None = None
    constant: str | None = None


@frozen(eq=False)
class SearchArgument:
    """Both trees of a SearchArgument and its leaves. A version with one tree has that tree twice."""

    compact: ArgumentTree
    normalized: ArgumentTree
    leaves: tuple[PredicateLeaf, ...]


def build_argument(top: JavaObject, max_nodes: int = MAX_NODES) -> SearchArgument:
    """The SearchArgument of an object graph. Raises DecodeError when it is not plausible or too large."""
    fields = top.fields
    budget = NodeBudget(max_nodes)
    leaf_list = fields.get("leaves")
    if not isinstance(leaf_list, JavaList):
        raise DecodeError(top.offset, "a SearchArgument has no list of leaves")
    known = _KnownLeaves({}, budget)
    leaves = [_leaf(item, top, known) for item in leaf_list.items]
    normalized = _tree(fields.get("normalizedExpression", fields.get("expression")), leaves, known, top)
    compact = fields.get("compactExpression")
    if compact is None:
        return SearchArgument(normalized, normalized, tuple(leaves))
    return SearchArgument(_tree(compact, leaves, known, top), normalized, tuple(leaves))


def _leaf(value: Any, owner: JavaObject, known: _KnownLeaves) -> PredicateLeaf:
    """A leaf, built once for all references to it."""
    if not isinstance(value, JavaObject) or not value.java.endswith("$PredicateLeafImpl"):
        raise DecodeError(owner.offset, "a leaf is not a PredicateLeaf")
    if id(value) not in known.by_id:
        known.by_id[id(value)] = _new_leaf(value, known.budget)
    return known.by_id[id(value)]


def _new_leaf(instance: JavaObject, budget: NodeBudget) -> PredicateLeaf:
    fields = instance.fields
    operator, kind, column = fields["operator"], fields["type"], fields["columnName"]
    if not (isinstance(operator, str) and isinstance(kind, str) and isinstance(column, str)):
        raise DecodeError(instance.offset, "a leaf lacks its operator, type or column")
    literals = fields["literalList"]
    if literals is None:
        return PredicateLeaf(operator, kind, column, _literal(fields["literal"], instance, budget), None)
    if not isinstance(literals, JavaList):
        raise DecodeError(instance.offset, "a leaf's literals are not a list")
    members = tuple(_literal(item, instance, budget) for item in literals.items)
    return PredicateLeaf(operator, kind, column, None, members)


def _literal(value: Any, owner: JavaObject, budget: NodeBudget) -> Constant | None:
    if isinstance(value, JavaObject) and value.java == _DYNAMIC:
        budget.spend(owner.offset)
        return Constant(_DYNAMIC, f"DynamicValue({value.fields.get('id')})")
    return constant_of(value, owner.offset, budget)


def _tree(value: Any, leaves: list[PredicateLeaf], known: _KnownLeaves, owner: JavaObject) -> ArgumentTree:
    """One expression tree. A shared subtree counts once for each reference; a cycle is an error."""
    built_by_id: dict[int, tuple[ArgumentTree, int, int]] = {}  # a tree, its size and its depth
    entered: set[int] = set()
    stack: list[tuple[JavaObject, bool]] = [(_expression_tree(value, owner), False)]
    top = stack[0][0]
    while stack:
        node, is_ready = stack.pop()
        key = id(node)
        if key in built_by_id:
            continue
        children = [_expression_tree(item, node) for item in _children(node)]
        if not is_ready:
            if key in entered:
                raise DecodeError(node.offset, "a SearchArgument contains itself")
            entered.add(key)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children) if id(child) not in built_by_id)
            continue
        built = [built_by_id[id(child)] for child in children]
        tree = _argument_node(node, tuple(entry[0] for entry in built), leaves, known)
        size = 1 + sum(entry[1] for entry in built) + (0 if tree.leaf is None else tree.leaf.weight())
        depth = 1 + max((entry[2] for entry in built), default=0)
        if size > known.budget.limit:
            raise TooLargeError(
                node.offset, f"a SearchArgument expands to too many nodes: more than {known.budget.limit}"
            )
        if depth > MAX_EXPRESSION_DEPTH:
            raise DecodeError(node.offset, f"a SearchArgument is nested more than {MAX_EXPRESSION_DEPTH} deep")
        built_by_id[key] = (tree, size, depth)
    return built_by_id[id(top)][0]


def _children(node: JavaObject) -> list[Any]:
    children = node.fields["children"]
    if children is None:
        return []
    if not isinstance(children, JavaList):
        raise DecodeError(node.offset, "the children of a SearchArgument are not a list")
    return children.items


def _expression_tree(value: Any, owner: JavaObject) -> JavaObject:
    if not isinstance(value, JavaObject) or value.java != _PACKAGE + "ExpressionTree":
        raise DecodeError(owner.offset, "a SearchArgument has no expression")
    return value


def _argument_node(
    node: JavaObject,
    children: tuple[ArgumentTree, ...],
    leaves: list[PredicateLeaf],
    known: _KnownLeaves,
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
            return ArgumentTree(operator, leaf=_leaf(leaf, node, known))
        case "CONSTANT":
            return ArgumentTree(operator, constant=constant if isinstance(constant, str) else None)
        case _:
            if not children or (operator == "NOT" and len(children) != 1):
                raise DecodeError(node.offset, f"{operator} with {len(children)} children")
            return ArgumentTree(operator, children)
