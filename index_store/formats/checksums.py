"""Checksums of HFile blocks: 4 bytes, big-endian, for each piece of a block's header and payload.

    type 0 NULL     none, whatever the bytes there are     what Hudi 1.1 and later write
    type 1 CRC32    zlib's
    type 2 CRC32C   HBase's default, so Hudi's up to 1.0   google-crc32c when installed

Without that package CRC32C of a GZ block is left to the CRC that GZ has itself; others are computed by a table, slowly.
Source: HBase ``ChecksumType``, ``ChecksumUtil``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from index_store.storage.errors import FormatError

__all__ = ["NULL", "check", "crc32c"]

NULL, CRC32, CRC32C = 0, 1, 2

_google: Any = None
with suppress(ImportError):
    import google_crc32c as _google

_isal: Any = zlib
with suppress(ImportError):
    from isal import isal_zlib as _isal


def check(kind: int, data: memoryview, sums: memoryview, step: int, has_own: bool, offset: int) -> None:
    """Raise FormatError when a sum of a block at ``offset`` is wrong or missing.

    ``data``: header and payload; ``sums``: what is behind them; ``step``: bytes per sum; ``has_own``: the payload's
    codec has a checksum, which inflating checks.
    """
    if kind == NULL:
        return
    if kind not in (CRC32, CRC32C):
        raise FormatError(f"checksums of type {kind} are not known", offset)
    if step <= 0 or len(sums) < 4 * -(-len(data) // step):
        raise FormatError("a block's checksums are missing", offset)
    if kind == CRC32C and _google is None and has_own:
        return
    crc: Callable[[memoryview], int] = _isal.crc32 if kind == CRC32 else crc32c
    for place, start in enumerate(range(0, len(data), step)):
        if crc(data[start : start + step]) != int.from_bytes(sums[4 * place : 4 * place + 4], "big"):
            raise FormatError("a block's checksum is wrong", offset)


def crc32c(data: memoryview) -> int:
    """CRC-32C (Castagnoli)."""
    if _google is not None:
        value: int = _google.value(bytes(data))
        return value
    table = _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    found = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        found.append(crc)
    return tuple(found)
