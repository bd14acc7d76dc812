"""Class layouts: how Kryo writes each class, from the JSON tables in ``sarg/kryo/layouts`` (data, not code).

A profile names several tables, and later tables override earlier ones. A table has

    registered   classes by Kryo id
    final        classes that no other class can extend: a slot of such a type has no class tag
    classes      {"fields": [...]}, {"enum": [...]} or {"serializer": "..."}

A class's ``Layout`` is compiled when the reader first needs it. A class in no table has no layout, and an input that
contains it cannot be decoded.

Facts: docs/facts/hive-kryo.md#nodes-and-their-fields.
"""

from __future__ import annotations

import enum
import functools
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.language.records import frozen

WRAPPERS = {
    "int": "java.lang.Integer",
    "long": "java.lang.Long",
    "float": "java.lang.Float",
    "double": "java.lang.Double",
    "boolean": "java.lang.Boolean",
    "byte": "java.lang.Byte",
    "short": "java.lang.Short",
    "char": "java.lang.Character",
}
_ALWAYS_FINAL = frozenset(
    [
        "java.lang.String",
        "java.time.LocalDate",
        "java.time.LocalDateTime",
        "java.time.LocalTime",
        "[B",
        "[I",
        "[J",
        "[S",
        "[C",
        "[F",
        "[D",
        "[Z",
        *WRAPPERS.values(),
    ]
)
_PRIMITIVE_ARRAYS = {
    "byte[]": "[B",
    "int[]": "[I",
    "long[]": "[J",
    "short[]": "[S",
    "char[]": "[C",
    "float[]": "[F",
    "double[]": "[D",
    "boolean[]": "[Z",
}


class Shape(enum.Enum):
    """What follows a class tag."""

    FIELDS = enum.auto()
    ENUM = enum.auto()
    SCALAR = enum.auto()
    BOXED = enum.auto()
    COLLECTION = enum.auto()
    MAP = enum.auto()
    TREE_MAP = enum.auto()
    TAGGED_ITEMS = enum.auto()
    ENUM_SET = enum.auto()
    ARRAY_AS_LIST = enum.auto()
    SUB_LIST = enum.auto()
    ARRAY = enum.auto()
    PRIMITIVE_ARRAY = enum.auto()


@frozen
class Generic:
    """A type with its arguments, as declared: ``java.util.Map<java.lang.String, ?>``."""

    name: str
    arguments: tuple[Generic, ...] = ()


@frozen
class Slot:
    """One value to read. ``primitive`` is set for a Java primitive, ``known`` when the class is not in the bytes.

    ``keeps_class`` asks for a ``Boxed`` although the class is known, for items of a list that has one tag for all.
    """

    name: str
    primitive: str | None = None
    known: str | None = None
    nullable: bool = True
    arguments: tuple[Generic, ...] = ()
    keeps_class: bool = False


TAGGED = Slot("")


@frozen
class Layout:
    """How one class is written.

    ``detail`` depends on the shape: the serializer of a SCALAR, the element class of an array, "flat" for FIELDS of
    primitives only, "no null" for a COLLECTION without null.
    """

    shape: Shape
    slots: tuple[Slot, ...] = ()
    constants: tuple[str, ...] = ()
    detail: str = ""
    fixed_length: int = -1

    @property
    def is_flat(self) -> bool:
        """Whether the fields are primitives only."""
        return self.detail == "flat"


_SHAPES = {
    "CollectionSerializer": Layout(Shape.COLLECTION),
    "ArraysAsListSerializer": Layout(Shape.ARRAY_AS_LIST),
    "ArrayListSubListSerializer": Layout(Shape.SUB_LIST),
    "ImmutableListSerializer": Layout(Shape.COLLECTION, detail="no null"),
    "MapSerializer": Layout(Shape.MAP),
    "TreeMapSerializer": Layout(Shape.TREE_MAP),
    "EnumSetSerializer": Layout(Shape.ENUM_SET),
    "CollectionsEmptyListSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=0),
    "CollectionsEmptySetSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=0),
    "CollectionsEmptyMapSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=0),
    "CollectionsSingletonListSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=1),
    "CollectionsSingletonSetSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=1),
    "CollectionsSingletonMapSerializer": Layout(Shape.TAGGED_ITEMS, fixed_length=2),
}


