"""IN: lists, lists folded into one constant, and structs.

    ============================================  ==================================================================
    x IN (1, 2, NULL)                             In, NULL stays
    x IN (constant list)                          In with the list's items
    x IN (1, 2.5D), x IN (5, 'x')                 unknown: Hive converts all to one type first, and that may round
    struct(a, b) IN (struct(1, 'x'), ...)         ((a = 1 AND b = 'x') OR ...) AND (a IS NOT NULL OR ?) AND (...)
    ============================================  ==================================================================

Hive compares structs as whole values: a NULL field makes the comparison FALSE, not NULL. The last factor lets FALSE out
where a field may be NULL; where it is not, the factor is TRUE and the result exact. A member with a NULL field, a NaN
or a zero of a floating-point type is unknown.

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
    members_of_list = _spread(node.children[1], node.children[0].type) if len(operands) == 2 else None
    members_flat = operands[1:] if members_of_list is None else members_of_list
    _check_one_type(operand, members_flat)
    return In(operand, tuple(members_flat))


def _spread(node: ExprNode, element: str) -> list[Operand] | None:
    """The items of a list constant whose element type is that of the operand."""
    if isinstance(node, ConstantNode) and node.type == f"array<{element}>" and node.value is not None:
        of = type_of(element)
        items: tuple[Constant | None, ...] = node.value.value
        return [literal_of(item, of) for item in items] if isinstance(items, tuple) else None
    return None


def _check_one_type(operand: Operand, members: list[Operand]) -> None:
    """Pairwise comparison is Hive's only while the common type of the whole list holds every value exactly."""
    types = [found for found in map(_typed, members) if found is not None and found.kind is not Kind.VOID]
    kinds = {of.kind for of in types}
    if len(kinds) <= 1 or all(kind.is_integer for kind in kinds):
        return
    own = _typed(operand)
    if own is None or not all(of.kind.is_integer or of.kind is Kind.DECIMAL for of in [own, *types]):
        raise UnsupportedError("IN with members of different types")
    whole = max(19 if of.kind.is_integer else of.precision - of.scale for of in [own, *types])
    if whole + max(of.scale for of in [own, *types]) > 38:
        raise UnsupportedError("IN with decimals that have no common type")


def _typed(operand: Operand) -> Type | None:
    match operand:
        case Literal(value=None):
            return None
        case Opaque():
            return None
        case _:
            of = getattr(operand, "type", None)
            return of if isinstance(of, Type) else None


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
