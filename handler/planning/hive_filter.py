"""A filter from Hive, in which conditions that only Hive can evaluate are unknown; the other conditions still prune.

    unknown are conditions on    because
    --------------------------   -----------------------------------------------------------------------------------
    partition columns            their values are those of the metastore's partitions, which may differ from the
    virtual columns              files' columns of that name; Hive has applied them when it chose the partitions
    timestamps                   without the session's time zone: a condition means the same in every zone only when
                                 it contains no timestamp column, constant or cast, and only the functions below

Facts: docs/facts/hive-storage-handlers.md#when-a-filter-is-delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from sarg.hive_tree.exprnode import ExprNode

__all__ = [
    "OF_HIVE",
    "ZONELESS",
    "columns_of_hive",
    "read_hive_filter",
    "without_columns",
    "without_columns_of_hive",
    "without_zoned_conditions",
]

OF_HIVE = "a partition or virtual column, whose value Hive has and not the file"
ZONELESS = "the session's time zone was not sent, and a timestamp takes part"
_FUNCTIONS = frozenset(
    spelling
    for name in (*arithmetic.FUNCTIONS, *text.FUNCTIONS, "coalesce", "branches")
    for spelling in spellings(name)
)


def read_hive_filter(
    filter_: str, schema: Schema, *, zone_known: bool, limits: sarg.Limits | None = None
) -> HudiExpression:
    """Read a filter (Base64 of an ExprNodeGenericFuncDesc). Raises DecodeError; beyond ``limits``, TooLargeError."""
    decoded = sarg.decode_detailed(filter_, limits or sarg.Limits())
    if decoded.exprnode is None:
        raise sarg.DecodeError(0, "a SearchArgument does not say which columns are Hive's own")
    expression = without_columns_of_hive(decoded.expression, columns_of_hive(decoded.exprnode))
    return expression if zone_known else without_zoned_conditions(expression, schema)


def without_zoned_conditions(expression: HudiExpression, schema: Schema) -> HudiExpression:
    """The filter, with every condition unknown that may depend on the session's time zone."""
    return _undecided(expression, ZONELESS, lambda node: not _is_zoneless(node, schema))


def without_columns_of_hive(expression: HudiExpression, names: Set[str]) -> HudiExpression:
    """The filter, with every condition unknown on columns of these names, in lower case."""
    return without_columns(expression, names, OF_HIVE)


def without_columns(expression: HudiExpression, names: Set[str], why: str) -> HudiExpression:
    """The filter, with every condition unknown on columns of these names, in lower case."""
    if not names:
        return expression
    return _undecided(expression, why, lambda node: isinstance(node, Column) and node.path[0].lower() in names)


def columns_of_hive(root: ExprNode) -> frozenset[str]:
    """The names, in lower case, of the columns that Hive marks as partition or virtual ones."""
    from sarg.hive_tree.exprnode import ColumnNode

    names, stack = set(), [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ColumnNode) and node.is_partition_or_virtual:
            names.add(node.name.lower())
        stack.extend(node.children_of())
    return frozenset(names)


def _undecided(expression: HudiExpression, why: str, matches: Callable[[Node], bool]) -> HudiExpression:
    """The expression, with every condition unknown in which ``matches`` is true of a node."""

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
                return Unknown(why) if any(matches(part) for part in walk(node)) else node

    return fold(expression, combine, _conditions_in)


def _conditions_in(node: Node) -> tuple[Node, ...]:
    return children_of(node) if isinstance(node, And | Or | Not) else ()


def _is_zoneless(node: Node, schema: Schema) -> bool:
    match node:
        case Column(name=name, type=named_type):
            field = schema.resolve(name)
            return (
                field is not None
                and not field.type.kind.is_timestamp
                and not (named_type and named_type.kind.is_timestamp)
            )
        case Literal(type=value_type) | Cast(type=value_type):
            return not value_type.kind.is_timestamp
        case Call(function=function):
            return function in _FUNCTIONS
        case _:
            return True
