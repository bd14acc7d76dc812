"""Functions that yield a value: casts, and calls by SQL name.

    ==========================  =============================================================================
    Hive                        operand
    ==========================  =============================================================================
    UDFToInteger, ...           Cast to the node's type
    number <-> timestamp        not decided: the value depends on the session's zone and settings
    coalesce, nvl               Call("coalesce", ...)
    split(s, '-')[0]            Call("substring_index", ...)
    another function of Hive's  Call by its SQL name (``sarg.translation.function_names``)
    current_date()              Call: decided where the caller says when the query runs (Hive sends it folded)
    rand()                      not decided: the value is known at run time only
    ==========================  =============================================================================

"Not decided" is an UnsupportedError, which ``translate`` turns into Opaque or Unknown at the node (C1).
"""

from __future__ import annotations

from typing import TypeVar

from evaluator.language.construction import item_of_array
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Call, Cast, Column, If, Literal, Node, Operand
from evaluator.language.types import Kind, Type
from sarg.hive_tree.exprnode import FunctionNode
from sarg.translation.function_names import CASTS, RUN_TIME_FUNCTIONS, sql_name
from sarg.translation.literals import type_of

__all__ = ["call", "exactly", "only"]

N = TypeVar("N", bound=Node)


def call(name: str, java: str, node: FunctionNode, arguments: list[Operand]) -> Operand:
    """The operand for a function that yields a value. Raises UnsupportedError."""
    to = type_of(node.type)
    match name:
        case _ if name in CASTS:
            return _cast(only(name, arguments), to)
        case "GenericUDFCoalesce" | "GenericUDFNvl":
            return Call("coalesce", tuple(arguments), to)
        case "GenericUDFCurrentDate" | "GenericUDFCurrentTimestamp" | "GenericUDFUnixTimeStamp" if not arguments:
            return Call(sql_name(java) or name, ())
        case "GenericUDFIndex" if len(arguments) == 2:
            array, place = arguments
            return item_of_array(array, place, 0) or Call(sql_name(java) or name, tuple(arguments), to)
        case _ if name in RUN_TIME_FUNCTIONS:
            raise UnsupportedError(f"function {sql_name(java)} is known at run time only")
        case _:
            return Call(sql_name(java) or name, tuple(arguments), to)


def _cast(operand: Operand, to: Type) -> Operand:
    source = operand.type if isinstance(operand, Column | Literal | Cast | Call | If) else None
    if source is not None and _is_between_number_and_time(source, to):
        raise UnsupportedError(f"CAST({source} AS {to}) depends on the session's zone and settings")
    return Cast(operand, to)


def _is_between_number_and_time(source: Type, to: Type) -> bool:
    return (_is_number(source.kind) and _is_time(to.kind)) or (_is_time(source.kind) and _is_number(to.kind))


def _is_number(kind: Kind) -> bool:
    return kind.is_number or kind is Kind.BOOLEAN


def _is_time(kind: Kind) -> bool:
    return kind.is_timestamp or kind is Kind.DATE


def exactly(count: int, name: str, children: list[N]) -> list[N]:
    """The children. Raises UnsupportedError unless there are ``count`` of them."""
    if len(children) != count:
        raise UnsupportedError(f"{name} with {len(children)} arguments")
    return children


def only(name: str, children: list[N]) -> N:
    """The only child. Raises UnsupportedError unless there is exactly one."""
    return exactly(1, name, children)[0]
