"""Column statistics decoded for many records at once, as the writer's schema lays them out.

    head    learned from the first record: bytes that all must share, and strings that are stepped over
    body    one read for each field of the statistics, in the schema's order; fields of no use are stepped over
    tail    the other kinds of record: null

``avro_columns`` is the reference. A schema with a field of another shape has no vectorised decoder; records that differ
in more than their values (a branch that is not known, a second column) raise ``Fallback``, and go through the
reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from index_store.formats.avro_columns import name_types, wrapper_of
from index_store.formats.stats_columns import Side, StatsColumns
from index_store.formats.stats_cursors import (
    Texts,
    copy_texts,
    optional_number,
    optional_text,
    same_bytes,
    skip_number,
    value_type_at,
)
from index_store.formats.vectorised_avro import Cursors, Fallback, Positions, words_of

__all__ = ["VectorisedStats"]

_TEXTS = ("fileName", "columnName")
_BOUNDS = ("minValue", "maxValue")
_COUNTS = ("valueCount", "nullCount", "totalUncompressedSize")
_FLAGS = ("isDeleted", "isTightBound")
#: The shapes of a field, by what its type is without "null".
_SHAPES = {"string": "text", "bytes": "text", "int": "number", "long": "number", "boolean": "flag"}


class _Field(NamedTuple):
    """A field of the body: how it is read, and the byte of the branch with a value (None: no union)."""

    name: str
    shape: str
    branch: int | None


class VectorisedStats:
    """Decodes records of one HFile's schema. ``applies`` says whether it can."""

    def __init__(self, schema: Any) -> None:
        self._head: list[Any] = []
        self._body: list[_Field] = []
        self._tail = b""
        self.wrappers: tuple[tuple[str, str], ...] = ()
        self.applies = False
        try:
            self._plan(schema)
        except (KeyError, TypeError, ValueError, AttributeError, StopIteration, IndexError):
            return
        names = {field.name for field in self._body}
        self.applies = names >= {*_TEXTS, *_BOUNDS, *_COUNTS, "isDeleted"} and len(self.wrappers) <= 64

    def _plan(self, schema: Any) -> None:
        named: dict[str, Any] = {}
        name_types(schema, named)
        fields = schema["fields"]
        place = next(i for i, field in enumerate(fields) if field["name"] == "ColumnStatsMetadata")
        null, record = fields[place]["type"]
        record = _resolved(record, named)
        rest = fields[place + 1 :]
        if null != "null" or any(_options(field["type"])[0] != "null" for field in rest):
            raise ValueError
        self._head = [_with_types(field["type"], named) for field in fields[:place]]
        self._tail = bytes(len(rest))
        for field in record["fields"]:
            self._body.append(self._field(field["name"], field["type"], named))

    def _field(self, name: str, kind: Any, named: Mapping[str, Any]) -> _Field:
        if name in _BOUNDS:
            wrappers = tuple(wrapper_of(branch, named) for branch in kind)
            if self.wrappers not in ((), wrappers) or len({name for name, _ in wrappers}) < len(wrappers):
                raise ValueError
            self.wrappers = wrappers
            return _Field(name, "bound", None)
        if name == "valueType":
            null, record = kind
            ordinal, info = _resolved(record, named)["fields"]
            optional = self._field("additionalInfo", info["type"], named)
            if (
                null != "null"
                or (ordinal["name"], info["name"]) != ("typeOrdinal", "additionalInfo")
                or (_resolved(ordinal["type"], named) != "int" or optional[1:] != ("text", 2))
            ):
                raise ValueError
            return _Field(name, "value type", 2)
        options = _options(kind)
        values = [one for one in options if one != "null"]
        shape = _SHAPES[_resolved(values[0], named)]
        if len(values) > 1 or len(options) > 2:
            raise ValueError
        wanted = (
            "text"
            if name in _TEXTS or name == "additionalInfo"
            else "number"
            if name in _COUNTS
            else ("flag" if name in _FLAGS else shape)
        )
        if shape != wanted or (name in _FLAGS and len(options) > 1):
            raise ValueError
        return _Field(name, shape, 2 * options.index(values[0]) if isinstance(kind, list) else None)

    def decode(
        self, data: npt.NDArray[np.uint8], keys: npt.NDArray[np.uint8], starts: Positions, ends: Positions
    ) -> StatsColumns:
        """The records between ``starts`` and ``ends`` of a padded buffer, in ascending order. Raises Fallback."""
        words = words_of(data)
        at = Cursors(words, starts)
        self._step_over_head(at, data, int(starts[0]))
        column, names = b"", None
        sides: dict[str, Side] = {}
        counts: dict[str, npt.NDArray[np.int64]] = {}
        no = np.zeros(len(starts), np.bool_)
        flags = dict.fromkeys(_FLAGS, no)
        ordinal = np.zeros(len(starts), np.int64)
        info = np.zeros(len(starts), np.uint64)
        for name, shape, branch in self._body:
            match shape:
                case "text" if name == "columnName":
                    column = same_bytes(at, data, branch)
                case "text":
                    text = optional_text(at, branch)
                    if name == "fileName":
                        names = copy_texts(data, text)
                case "number":
                    if name in _COUNTS:
                        counts[name] = optional_number(at, branch)
                    else:
                        skip_number(at, branch)
                case "flag":
                    if branch is not None:
                        at.expect(bytes((branch,)))
                    flags[name] = at.byte() != 0
                case "bound":
                    sides[name] = self._bound(at, data)
                case _:
                    ordinal, info = value_type_at(at, words)
        at.expect(self._tail)
        if (at.places != ends).any():
            raise Fallback
        return StatsColumns(
            wrappers=self.wrappers,
            column=column,
            keys=keys,
            names=names,
            lo=sides["minValue"],
            hi=sides["maxValue"],
            rows=counts["valueCount"],
            nulls=counts["nullCount"],
            size=counts["totalUncompressedSize"],
            deleted=flags["isDeleted"],
            tight=flags["isTightBound"],
            ordinal=ordinal,
            info=info,
        )

    def _step_over_head(self, at: Cursors, data: npt.NDArray[np.uint8], first: int) -> None:
        """All fields in front of the statistics, and the branch of the statistics."""
        one = _First(data, first)
        for kind in self._head:
            one.read(kind)
        if one.byte() != 2:
            raise Fallback
        for part in one.parts:
            if part is None:
                at.text()
            else:
                at.expect(bytes(part))

    def _bound(self, at: Cursors, data: npt.NDArray[np.uint8]) -> Side:
        branch = at.byte()
        wrapper = branch >> np.uint8(1)
        first = branch[0]
        if (branch == first).all():
            bits, text = self._value(at, int(first))
            if text is None:
                return Side(wrapper, bits, None)
            return Side(wrapper, bits, copy_texts(data, text))
        places = at.places.copy()
        bits = np.zeros(len(branch), np.int64)
        start, length = places.copy(), np.zeros(len(branch), np.int64)
        has_text = False
        for one in np.unique(branch).tolist():
            rows = np.flatnonzero(branch == one)
            part = at.part(rows)
            bits[rows], text = self._value(part, one)
            places[rows] = part.places
            if text is not None:
                start[rows], length[rows] = text
                has_text = True
        at.move(places)
        return Side(wrapper, bits, copy_texts(data, Texts(start, length)) if has_text else None)

    def _value(self, at: Cursors, branch: int) -> tuple[npt.NDArray[np.int64], Texts | None]:
        if branch & 1 or branch >> 1 >= len(self.wrappers):
            raise Fallback
        match self.wrappers[branch >> 1][1]:
            case "long":
                return at.number(), None
            case "double":
                return at.eight(), None
            case "float":
                return at.four(), None
            case "boolean":
                return (at.byte() != 0).astype(np.int64), None
            case "null":
                return np.zeros(len(at), np.int64), None
            case "bytes":
                text = Texts(*at.text())
                return np.zeros(len(at), np.int64), text
        raise Fallback