@dataclass(slots=True)
class Layouts:
    """The merged tables of one profile, and the layouts compiled from them."""

    registered: tuple[str, ...]
    final: frozenset[str]
    classes: Mapping[str, Mapping[str, Any]]
    _compiled: dict[str, Layout | None] = field(default_factory=dict)

    def of(self, java: str) -> Layout | None:
        """The layout of a class; None when no table has it, and then nothing after it can be read."""
        try:
            return self._compiled[java]
        except KeyError:
            layout = self._compile(java)
            if layout is not None and (java in self.classes or java in _ALWAYS_FINAL):
                self._compiled[java] = layout  # a name that only the input contains is not kept: memory stays bounded
            return layout

    def is_final(self, java: str) -> bool:
        """Whether a slot of this class is written without a class tag."""
        if java.startswith("[L"):
            java = java[2:-1]
        return java in _ALWAYS_FINAL or java in self.final

    def _compile(self, java: str) -> Layout | None:
        if java in WRAPPERS.values():
            return Layout(Shape.BOXED, detail=next(p for p, w in WRAPPERS.items() if w == java))
        if java == "java.lang.String":
            return Layout(Shape.SCALAR, detail="StringSerializer")
        if java.startswith("["):
            if java in _ALWAYS_FINAL:
                return Layout(Shape.PRIMITIVE_ARRAY, detail=java[1])
            return Layout(Shape.ARRAY, detail=java[2:-1] if java.startswith("[L") else java[1:])
        table = self.classes.get(java)
        if table is None:
            # Kryo writes all unregistered lists alike. With a wrong guess the input cannot be read to its end.
            return _SHAPES["CollectionSerializer"] if java.endswith("List") else None
        if "enum" in table:
            return Layout(Shape.ENUM, constants=tuple(table["enum"]))
        if "fields" in table:
            slots = tuple(_slot(row) for row in table["fields"])
            is_flat = all(slot.primitive is not None for slot in slots)
            return Layout(Shape.FIELDS, slots=slots, detail="flat" if is_flat else "")
        serializer = table["serializer"]
        return _SHAPES.get(serializer) or Layout(Shape.SCALAR, detail=serializer)


def _slot(row: list[Any]) -> Slot:
    name, declared = row[0], row[1]
    if len(row) == 2:
        return Slot(name, primitive=declared)
    generic = parse_generic(declared)
    return Slot(name, known=generic.name if row[2] else None, nullable=len(row) == 3, arguments=generic.arguments)


@functools.cache
def parse_generic(text: str) -> Generic:
    """Parses ``a.B<c.D, ? extends e.F>``; used for texts of the layout tables only."""
    text = text.strip()
    if text.endswith("[]"):
        return Generic(_PRIMITIVE_ARRAYS.get(text, f"[L{text[:-2]};"))
    if not text.endswith(">"):
        return Generic(text)
    name, _, inside = text[:-1].partition("<")
    parts, depth, start = [], 0, 0
    for index, character in enumerate(inside):
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    return Generic(name, tuple(parse_generic(part) for part in [*parts, inside[start:]]))


@functools.cache
def load_layouts(tables: tuple[str, ...]) -> Layouts:
    """The merged tables of these names, read once for each combination of names."""
    registered: list[str] = []
    final: set[str] = set()
    classes: dict[str, Mapping[str, Any]] = {}
    for name in tables:
        table = _table(name)
        registered = table.get("registered", registered)
        final.update(table.get("final", ()))
        classes.update(table["classes"])
    final.update(java for java, layout in classes.items() if "enum" in layout)
    return Layouts(tuple(WRAPPERS.get(java, java) for java in registered), frozenset(final), classes)


@functools.cache
def _table(name: str) -> dict[str, Any]:
    resource = importlib.resources.files("sarg.kryo.layouts").joinpath(f"{name}.json")
    loaded: dict[str, Any] = json.loads(resource.read_bytes())
    return loaded
