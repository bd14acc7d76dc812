"""A projector for column statistics: from the Avro bytes of a metadata record straight to the fields that matter.

A record of ``HoodieMetadataRecord`` (HoodieMetadata.avsc) that holds column statistics is

    head    meta fields, key "", type, null, null, branch 1: equal in all records of an HFile, learned from the first
    body    fileName, columnName, minValue, maxValue, valueCount, nullCount, totalSize, totalUncompressedSize,
            isDeleted [, isTightBound] [, valueType {ordinal, additionalInfo}]: version 6 has neither of the last two
    tail    the other kinds of record: null

The positions come from the writer's schema; a schema or a record of another shape goes through fastavro. A record must
end exactly where its entry does, so damage that shifts the fields is detected. About 200,000 records a second.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from index_store.formats.avro_record import RecordReader, unwrap
from index_store.storage.errors import FormatError

__all__ = ["ColumnStatsDecoder", "StatsRecord", "name_types", "wrapper_of"]

Skip = Callable[[bytes, int], int]
_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_BODY = (
    "fileName",
    "columnName",
    "minValue",
    "maxValue",
    "valueCount",
    "nullCount",
    "totalSize",
    "totalUncompressedSize",
    "isDeleted",
)
_KINDS = {
    "null": "null",
    "boolean": "boolean",
    "int": "long",
    "long": "long",
    "float": "float",
    "double": "double",
    "bytes": "bytes",
    "string": "bytes",
}


class _OtherShapeError(Exception):
    """The record has a shape that the fast path does not handle; the reference decoder reads it."""


class StatsRecord(NamedTuple):
    """Statistics of one column in one file, as written.

    ``lo_wrapper`` and ``hi_wrapper`` name the Avro wrapper ("" for null); strings and decimals are still bytes.
    Counts are None where they were null. ``ordinal`` is 0 for a V1 wrapper, ``info`` is ``p,s`` for V2 decimals.
    ``size`` is how many bytes the column's values take in the file before compression.
    """

    file_name: bytes
    column: bytes
    lo_wrapper: str
    lo: Any
    hi_wrapper: str
    hi: Any
    rows: int | None
    nulls: int | None
    deleted: bool
    tight: bool
    ordinal: int
    info: bytes
    size: int | None = None


class ColumnStatsDecoder:
    """Decodes records of one HFile; make a new one for each, since the head is learned."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._reference = RecordReader(schema)  # which refuses what is no schema
        self._head = b""
        self._fast = False
        self._tight = self._typed = False
        self._tail = 0
        self._head_skips: list[Skip] = []
        self._wrappers: dict[int, tuple[str, str]] = {}  # by the byte of the branch
        self._plan()

    def _plan(self) -> None:
        """Decide from the schema whether the fast path applies, and where its fields are."""
        fields = self._schema.get("fields", []) if isinstance(self._schema, Mapping) else []
        place = next((i for i, f in enumerate(fields) if f.get("name") == "ColumnStatsMetadata"), None)
        if place is None:
            raise FormatError("the HFile's schema has no column statistics")
        named: dict[str, Any] = {}
        name_types(self._schema, named)
        try:
            self._head_skips = [_skipper(field["type"], named) for field in fields[:place]]
            _, record = fields[place]["type"]
            record = named.get(record, record) if isinstance(record, str) else record
            body = {field["name"]: field["type"] for field in record["fields"]}
            order = tuple(body)
            wrappers = [wrapper_of(branch, named) for branch in body["minValue"]]
            self._wrappers = {2 * i: wrapper for i, wrapper in enumerate(wrappers)}
            rest = order[len(_BODY) :]
            self._tight, self._typed = rest[:1] == ("isTightBound",), rest[-1:] == ("valueType",)
            self._tail = len(fields) - place - 1
            nullable = (*_BODY[:8], *(("valueType",) if self._typed else ()))
            self._fast = (
                order[: len(_BODY)] == _BODY
                and len(rest) == self._tight + self._typed
                and [wrapper_of(branch, named) for branch in body["maxValue"]] == wrappers
                and all(isinstance(body[name], list) and body[name][0] == "null" for name in nullable)
                and all(isinstance(f["type"], list) and f["type"][0] == "null" for f in fields[place + 1 :])
                and fields[place]["type"][0] == "null"
            )
        except (KeyError, TypeError, ValueError, FormatError):
            self._fast = False

    def decode(self, data: bytes, start: int, end: int) -> StatsRecord | None:
        """The statistics in ``data[start:end]``, or None for a record of another kind. Raises FormatError."""
        if not self._fast:
            return self._by_reference(data, start, end)
        try:
            return self._decode(data, start, end)
        except (_OtherShapeError, KeyError):
            return self._by_reference(data, start, end)
        except (IndexError, struct.error) as error:
            raise FormatError("a column statistics record is cut off") from error

    def _decode(self, data: bytes, start: int, end: int) -> StatsRecord:
        head = self._head
        if not head or not data.startswith(head, start):
            position = start
            for skip in self._head_skips:
                position = skip(data, position)
            if data[position] != 2:
                raise _OtherShapeError
            head = self._head = data[start : position + 1]
        p = start + len(head)
        name, p = _text(data, p)
        column, p = _text(data, p)
        wrappers = self._wrappers
        lo_wrapper, kind = wrappers[data[p]]
        lo, p = _long(data, p + 1) if kind == "long" else _value(data, p + 1, kind)
        hi_wrapper, kind = wrappers[data[p]]
        hi, p = _long(data, p + 1) if kind == "long" else _value(data, p + 1, kind)
        rows, p = _count(data, p)
        nulls, p = _count(data, p)
        size, p = _count(data, _skip_count(data, p))
        deleted = data[p] != 0
        p += 1
        tight = False
        if self._tight:
            tight = data[p] != 0
            p += 1
        ordinal, info = 0, b""
        if self._typed:
            present = data[p]
            p += 1
            if present:
                if present != 2:
                    raise _OtherShapeError
                ordinal, p = _long(data, p)
                info, p = _text(data, p)
        if p + self._tail != end or data.count(0, p, end) != self._tail:
            raise _OtherShapeError
        return StatsRecord(
            name, column, lo_wrapper, lo, hi_wrapper, hi, rows, nulls, deleted, tight, ordinal, info, size
        )

    def _by_reference(self, data: bytes, start: int, end: int) -> StatsRecord | None:
        return _from_record(self._reference.read(data[start:end]))


