"""Hive's TypeInfo objects as type texts: ``int``, ``decimal(10,2)``, ``struct<x:int,y:array<string>>``.

A type that is written once and referred to a thousand times is put into words once; the words of all types of a
filter together are limited, and so is their nesting (sarg.kryo.limits).
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
    """Remembers the text of each TypeInfo object of one input."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._characters = 0

    def of(self, found: Any, owner: JavaObject, depth: int = MAX_TYPE_DEPTH) -> str:
        """The text of a TypeInfo. Raises DecodeError when ``found`` is not one."""
        if not isinstance(found, JavaObject) or not found.java.startswith(_PACKAGE):
            raise DecodeError(owner.offset, f"a {owner.simple_name} has no type")
        text = self._texts.get(id(found))
        if text is not None:
            return text
        if depth == 0:
            raise DecodeError(found.offset, f"a type is nested more than {MAX_TYPE_DEPTH} deep")
        try:
            text = self._text(found, depth - 1)
        except KeyError as error:
            raise DecodeError(found.offset, f"a {found.simple_name} has no {error}") from None
        self._characters += len(text)
        if self._characters > MAX_TYPE_TEXT:
            raise DecodeError(found.offset, f"types of more than {MAX_TYPE_TEXT} characters")
        self._texts[id(found)] = text
        return text

    def _text(self, found: JavaObject, depth: int) -> str:
        fields = found.fields
        match found.java.removeprefix(_PACKAGE):
            case "PrimitiveTypeInfo" | "TimestampLocalTZTypeInfo":
                name = fields["typeName"]
                if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
                    raise DecodeError(found.offset, "a type has no name that can be one")
                return name
            case "DecimalTypeInfo":
                return f"decimal({fields['precision']},{fields['scale']})"
            case "CharTypeInfo":
                return f"char({fields['length']})"
            case "VarcharTypeInfo":
                return f"varchar({fields['length']})"
            case "ListTypeInfo":
                return f"array<{self.of(fields['listElementTypeInfo'], found, depth)}>"
            case "MapTypeInfo":
                key, value = fields["mapKeyTypeInfo"], fields["mapValueTypeInfo"]
                return f"map<{self.of(key, found, depth)},{self.of(value, found, depth)}>"
            case "StructTypeInfo":
                names = _items(fields["allStructFieldNames"], found)
                types = _items(fields["allStructFieldTypeInfos"], found)
                if len(names) != len(types):
                    raise DecodeError(found.offset, f"a struct has {len(names)} names and {len(types)} types")
                return f"struct<{self._joined(names, types, found, depth)}>"
            case "UnionTypeInfo":
                members = _items(fields["allUnionObjectTypeInfos"], found)
                return f"uniontype<{self._joined(None, members, found, depth)}>"
            case unknown:
                raise DecodeError(found.offset, f"{unknown} is not a type that is known")

    def _joined(self, names: list[Any] | None, types: list[Any], found: JavaObject, depth: int) -> str:
        """``x:int,y:string``. What is shared is cheap to refer to, so the length is watched while it grows."""
        parts: list[str] = []
        left = MAX_TYPE_TEXT - self._characters
        for index, of in enumerate(types):
            name = "" if names is None else names[index]
            if not isinstance(name, str):
                raise DecodeError(found.offset, "a field of a struct has no name")
            text = self.of(of, found, depth)
            left -= len(name) + len(text) + 2
            if left < 0:
                raise DecodeError(found.offset, f"types of more than {MAX_TYPE_TEXT} characters")
            parts.append(text if names is None else f"{name}:{text}")
        return ",".join(parts)


def _items(found: Any, owner: JavaObject) -> list[Any]:
    if not isinstance(found, JavaList):
        raise DecodeError(owner.offset, f"a {owner.simple_name} has no list of fields")
    return found.items
