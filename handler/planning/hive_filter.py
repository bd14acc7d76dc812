"""A filter as Hive's session means it: what only Hive knows the value of is left undecided, its siblings still prune.

partition columns   of a native table have the values of the metastore's partitions, which need not be those of
virtual columns     the files' columns of that name: Hive has applied them when it chose the partitions
timestamps          while the session's zone is not known: a condition keeps its meaning in every zone only when no
                    timestamp takes part, as a column, constant or cast, and no function but those below

Facts: docs/facts/hive-storage-handlers.md#when-a-filter-is-delivered.
"""

from __future__ import annotations

from collections.abc import Callable

import sarg
from evaluator.functions import arithmetic, text
from evaluator.language.expression import (
    And,
    Call,
    Cast,
    Column,
    HudiExpression,
    Literal,
    Node,
    Not,
    Or,
    Unknown,
    children_of,
    fold,
    walk,
)
from evaluator.language.function_names import spellings
from evaluator.language.schema import Schema
from sarg.hive_tree.exprnode import ColumnNode, ExprNode

__all__ = ["OF_HIVE", "ZONELESS", "read_hive_filter"]

OF_HIVE = "a partition or virtual column, whose value Hive has and not the file"
ZONELESS = "the session's time zone was not sent, and a timestamp takes part"
_FUNCTIONS = frozenset(
    spelling
    for name in (*arithmetic.FUNCTIONS, *text.FUNCTIONS, "coalesce", "branches")
    for spelling in spellings(name)
)


def read_hive_filter(filter_: str, schema: Schema, *, zone_known: bool) -> HudiExpression:
    """A filter (Base64 of an ExprNodeGenericFuncDesc), unknown where it cannot be decided. Raises DecodeError."""
    decoded = sarg.decode_detailed(filter_)
    if decoded.exprnode is None:
        raise sarg.DecodeError(0, "a SearchArgument does not say which columns are Hive's own")
    hives = _columns_of_hive(decoded.exprnode)
    found = decoded.expression
    if hives:
        found = _undecided(found, OF_HIVE, lambda node: isinstance(node, Column) and node.path[0].lower() in hives)
    if not zone_known:
        found = _undecided(found, ZONELESS, lambda node: not _is_zoneless(node, schema))
    return found


def _columns_of_hive(root: ExprNode) -> set[str]:
    """The names, in lower case, of the columns that Hive marks as partition or virtual ones."""
    found, stack = set(), [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ColumnNode) and node.is_partition_or_virtual:
            found.add(node.name.lower())
        stack.extend(node.children_of())
    return found


def _undecided(expression: HudiExpression, why: str, holds: Callable[[Node], bool]) -> HudiExpression:
    """The same with every condition unknown in which ``holds`` is true of some node."""

    def combine(node: Node, children: list[HudiExpression]) -> HudiExpression:
        match node:
            case And():
                return And(tuple(children))
            case Or():
                return Or(tuple(children))
            case Not():
                return Not(children[0])
            case _:
                assert isinstance(node, HudiExpression)
                return Unknown(why) if any(holds(part) for part in walk(node)) else node

    return fold(expression, combine, _conditions_in)


def _conditions_in(node: Node) -> tuple[Node, ...]:
    return children_of(node) if isinstance(node, And | Or | Not) else ()


def _is_zoneless(node: Node, schema: Schema) -> bool:
    match node:
        case Column(name=name, type=said):
            field = schema.resolve(name)
            return field is not None and not field.type.kind.is_timestamp and not (said and said.kind.is_timestamp)
        case Literal(type=of) | Cast(type=of):
            return not of.kind.is_timestamp
        case Call(function=function):
            return function in _FUNCTIONS
        case _:
            return True
