"""A ``record_index`` of one file group with as many keys as wanted, as Hudi 1.1 writes it, and a table around it.

Key i is ``order-`` and 13 digits, in the file group that a hash of i picks. File ids are drawn; the records of a file
are of one instant.
"""

from __future__ import annotations

import hashlib
import io
import struct
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fastavro

from tests.bench.hfile_parts import block, write_end
from tests.index_store.synthetic import (
    DONE,
    INSTANT,
    KEY_SUFFIX,
    V9_SCHEMA,
    files_value,
)
from tests.index_store.synthetic import hfile as synthetic_hfile

BLOCK_SIZE = 65536
_KEY_SIZE = 19


def key_at(number: int) -> str:
    return f"order-{number * 7:013d}"


def file_at(number: int, files: int) -> int:
    return number * 2654435761 % (1 << 32) * files >> 32


def file_id(number: int) -> str:
    return f"{uuid.UUID(bytes=hashlib.md5(b'file %d' % number).digest())}-0"


def write_hfile(path: Path, keys: int, files: int) -> None:
    """Write the HFile; two minutes for ten million keys."""
    values = [_value(number) for number in range(files)]
    index: list[tuple[int, int, bytes]] = []
    raw = 0
    with path.open("wb") as out, ThreadPoolExecutor() as pool:
        waiting: list[tuple[bytes, int]] = []

        def flush() -> None:
            nonlocal raw
            for (first, size), stored in zip(waiting, pool.map(block, parts), strict=True):
                index.append((out.tell(), len(stored), first))
                out.write(stored)
                raw += size
            waiting.clear()
            parts.clear()

        parts: list[bytes] = []
        for first, data in _blocks(keys, files, values):
            parts.append(data)
            waiting.append((first, len(data)))
            if len(parts) == 64:
                flush()
        flush()
        write_end(out, index, raw, keys)


def make_table(root: Path, hfile: Path, files: int) -> None:
    """A version 9 table of ``files`` base files whose record index is this HFile."""
    timeline, metadata = root / ".hoodie" / "timeline", root / ".hoodie" / "metadata"
    for folder in (timeline, metadata / ".hoodie" / "timeline", metadata / "files", metadata / "record_index"):
        folder.mkdir(parents=True)
    (root / ".hoodie" / "hoodie.properties").write_text(
        "\n".join(
            (
                "hoodie.table.name=orders",
                "hoodie.table.version=9",
                "hoodie.table.type=COPY_ON_WRITE",
                "hoodie.table.metadata.partitions=files,record_index",
                "hoodie.table.recordkey.fields=id",
            )
        )
        + "\n"
    )
    for folder, action in ((timeline, "commit"), (metadata / ".hoodie" / "timeline", "deltacommit")):
        (folder / f"{INSTANT}_{DONE}.{action}").write_text("{}")
    names = {f"{file_id(number)}_0-1-2_{INSTANT}.parquet": 1000 for number in range(files)}
    (metadata / "files" / f"files-0000-0_0-1-1_{INSTANT}.hfile").write_bytes(
        synthetic_hfile([(b".", files_value(names, 2)), (b"__all_partitions__", files_value(["."], 1))])
    )
    (metadata / "record_index" / f"record-index-0000-0_0-1-1_{INSTANT}.hfile").symlink_to(hfile)


def _blocks(keys: int, files: int, values: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    lengths = [struct.pack(">iih", _KEY_SIZE + 12, len(value), _KEY_SIZE) for value in values]
    ends = [KEY_SUFFIX + value + b"\0" for value in values]
    first, parts, size = b"", [], 0
    for number in range(keys):
        key, file = key_at(number).encode(), file_at(number, files)
        if not parts:
            first = key
        parts += (lengths[file], key, ends[file])
        size += 10 + _KEY_SIZE + len(ends[file])
        if size >= BLOCK_SIZE:
            yield first, b"".join(parts)
            parts, size = [], 0
    if parts:
        yield first, b"".join(parts)


def _value(number: int) -> bytes:
    whole = uuid.UUID(file_id(number)[:36]).int
    high, low = whole >> 64, whole & (1 << 64) - 1
    location = {
        "partitionName": "",
        "fileIdHighBits": _signed(high),
        "fileIdLowBits": _signed(low),
        "fileIndex": 0,
        "fileId": "",
        "instantTime": 1_772_899_546_607 + 60_000 * (number % 500),
        "fileIdEncoding": 0,
        "position": None,
    }
    out = io.BytesIO()
    fastavro.schemaless_writer(
        out,
        fastavro.parse_schema(V9_SCHEMA),
        {
            "_hoodie_file_name": f"record-index-0000-0_0-1-1_{INSTANT}.hfile",
            "key": "",
            "type": 5,
            "recordIndexMetadata": location,
        },
    )
    return out.getvalue()


def _signed(half: int) -> int:
    return half - (1 << 64) if half >> 63 else half
