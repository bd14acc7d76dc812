"""The location in a record of ``record_index``: straight from Avro's bytes, without the rest of the metadata record.

    partitionName, fileIdHighBits, fileIdLowBits, fileIndex, fileId, instantTime, fileIdEncoding [, position]

A file id is a UUID's two halves and an index (encoding 0: ``<uuid>-<index>``) or text (encoding 1). A schema or record
of another shape goes through fastavro; a record must end where its entry does. Source: ``HoodieRecordIndexInfo``,
``HoodieTableMetadataUtil.getLocationFromRecordIndexInfo``.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from index_store.formats.avro_record import RecordReader, unwrap
from index_store.storage.errors import FormatError

__all__ = ["Location", "LocationDecoder"]

#: Partition path and file id.
Location = tuple[str, str]

_FIELD = "recordIndexMetadata"
_NULLABLE = {"long": "long", "int": "long", "string": "text"}
_BODY = ("partitionName", "fileIdHighBits", "fileIdLowBits", "fileIndex", "fileId", "instantTime", "fileIdEncoding")
_BODY_KINDS = ("text", "long", "long", "long", "text", "long")
_HALF = (1 << 64) - 1
_REMEMBERED = 50_000
_VARINT = rb"([\x80-\xff]{0,9}[\x00-\x7f])"
#: No partition, a UUID with index 0, no text; an instant; encoding 0.
_USUAL = re.compile(
    rb"\x02\x00\x02" + _VARINT + rb"\x02" + _VARINT + rb"\x02\x00\x02\x00\x02" + _VARINT + rb"\x00", re.DOTALL
)


class _OtherShapeError(Exception):
    """A shape that the fast path does not handle; the reference decoder reads it."""


class LocationDecoder:
    """Decodes the values of one HFile of ``record_index``."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._reference: RecordReader | None = None
        self._before: tuple[str, ...] = ()
        self._head = b""
        self._after = 0
        self._position = False
        self._fast = self._plan()
        self._known: dict[bytes, Location | None] = {}  # the records of one file and instant are alike

    def _plan(self) -> bool:
        try:
            fields = self._schema["fields"]
            place = next(i for i, field in enumerate(fields) if field["name"] == _FIELD)
            self._before = tuple(_kind(field["type"]) for field in fields[:place])
            self._after = len(fields) - place - 1
            _, record = fields[place]["type"]
            body = record["fields"]
            self._position = [field["name"] for field in body[len(_BODY) :]] == ["position"]
            return (
                [field["name"] for field in body[: len(_BODY)]] == list(_BODY)
                and tuple(_nullable(field["type"]) for field in body[:6]) == _BODY_KINDS
                and body[6]["type"] == "int"
                and len(body) == len(_BODY) + self._position
                and (not self._position or _nullable(body[7]["type"]) == "long")
                and fields[place]["type"][0] == "null"
                and all(isinstance(field["type"], list) and field["type"][0] == "null" for field in fields[place + 1 :])
            )
        except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
            return False

    def decode(self, data: bytes, start: int, end: int) -> Location | None:
        """The location in ``data[start:end]``; None when the record holds none. Raises FormatError."""
        value = data[start:end]
        if value not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[value] = self._decoded(value)
        return self._known[value]

    def _decoded(self, value: bytes) -> Location | None:
        if self._fast:
            try:
                return self._decode(value)
            except (_OtherShapeError, IndexError, UnicodeDecodeError):
                pass
        self._reference = self._reference or RecordReader(self._schema)
        stored = unwrap(self._reference.read(value).get(_FIELD))
        try:
            return None if stored is None else _location(stored)
        except (AttributeError, TypeError, ValueError) as error:
            raise FormatError("a record index entry has another form") from error

    def _after_head(self, data: bytes) -> int:
        """Where the location starts, behind the other fields of the record and its own branch."""
        at = size = 0
        for kind in self._before:
            if kind == "int":
                _, at = _long(data, at)
                continue
            if kind != "string":
                if data[at] == 0:
                    at += 1
                    continue
                if kind != "text" or data[at] != 2:
                    raise _OtherShapeError
                at += 1
            size, at = _long(data, at)
            at += size
        if size < 0 or data[at] != 2:
            raise _OtherShapeError
        return at + 1

    def _decode(self, data: bytes) -> Location:
        if self._head and data.startswith(self._head):  # alike in all records of a file
            at = len(self._head)
        else:
            at = self._after_head(data)
            self._head = data[:at]
        usual = _USUAL.match(data, at)
        rest = b"" if usual is None else data[usual.end() :]
        if usual is not None and rest == bytes(self._position + self._after):
            return "", _uuid_text(_number(usual[1]), _number(usual[2]), 0)
        partition, at = _text(data, at)
        high, at = _optional_long(data, at)
        low, at = _optional_long(data, at)
        index, at = _optional_long(data, at)
        file_id, at = _text(data, at)
        _, at = _optional_long(data, at)
        encoding, at = _long(data, at)
        if self._position:
            _, at = _optional_long(data, at)
        if at + self._after != len(data) or any(data[at:]) or encoding not in (0, 1):
            raise _OtherShapeError
        if encoding == 1:
            return partition, file_id
        if high is None or low is None:
            raise _OtherShapeError
        return partition, _uuid_text(high, low, index)


def _kind(kind: Any) -> str:
    if isinstance(kind, Mapping):
        kind = kind["type"]
    if kind in ("string", "int"):
        return str(kind)
    return _nullable(kind) if isinstance(kind, list) and _nullable(kind) == "text" else _null_first(kind)


def _null_first(kind: Any) -> str:
    if not isinstance(kind, list) or kind[0] != "null":
        raise TypeError
    return "null"


def _nullable(kind: Any) -> str:
    if not isinstance(kind, list) or len(kind) != 2 or kind[0] != "null":
        return ""
    branch = kind[1]["type"] if isinstance(kind[1], Mapping) else kind[1]
    return _NULLABLE.get(branch, "") if isinstance(branch, str) else ""


def _long(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), at
    value, shift = byte & 127, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise _OtherShapeError


def _number(varint: bytes) -> int:
    value = shift = 0
    for byte in varint:
        value |= (byte & 127) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1)


def _optional_long(data: bytes, at: int) -> tuple[int | None, int]:
    branch = data[at]
    if branch == 0:
        return None, at + 1
    if branch != 2:
        raise _OtherShapeError
    return _long(data, at + 1)


def _text(data: bytes, at: int) -> tuple[str, int]:
    """A text or null, which is "" here."""
    branch = data[at]
    if branch == 0:
        return "", at + 1
    if branch != 2:
        raise _OtherShapeError
    size, at = _long(data, at + 1)
    if size < 0 or at + size > len(data):
        raise _OtherShapeError
    return data[at : at + size].decode("utf-8"), at + size


def _uuid_text(high: int, low: int, index: int | None) -> str:
    digits = f"{(high & _HALF) << 64 | low & _HALF:032x}"
    file_id = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    return file_id if index is None or index < 0 else f"{file_id}-{index}"


def _location(stored: Mapping[str, Any]) -> Location:
    partition = stored.get("partitionName") or ""
    if stored.get("fileIdEncoding") == 1:
        return partition, str(stored.get("fileId") or "")
    high, low, index = stored.get("fileIdHighBits"), stored.get("fileIdLowBits"), stored.get("fileIndex")
    if high is None or low is None:
        raise FormatError("a record index entry names no file")
    file_id = str(uuid.UUID(int=(high & _HALF) << 64 | low & _HALF))
    return partition, file_id if index is None or index < 0 else f"{file_id}-{index}"
