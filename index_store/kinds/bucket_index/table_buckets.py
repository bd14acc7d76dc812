"""The buckets of a table: its options, checked against its files.

    hoodie.index.type                              BUCKET, else there are none
    hoodie.index.bucket.engine                     SIMPLE (by default) or CONSISTENT_HASHING
    hoodie.bucket.index.num.buckets                how many; of a ring: how many it begins with
    hoodie.bucket.index.hash.field                 what is hashed, by default the whole record key
    hoodie.bucket.index.partition.expressions      pattern,number;pattern,number: the first that is found in a
                                                   partition's path gives it another number

The files of a table do not have these settings; they come from its options in the catalog, as for Hudi's readers. They
are checked against the table:

    a file id is not one of a bucket, or the first or last key of any slice belongs to another bucket    StatsError
    a ring is missing, resized by an instant that has not completed, or does not have a file group       no layout, or
                                                                                                         no buckets
Source: ``BucketIdentifier``, ``PartitionBucketIndexCalculator``, ``ConsistentBucketIndexUtils``;
docs/facts/hudi-buckets.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evaluator.language.schema import Field
from evaluator.language.types import STRING
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from index_store.buckets.hash_fields import HashFields
from index_store.buckets.layouts import Layout, Ring, Simple
from index_store.formats.bounded.json_text import MAX_DOCUMENT, parse_json
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.record_keys.record_keys import composite_key, is_record_key
from index_store.storage.errors import FormatError, StatsError
from index_store.table.properties import HOODIE, names
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["RINGS", "RULES", "TableBuckets", "table_buckets"]

_FOLDER = f"{HOODIE}/.bucket_index"
RINGS, RULES = f"{_FOLDER}/consistent_hashing_metadata", f"{_FOLDER}/partition_bucket_index_meta"
_FIRST_RING = "00000000000000"
_OPTION = "hoodie.bucket.index."
#: Patterns that mean the same to Java and to Python.
_PLAIN_PATTERN = re.compile(r"(?:[A-Za-z0-9_=/.*+?()|^$-]|\\d)+")

#: The first and last key of a file, in its footer; and of how many files without other bounds ``check`` reads them.
_FIRST_KEY, _LAST_KEY = b"hoodie_min_record_key", b"hoodie_max_record_key"
#: Buckets of a partition, each of which is a file at least.
MAX_BUCKETS = 4_000_000
_FOOTERS = 32


def table_buckets(table: Table, slices: FileSlices) -> TableBuckets | None:
    """The buckets of a table, if its options name some and the hashing of its record keys is known."""
    options = {**table.properties, **table.options}
    if options.get("hoodie.index.type", "").upper() != "BUCKET":
        return None
    key = table.record_key_fields
    fields = names(options.get(f"{_OPTION}hash.field")) or key
    if not fields or not set(fields) <= set(key):
        return None
    known = is_record_key(table, Field(key[0], STRING)) if len(key) == 1 else composite_key(table) is not None
    hashed = HashFields(key, tuple(field for field in key if field in fields))
    return TableBuckets(table, slices, options, hashed) if known else None


class TableBuckets:
    """The buckets of some slices of a table. Raises StatsError when the table contradicts its options."""

    def __init__(self, table: Table, slices: FileSlices, options: Mapping[str, str], hashed: HashFields) -> None:
        self.slices = slices
        self.hashed = hashed
        self._table, self._options = table, options

    @property
    def is_simple(self) -> bool:
        """Whether buckets are remainders; otherwise they are nodes of rings."""
        return self._options.get("hoodie.index.bucket.engine", "SIMPLE").upper() == "SIMPLE"

    @property
    def number(self) -> int:
        """How many buckets a partition has that no rule is for."""
        return self._count(self._options.get(f"{_OPTION}num.buckets", ""), f"{_OPTION}num.buckets")

    @property
    def first_number(self) -> int | None:
        """How many nodes the ring of a new partition begins with; None when the options do not say."""
        return self.number if f"{_OPTION}num.buckets" in self._options else None

    @cached_property
    def rules(self) -> tuple[tuple[str, int], ...]:
        """Patterns of partitions with another number of buckets."""
        text = self._options.get(f"{_OPTION}partition.expressions", "")
        if not text:
            return ()
        if self._options.get(f"{_OPTION}partition.rule.type", "regex").lower() != "regex":
            raise self.fault(f"{_OPTION}partition.rule.type is not known")
        rules = []
        for rule in text.split(";"):
            pattern, _, number = rule.strip().partition(",")
            try:
                if not _PLAIN_PATTERN.fullmatch(pattern.strip()):
                    raise self.fault(f"the pattern {pattern!r} may mean something else to Hudi")
                re.compile(pattern.strip(), re.ASCII)
            except re.error as error:
                raise self.fault(f"the pattern {pattern!r} is none: {error}") from error
            rules.append((pattern.strip(), self._count(number, rule)))
        return tuple(rules)

    def number_of(self, partition: str) -> int:
        """How many buckets a partition has."""
        found = self._by_rule(partition)
        return self.number if found is None else found

    def has_rule(self, partition: str) -> bool:
        """Whether a rule gives a partition its number."""
        return self._by_rule(partition) is not None

    def _by_rule(self, partition: str) -> int | None:
        return next((number for pattern, number in self.rules if re.search(pattern, partition, re.ASCII)), None)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """How each partition of the slices spreads its keys; none for a partition that is not certain."""
        partitions = {one.partition for one in self.slices}
        if self.is_simple:
            if self._table.storage.files(RULES, recursive=True):
                raise self.fault("the number of buckets was changed by partition")
            return {partition: Simple(self.number_of(partition)) for partition in partitions}
        if any(action in ("clustering", "replacecommit") for action in self._table.timeline.pending.values()):
            return {}  # keys may be on their way to other buckets
        rings = {partition: self._ring(partition, files) for partition, files in self._ring_files.items()}
        return {partition: ring for partition, ring in rings.items() if ring is not None}

    @cached_property
    def _ring_files(self) -> Mapping[str, list[str]]:
        """The files of the rings that each partition has or had."""
        found: dict[str, list[str]] = {}
        for entry in self._table.storage.files(RINGS, recursive=True):
            if entry.path.endswith(".hashing_meta"):
                partition = entry.path[len(RINGS) + 1 :].rpartition("/")[0]
                found.setdefault(partition, []).append(entry.path)
        return found

    @cached_property
    def named(self) -> Mapping[int, int]:
        """The bucket that each slice's file id names; none in a partition that is not certain."""
        found: dict[int, int] = {}
        uncertain: set[str] = set()
        for slice_index, one in enumerate(self.slices):
            layout = self.layouts.get(one.partition)
            bucket = None if layout is None else layout.bucket_of_file(one.file_id)
            if bucket is not None:
                found[slice_index] = bucket
            elif isinstance(layout, Simple):
                raise self.fault(f"{one.file_id} in {one.partition or 'the table'} is not of one of its buckets")
            else:
                uncertain.add(one.partition)
        return {
            slice_index: bucket
            for slice_index, bucket in found.items()
            if self.slices[slice_index].partition not in uncertain
        }

    @cached_property
    def checked(self) -> Mapping[int, int]:
        """The bucket of each slice whose first and last key are in ``column_stats``, and belong to it."""
        named, keys = self.named, self._keys
        if keys is None:
            return {}
        known = keys.lo_known & keys.hi_known
        found = {slice_index: bucket for slice_index, bucket in named.items() if known[slice_index]}
        for slice_index in found:
            self._check_keys(slice_index, str(keys.lo[slice_index]), str(keys.hi[slice_index]))
        return found

    def check(self) -> None:
        """Check the options against all slices: by ``checked``, and where keys are not known, by some footers.

        Raises StatsError, also for a partition whose ring is not certain.
        """
        found = self.checked
        unclear = {
            self.slices[slice_index].partition
            for slice_index in range(len(self.slices))
            if slice_index not in self.named
        }
        if not self.is_simple:
            unclear |= set(self._ring_files) - set(self.layouts)
        if unclear:
            raise self.fault(
                f"the ring of {min(unclear) or 'the table'} is missing, being resized, or not that of its file groups"
            )
        bases = [
            slice_index for slice_index in self.named if slice_index not in found and self.slices[slice_index].base_file
        ]
        for slice_index in bases[:: len(bases) // _FOOTERS + 1]:
            footer = self._table.footers.read(str(self.slices[slice_index].base_file))
            stored = (footer.metadata or {}) if footer is not None else {}
            if _FIRST_KEY in stored and _LAST_KEY in stored:
                self._check_keys(slice_index, stored[_FIRST_KEY].decode(), stored[_LAST_KEY].decode())

    def row_counts(self) -> Mapping[int, int]:
        """The rows of each slice, where ``column_stats`` count them."""
        keys = self._keys
        known = () if keys is None else np.flatnonzero(np.asarray(keys.row_count) != UNKNOWN_COUNT).tolist()
        return {} if keys is None else {slice_index: int(keys.row_count[slice_index]) for slice_index in known}

    @cached_property
    def _keys(self) -> ColumnStatistics | None:
        known = column_stats(self._table, self.slices)
        return None if known is None else known.statistics([Field(RECORD_KEY, STRING)]).get(RECORD_KEY)

    def _check_keys(self, slice_index: int, *keys: str) -> None:
        """Raises StatsError for keys that do not belong to the bucket of their slice."""
        one = self.slices[slice_index]
        for key in keys:
            values = self.hashed.of_key(key)
            if values is not None and self.layouts[one.partition].bucket_of(values) != self.named[slice_index]:
                raise self.fault(f"the key {key} in {one.file_id} belongs to another bucket")

    def _count(self, text: str, where: str) -> int:
        if len(text) > 64 or not text.strip().isdecimal() or not 0 < int(text) <= MAX_BUCKETS:
            raise self.fault(f"{where} does not give a number of buckets")
        return int(text)

    def _ring(self, partition: str, found: Sequence[str]) -> Ring | None:
        """The latest ring of a partition, if every instant that made one has completed. Raises StatsError."""
        instants = [path.rpartition("/")[2].partition(".")[0] for path in found]
        if not all(one == _FIRST_RING or self._table.timeline.is_committed(one) for one in instants):
            return None
        latest = found[instants.index(max(instants))]
        try:
            stored = parse_json(self._table.storage.read(latest, MAX_DOCUMENT), "the ring")
            nodes = [
                (int(node["value"]), str(node["fileIdPrefix"])) for node in stored["nodes"] if node["tag"] == "NORMAL"
            ]
            if stored["partitionPath"] != partition or len(nodes) != len(stored["nodes"]):
                return None
        except (FormatError, ValueError, KeyError, TypeError, OverflowError) as error:
            why = f"the ring of buckets cannot be read: {error!r}"
            raise StatsError(self._table.storage.absolute(latest), "", why) from error
        values = [value for value, _ in nodes]
        if not nodes or values != sorted(set(values)) or len({prefix for _, prefix in nodes}) < len(nodes):
            return None
        return Ring(tuple(values), tuple(prefix for _, prefix in nodes))

    def fault(self, why: str) -> StatsError:
        """The error that says that table and options do not agree."""
        return StatsError(self._table.path, "", f"the bucket index is not as told: {why}")
