"""Hudi's ``bloom_filters``: for each base file the filter of its record keys. Answers ``key = v`` and ``key IN (...)``.

A base file whose filter holds none of the keys has no row of them. A slice with log files, a file without a filter,
and a filter that is marked as deleted may hold anything. Filters are found by their exact key: partition and file id.
Source: hudi.md 2 and B2, ``HoodieMetadataBloomFilter``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.sources import Source
from index_store.errors import naming_column
from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.bloom import BloomFilter
from index_store.formats.hfile import HFile, entries
from index_store.formats.keys import file_name_id, partition_id
from index_store.kinds.base import Coverage, answer_of_keys, needs_of_keys
from index_store.kinds.record_keys import is_record_key, key_coverage, record_keys
from index_store.metadata_table import Deletes, MetadataTable

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["BloomFilters", "load_filters", "make"]

PARTITION = "bloom_filters"


def make(table: Table, slices: FileSlices) -> BloomFilters | None:
    """The kind, if the table's metadata table has bloom filters and describes the latest commit."""
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    return BloomFilters(table, slices, table.metadata)


class BloomFilters:
    """The filters of all base files without log files on top, read together when the first key is asked for."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._metadata = metadata

    def needs(self, asked: Needs) -> Needs:
        """Look-ups of the record key."""
        return needs_of_keys(asked, lambda column: is_record_key(self._table, column))

    def answer(self, needs: Needs) -> Source:
        """Keys are looked up when the evaluator asks for them."""
        del needs
        return answer_of_keys(self.name, self.may_hold)

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """False for the slices whose filter holds none of the keys. Raises StatsError when they cannot be read."""
        keys = record_keys(self._table, column, values)
        if keys is None:
            return None
        mask = np.ones(len(self._slices), np.bool_)
        raw = [key.encode("utf-8", "surrogatepass") for key in keys]
        for place, bloom in self._filters.items():
            if candidates is None or candidates[place]:
                mask[place] = any(bloom.may_hold(key) for key in raw)
        return mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """The slices with a filter, for the columns that are a record key."""
        keys = (column for column in columns if is_record_key(self._table, column))
        return key_coverage(self.name, self._slices, len(self._filters), keys)

    @cached_property
    def _filters(self) -> Mapping[int, BloomFilter]:
        """The filter of each slice that is one base file, as far as there is one."""
        places: dict[bytes, int] = {}
        for i, one in enumerate(self._slices):
            if one.base_file and not one.log_files:
                places[partition_id(one.partition) + file_name_id(one.base_file.rpartition("/")[2])] = i
        found: dict[bytes, BloomFilter] = {}
        with naming_column(self._metadata.storage.absolute(PARTITION), ""):
            for layer in self._metadata.all_layers(PARTITION):
                if isinstance(layer, Deletes):
                    for key in layer.keys:
                        found.pop(key.encode("utf-8", "surrogatepass"), None)
                else:
                    with naming_column(layer.path, ""):
                        load_filters(layer.hfile, places, found)
        return {places[key]: bloom for key, bloom in found.items()}


def load_filters(hfile: HFile, wanted: Mapping[bytes, int], found: dict[bytes, BloomFilter]) -> None:
    """Read the filters of the wanted keys; one that is marked as deleted is taken out again."""
    reader = RecordReader(hfile.schema)
    for block in hfile.blocks(sorted(wanted)):
        for key, start, end in entries(block):
            if key not in wanted:
                continue
            stored = unwrap(reader.read(block[start:end]).get("BloomFilterMetadata")) if end > start else None
            if stored is None or stored["isDeleted"]:
                found.pop(key, None)
            else:
                found[key] = BloomFilter.parse(stored["bloomFilter"], stored["type"])
