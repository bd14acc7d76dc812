"""Hudi's ``bloom_filters``: for each base file the filter of its record keys. Answers ``key = v`` and ``key IN (...)``.

A base file whose filter holds none of the keys has no row of them. A slice with log files, a file without a filter,
and a filter that is marked as deleted may hold anything. Filters are found by their exact key, partition and file id,
and only of slices that all other statistics leave: by default each has 431 KB.
Source: docs/facts/hudi-record-and-secondary-index.md#bloom-filters, ``HoodieMetadataBloomFilter``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.bloom import BloomFilter
from index_store.formats.bloom_keys import ProbedKeys
from index_store.formats.hfile import HFile, entries
from index_store.formats.keys import file_group, file_name_id, partition_id
from index_store.kinds.base import Coverage, KeyLookupKind
from index_store.kinds.record_keys.key_groups import KeyGroups
from index_store.kinds.record_keys.record_keys import is_record_key, key_coverage, record_keys, too_many_probes
from index_store.storage.errors import FormatError, naming_column
from index_store.table.metadata_table import MetadataTable

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["BloomFilters", "load_filters", "make"]

PARTITION = "bloom_filters"
#: Filters of more slices are not read for one condition: half a millisecond each. Text of filters that is kept.
FILTERS_READ, FILTER_BYTES = 10_000, 64 << 20


def make(table: Table, slices: FileSlices) -> BloomFilters | None:
    """The kind, if the table's metadata table has bloom filters and describes the latest commit."""
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    return BloomFilters(table, slices, table.metadata)


class BloomFilters(KeyLookupKind):
    """The filters of base files without log files; each is read at the first look-up in its slice."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._groups = KeyGroups(metadata, PARTITION)
        self._read: OrderedDict[int, BloomFilter | None] = OrderedDict()
        self._room = FILTER_BYTES

    def is_key(self, column: Field) -> bool:
        """Whether the column is the record key."""
        return is_record_key(self._table, column)

    def might_contain(
        self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_] | Declined | None:
        """False for the slices whose filter holds none of the keys. Raises StatsError when they cannot be read."""
        slice_indices = range(len(self._slices)) if candidates is None else np.flatnonzero(candidates).tolist()
        too_many = too_many_probes(len(values), len(slice_indices)) if self.is_key(column) else None
        keys = None if too_many else record_keys(self._table, self._slices, column, values)
        if keys is None:
            return too_many
        mask = np.ones(len(self._slices), np.bool_)
        probed = ProbedKeys([key.encode("utf-8", "surrogatepass") for key in keys])
        for slice_index in slice_indices if len(slice_indices) <= FILTERS_READ else ():
            bloom = self._filter(slice_index)
            if bloom is not None:
                mask[slice_index] = probed.any_in(bloom)
        return mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """The slices with a filter, for the columns that are a record key."""
        keys = (column for column in columns if is_record_key(self._table, column))
        return key_coverage(self.name, self._slices, self._known, keys)

    @cached_property
    def _known(self) -> int:
        """How many slices have a filter."""
        return sum(self._filter(slice_index) is not None for slice_index in range(len(self._slices)))

    def _filter(self, slice_index: int) -> BloomFilter | None:
        """The filter of a slice that is one base file, if there is one; cached within FILTER_BYTES."""
        if slice_index not in self._read:
            found = self._read[slice_index] = self._look_up(slice_index)
            self._room -= len(found.text) if found else 0
            while self._room < 0 and len(self._read) > 1:
                _, oldest = self._read.popitem(last=False)
                self._room += len(oldest.text) if oldest else 0
        self._read.move_to_end(slice_index)
        return self._read[slice_index]

    def _look_up(self, slice_index: int) -> BloomFilter | None:
        one = self._slices[slice_index]
        if not one.base_file or one.log_files:
            return None
        key = (partition_id(one.partition) + file_name_id(one.base_file.rpartition("/")[2])).decode()
        with naming_column(self._groups.path, ""):
            group = self._groups.opened(("", file_group(key, len(self._groups))))
            found = None if group is None else group.find(key.encode())
            if found is None:
                return None
            file, block, start, end = found
            with naming_column(file.path, ""):
                return _filter_in(RecordReader(file.hfile.schema), block[start:end])


def load_filters(hfile: HFile, wanted: Mapping[bytes, int], found: dict[bytes, BloomFilter]) -> None:
    """Read the filters of the wanted keys; one that is marked as deleted is taken out again."""
    reader = RecordReader(hfile.schema)
    for block in hfile.blocks(sorted(wanted)):
        for key, start, end in entries(block):
            if key not in wanted:
                continue
            bloom = _filter_in(reader, block[start:end])
            if bloom is None:
                found.pop(key, None)
            else:
                found[key] = bloom


def _filter_in(reader: RecordReader, value: bytes) -> BloomFilter | None:
    stored = unwrap(reader.read(value).get("BloomFilterMetadata")) if value else None
    if stored is None:
        return None
    try:
        return None if stored["isDeleted"] else BloomFilter.parse(stored["bloomFilter"], stored["type"])
    except (KeyError, TypeError) as error:
        raise FormatError("a bloom filter's record has another form") from error
