"""Records of the ``files`` partition, from Avro bytes to columns: names, sizes, deletions.

    head   meta fields, key, type: text and numbers that are passed over
    map    branch 1, then name -> (size long, isDeleted boolean), in one block or more
    tail   the other kinds of record: null

One pass finds where the names are; sizes are decoded for all entries of a block at once. A schema or a record of
another shape goes through fastavro. A record must end exactly where its entry does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.bounded.avro_values import MAX_VALUES, MOST_VALUES, VALUE_BYTES
from index_store.formats.hfile import HFile, entries, parse_schema
from index_store.formats.varint import read_varint
from index_store.storage.errors import FormatError

__all__ = ["FileMap", "FileMapReader", "records_of"]

_PASSED_OVER = ("string", "int", "long", ["null", "string"])
_LONGEST_VARINT = 10
#: A name, and a record of a size and a flag.
_ENTRY_VALUES = 4


@entity
class FileMap:
    """The entries of one record, in its order.

    names     n names
    sizes     ``(n,) int64``, bytes
    deleted   ``(n,) bool``
    """

    names: Sequence[str]
    sizes: npt.NDArray[np.int64]
    deleted: npt.NDArray[np.bool_]

    def changes(self) -> dict[str, int | None]:
        """Sizes by name, None for a deleted one."""
        return {
            name: None if gone else size
            for name, size, gone in zip(self.names, self.sizes.tolist(), self.deleted.tolist(), strict=True)
        }

    def put_on(self, files: dict[str, int]) -> None:
        """Put the changes on top of the sizes of files: a deletion takes one away, a size only grows.

        So does ``HoodieMetadataPayload.combineFileSystemMetadata``.
        """
        if not (files or self.deleted.any() or (self.sizes < 0).any()):
            files.update(zip(self.names, self.sizes.tolist(), strict=True))
            return
        for name, size in self.changes().items():
            if size is None:
                files.pop(name, None)
            else:
                files[name] = max(files.get(name, 0), size)


class FileMapReader:
    """Reads records of one writer schema. Raises FormatError."""

    __slots__ = ("_before", "_head", "_reference", "_tail")

    def __init__(self, schema: Any) -> None:
        self._reference = RecordReader(schema)
        #: Types of the fields before the map, None when the schema has another shape; and how many follow it.
        self._before: tuple[Any, ...] | None = None
        self._tail = 0
        self._head = b""
        fields = list(schema.get("fields", ())) if isinstance(schema, Mapping) else []
        types = {field.get("name"): _named(field.get("type")) for field in fields}
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

    def read(self, data: bytes, spans: Sequence[tuple[int, int]]) -> list[FileMap]:
        """The records of a block in ``data[start:end]`` of each span; one of another kind has no entries."""
        if self._before is None:
            return [self._by_reference(data[start:end]) for start, end in spans]
        names: list[str] = []
        ends: list[int] = []
        counts: list[int] = []
        try:
            for start, end in spans:
                counts.append(self._add_entries(data, start, end, names, ends))
        except IndexError as error:
            raise FormatError("a record of files is cut off") from error
        except UnicodeDecodeError as error:
            raise FormatError("a text of a record of files is not UTF-8") from error
        sizes, deleted = _sizes(np.frombuffer(data, np.uint8), np.array(ends, np.int64))
        found, first = [], 0
        for (start, end), count in zip(spans, counts, strict=True):
            if count < 0:
                found.append(self._by_reference(data[start:end]))
                continue
            entries = slice(first, first + count)
            found.append(FileMap(names[entries], sizes[entries], deleted[entries]))
            first += count
        return found

    def _by_reference(self, value: bytes) -> FileMap:
        entries = unwrap(self._reference.read(value).get("filesystemMetadata")) or {}
        try:
            return FileMap(
                list(entries),
                np.array([info["size"] for info in entries.values()], np.int64),
                np.array([info["isDeleted"] for info in entries.values()], np.bool_),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FormatError("a record of files has another form") from error

    def _add_entries(self, data: bytes, start: int, end: int, names: list[str], ends: list[int]) -> int:
        """Add the names of a record and where they end. How many they are, or -1 for a record of another shape."""
        p = self._after_head(data, start)
        if p < 0:
            return -1
        known = len(names)
        most = min(MAX_VALUES + (end - start) // VALUE_BYTES, MOST_VALUES) // _ENTRY_VALUES
        count, p = read_varint(data, p)
        while count:
            if count < 0:
                _, p = read_varint(data, p)
                count = -count
            if len(names) - known + count > most:
                raise FormatError("a record of files has too many entries for its bytes", p)
            for _ in range(count):
                length, p = data[p], p + 1  # twice the length
                if length >= 128:
                    if data[p] < 128:
                        length, p = length & 127 | data[p] << 7, p + 1
                    else:
                        length, p = read_varint(data, p - 1)
                        length *= 2
                stop = p + (length >> 1)
                if length < 0 or length & 1 or stop >= end:
                    raise FormatError("a record of files is cut off", p)
                names.append(data[p:stop].decode())
                ends.append(stop)
                while data[stop] >= 128:
                    stop += 1
                p = stop + 2
            count, p = read_varint(data, p)
        if p + self._tail != end or any(data[p:end]):
            del names[known:], ends[known:]
            return -1
        return len(names) - known

    def _after_head(self, data: bytes, start: int) -> int:
        """Where the map begins; -1 for a record without one. The records of a table have the same head."""
        head = self._head  # another thread may learn another one
        if head and data.startswith(head, start):
            return start + len(head)
        p = start
        for kind in self._before or ():
            if isinstance(kind, list):
                branch, p = read_varint(data, p)
                if branch == 0:
                    continue
                if branch != 1:
                    raise FormatError("a record of files has a branch that its schema lacks", p)
            value, p = read_varint(data, p)
            if kind not in ("int", "long"):
                if value < 0:
                    raise FormatError("a text of a record of files has a negative length", p)
                data[p : p + value].decode()
                p += value
        branch, p = read_varint(data, p)
        if branch != 1:
            return -1
        self._head = data[start:p]
        return p


def records_of(hfile: HFile, keys: Sequence[str] | None = None) -> Iterator[tuple[str, FileMap | None]]:
    """The records of one HFile, of these keys or all, by key; None removes what is there. Raises FormatError."""
    reader = _reader(hfile.info.get(b"schema", b""))
    wanted = None if keys is None else {key.encode("utf-8", "surrogatepass") for key in keys}
    for block in hfile.blocks(None if wanted is None else sorted(wanted)):
        found = [one for one in entries(block) if wanted is None or one[0] in wanted]
        maps = iter(reader.read(block, [(start, end) for _, start, end in found if start < end]))
        for raw, start, end in found:
            try:
                key = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FormatError("a key is not text") from error
            yield key, next(maps) if start < end else None


@lru_cache(maxsize=16)
def _reader(schema: bytes) -> FileMapReader:
    """All HFiles of a table have one or two schemas."""
    return FileMapReader(parse_schema(schema))


def _named(kind: Any) -> Any:
    """The name of a type that is an object for what it says beside: Hudi's key is {"type": "string", ...}."""
    return kind["type"] if isinstance(kind, Mapping) and kind.get("type") == "string" else kind


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
