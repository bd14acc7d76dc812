"""Structs of columns and constants in Catalyst's JSON: ``(a, b) IN ((1, 2), (3, 4))`` and ``(a, b) = (1, 2)``.

    Catalyst                                             tree
    ===================================================  ===========================================
    named_struct(a, a, b, b) IN (named_struct(..1, ..2)) (a <=> 1 AND b <=> 2) OR ...
    named_struct(a, a, b, b) IN ([1, 2], ...)            the same: the optimiser folds the constants
    named_struct(a, a, b, b) = [1, 2]                    a <=> 1 AND b <=> 2
    a field of another type, a struct in a struct, <     ?(reason)

Spark's analyser refuses structs whose fields have other types, so a pair of fields has one type. A folded constant is
``[1,2]`` in the JSON, its fields in Spark's internal form: it is read where the number of commas leaves one reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.language.expression import Call, Column, HudiExpression, Literal, Node, Not, Opaque, Operand, Unknown
from evaluator.language.tuples import among_tuples, equal_tuples
from evaluator.language.types import DATE, Kind
from handler.catalyst.literals import literal_of, type_of

__all__ = ["compared_structs", "in_structs", "struct_literal", "struct_of"]

_STRUCT = "struct"
#: What stands for bytes that are no UTF-8.
_REPLACED = chr(0xFFFD)
_DAYS = re.compile(r"-?\d{1,9}", re.ASCII)


def struct_of(children: Sequence[Operand]) -> Operand:
    """The values of a ``CreateNamedStruct``, whose children are names and values in turn."""
    return Call(_STRUCT, tuple(children[1::2]))


def struct_literal(fields: Mapping[str, Any]) -> Operand | None:
    """The constants of a ``Literal`` of a struct type. None for another literal, Opaque for one that is not read."""
    data_type = fields.get("dataType")
    if not isinstance(data_type, Mapping) or data_type.get("type") != "struct":
        return None
    types, text = [field.get("type") for field in data_type.get("fields", ())], fields.get("value")
    texts = text[1:-1].split(",") if isinstance(text, str) and text[:1] == "[" and text[-1:] == "]" else []
    if not texts or len(texts) != len(types):
        return Opaque("a constant struct is not read")
    return Call(_STRUCT, tuple(_constant(of, part) for of, part in zip(types, texts, strict=True)))


def _constant(data_type: Any, text: str) -> Operand:
    """A field of a constant struct; ``null`` may be a text or NULL, and U+FFFD bytes that are no UTF-8."""
    of = type_of(data_type)
    if text != "null" and _REPLACED not in text:
        if of.kind is Kind.DATE and _DAYS.fullmatch(text):
            return Literal(int(text), DATE)
        is_read = of.kind.is_integer or of.kind.is_fractional or of.kind is Kind.STRING
        if is_read or (of.kind is Kind.BOOLEAN and text in ("true", "false")):
            return literal_of({"dataType": data_type, "value": text}, None, "UTC")
    return Opaque("a field of a constant struct is not read")


def in_structs(value: Operand, members: Sequence[Operand]) -> HudiExpression | None:
    """``value IN (members)`` for a struct; None for any other value."""
    if not _is_struct(value):
        return None
    return among_tuples([_equal(value, member) for member in members])


def compared_structs(op: str, left: Node, right: Node) -> HudiExpression | None:
    """``left op right`` where a side is a struct; None where none is."""
    if not (_is_struct(left) or _is_struct(right)):
        return None
    if op not in ("=", "<=>", "!="):
        return Unknown("structs compared by their order are not decided")
    if _is_constant(left):
        left, right = right, left
    return Not(_equal(left, right)) if op == "!=" else _equal(left, right)


def _is_struct(node: Node) -> bool:
    return isinstance(node, Call) and node.function == _STRUCT


def _is_constant(node: Node) -> bool:
    return isinstance(node, Call) and all(isinstance(value, Literal) for value in node.arguments)


def _equal(left: Node, right: Node) -> HudiExpression:
    match left, right:
        case Call(function="struct", arguments=fields), Call(function="struct", arguments=values) if (
            fields
            and len(fields) == len(values)
            and all(_is_plain(field, value) for field, value in zip(fields, values, strict=True))
        ):
            return equal_tuples(fields, values)
        case _:
            return Unknown("a struct of anything but values beside plain constants is not decided")


def _is_plain(field: Operand, value: Operand) -> bool:
    """Whether ``field <=> value`` is how Spark compares these fields of two structs."""
    if not isinstance(value, Literal) or value.type.kind in (Kind.OTHER, Kind.VOID) or isinstance(field, Opaque):
        return False
    if isinstance(field, Column):
        kinds = (field.type.kind, value.type.kind) if field.type is not None else (Kind.OTHER, value.type.kind)
        return kinds[0] is kinds[1] or all(kind.is_timestamp for kind in kinds)  # an instant is often a wall clock
    return not _is_struct(field)
