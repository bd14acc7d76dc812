"""Hudi's bucket index (RFC-29): a hash of the record key picks the file group. Answers ``key = v``, ``key IN (...)``.

    SIMPLE               bucket = (List.hashCode of the values & 0x7fffffff) % number of buckets, which is the first 8
                         digits of the file id; the first rule that is found in a partition's path may give it another
                         number of buckets
    CONSISTENT_HASHING   the first node of the partition's ring at or after xxHash32(the values, joined) & 0x7fffffff;
                         the file id starts with the node's prefix

The values are those of the hash fields (``hoodie.bucket.index.hash.field``), by default of the whole record key, as the
key's text has them (``HashFields``). A filter must pin down the whole key, or the one hash field where the other fields
of the key cannot hide one in their text.

A table's own files do not say that it has this index: as for Hudi's readers, the table's options in the catalog do, so
they are told when the table is opened (``hoodie.index.type=BUCKET``, ``hoodie.bucket.index.num.buckets``, ...). What
they say is held against the table, and nothing is ruled out where they disagree:

    a file id is not one of a bucket, or the first or last key of any slice belongs to another bucket    no slice
    a ring is missing, resized by an instant that has not completed, or does not have a file group       the partition
    the first and last key of a slice are not known                                                      the slice

Keys with a colon in a value hash differently from release to release: nothing is said of them.
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
from index_store.kinds.record_keys import (
    EMPTY,
    KEY_COLUMN,
    NULL,
    composite_key,
    is_record_key,
    key_coverage,
    key_text,
    record_keys,
)
from index_store.properties import HOODIE, names

if TYPE_CHECKING:
    from index_store.file_slices import FileSlice, FileSlices
    from index_store.table import Table

__all__ = ["BucketIndex", "HashFields", "make", "ring_hash", "simple_hash"]

_FOLDER = f"{HOODIE}/.bucket_index"
RINGS, RULES = f"{_FOLDER}/consistent_hashing_metadata", f"{_FOLDER}/partition_bucket_index_meta"
_FIRST_RING = "00000000000000"
_OPTION = "hoodie.bucket.index."
_BUCKET_ID = re.compile(r"(\d{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\d+)?")
#: Patterns that mean the same to Java and to Python.
_PLAIN_PATTERN = re.compile(r"(?:[A-Za-z0-9_=/.*+?()|^$-]|\\d)+")
_LARGEST = 0x7FFFFFFF

#: The texts of the hash fields; None is NULL.
Values = tuple[str | None, ...]


def make(table: Table, slices: FileSlices) -> BucketIndex | None:
    """The kind, if the options say that the table has a bucket index and how it hashes its record keys is known."""
    told = {**table.properties, **table.options}
    if told.get("hoodie.index.type", "").upper() != "BUCKET":
        return None
    hashed = _hash_fields(table, names(told.get(f"{_OPTION}hash.field")) or table.record_key_fields)
    return None if hashed is None else BucketIndex(table, slices, told, hashed)


def _hash_fields(table: Table, fields: tuple[str, ...]) -> HashFields | None:
    """None when the table's keys are of another form than those that are known."""
    key = table.record_key_fields
    if len(key) == 1:
        return HashFields(key, fields) if fields == key and is_record_key(table, Field(key[0], STRING)) else None
    if not fields or not set(fields) <= set(key) or composite_key(table) is None:
        return None
    return HashFields(key, tuple(field for field in key if field in fields))


@dataclass(frozen=True, slots=True)
class HashFields:
    """The fields of the record key, and those that are hashed: in the key's order, whatever order the option has."""

    key: tuple[str, ...]
    fields: tuple[str, ...]

    def of_key(self, key: str) -> Values | None:
        """The hashed values of a record key; None when releases differ about it, or it is of another form."""
        if len(self.key) == 1:
            return (key,) if ":" not in key and key not in (NULL, EMPTY) else None
        parts = key.split(",")
        if len(parts) != len(self.key):
            return None
        found: dict[str, str | None] = {}
        for name, part in zip(self.key, parts, strict=True):
            head, colon, value = part.partition(":")
            if head != name or not colon or ":" in value:
                return None
            found[name] = {NULL: None, EMPTY: ""}.get(value, value)
        return tuple(found[name] for name in self.fields)

    def of_value(self, column: Field, value: object) -> Values | None:
        """The same for a value of the only hash field."""
        text = key_text(column, value)
        return None if text is None or any(mark in text for mark in ":,") or text in (NULL, EMPTY) else (text,)


