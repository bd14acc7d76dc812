"""IN: lists, lists folded into one constant, and structs.

    ============================================  ==================================================================
    x IN (1, 2, NULL)                             In, NULL stays
    x IN (constant list)                          In with the list's items
    x IN (1, 2.5D), x IN (5, 'x')                 unknown: Hive converts all to one type first, and that may round
    struct(a, b) IN (struct(1, 'x'), ...)         ((a = 1 AND b = 'x') OR ...) AND (a IS NOT NULL OR ?) AND (...)
    ============================================  ==================================================================

Hive compares structs as whole values: a NULL field makes the comparison FALSE, not NULL. The factors ``(a IS NOT NULL
OR ?)`` add FALSE where a field may be NULL. Where no field is NULL they are TRUE, and the result is exact. A member
with a NULL field, or with a NaN or a zero of a floating-point type, is unknown (C1).

Facts: docs/facts/hive-expressions.md#what-hive-means-by-a-condition.
"""

from __future__ import annotations

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import (
    And,
    Call,
    Column,
    Compare,
    HudiExpression,
    In,
    IsNull,
    Literal,
    Not,
    Opaque,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.types import Kind, Type
from sarg.hive_tree.constants import Constant
from sarg.hive_tree.exprnode import ConstantNode, ExprNode, FunctionNode
from sarg.translation.literals import literal_of, type_of

__all__ = ["membership"]


def membership(node: FunctionNode, operands: list[Operand]) -> HudiExpression:
    """``operands[0] IN operands[1:]``; ``node`` has the same children, untranslated. Raises UnsupportedError."""
    if len(operands) < 2:
        raise UnsupportedError("IN without members")
    operand = operands[0]
    if isinstance(operand, Call) and operand.function == "struct":
        members = [
            _struct_member(child, translated) for child, translated in zip(node.children[1:], operands[1:], strict=True)
        ]
        return _struct_in(operand.arguments, members)
    folded_list = _list_items(node.children[1], node.children[0].type) if len(operands) == 2 else None
    values = operands[1:] if folded_list is None else folded_list
    _check_one_type(operand, values)
    return In(operand, tuple(values))


def _list_items(node: ExprNode, element: str) -> list[Operand] | None:
    """The items of a list constant whose element type is that of the operand."""
    if isinstance(node, ConstantNode) and node.type == f"array<{element}>" and node.value is not None:
        element_type = type_of(element)
        items: tuple[Constant | None, ...] = node.value.value
        return [literal_of(item, element_type) for item in items] if isinstance(items, tuple) else None
    return None


def _check_one_type(operand: Operand, members: list[Operand]) -> None:
    """Raises UnsupportedError unless the common type of the whole list, which Hive converts to, holds every value."""
    member_types = [each for each in map(_type_of, members) if each is not None and each.kind is not Kind.VOID]
    kinds = {member_type.kind for member_type in member_types}
    if len(kinds) <= 1 or all(kind.is_integer for kind in kinds):
        return
    operand_type = _type_of(operand)
    if operand_type is None:
        raise UnsupportedError("IN with members of different types")
    types = [operand_type, *member_types]
    if not all(each.kind.is_integer or each.kind is Kind.DECIMAL for each in types):
        raise UnsupportedError("IN with members of different types")
    whole_digits = max(19 if each.kind.is_integer else each.precision - each.scale for each in types)
    if whole_digits + max(each.scale for each in types) > 38:
        raise UnsupportedError("IN with decimals that have no common type")


def _type_of(operand: Operand) -> Type | None:
    match operand:
        case Literal(value=None):
            return None
        case Opaque():
            return None
        case _:
            operand_type = getattr(operand, "type", None)
            return operand_type if isinstance(operand_type, Type) else None


def _struct_member(node: ExprNode, translated: Operand) -> tuple[Operand, ...] | None:
    """The fields of one member of a struct IN; None when they are not known."""
    if isinstance(translated, Call) and translated.function == "struct":
        return translated.arguments
    if not (isinstance(node, ConstantNode) and node.value is not None and isinstance(node.value.value, tuple)):
        return None
    types = _struct_types(node.type)
    if types is None or len(types) != len(node.value.value):
        return None
    return tuple(literal_of(item, of) for item, of in zip(node.value.value, types, strict=True))


def _struct_types(text: str) -> list[Type] | None:
    """The types of the fields of ``struct<a:int,b:decimal(3,1)>``."""
    if not (text.startswith("struct<") and text.endswith(">")):
        return None
    parts, depth, start = [], 0, 7
    for index in range(7, len(text) - 1):
        character = text[index]
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:-1])
    return [type_of(part.partition(":")[2]) for part in parts]


def _struct_in(fields: tuple[Operand, ...], members: list[tuple[Operand, ...] | None]) -> HudiExpression:
    if not fields or any(not isinstance(field, Column | Literal) for field in fields):
        raise UnsupportedError("struct IN over something that is not a column")
    choices = [_struct_equals(fields, member) for member in members]
    guards: list[HudiExpression] = [
        Or((Not(IsNull(field)), Unknown("struct IN with a NULL field")))
        for field in dict.fromkeys(fields)
        if not isinstance(field, Literal)
    ]
    return And((choices[0] if len(choices) == 1 else Or(tuple(choices)), *guards))


def _struct_equals(fields: tuple[Operand, ...], member: tuple[Operand, ...] | None) -> HudiExpression:
    if member is None or len(member) != len(fields):
        return Unknown("a struct whose fields are not known")
    if not all(_is_plain(field, value) for field, value in zip(fields, member, strict=True)):
        return Unknown("a struct with a field that is NULL, not a constant, or of another type")
    equalities = tuple(Compare("=", field, value) for field, value in zip(fields, member, strict=True))
    return equalities[0] if len(equalities) == 1 else And(equalities)


def _is_plain(field: Operand, value: Operand) -> bool:
    """Whether ``field = value`` is what Hive's comparison of whole structs does, NULL fields aside."""
    if not isinstance(value, Literal) or value.value is None or not isinstance(field, Column | Literal):
        return False
    if field.type is None or field.type.kind is not value.type.kind:
        return False
    if isinstance(field, Literal) and field.value is None:
        return False
    return not isinstance(value.value, float) or (value.value == value.value and value.value != 0)
