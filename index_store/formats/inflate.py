"""Decompression of one block, by the codec numbers of an HFile trailer (HBase ``Compression.Algorithm``).

    1 GZ      a gzip member, its CRC checked     isal (half the time), where it has no wheel zlib
    2 NONE    as it is
    3 SNAPPY, 4 LZ4       Hadoop's block stream, of raw chunks      need the optional package cramjam
    6 ZSTD                frames (Hadoop's own codec), or Hadoop's block stream of frames (HBase's since 2.5)

Hudi writes GZ; the others come from a changed configuration. LZO and BZIP2 are refused by name. The output is never
larger than the size in the block's header, nor than the codec can pack into so few bytes.
Source: Hadoop ``BlockCompressorStream``, ``ZStandardCodec``; HBase ``io.compress.zstd.ZstdCodec``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from index_store.storage.errors import FormatError

__all__ = ["CODECS", "GZ", "inflate"]

_zlib: Any = zlib
with suppress(ImportError):
    from isal import isal_zlib as _zlib

_cramjam: Any = None
with suppress(ImportError):
    import cramjam as _cramjam

CODECS = {0: "LZO", 1: "GZ", 2: "NONE", 3: "SNAPPY", 4: "LZ4", 5: "BZIP2", 6: "ZSTD"}
GZ = 1
#: No block of the metadata table comes near this; a larger claim is damage, not data.
LARGEST = 1 << 28
#: The most that a byte of these codecs can become; ZSTD has no such limit.
_MOST = {1: 1032, 3: 64, 4: 255}
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"


def inflate(codec: int, data: bytes | memoryview, size: int) -> bytes:
    """Decompress ``data``, which must give exactly ``size`` bytes. Raises FormatError otherwise."""
    if not 0 <= size <= LARGEST:
        raise FormatError(f"a block claims {size} uncompressed bytes")
    if codec == 2:
        if len(data) != size:
            raise FormatError(f"a block has {len(data)} bytes, its header says {size}")
        return bytes(data)
    if size > _MOST.get(codec, size) * (len(data) + 64):
        raise FormatError(f"a block claims {size} bytes in {len(data)} compressed ones")
    try:
        plain = _gzip(data, size) if codec == 1 else _optional(codec, bytes(data), size)
    except FormatError:
        raise
    except Exception as error:  # each library has its own error types
        raise FormatError(f"a {CODECS.get(codec, codec)} block cannot be decompressed: {error}") from error
    if len(plain) != size:
        raise FormatError(f"a block has {len(plain)} uncompressed bytes, its header says {size}")
    return plain


def _gzip(data: bytes | memoryview, size: int) -> bytes:
    stream = _zlib.decompressobj(31)
    plain: bytes = stream.decompress(data, size + 1)
    if not stream.eof:
        plain += stream.decompress(stream.unconsumed_tail, 1)
        if not stream.eof:
            raise FormatError("a GZ block does not end where its header says")
    return plain


def _optional(codec: int, data: bytes, size: int) -> bytes:
    name = CODECS.get(codec, str(codec))
    if codec not in (3, 4, 6):
        raise FormatError(f"compression codec {name} is not supported")
    if _cramjam is None:
        raise FormatError(f"compression codec {name} needs the package cramjam")
    if codec == 6 and data[:4] == _ZSTD_FRAME:
        return _zstd(data, size)
    decompress: Callable[[bytes, int], bytes] = {3: _snappy, 4: _lz4, 6: _zstd}[codec]
    return _hadoop_chunks(data, size, decompress)


def _zstd(data: bytes, room: int) -> bytes:
    plain = bytearray(room)  # what is longer does not fit, and is an error
    length = _cramjam.zstd.decompress_into(data, plain)
    return bytes(plain[:length])


def _snappy(chunk: bytes, room: int) -> bytes:
    if _cramjam.snappy.decompress_raw_len(chunk) > room:
        raise FormatError("a compressed chunk is larger than its block")
    return bytes(_cramjam.snappy.decompress_raw(chunk))


def _lz4(chunk: bytes, room: int) -> bytes:
    plain = bytearray(room)  # decompress_block would pad the last chunk with zeros
    length = _cramjam.lz4.decompress_block_into(chunk, plain)
    return bytes(plain[:length])


def _hadoop_chunks(data: bytes, size: int, decompress: Callable[[bytes, int], bytes]) -> bytes:
    """Hadoop's block stream: uncompressed length, then chunks of (compressed length, bytes) until it is reached."""
    out = bytearray()
    position = 0
    while len(out) < size:
        goal = len(out) + int.from_bytes(data[position : position + 4], "big")
        position += 4
        if goal <= len(out) or goal > size:
            raise FormatError("a compressed block has a length that does not fit")
        while len(out) < goal:
            length = int.from_bytes(data[position : position + 4], "big")
            chunk = data[position + 4 : position + 4 + length]
            position += 4 + length
            if not chunk or len(chunk) != length:
                raise FormatError("a compressed block ends too early")
            out += decompress(chunk, goal - len(out))
    return bytes(out)