def _from_record(record: Mapping[str, Any]) -> StatsRecord | None:
    try:
        found = _stats_of(record)
    except (AttributeError, TypeError) as error:
        raise FormatError("a column statistics record has another form") from error
    counts = () if found is None else (found.rows, found.nulls, found.size, found.ordinal)
    if not all(one is None or isinstance(one, int) for one in counts):
        raise FormatError("a column statistics record has a count that is no number")
    return found


def _stats_of(record: Mapping[str, Any]) -> StatsRecord | None:
    stats = unwrap(record.get("ColumnStatsMetadata"))
    if stats is None:
        return None
    value_type = unwrap(stats.get("valueType")) or {}
    lo_wrapper, lo = _plain(stats.get("minValue"))
    hi_wrapper, hi = _plain(stats.get("maxValue"))
    return StatsRecord(
        file_name=(stats.get("fileName") or "").encode(),
        column=(stats.get("columnName") or "").encode(),
        lo_wrapper=lo_wrapper,
        lo=lo,
        hi_wrapper=hi_wrapper,
        hi=hi,
        rows=stats.get("valueCount"),
        nulls=stats.get("nullCount"),
        deleted=bool(stats.get("isDeleted")),
        tight=bool(stats.get("isTightBound")),
        ordinal=value_type.get("typeOrdinal", 0),
        info=(value_type.get("additionalInfo") or "").encode(),
        size=stats.get("totalUncompressedSize"),
    )


def _plain(wrapped: Any) -> tuple[str, Any]:
    """A wrapper as the fast path gives it."""
    if wrapped is None:
        return "", None
    if not isinstance(wrapped, tuple):
        raise FormatError("a bound is not wrapped")
    wrapper = wrapped[0].rsplit(".", 1)[-1]
    value = wrapped[1].get("value") if isinstance(wrapped[1], Mapping) else None
    if wrapper == "TimeMicrosWrapper":
        value = None  # no column type uses it
    return wrapper, value.encode() if isinstance(value, str) else value


