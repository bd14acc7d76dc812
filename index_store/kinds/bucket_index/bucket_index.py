"""Hudi's bucket index (RFC-29): a hash of the record key picks the file group. Answers ``key = v``, ``key IN (...)``.

    SIMPLE               bucket = (List.hashCode of the values & 0x7fffffff) % number of buckets, which is the first 8
                         digits of the file id; the first rule that is found in a partition's path may give it another
                         number of buckets
    CONSISTENT_HASHING   the first node of the partition's ring at or after xxHash32(the values, joined) & 0x7fffffff;
                         the file id starts with the node's prefix

The values are those of the hash fields (``hoodie.bucket.index.hash.field``), by default of the whole record key, as the
key's text has them (``HashFields``). A filter must pin down the whole key, or the one hash field where the other fields
of the key cannot hide one in their text.

The files of a table do not show that it has this index; the table's options in the catalog do. They are given when the
table is opened, and checked against the table (``TableBuckets``). Where they disagree, nothing is ruled out:

    a file id is not one of a bucket, or the first or last key of any slice belongs to another bucket    no slice
    a ring is missing, resized by an instant that has not completed, or does not have a file group       the partition
    the first and last key of a slice are not known                                                      the slice

Keys with a colon in a value hash differently from release to release; they rule out nothing.
Source: ``BucketIdentifier``, ``ConsistentBucketIdentifier``, ``PartitionBucketIndexCalculator``;
docs/facts/hudi-buckets.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from index_store.buckets.hash_fields import HashFields
from index_store.buckets.hashes import Values
from index_store.formats.record_key import EMPTY, NULL
from index_store.kinds.base import Coverage, KeyLookupKind
from index_store.kinds.bucket_index.table_buckets import TableBuckets, table_buckets
from index_store.kinds.record_keys.key_witness import check_record_key
from index_store.kinds.record_keys.record_keys import is_record_key, key_coverage, key_text, record_keys

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["BucketIndex", "make"]

#: The buckets of so many keys are computed for one condition.
MAX_KEYS = 200_000


def make(table: Table, slices: FileSlices) -> BucketIndex | None:
    """The kind, if the options say that the table has a bucket index and how it hashes its record keys is known."""
    buckets = table_buckets(table, slices)
    return None if buckets is None else BucketIndex(table, slices, buckets)


class BucketIndex(KeyLookupKind):
    """Finds the buckets of keys. The options are checked against the table at the first look-up."""

    name = "bucket_index"

    def __init__(self, table: Table, slices: FileSlices, buckets: TableBuckets) -> None:
        self._table = table
        self._slices = slices
        self._buckets = buckets

    @property
    def _hashed(self) -> HashFields:
        return self._buckets.hashed

    def is_key(self, column: Field) -> bool:
        """Whether a column's value determines the bucket: the record key, or the only hash field.

        Hudi finds a field by its name in the key's text, so no text of another field may look like one.
        """
        if is_record_key(self._table, column):
            return True
        others = [
            self._table.schema.resolve(name, case_sensitive=True) for name in self._hashed.key if name != column.name
        ]
        return self._hashed.fields == (column.name,) and all(
            other is not None and other.type.kind.is_integer for other in others
        )

    def might_contain(
        self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_] | Declined | None:
        """True for the slices of the keys' buckets, and for those whose bucket is not certain.

        Raises StatsError when the table is not as its options say.
        """
        del candidates
        if len(values) > MAX_KEYS and self.is_key(column):
            return Declined(f"{len(values):,} keys are more than the {MAX_KEYS:,} whose buckets are computed")
        hashed = self._hashes_of(column, values)
        if hashed is None:
            return None
        mask = np.ones(len(self._slices), np.bool_)
        wanted: dict[str, set[int]] = {}
        for slice_index, bucket in self._buckets.checked.items():
            partition = self._slices[slice_index].partition
            if partition not in wanted:
                wanted[partition] = {self._buckets.layouts[partition].bucket_of(one) for one in hashed}
            mask[slice_index] = bucket in wanted[partition]
        return mask

    def _hashes_of(self, column: Field, values: Sequence[object]) -> list[Values] | None:
        """The hashed values of rows that have one of the values; None when one of them is not certain."""
        found: Sequence[Values | None] = [None]
        if is_record_key(self._table, column):
            found = [
                self._hashed.of_key(key) for key in record_keys(self._table, self._slices, column, values) or ()
            ] or found
        elif self.is_key(column):
            check_record_key(self._table, self._slices)
            found = [_of_value(column, value) for value in values]
        certain = [one for one in found if one is not None]
        return certain if len(certain) == len(found) else None

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """The slices whose bucket is certain, for the columns that determine it."""
        return key_coverage(self.name, self._slices, len(self._buckets.checked), filter(self.is_key, columns))


def _of_value(column: Field, value: object) -> Values | None:
    """The hashed values of a value of the only hash field; None when its text is ambiguous."""
    text = key_text(column, value)
    return None if text is None or any(mark in text for mark in ":,") or text in (NULL, EMPTY) else (text,)
