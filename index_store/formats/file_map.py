"""Records of the ``files`` partition, from Avro bytes to columns: names, sizes, deletions.

    head   meta fields, key, type: text and numbers that are passed over
    map    branch 1, then name -> (size long, isDeleted boolean), in one block or more
    tail   the other kinds of record: null

One pass finds where the names are; sizes are decoded for all entries at once. A schema or a record of another shape
goes through fastavro. A record must end exactly where its entry does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import entity
from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.varint import read_varint
from index_store.storage.errors import FormatError

__all__ = ["FileMap", "FileMapReader"]

_PASSED_OVER = ("string", "int", "long", ["null", "string"])
_LONGEST_VARINT = 10


@entity
class FileMap:
    """The entries of one record, in its order.

    names     ``(n,) pyarrow string``
    sizes     ``(n,) int64``, bytes
    deleted   ``(n,) bool``
    """

    names: pa.StringArray
    sizes: npt.NDArray[np.int64]
    deleted: npt.NDArray[np.bool_]

    def changes(self) -> dict[str, int | None]:
        """Sizes by name, None for a deleted one."""
        return {
            name: None if gone else size
            for name, size, gone in zip(self.names.to_pylist(), self.sizes.tolist(), self.deleted.tolist(), strict=True)
        }


class FileMapReader:
    """Reads records of one writer schema. Raises FormatError."""

    __slots__ = ("_before", "_reference", "_tail")

    def __init__(self, schema: Any) -> None:
        self._reference = RecordReader(schema)
        #: Types of the fields before the map, None when the schema has another shape; and how many follow it.
        self._before: tuple[Any, ...] | None = None
        self._tail = 0
        fields = list(schema.get("fields", ())) if isinstance(schema, Mapping) else []
        types = {field.get("name"): field.get("type") for field in fields}
        place = list(types).index("filesystemMetadata") if "filesystemMetadata" in types else len(types)
        before, here, after = (
            list(types.values())[part] for part in (slice(place), slice(place, place + 1), slice(place + 1, None))
        )
        if (
            here
            and _is_file_map(here[0])
            and all(one in _PASSED_OVER for one in before)
            and all(isinstance(one, list) and one[:1] == ["null"] for one in after)
        ):
            self._before, self._tail = tuple(before), len(after)

    def read(self, data: bytes, start: int, end: int) -> FileMap:
        """The record in ``data[start:end]``; one of another kind has no entries."""
        found = None
        if self._before is not None:
            try:
                found = self._columns(data, start, end)
            except IndexError as error:
                raise FormatError("a record of files is cut off") from error
        return self._by_reference(data[start:end]) if found is None else found

    def _by_reference(self, value: bytes) -> FileMap:
        entries = unwrap(self._reference.read(value).get("filesystemMetadata")) or {}
        try:
            return FileMap(
                pa.array(list(entries), pa.string()),
                np.array([info["size"] for info in entries.values()], np.int64),
                np.array([info["isDeleted"] for info in entries.values()], np.bool_),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException) as error:
            raise FormatError("a record of files has another form") from error

    def _columns(self, data: bytes, start: int, end: int) -> FileMap | None:
        """None for a record of another shape."""
        p = start
        for kind in self._before or ():
            if isinstance(kind, list):
                branch, p = read_varint(data, p)
                if branch == 0:
                    continue
            value, p = read_varint(data, p)
            if kind not in ("int", "long"):
                if value < 0:
                    raise FormatError("a text of a record of files has a negative length", p)
                p += value
        branch, p = read_varint(data, p)
        if branch != 1:
            return None
        names: list[bytes] = []
        ends: list[int] = []
        count, p = read_varint(data, p)
        while count:
            if count < 0:
                _, p = read_varint(data, p)
                count = -count
            for _ in range(count):
                length = data[p]
                if length >= 128:
                    length, p = read_varint(data, p)
                else:
                    length, p = length >> 1, p + 1
                if length < 0 or p + length >= end:
                    raise FormatError("a record of files is cut off", p)
                stop = p + length
                names.append(data[p:stop])
                ends.append(stop)
                while data[stop] >= 128:
                    stop += 1
                p = stop + 2
            count, p = read_varint(data, p)
        if p + self._tail != end or any(data[p:end]):
            return None
        try:
            column = pa.array(names, pa.binary()).cast(pa.string())
        except pa.ArrowInvalid as error:
            raise FormatError("the name of a file is not text") from error
        sizes, flags = _sizes(np.frombuffer(data, np.uint8), np.array(ends, np.int64))
        return FileMap(column, sizes, flags)


def _is_file_map(kind: Any) -> bool:
    if not (isinstance(kind, list) and len(kind) == 2 and kind[0] == "null" and isinstance(kind[1], Mapping)):
        return False
    values = kind[1].get("values")
    fields = values.get("fields", ()) if isinstance(values, Mapping) else ()
    return kind[1].get("type") == "map" and [(one.get("name"), one.get("type")) for one in fields] == [
        ("size", "long"),
        ("isDeleted", "boolean"),
    ]


def _sizes(
    data: npt.NDArray[np.uint8], at: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The varint at each place, and whether the byte after it is not 0."""
    value = np.zeros(len(at), np.uint64)
    place, going = at.copy(), np.ones(len(at), np.bool_)
    for step in range(_LONGEST_VARINT):
        byte = data[place]
        value |= np.where(going, (byte & 127).astype(np.uint64) << np.uint64(7 * step), np.uint64(0))
        place += going
        going &= byte >= 128
        if not going.any():
            break
    else:
        raise FormatError("a varint does not end")
    signed = (value >> np.uint64(1)).astype(np.int64) ^ -(value & np.uint64(1)).astype(np.int64)
    return signed, data[place] != 0