def name_types(schema: Any, named: dict[str, Any]) -> None:
    """Put the named types of a schema into ``named``, by their names without a namespace."""
    if isinstance(schema, list):
        for branch in schema:
            name_types(branch, named)
    elif isinstance(schema, Mapping):
        if "name" in schema and schema.get("type") in ("record", "fixed", "enum"):
            named[schema["name"]] = schema
        for key in ("type", "items", "values"):
            if isinstance(schema.get(key), (list, Mapping)):
                name_types(schema[key], named)
        for field in schema.get("fields", ()):
            name_types(field, named)


def wrapper_of(branch: Any, named: Mapping[str, Any]) -> tuple[str, str]:
    """A branch of the union of wrappers: its name, and how its one field is decoded."""
    if branch == "null":
        return "", "null"
    record = named[branch.rsplit(".", 1)[-1]] if isinstance(branch, str) else branch
    if len(record["fields"]) != 1:
        return record["name"], "unknown"
    inner = record["fields"][0]["type"]
    while isinstance(inner, Mapping):
        inner = inner["type"]
    return record["name"], _KINDS.get(inner, "unknown") if isinstance(inner, str) else "unknown"


def _skipper(schema: Any, named: Mapping[str, Any]) -> Skip:
    """A function that steps over a value of a simple type; complex ones raise, so the record takes the slow way."""
    if isinstance(schema, Mapping) and schema.get("type") not in ("record", "map", "array", "enum", "fixed"):
        return _skipper(schema["type"], named)
    if isinstance(schema, list):
        branches = [_skipper(branch, named) for branch in schema]

        def union(data: bytes, position: int) -> int:
            return branches[data[position] >> 1](data, position + 1)

        return union
    match schema:
        case "null":
            return lambda _, position: position
        case "boolean":
            return lambda _, position: position + 1
        case "int" | "long":
            return lambda data, position: _long(data, position)[1]
        case "string" | "bytes":
            return lambda data, position: _bytes(data, position)[1]
        case _:
            return _cannot_skip


def _cannot_skip(_: bytes, __: int) -> int:
    raise _OtherShapeError


def _text(data: bytes, p: int) -> tuple[bytes, int]:
    """An optional string."""
    if data[p] != 2:
        return b"", _null(data, p)
    return _bytes(data, p + 1)


def _count(data: bytes, p: int) -> tuple[int | None, int]:
    """An optional long."""
    if data[p] != 2:
        return None, _null(data, p)
    byte = data[p + 1]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), p + 2
    return _long(data, p + 1)


def _skip_count(data: bytes, p: int) -> int:
    """Step over an optional long."""
    if data[p] != 2:
        return _null(data, p)
    p += 1
    while data[p] >= 128:
        p += 1
    return p + 1


def _null(data: bytes, p: int) -> int:
    """Step over the branch byte of an optional value that is not there."""
    if data[p]:
        raise _OtherShapeError
    return p + 1


def _bytes(data: bytes, p: int) -> tuple[bytes, int]:
    byte = data[p]
    if byte < 128:
        length, p = (byte >> 1) ^ -(byte & 1), p + 1
    elif data[p + 1] < 128:  # file names have 64 to 8191 bytes
        raw = byte & 127 | data[p + 1] << 7
        length, p = (raw >> 1) ^ -(raw & 1), p + 2
    else:
        length, p = _long(data, p)
    end = p + length
    if length < 0 or end > len(data):
        raise IndexError("a string is cut off")
    return data[p:end], end


def _long(data: bytes, p: int) -> tuple[int, int]:
    byte = data[p]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), p + 1
    value = byte & 127
    shift = 7
    while shift < 70:
        p += 1
        byte = data[p]
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> 64:
                break
            return (value >> 1) ^ -(value & 1), p + 1
        shift += 7
    raise IndexError("a varint has more than 64 bits")


def _value(data: bytes, p: int, kind: str) -> tuple[Any, int]:
    """The one field of a wrapper."""
    if kind == "long":
        return _long(data, p)
    if kind == "bytes":
        return _bytes(data, p)
    if kind == "double":
        return _DOUBLE.unpack_from(data, p)[0], p + 8
    if kind == "null":
        return None, p
    if kind == "float":
        return _FLOAT.unpack_from(data, p)[0], p + 4
    if kind == "boolean":
        return data[p] != 0, p + 1
    raise _OtherShapeError
