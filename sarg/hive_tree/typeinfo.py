"""Hive's TypeInfo objects as type texts: ``int``, ``decimal(10,2)``, ``struct<x:int,y:array<string>>``.

The text of a TypeInfo is built once for all references to it. The length of all texts of a filter together is limited,
and so is the nesting of a type (``sarg.kryo.limits``).

Facts: docs/facts/hive-kryo.md#nodes-and-their-fields.
"""

from __future__ import annotations

import re
from typing import Any

from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import MAX_TYPE_DEPTH, MAX_TYPE_TEXT
from sarg.kryo.values import JavaList, JavaObject

_PACKAGE = "org.apache.hadoop.hive.serde2.typeinfo."
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_ (),]*")


class TypeTexts:
    """The texts of the TypeInfo objects of one input."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._characters = 0

    def text_of(self, value: Any, owner: JavaObject, depth: int = MAX_TYPE_DEPTH) -> str:
        """The text of a TypeInfo. Raises DecodeError for any other value."""
        if not isinstance(value, JavaObject) or not value.java.startswith(_PACKAGE):
            raise DecodeError(owner.offset, f"a {owner.simple_name} has no type")
        text = self._texts.get(id(value))
        if text is not None:
            return text
        if depth == 0:
            raise DecodeError(value.offset, f"a type is nested more than {MAX_TYPE_DEPTH} deep")
        try:
            text = self._text(value, depth - 1)
        except KeyError as error:
            raise DecodeError(value.offset, f"a {value.simple_name} has no {error}") from None
        self._characters += len(text)
        if self._characters > MAX_TYPE_TEXT:
            raise DecodeError(value.offset, f"types of more than {MAX_TYPE_TEXT} characters")
        self._texts[id(value)] = text
        return text

    def _text(self, type_info: JavaObject, depth: int) -> str:
        fields = type_info.fields
        match type_info.java.removeprefix(_PACKAGE):
            case "PrimitiveTypeInfo" | "TimestampLocalTZTypeInfo":
                name = fields["typeName"]
                if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
                    raise DecodeError(type_info.offset, "a type has no name that can be one")
                return name
            case "DecimalTypeInfo":
                return f"decimal({fields['precision']},{fields['scale']})"
            case "CharTypeInfo":
                return f"char({fields['length']})"
            case "VarcharTypeInfo":
                return f"varchar({fields['length']})"
            case "ListTypeInfo":
                return f"array<{self.text_of(fields['listElementTypeInfo'], type_info, depth)}>"
            case "MapTypeInfo":
                key, value = fields["mapKeyTypeInfo"], fields["mapValueTypeInfo"]
                return f"map<{self.text_of(key, type_info, depth)},{self.text_of(value, type_info, depth)}>"
            case "StructTypeInfo":
                names = _items(fields["allStructFieldNames"], type_info)
                types = _items(fields["allStructFieldTypeInfos"], type_info)
                if len(names) != len(types):
                    raise DecodeError(type_info.offset, f"a struct has {len(names)} names and {len(types)} types")
                return f"struct<{self._joined(names, types, type_info, depth)}>"
            case "UnionTypeInfo":
                members = _items(fields["allUnionObjectTypeInfos"], type_info)
                return f"uniontype<{self._joined(None, members, type_info, depth)}>"
            case unknown:
                raise DecodeError(type_info.offset, f"{unknown} is not a type that is known")

    def _joined(self, names: list[Any] | None, types: list[Any], type_info: JavaObject, depth: int) -> str:
        """``x:int,y:string``. The length is checked at every member, because a reference to a long text is cheap."""
        parts: list[str] = []
        left = MAX_TYPE_TEXT - self._characters
        for index, member in enumerate(types):
            name = "" if names is None else names[index]
            if not isinstance(name, str):
                raise DecodeError(type_info.offset, "a field of a struct has no name")
            text = self.text_of(member, type_info, depth)
            left -= len(name) + len(text) + 2
            if left < 0:
                raise DecodeError(type_info.offset, f"types of more than {MAX_TYPE_TEXT} characters")
            parts.append(text if names is None else f"{name}:{text}")
        return ",".join(parts)


def _items(value: Any, owner: JavaObject) -> list[Any]:
    if not isinstance(value, JavaList):
        raise DecodeError(owner.offset, f"a {owner.simple_name} has no list of fields")
    return value.items
