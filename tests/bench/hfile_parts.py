"""Blocks of an HFile, and its last part, as Hudi 1.1 writes them; for the large files of the benches.

data blocks      ``block(data)``: a header of 33 bytes, the gzipped data, empty checksums
load-on-open     ``write_end``: the root index, an empty meta index, the file information with the Avro schema
trailer          the last 4,096 bytes: where those parts are, and how many bytes and records there are
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from typing import BinaryIO

from tests.index_store.synthetic import GZ, KEY_SUFFIX, V9_SCHEMA, hadoop_varint, protobuf_varint

__all__ = ["block", "write_end"]


def block(data: bytes, magic: bytes = b"DATABLK*") -> bytes:
    """One block, compressed."""
    stream = zlib.compressobj(6, zlib.DEFLATED, 31)
    payload = stream.compress(data) + stream.flush()
    sums = 4 * -(-(33 + len(payload)) // 16384)
    return struct.pack(">8siiqBii", magic, len(payload) + sums, len(data), -1, 0, 16384, 33 + len(payload)) + (
        payload + bytes(sums)
    )


def write_end(out: BinaryIO, index: Iterable[tuple[int, int, bytes]], raw: int, records: int) -> None:
    """Write everything behind the data blocks.

    ``index`` has the start, the size and the first key of each data block; ``raw`` is the number of their uncompressed
    bytes.
    """
    entries = list(index)
    load = out.tell()
    root = b"".join(
        struct.pack(">qi", start, size) + hadoop_varint(len(key) + 12) + struct.pack(">h", len(key)) + key + KEY_SUFFIX
        for start, size, key in entries
    )
    out.write(block(root, b"IDXROOT2") + block(b"", b"IDXROOT2"))
    info = out.tell()
    schema = json.dumps(V9_SCHEMA).encode()
    pair = b"\x0a" + protobuf_varint(6) + b"schema" + b"\x12" + protobuf_varint(len(schema)) + schema
    message = b"\x0a" + protobuf_varint(len(pair)) + pair
    out.write(block(b"PBUF" + protobuf_varint(len(message)) + message, b"FILEINF2"))
    trailer = {1: info, 2: load, 4: raw, 5: len(entries), 6: 0, 7: records, 8: 1, 9: 0, 12: GZ}
    message = b"".join(protobuf_varint(k << 3) + protobuf_varint(v) for k, v in trailer.items())
    tail = b'TRABLK"$' + protobuf_varint(len(message)) + message
    out.write(tail + bytes(4092 - len(tail)) + struct.pack(">I", 3))
