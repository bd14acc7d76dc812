"""Hudi's bucket index (RFC-29): a hash of the record key picks the file group. Answers ``key = v``, ``key IN (...)``.

    SIMPLE               bucket = ((31 + String.hashCode(key)) & 0x7fffffff) % number of buckets, which is the first 8
                         digits of the file id; the first rule that is found in a partition's path may give it another
                         number of buckets
    CONSISTENT_HASHING   the first node of the partition's ring at or after xxHash32(key) & 0x7fffffff; the file id
                         starts with the node's prefix

A table's own files do not say that it has this index: as for Hudi's readers, the table's options in the catalog do, so
they are told when the table is opened (``hoodie.index.type=BUCKET``, ``hoodie.bucket.index.num.buckets``, ...). What
they say is held against the table, and nothing is ruled out where they disagree:

    a file id is not one of a bucket, or the first or last key of any slice belongs to another bucket    no slice
    a ring is missing, resized by an instant that has not completed, or does not have a file group       the partition
    the first and last key of a slice are not known                                                      the slice

One hash field is read, which is the whole record key. Keys with a colon hash differently from release to release.
Source: ``BucketIdentifier``, ``ConsistentBucketIdentifier``, ``PartitionBucketIndexCalculator``; hudi.md 7 and B2.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import xxhash

from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.sources import Source
from evaluator.types import STRING
from index_store.errors import StatsError
from index_store.formats.keys import java_hash
from index_store.kinds.base import Coverage, answer_of_keys, needs_of_keys
from index_store.kinds.column_stats import make as column_stats
from index_store.kinds.record_keys import KEY_COLUMN, is_record_key, key_coverage, record_keys
from index_store.properties import HOODIE, names

if TYPE_CHECKING:
    from index_store.file_slices import FileSlice, FileSlices
    from index_store.table import Table

__all__ = ["BucketIndex", "make", "ring_hash", "simple_hash"]

_FOLDER = f"{HOODIE}/.bucket_index"
RINGS, RULES = f"{_FOLDER}/consistent_hashing_metadata", f"{_FOLDER}/partition_bucket_index_meta"
_FIRST_RING = "00000000000000"
_OPTION = "hoodie.bucket.index."
_BUCKET_ID = re.compile(r"(\d{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\d+)?")
#: Patterns that mean the same to Java and to Python.
_PLAIN_PATTERN = re.compile(r"(?:[A-Za-z0-9_=/.*+?()|^$-]|\\d)+")
_LARGEST = 0x7FFFFFFF


def make(table: Table, slices: FileSlices) -> BucketIndex | None:
    """The kind, if the options say that the table has a bucket index whose hash field is its whole record key."""
    told = {**table.properties, **table.options}
    if told.get("hoodie.index.type", "").upper() != "BUCKET" or len(table.record_key_fields) != 1:
        return None
    if names(told.get(f"{_OPTION}hash.field")) not in ((), table.record_key_fields):
        return None
    if not is_record_key(table, Field(table.record_key_fields[0], STRING)):
        return None
    return BucketIndex(table, slices, told)


class BucketIndex:
    """Finds the buckets of keys. What the options say is checked when the first key is asked for."""

    name = "bucket_index"

    def __init__(self, table: Table, slices: FileSlices, told: Mapping[str, str]) -> None:
        self._table = table
        self._slices = slices
        self._told = told

    def needs(self, asked: Needs) -> Needs:
        """Look-ups of the record key."""
        return needs_of_keys(asked, lambda column: is_record_key(self._table, column))

    def answer(self, needs: Needs) -> Source:
        """Keys are looked up when the evaluator asks for them."""
        del needs
        return answer_of_keys(self.name, self.may_hold)

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """True for the slices of the keys' buckets, and for those whose bucket is not certain.

        Raises StatsError when the table is not as its options say.
        """
        del candidates
        keys = record_keys(self._table, column, values)
        if keys is None or not all(map(_hashes_as_it_is, keys)):
            return None
        mask = np.ones(len(self._slices), np.bool_)
        wanted: dict[str, set[str]] = {}
        for place, bucket in self._places.items():
            partition = self._slices[place].partition
            if partition not in wanted:
                wanted[partition] = {self._layouts[partition].bucket_of(key) for key in keys}
            mask[place] = bucket in wanted[partition]
        return mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """The slices whose bucket is certain, for the columns that are the record key."""
        return key_coverage(self.name, self._table, self._slices, len(self._places), columns)

    @cached_property
    def _layouts(self) -> Mapping[str, _Layout]:
        """How each partition spreads its keys; none for a partition that is not certain."""
        partitions = {one.partition for one in self._slices}
        if self._told.get("hoodie.index.bucket.engine", "SIMPLE").upper() == "SIMPLE":
            if self._table.storage.files(RULES, recursive=True):
                raise self._fault("the number of buckets was changed by partition")
            rules = self._rules()
            return {partition: _Simple(_number_of(partition, rules, self._number)) for partition in partitions}
        if any(action in ("clustering", "replacecommit") for action in self._table.timeline.pending.values()):
            return {}                                         # keys may be on their way to other buckets
        rings = ((partition, self._ring(partition)) for partition in partitions)
        return {partition: ring for partition, ring in rings if ring is not None}

    @cached_property
    def _places(self) -> Mapping[int, str]:
        """The bucket of each slice that is certain."""
        known = column_stats(self._table, self._slices)
        bounds = None if known is None else known.statistics([Field(KEY_COLUMN, STRING)]).get(KEY_COLUMN)
        found: dict[int, str] = {}
        uncertain: set[str] = set()
        for place, one in enumerate(self._slices):
            layout = self._layouts.get(one.partition)
            bucket = None if layout is None else layout.bucket_of_file(one.file_id)
            if bucket is None:
                if isinstance(layout, _Simple):
                    raise self._fault(f"{one.file_id} in {one.partition or 'the table'} is not of one of its buckets")
                uncertain.add(one.partition)
            elif bounds is not None and bounds.lo_known[place] and bounds.hi_known[place]:
                found[place] = bucket
        found = {place: bucket for place, bucket in found.items() if self._slices[place].partition not in uncertain}
        for place, bucket in found.items():
            assert bounds is not None
            for key in (str(bounds.lo[place]), str(bounds.hi[place])):
                self._check(key, self._slices[place], bucket)
        return found

    def _check(self, key: str, one: FileSlice, bucket: str) -> None:
        if _hashes_as_it_is(key) and self._layouts[one.partition].bucket_of(key) != bucket:
            raise self._fault(f"the key {key} in {one.file_id} belongs to another bucket")

    @property
    def _number(self) -> int:
        return self._count(self._told.get(f"{_OPTION}num.buckets", ""), f"{_OPTION}num.buckets")

    def _rules(self) -> list[tuple[re.Pattern[str], int]]:
        """``pattern,number;pattern,number``: partitions with another number of buckets."""
        text = self._told.get(f"{_OPTION}partition.expressions", "")
        if not text:
            return []
        if self._told.get(f"{_OPTION}partition.rule.type", "regex").lower() != "regex":
            raise self._fault(f"{_OPTION}partition.rule.type is not known")
        rules = []
        for rule in text.split(";"):
            pattern, _, number = rule.strip().partition(",")
            try:
                if not _PLAIN_PATTERN.fullmatch(pattern.strip()):
                    raise self._fault(f"the pattern {pattern!r} may mean something else to Hudi")
                rules.append((re.compile(pattern.strip(), re.ASCII), self._count(number, rule)))
            except re.error as error:
                raise self._fault(f"the pattern {pattern!r} is none: {error}") from error
        return rules

    def _count(self, text: str, where: str) -> int:
        if not text.strip().isdecimal() or not 0 < int(text) <= 10**8:
            raise self._fault(f"{where} does not give a number of buckets")
        return int(text)

    def _ring(self, partition: str) -> _Ring | None:
        """The latest ring of a partition, if every instant that made one has completed. Raises StatsError."""
        folder = f"{RINGS}/{partition}" if partition else RINGS
        found = [entry.path for entry in self._table.storage.files(folder) if entry.path.endswith(".hashing_meta")]
        instants = [path.rpartition("/")[2].partition(".")[0] for path in found]
        if not found or not all(one == _FIRST_RING or self._table.timeline.is_committed(one) for one in instants):
            return None
        latest = found[instants.index(max(instants))]
        try:
            stored = json.loads(self._table.storage.read(latest))
            nodes = [(int(node["value"]), str(node["fileIdPrefix"])) for node in stored["nodes"]
                     if node["tag"] == "NORMAL"]
            if stored["partitionPath"] != partition or len(nodes) != len(stored["nodes"]):
                return None
        except (ValueError, KeyError, TypeError) as error:
            why = f"the ring of buckets cannot be read: {error!r}"
            raise StatsError(self._table.storage.absolute(latest), "", why) from error
        values = [value for value, _ in nodes]
        if not nodes or values != sorted(set(values)) or len({prefix for _, prefix in nodes}) < len(nodes):
            return None
        return _Ring(tuple(values), tuple(prefix for _, prefix in nodes))

    def _fault(self, why: str) -> StatsError:
        return StatsError(self._table.path, "", f"the bucket index is not as told: {why}")


class _Layout(Protocol):
    """How one partition spreads keys over buckets; a bucket is named by text."""

    def bucket_of(self, key: str) -> str: ...

    def bucket_of_file(self, file_id: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class _Simple:
    number: int

    def bucket_of(self, key: str) -> str:
        return f"{simple_hash(key) % self.number:08d}"

    def bucket_of_file(self, file_id: str) -> str | None:
        match = _BUCKET_ID.fullmatch(file_id)
        return match[1] if match and int(match[1]) < self.number else None


@dataclass(frozen=True, slots=True)
class _Ring:
    values: tuple[int, ...]
    prefixes: tuple[str, ...]

    def bucket_of(self, key: str) -> str:
        return self.prefixes[bisect_left(self.values, ring_hash(key)) % len(self.prefixes)]

    def bucket_of_file(self, file_id: str) -> str | None:
        prefix = file_id.rpartition("-")[0]
        return prefix if prefix in self.prefixes else None


def simple_hash(key: str) -> int:
    """Java's hash of a list that holds the key, without its sign."""
    return (31 + java_hash(key)) & _LARGEST


def ring_hash(key: str) -> int:
    """The place of a key on a ring."""
    return xxhash.xxh32(key.encode("utf-8"), seed=0).intdigest() & _LARGEST


def _number_of(partition: str, rules: Sequence[tuple[re.Pattern[str], int]], otherwise: int) -> int:
    return next((number for pattern, number in rules if pattern.search(partition)), otherwise)


def _hashes_as_it_is(key: str) -> bool:
    """Whether every release hashes the key as one text."""
    return ":" not in key and key not in ("__null__", "__empty__")
