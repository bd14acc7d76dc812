"""Hudi log files: a sequence of blocks, each with the instant that wrote it.

    #HUDI# | length i64 | version i32 | type i32 | header | content length i64 | content | footer | total length i64

    type 0 COMMAND (rollback)   1 DELETE   2 CORRUPT   3 AVRO_DATA   4 HFILE_DATA   5 PARQUET_DATA   6 CDC

Strict: a block that is cut off, whose lengths disagree or whose header is not as Hudi writes it is a FormatError for
the whole file. Hudi skips such a block; here a skipped block could hide what it says, so the reader of the file has to
know. A block has no checksum: ``table.log_checks`` holds the instants in its header against other sources. Source:
docs/facts/hudi-metadata-table.md#log-files, ``HoodieLogFormat``, ``HoodieDeleteBlock``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from evaluator.language.records import record
from index_store.formats.varint import read_varint
from index_store.storage.byte_source import ByteSource
from index_store.storage.errors import FormatError

__all__ = [
    "AVRO_DATA",
    "CDC",
    "COMMAND",
    "DELETE",
    "HFILE_DATA",
    "ORDERING_KINDS",
    "PARQUET_DATA",
    "DeletedRecord",
    "LogBlock",
    "data_instants",
    "deleted_keys",
    "deleted_records",
    "read_log_blocks",
]

COMMAND, DELETE, CORRUPT, AVRO_DATA, HFILE_DATA, PARQUET_DATA, CDC = 0, 1, 2, 3, 4, 5, 6
_MAGIC = b"#HUDI#"
_INSTANT_TIME, _TARGET_INSTANT_TIME, _SCHEMA, _COMMAND_TYPE, _IS_PARTIAL = 0, 1, 2, 3, 7
#: ``HoodieLogBlock.HeaderMetadataType``; a key beyond them is damage, which could hide any of them.
_KEYS = range(9)
_ROLLBACK = "0"
_LONG = struct.Struct(">q")
_INTS = struct.Struct(">ii")
_KNOWN_TYPES = range(7)
#: The ordering values of deleted records that are decoded, by their branch of the union.
ORDERING_KINDS = {2: "int", 3: "long", 7: "string", 8: "date", 11: "timestamp"}
_HEAD_SIZE, _LARGEST_HEAD = 4096, 1 << 24


@record
class LogBlock:
    """One block. ``instant`` is the one that wrote it, ``target`` the one that a rollback command takes back.

    ``schema``: the Avro schema of a data block's records, as JSON text. ``is_partial``: they are partial updates.
    """

    type: int
    instant: str
    target: str
    content: bytes
    schema: str = ""
    is_partial: bool = False


def read_log_blocks(data: bytes) -> list[LogBlock]:
    """All blocks of a log file in their order. Raises FormatError; an empty file is damage too."""
    if not data:
        raise FormatError("the log file is empty")
    blocks = []
    position = 0
    while position < len(data):
        begin = position
        kind, header, start, length, position = _block(data, position)
        _check_header(kind, header, length, begin)
        blocks.append(
            LogBlock(
                kind,
                header.get(_INSTANT_TIME, ""),
                header.get(_TARGET_INSTANT_TIME, ""),
                data[start : start + length],
                header.get(_SCHEMA, ""),
                header.get(_IS_PARTIAL, "").lower() == "true",
            )
        )
    return blocks


def _check_header(kind: int, header: dict[int, str], length: int, start: int) -> None:
    """Raise FormatError for a header that no writer of such a block makes."""
    if kind == CORRUPT:
        raise FormatError("a log block is marked as corrupt", start)
    if not header.get(_INSTANT_TIME, "").isdecimal():
        raise FormatError("a log block does not name its instant", start)
    is_rollback = header.get(_COMMAND_TYPE) == _ROLLBACK and header.get(_TARGET_INSTANT_TIME, "").isdecimal()
    if (kind == COMMAND) != is_rollback or (is_rollback and length):
        raise FormatError("a log block is half a rollback", start)
    if header.get(_IS_PARTIAL, "false").lower() not in ("true", "false"):
        raise FormatError("a log block does not say whether it is partial", start)


def data_instants(source: ByteSource) -> set[str]:
    """The instants that wrote the data and delete blocks of a log file (more than one: it was appended to).

    Only the heads of the blocks are read, however large the file is.
    """
    found: set[str] = set()
    position = 0
    while position < source.size:
        kind, instant, length = _head(source, position)
        position += 14 + length
        if position > source.size:
            raise FormatError("a log block is cut off", position)
        if kind not in (COMMAND, CDC):
            found.add(instant)
    return found


def _head(source: ByteSource, start: int) -> tuple[int, str, int]:
    """Type, instant and length of the block at ``start``, from as many bytes as that takes."""
    size = _HEAD_SIZE
    while True:
        data = source.read_at(start, min(size, source.size - start))
        if data[:6] != _MAGIC[: len(data[:6])]:
            raise FormatError("a log block does not start with #HUDI#", start)
        try:
            length = _LONG.unpack_from(data, 6)[0]
            _, kind, count = struct.unpack_from(">iii", data, 14)
            if length < 32 or not 0 <= count <= 64:
                raise FormatError("a log block is damaged", start)
            position = 26
            for _ in range(count):
                key, text = _INTS.unpack_from(data, position)
                position += 8 + max(text, 0)
                if key == _INSTANT_TIME and position <= len(data):
                    return kind, data[position - text : position].decode("ascii"), length
            if position <= len(data):
                raise FormatError("a log block does not name its instant", start)
        except (struct.error, UnicodeDecodeError):
            pass  # the head is longer than what was read, or damaged
        if len(data) < size or size > _LARGEST_HEAD:
            raise FormatError("a log block is cut off", start)
        size *= 16


def _block(data: bytes, start: int) -> tuple[int, dict[int, str], int, int, int]:
    """Type, header, where the content starts, its length, and where the next block starts."""
    if data[start : start + 6] != _MAGIC:
        raise FormatError("a log block does not start with #HUDI#", start)
    try:
        length = _LONG.unpack_from(data, start + 6)[0]
        end = start + 14 + length
        if length < 32 or end > len(data):
            raise FormatError("a log block is cut off", start)
        version, kind = _INTS.unpack_from(data, start + 14)
        if version != 1:
            raise FormatError(f"log format version {version} is not supported", start)
        if kind not in _KNOWN_TYPES:
            raise FormatError(f"log block type {kind} is not known", start)
        header, position = _texts(data, start + 22, end)
        content = _LONG.unpack_from(data, position)[0]
        position += 8
        if content < 0 or position + content > end:
            raise FormatError("a log block's content is longer than the block", start)
        _, after = _texts(data, position + content, end)
        if after + 8 != end or _LONG.unpack_from(data, after)[0] != length + 6:
            raise FormatError("a log block's lengths disagree", start)
    except struct.error as error:
        raise FormatError("a log block is cut off", start) from error
    return kind, header, position, content, end


def _texts(data: bytes, position: int, end: int) -> tuple[dict[int, str], int]:
    """A header or footer: count, then (key i32, length i32, UTF-8 text)."""
    count = struct.unpack_from(">i", data, position)[0]
    position += 4
    found: dict[int, str] = {}
    if not 0 <= count <= 64:
        raise FormatError("a log block header has an impossible count", position)
    for _ in range(count):
        key, length = _INTS.unpack_from(data, position)
        position += 8
        if length < 0 or position + length > end:
            raise FormatError("a log block header is cut off", position)
        if key not in _KEYS or key in found:
            raise FormatError(f"a log block has the header key {key}", position)
        try:
            found[key] = data[position : position + length].decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError("a log block header is not text", position) from error
        position += length
    return found, position


@record
class DeletedRecord:
    """A record of a DELETE block: the key, and its ordering value.

    kind    of the ordering value, a name in ``ORDERING_KINDS``; "" without one, and for a kind that is not decoded
    value   an integer (days, microseconds) or text, None where ``kind`` is ""
    """

    key: str
    kind: str = ""
    value: int | str | None = None


def deleted_keys(content: bytes) -> list[str]:
    """The record keys of a DELETE block of version 3 (Avro ``HoodieDeleteRecordList``); older versions are refused."""
    return [key for key, _, _ in _deleted(content)]


def deleted_records(content: bytes) -> list[DeletedRecord]:
    """The records of such a block, apart from those without a key. Raises FormatError."""
    return [DeletedRecord(*one) for one in _deleted(content)]


def _deleted(content: bytes) -> list[tuple[str, str, int | str | None]]:
    if len(content) < 8:
        raise FormatError("a delete block is cut off")
    version, length = _INTS.unpack_from(content, 0)
    if version != 3:
        raise FormatError(f"delete block version {version} is not supported")
    if length < 0 or 8 + length > len(content):
        raise FormatError("a delete block is cut off")
    try:
        return list(_delete_records(content[8 : 8 + length]))
    except (IndexError, UnicodeDecodeError) as error:
        raise FormatError("a delete block cannot be decoded") from error


def _delete_records(data: bytes) -> Iterator[tuple[str, str, int | str | None]]:
    position = 0
    while True:
        count, position = read_varint(data, position)
        if count == 0:
            if position != len(data):
                raise FormatError("a delete block does not end where its length says", position)
            return
        if count < 0:
            _, position = read_varint(data, position)
            count = -count
        for _ in range(count):
            key, position = _optional_text(data, position)
            _, position = _optional_text(data, position)
            kind, value, position = _ordering_value(data, position)
            if key is not None:
                yield key, kind, value


def _optional_text(data: bytes, position: int) -> tuple[str | None, int]:
    branch, position = read_varint(data, position)
    if branch == 0:
        return None, position
    length, position = read_varint(data, position)
    if branch != 1 or length < 0 or position + length > len(data):
        raise FormatError("a delete block cannot be decoded", position)
    return data[position : position + length].decode("utf-8"), position + length


def _ordering_value(data: bytes, position: int) -> tuple[str, int | str | None, int]:
    """The kind of the ordering value, the value, and where it ends.

    It is null or one of the wrappers of HoodieMetadata.avsc, in their order.
    """
    branch, position = read_varint(data, position)
    if branch in (2, 3, 8, 10, 11, 12):  # int, long, date, time, timestamp, local date
        value, position = read_varint(data, position)
        kind = ORDERING_KINDS.get(branch, "")
        return kind, value if kind else None, position
    if branch in (6, 7, 9):  # bytes, string, decimal
        length, position = read_varint(data, position)
        if length < 0:  # else the walk would go back, and never end
            raise FormatError("a delete block cannot be decoded", position)
        end = position + length
        if branch == 7 and end <= len(data):
            return "string", data[position:end].decode("utf-8"), end
        return "", None, end
    widths = {0: 0, 1: 1, 4: 4, 5: 8}
    if branch not in widths:
        raise FormatError(f"a delete block has an ordering value of kind {branch}", position)
    return "", None, position + widths[branch]
