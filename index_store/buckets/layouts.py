"""How one partition spreads hashes over its buckets: by their remainder, or over a ring of nodes.

    Simple    bucket = hash % number; the first 8 digits of the file id
    Ring      the first node at or after the hash, else the first of all; the file id starts with the node's prefix

    a ring as Hudi makes it first, of n buckets     node i ends at min(i * ceil((2**31 - 1) / n), 2**31 - 1), i = 1..n,
                                                    and its prefix is a UUID of its ends and the partition's path
    a node that is split                            in the middle between the end of the one before it and its own end;
                                                    going round, 2**31 after the last; not when there is no middle

Source: ``HoodieConsistentHashingMetadata``, ``ConsistentBucketIdentifier.splitBucket``; checked on the rings of real
tables, before and after their resizing.

Facts: docs/facts/hudi-buckets.md#consistent-hashing.
"""

from __future__ import annotations

import hashlib
import re
import struct
import uuid
from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluator.language.records import frozen
from index_store.buckets.hashes import LARGEST_HASH, Values, ring_hash, simple_hash

__all__ = ["Layout", "Ring", "Simple", "first_ring"]

_BUCKET_ID = re.compile(r"(\d{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\d+)?")


class Layout(Protocol):
    """How one partition spreads keys over buckets. A bucket is a number from 0 on, and the start of file ids."""

    @property
    def prefixes(self) -> Sequence[str]:
        """What the file ids of each bucket start with."""
        ...

    def bucket_of(self, values: Values) -> int: ...

    def buckets_of(self, hashes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """``(n,)``: the bucket of each hash; -1 stays -1."""
        ...

    def bucket_of_file(self, file_id: str) -> int | None:
        """The bucket of a file group; None for one that is of no bucket."""
        ...


@frozen
class Simple:
    """Buckets by remainder."""

    number: int

    @property
    def prefixes(self) -> Sequence[str]:
        return [f"{bucket:08d}" for bucket in range(self.number)]

    def bucket_of(self, values: Values) -> int:
        return simple_hash(values) % self.number

    def buckets_of(self, hashes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.where(hashes < 0, -1, hashes % self.number)

    def bucket_of_file(self, file_id: str) -> int | None:
        match = _BUCKET_ID.fullmatch(file_id)
        return int(match[1]) if match and int(match[1]) < self.number else None


@frozen
class Ring:
    """Nodes in the order of their values; a bucket's number is its place among them."""

    values: tuple[int, ...]
    prefixes: tuple[str, ...]

    def bucket_of(self, values: Values) -> int:
        return bisect_left(self.values, ring_hash(values)) % len(self.values)

    def buckets_of(self, hashes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        found = np.searchsorted(np.array(self.values, np.int64), hashes, "left") % len(self.values)
        return np.where(hashes < 0, -1, found)

    def bucket_of_file(self, file_id: str) -> int | None:
        prefix = file_id.rpartition("-")[0]
        return self.prefixes.index(prefix) if prefix in self.prefixes else None

    def start(self, bucket: int) -> int:
        """The end of the node before: hashes of the bucket are greater, up to its value, going round."""
        return self.values[bucket - 1]

    def middle(self, bucket: int) -> int | None:
        """Where Hudi would split a node: hashes up to it go to the first half. None when it is too small."""
        before, value = self.start(bucket), self.values[bucket]
        middle = (before + value + (0 if before < value else LARGEST_HASH + 1)) >> 1 & LARGEST_HASH
        return None if middle in (before, value) else middle


def first_ring(partition: str, number: int) -> Ring:
    """The ring that Hudi makes for a partition when it writes to it first."""
    step = (LARGEST_HASH + number - 1) // number
    values = [min(step * i, LARGEST_HASH) for i in range(1, number + 1)]
    starts = [0, *values[:-1]]
    return Ring(tuple(values), tuple(_prefix(partition, *ends) for ends in zip(starts, values, strict=True)))


def _prefix(partition: str, start: int, value: int) -> str:
    """Java's ``UUID.nameUUIDFromBytes``."""
    digest = hashlib.md5(struct.pack(">qq", start, value) + partition.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))
