"""The bloom filter of record keys in each base file's own footer. Answers ``key = v`` and ``key IN (...)``.

Hudi writes it with every base file of most tables, with or without ``bloom_filters`` in the metadata table. A file
whose filter holds none of the keys has no row of them. Log files have none when no key lies within the bounds of
theirs, or, where one does, when it is not among their keys: then they are read (``stored_values``). Only footers and
log files of candidates that other kinds leave are read, and only as many as ``Footers`` and ``StoredValues`` allow;
every other slice, and one without a filter, is kept.
Source: ``HoodieAvroWriteSupport.HOODIE_AVRO_BLOOM_FILTER_METADATA_KEY``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.language.types import STRING
from evaluator.statistics.columns import ColumnStatistics
from index_store.formats.bloom import BloomFilter
from index_store.formats.bloom_keys import ProbedKeys
from index_store.kinds.base import Coverage, KeyLookupKind
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.record_keys.key_witness import begin_witnesses
from index_store.kinds.record_keys.record_keys import is_record_key, record_keys, too_many_probes
from index_store.kinds.record_keys.stored_values import StoredValues
from index_store.storage.errors import FormatError, naming_column
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["KeyFilters", "make"]

#: So many footers are begun before it is known whether the values have a text as keys.
FOOTERS_BEGUN = 32
_KEY = Field(RECORD_KEY, STRING)
_FILTER, _TYPE = b"org.apache.hudi.bloomfilter", b"hoodie_bloom_filter_type_code"


def make(table: Table, slices: FileSlices) -> KeyFilters:
    """The kind; whether a file has a filter is known when its footer is read."""
    return KeyFilters(table, slices)


class KeyFilters(KeyLookupKind):
    """Probes the footers of the candidates; each filter is decoded once."""

    name = "key_filters"

    def __init__(self, table: Table, slices: FileSlices) -> None:
        self._table = table
        self._slices = slices
        self._filters: dict[str, BloomFilter | None] = {}
        self._stored = StoredValues(table)

    def is_key(self, column: Field) -> bool:
        """Whether the column is the record key."""
        return is_record_key(self._table, column)

    def might_contain(
        self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_] | Declined | None:
        """False for the candidates whose filter holds none of the keys."""
        slice_indices = list(range(len(self._slices))) if candidates is None else np.flatnonzero(candidates).tolist()
        too_many = too_many_probes(len(values), len(slice_indices)) if self.is_key(column) else None
        if too_many or not self.is_key(column):
            return too_many
        bases = [self._slices[slice_index].base_file for slice_index in slice_indices]
        missing = [path for path in bases if path and path not in self._filters]
        if len(missing) <= FOOTERS_BEGUN:
            begin_witnesses(self._table, self._slices)
            self._table.footers.begin(missing)
        keys = record_keys(self._table, self._slices, column, values)
        if keys is None:
            return None
        self._table.footers.expect(missing)
        probed = ProbedKeys([key.encode("utf-8", "surrogatepass") for key in keys])
        in_order = sorted(keys)
        mask = np.ones(len(self._slices), np.bool_)
        reached: dict[int, Sequence[str]] = {}
        for slice_index in slice_indices:
            one = self._slices[slice_index]
            bloom = self._filter(one.base_file) if one.base_file else None
            if not one.base_file or (bloom is not None and not probed.any_in(bloom)):
                mask[slice_index] = False
                if one.log_files and self._logs_reach(slice_index, in_order):
                    reached[slice_index] = one.log_files
        with naming_column(self._table.path, RECORD_KEY):
            held = self._stored.look_up(_KEY, keys, reached)
        mask[list(held.slices)] = True
        if held.why:
            return Declined(held.why, mask)
        return None if mask.all() else mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """Names no column: which files have a filter is known only when their footers are read."""
        del columns
        return Coverage(self.name, self._slices.instant, len(self._slices))

    def _logs_reach(self, slice_index: int, in_order: Sequence[str]) -> bool:
        """Whether one of the sorted keys lies within the bounds of the keys in the slice's log files, or may."""
        known = self._keys_in_logs
        if known is None or not (known.lo_known[slice_index] and known.hi_known[slice_index]):
            return True
        place = bisect_left(in_order, known.lo[slice_index])
        return place < len(in_order) and in_order[place] <= known.hi[slice_index]

    @cached_property
    def _keys_in_logs(self) -> ColumnStatistics | None:
        """Statistics of the record keys in the log files alone."""
        logs = tuple(replace(one, base_file=None) for one in self._slices)
        kind = column_stats(self._table, replace(self._slices, items=logs))
        return None if kind is None else kind.statistics([_KEY]).get(RECORD_KEY)

    def _filter(self, path: str) -> BloomFilter | None:
        if path not in self._filters:
            footer = self._table.footers.read(path)
            if footer is None:
                return None  # it may be read when the next filter asks
            self._filters[path] = _parse(footer.metadata or {})
        return self._filters[path]


def _parse(stored: Mapping[bytes, bytes]) -> BloomFilter | None:
    """The filter in a footer's key-value metadata; None when there is none that can be read."""
    text = stored.get(_FILTER)
    if text is None:
        return None
    try:
        return BloomFilter.parse(text, stored.get(_TYPE, b"SIMPLE").decode("utf-8", "replace"))
    except FormatError:
        return None