class BucketIndex:
    """Finds the buckets of keys. What the options say is checked when the first key is asked for."""

    name = "bucket_index"

    def __init__(self, table: Table, slices: FileSlices, told: Mapping[str, str], hashed: HashFields) -> None:
        self._table = table
        self._slices = slices
        self._told = told
        self._hashed = hashed

    def needs(self, asked: Needs) -> Needs:
        """Look-ups of the record key, and of the only hash field."""
        return needs_of_keys(asked, self._is_hashed)

    def answer(self, needs: Needs) -> Source:
        """Keys are looked up when the evaluator asks for them."""
        del needs
        return answer_of_keys(self.name, self.may_hold)

    def _is_hashed(self, column: Field) -> bool:
        """Whether a column's value tells the bucket: the record key, or the only hash field.

        Hudi finds a field by its name in the key's text, so no text of another field may look like one.
        """
        if is_record_key(self._table, column):
            return True
        others = [self._table.schema.resolve(name, case_sensitive=True) for name in self._hashed.key
                  if name != column.name]
        return self._hashed.fields == (column.name,) and all(
            other is not None and other.type.kind.is_integer for other in others)

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """True for the slices of the keys' buckets, and for those whose bucket is not certain.

        Raises StatsError when the table is not as its options say.
        """
        del candidates
        hashed = self._hashes_of(column, values)
        if hashed is None:
            return None
        mask = np.ones(len(self._slices), np.bool_)
        wanted: dict[str, set[str]] = {}
        for place, bucket in self._places.items():
            partition = self._slices[place].partition
            if partition not in wanted:
                wanted[partition] = {self._layouts[partition].bucket_of(one) for one in hashed}
            mask[place] = bucket in wanted[partition]
        return mask

    def _hashes_of(self, column: Field, values: Sequence[object]) -> list[Values] | None:
        """What is hashed of rows that have one of the values; None when it is not certain for each."""
        found: Sequence[Values | None] = [None]
        if is_record_key(self._table, column):
            found = [self._hashed.of_key(key) for key in record_keys(self._table, column, values) or ()] or found
        elif self._is_hashed(column):
            found = [self._hashed.of_value(column, value) for value in values]
        certain = [one for one in found if one is not None and (self._is_simple or None not in one)]
        return certain if len(certain) == len(found) else None

    @property
    def _is_simple(self) -> bool:
        return self._told.get("hoodie.index.bucket.engine", "SIMPLE").upper() == "SIMPLE"

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """The slices whose bucket is certain, for the columns that tell it."""
        return key_coverage(self.name, self._slices, len(self._places), filter(self._is_hashed, columns))

    @cached_property
    def _layouts(self) -> Mapping[str, _Layout]:
        """How each partition spreads its keys; none for a partition that is not certain."""
        partitions = {one.partition for one in self._slices}
        if self._is_simple:
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
        hashed = self._hashed.of_key(key)
        if hashed is None or (None in hashed and not self._is_simple):
            return
        if self._layouts[one.partition].bucket_of(hashed) != bucket:
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

    def bucket_of(self, values: Values) -> str: ...

    def bucket_of_file(self, file_id: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class _Simple:
    number: int

    def bucket_of(self, values: Values) -> str:
        return f"{simple_hash(values) % self.number:08d}"

    def bucket_of_file(self, file_id: str) -> str | None:
        match = _BUCKET_ID.fullmatch(file_id)
        return match[1] if match and int(match[1]) < self.number else None


@dataclass(frozen=True, slots=True)
class _Ring:
    values: tuple[int, ...]
    prefixes: tuple[str, ...]

    def bucket_of(self, values: Values) -> str:
        return self.prefixes[bisect_left(self.values, ring_hash(values)) % len(self.prefixes)]

    def bucket_of_file(self, file_id: str) -> str | None:
        prefix = file_id.rpartition("-")[0]
        return prefix if prefix in self.prefixes else None


def simple_hash(values: Values) -> int:
    """Java's hash of a list of these, without its sign."""
    hashed = 1
    for value in values:
        hashed = 31 * hashed + (0 if value is None else java_hash(value))
    return hashed & _LARGEST


def ring_hash(values: Values) -> int:
    """The place of values on a ring, none of them NULL."""
    return xxhash.xxh32("".join(map(str, values)).encode("utf-8"), seed=0).intdigest() & _LARGEST


def _number_of(partition: str, rules: Sequence[tuple[re.Pattern[str], int]], otherwise: int) -> int:
    return next((number for pattern, number in rules if pattern.search(partition)), otherwise)
