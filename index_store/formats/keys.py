"""The ids and hashes in the metadata table's keys (contract: the same bytes that Hudi writes).

    column id, partition id   xxHash64 of the name, seed 0xdabadaba sign-extended, base64    12 characters
    file id                   MD5 of the file's name, base64                                 24 characters
    column_stats key          column id + partition id + file id
    bloom_filters key         partition id + file id
    record_index key          the record key itself
    file group of a key       abs(abs(String.hashCode(key)) % groups), with Java's abs

Source: Hudi ``ColumnIndexID``, ``PartitionIndexID``, ``FileIndexID``,
``HoodieTableMetadataUtil.mapRecordKeyToFileGroupIndex``; checked on real tables
(docs/facts/hudi-metadata-table.md#from-a-key-to-its-file-group, #ids-in-keys).
"""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import Iterable

import xxhash

__all__ = ["NON_PARTITIONED", "column_id", "file_group", "file_name_id", "java_hash", "partition_id"]

#: What stands for the partition of a table that has none.
NON_PARTITIONED = "."
_UTF_16 = f"utf-16-{sys.byteorder[:1]}e"  # as memory holds two bytes here
_SEED = 0xFFFFFFFFDABADABA


def column_id(name: str) -> bytes:
    """12 ASCII bytes that start every column_stats key of the column."""
    return base64.b64encode(xxhash.xxh64(name.encode(), seed=_SEED).digest())


def partition_id(partition: str) -> bytes:
    """12 ASCII bytes; "" is hashed as "."."""
    return base64.b64encode(xxhash.xxh64((partition or NON_PARTITIONED).encode(), seed=_SEED).digest())


def file_name_id(name: str) -> bytes:
    """24 ASCII bytes for a file's name without its directory."""
    return base64.b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest())


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``: over UTF-16 units, wrapped to 32 bits, signed."""
    units: Iterable[int] = (
        text.encode("ascii") if text.isascii() else memoryview(text.encode(_UTF_16, "surrogatepass")).cast("H")
    )
    value = 0
    for unit in units:
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def file_group(key: str, groups: int) -> int:
    """Which of a partition's file groups holds a key.

    Java's ``abs(Integer.MIN_VALUE)`` stays negative; its remainder keeps the sign, and the outer abs repairs it.
    """
    if groups == 1:
        return 0
    hashed = abs(java_hash(key))
    return (1 << 31) % groups if hashed == 1 << 31 else hashed % groups