class _First:
    """The head of the first record: bytes to expect, None for a string to step over."""

    def __init__(self, data: npt.NDArray[np.uint8], place: int) -> None:
        self._data = data
        self._place = place
        self.parts: list[bytearray | None] = [bytearray()]

    def byte(self) -> int:
        if self._place >= len(self._data):
            raise Fallback
        found = int(self._data[self._place])
        self._place += 1
        if self.parts[-1] is None:
            self.parts.append(bytearray())
        part = self.parts[-1]
        assert part is not None
        part.append(found)
        return found

    def read(self, kind: Any) -> None:
        if isinstance(kind, list):
            branch = self.byte()
            if branch & 1 or branch >> 1 >= len(kind):
                raise Fallback
            self.read(kind[branch >> 1])
        elif kind in ("string", "bytes"):
            self._text()
        elif kind == "boolean":
            self.byte()
        elif kind in ("int", "long"):
            while self.byte() >= 128:
                pass
        elif kind != "null":
            raise Fallback

    def _text(self) -> None:
        if self._place < len(self._data) and self._data[self._place] == 0:
            self.byte()  # an empty string is expected to be empty
            return
        length = shift = 0
        while True:
            if self._place >= len(self._data) or shift > 28:
                raise Fallback
            byte = int(self._data[self._place])
            self._place += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if length & 1:
            raise Fallback
        self._place += length >> 1
        self.parts.append(None)


def _options(kind: Any) -> list[Any]:
    return kind if isinstance(kind, list) else [kind]


def _resolved(kind: Any, named: Mapping[str, Any]) -> Any:
    """A type without its logical type, and the definition of a named one."""
    if isinstance(kind, str):
        return named.get(kind.rsplit(".", 1)[-1], kind)
    if isinstance(kind, Mapping) and kind["type"] not in ("record", "map", "array", "enum", "fixed"):
        return _resolved(kind["type"], named)
    return kind


def _with_types(kind: Any, named: Mapping[str, Any]) -> Any:
    if isinstance(kind, list):
        return [_with_types(one, named) for one in kind]
    return _resolved(kind, named)
