"""Conditions on partition columns of ``TimestampBasedKeyGenerator``, which Hudi's reader in Spark shows as text.

Such a column keeps the file's value, but is a text in the reader's schema: ``1672492455000`` of a BIGINT is
``'1672492455000'``. Spark then compares in other types than those of the stored column. A condition is left as it is
only where that makes no difference, or NULL of what is TRUE or FALSE here:

    column           condition                             because
    --------------   -----------------------------------   ------------------------------------------------------------
    any              IS NULL, IS NOT NULL                  a value is NULL where its text is
    integer          compared with an integer constant     Spark reads the text as that type, or it is NULL
    integer          IN (integer constants)                integers are equal where their digits are
    date             compared with a date constant         Spark reads the text as a date
    timestamp        compared with a timestamp constant,   Spark reads the text as a timestamp; in other zones an hour
                     in UTC                                is written twice
    text             any                                   it is the same column

Every other condition is unknown. Recorded with real Hudi: tests/data/keygen.
"""

from __future__ import annotations

from evaluator.language.expression import (
    And,
    Column,
    Compare,
    HudiExpression,
    In,
    IsNull,
    Literal,
    Node,
    Not,
    Or,
    Unknown,
    children_of,
    fold,
    walk,
)
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from index_store import Table
from index_store.table.partition_paths import shown_as_text

__all__ = ["without_formatted_columns"]

_WHY = "Hudi's reader shows column {} as text, because the key generator formats it"
_OPERATORS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})


def without_formatted_columns(
    expression: HudiExpression, schema: Schema, semantics: Semantics, table: Table
) -> HudiExpression:
    """The filter, in which conditions that depend on how such a column is shown are unknown."""
    shown: dict[str, Type] = {}
    for name in shown_as_text(table):
        field = schema.resolve(name, case_sensitive=True)
        if field is not None and field.type.kind is not Kind.STRING:
            shown[name.lower()] = field.type
    if not shown:
        return expression

    def combine(node: Node, children: list[HudiExpression]) -> HudiExpression:
        match node:
            case And():
                return And(tuple(children))
            case Or():
                return Or(tuple(children))
            case Not():
                return Not(children[0])
        assert isinstance(node, HudiExpression)
        used = [one.path[-1] for one in walk(node) if isinstance(one, Column) and one.path[-1].lower() in shown]
        if not used or _is_indifferent(node, shown, semantics):
            return node
        return Unknown(_WHY.format(used[0]))

    return fold(expression, combine, _conditions_in)


def _conditions_in(node: Node) -> tuple[Node, ...]:
    return children_of(node) if isinstance(node, And | Or | Not) else ()


def _is_indifferent(condition: HudiExpression, shown: dict[str, Type], semantics: Semantics) -> bool:
    """Whether a condition on one of the columns is not FALSE or TRUE here where Hudi says the opposite."""
    match condition:
        case IsNull(operand=Column()):
            return True
        case Compare(op=op, left=Column() as column, right=Literal() as constant) if op in _OPERATORS:
            pass
        case Compare(op=op, left=Literal() as constant, right=Column() as column) if op in _OPERATORS:
            pass
        case In(operand=Column() as column, members=members):
            return shown[column.path[-1].lower()].kind.is_integer and all(
                isinstance(one, Literal) and one.value is not None and one.type.kind.is_integer for one in members
            )
        case _:
            return False
    kind, of_constant = shown[column.path[-1].lower()].kind, constant.type.kind
    if constant.value is None:
        return False
    if kind.is_integer:
        return of_constant.is_integer
    return kind is of_constant and (kind is Kind.DATE or (kind.is_timestamp and semantics.is_utc))
