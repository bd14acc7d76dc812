"""Avro schemas that others wrote, checked so that bytes bound the values that they can encode.

    every value takes a byte     ``null`` outside of a union, records without fields and ``fixed`` of no bytes are
                                 refused: an array of them could have any count
    no schema holds itself       a decoder would follow it as deep as the bytes say
    logical types are left out   values are those that are stored. A decimal of a megabyte takes fastavro minutes

``density`` is the most values for a byte that any bytes of the schema can have.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from evaluator.language.records import entity
from index_store.formats.bounded.json_text import KEPT_SCHEMAS, check_depth
from index_store.storage.errors import FormatError

__all__ = ["AvroSchema", "Shape", "check_schema"]

_WHAT = "the Avro schema"
#: A schema of more lists, objects and names than these is not kept; that of a metadata table has 500.
KEPT_NODES = 5_000
#: Parts of a schema that are texts or values of its own, not types.
_NOT_TYPES = ("name", "namespace", "default", "doc", "symbols", "aliases")
_FLOATING = {"float": 4, "double": 8}
_VARIABLE = {"boolean", "int", "long", "bytes", "string", "enum"}


@entity
class Shape:
    """A type as bytes are walked over it.

    kind      boolean, int, bytes, fixed, null, enum, record, array, map or union
    parts     types of the fields, of the branches, or of the items
    least     bytes that a value takes at least: of a fixed one, exactly
    weight    values that one makes: itself, its fields, the largest branch; the items of arrays and maps not counted
    density   values for a byte, at most
    """

    kind: str
    parts: tuple[Shape, ...]
    least: int
    weight: int
    density: float


@entity
class AvroSchema:
    """A schema as fastavro reads it (``parsed``), and its shape."""

    parsed: Any
    shape: Shape


#: The small schemas checked last, by the identity of their data, which is held so that no other object gets it.
_KEPT: dict[int, tuple[Any, AvroSchema]] = {}
_KEEPING = Lock()


def check_schema(schema: Any) -> AvroSchema:
    """A schema (JSON data, not changed later) without logical types, for decoding. Raises FormatError.

    ``json_text.parse_schema`` gives the same data for the same text, so a schema that many files repeat is checked
    once.
    """
    kept = _KEPT.get(id(schema))
    if kept is not None and kept[0] is schema:
        return kept[1]
    nodes = check_depth(schema, _WHAT)
    checked = _checked(schema)
    if nodes <= KEPT_NODES:
        with _KEEPING:
            if len(_KEPT) >= KEPT_SCHEMAS:
                del _KEPT[next(iter(_KEPT))]
            _KEPT[id(schema)] = schema, checked
    return checked


def _checked(schema: Any) -> AvroSchema:
    import fastavro

    try:
        parsed = fastavro.parse_schema(_without_logical_types(schema))
        return AvroSchema(parsed, _Shapes().of(parsed))
    except FormatError:
        raise
    except Exception as error:  # fastavro has no common error type
        raise FormatError(f"{_WHAT} cannot be understood: {error}") from error


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    if isinstance(schema, Mapping):
        return {
            key: value if key in _NOT_TYPES else _without_logical_types(value)
            for key, value in schema.items()
            if key != "logicalType"
        }
    return schema


class _Shapes:
    """The shapes of a schema; those of named types are made once, however often they are used."""

    def __init__(self) -> None:
        self._named: dict[str, Shape | None] = {}  # None: under way

    def of(self, schema: Any, *, in_union: bool = False) -> Shape:
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            return self._primitive(schema, in_union=in_union)
        kind = schema["type"]
        if isinstance(kind, (Mapping, list)):
            return self.of(kind)
        if kind in ("record", "error", "enum", "fixed"):
            return self._name(schema, kind)
        if kind in ("array", "map"):
            items = self.of(schema["items" if kind == "array" else "values"])
            return Shape(kind, (items,), 1, 1, max(1.0, items.density))
        return self._primitive(kind, in_union=in_union)

    def _primitive(self, kind: str, *, in_union: bool) -> Shape:
        if kind in self._named:
            shape = self._named[kind]
            if shape is None:
                raise FormatError(f"{_WHAT} holds itself: {kind}")
            return shape
        if kind == "null":
            if not in_union:
                raise FormatError(f"{_WHAT} has a null outside of a union")
            return Shape(kind, (), 0, 1, 1.0)
        if kind in _FLOATING:
            return Shape("fixed", (), _FLOATING[kind], 1, 1 / _FLOATING[kind])
        if kind not in _VARIABLE:
            raise FormatError(f"{_WHAT} names a type that it does not define: {kind}")
        return Shape({"long": "int", "string": "bytes"}.get(kind, kind), (), 1, 1, 1.0)

    def _union(self, branches: list[Any]) -> Shape:
        parts = tuple(self.of(branch, in_union=True) for branch in branches)
        if not parts:
            raise FormatError(f"{_WHAT} has a union without branches")
        least = 1 + min(part.least for part in parts)
        return Shape(
            "union", parts, least, 1 + max(part.weight for part in parts), max(2.0, *(part.density for part in parts))
        )

    def _name(self, schema: Mapping[str, Any], kind: str) -> Shape:
        name = schema["name"]
        if name in self._named:
            raise FormatError(f"{_WHAT} defines {name} twice")
        self._named[name] = None
        if kind == "fixed":
            size = schema["size"]
            if not isinstance(size, int) or size <= 0:
                raise FormatError(f"{_WHAT} has a fixed type of {size} bytes")
            shape = Shape("fixed", (), size, 1, 1 / size)
        elif kind == "enum":
            shape = Shape("int", (), 1, 1, 1.0)
        else:
            parts = tuple(self.of(field["type"]) for field in schema["fields"])
            if not parts:
                raise FormatError(f"{_WHAT} has a record without fields: {name}")
            least = sum(part.least for part in parts)
            weight = 1 + sum(part.weight for part in parts)
            shape = Shape("record", parts, least, weight, max(part.density for part in parts) + 1 / least)
        self._named[name] = shape
        return shape
