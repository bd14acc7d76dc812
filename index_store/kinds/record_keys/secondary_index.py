"""Hudi's ``secondary_index_*``: from a column's value to record keys, and by ``record_index`` to slices (RFC-77).

                                    version 1 (tables of version 8)     version 2 (version 9)
    entry                           value, $, record key (``secondary_entries``)
    group that holds an entry       by the hash of the whole key        by the hash of value and $
    NULL                            no entry                            U+0000, not escaped

A value without an entry is in no row only if every row has its entry. So the index is trusted where

* the record index proves that each key stands in one row (``RecordIndex.keys_are_unique``),
* every entry names a key that the record index has, and no key has two entries,
* there are as many entries as rows, in version 1 as rows that are not NULL,
* every entry of version 2 lies in the group that its hash picks.

Then, as the metadata table is written with every commit, each row's entry exists. No proof covers that an entry's text
is its row's value; only reading the rows would show that. The bounds of a few files are values of their rows: they must
have entries that lead to these files, or the index is of another column than ``index.json`` says.

Up to ``ENTRIES_READ`` entries are all read. Of a larger index of version 2 the entries are counted, by the trailers of
its HFiles, and must be as many as the record index has keys; a sample from all over it must be in the right groups and
name keys that the record index has. Entries that a delete block removes are looked up there too: its keys have no
checksum, and only where all entries are read would a changed one leave a key with two entries. Two faults that hide
from each other (a row without an entry and one with two, none in the sample) would pass there.

In a MERGE_ON_READ table the values themselves are read (``stored_values``) where an entry may have another text:

    slices with log files               merged rows; Hudi's index of them depends on what its writer merged
    all slices, of several indexes      Hudi 1.1 and 1.2 write updates in log files into the index that was made first,
                                        and leave the others as they were: a compaction puts stale rows into base files
    all slices, of an index that        version 1 beside log files, keys that stand twice, another number of entries
    is not proven to be whole

Where rows are merged by a rule of the user's own, slices with log files are kept (C3).
Source: ``SecondaryIndexKeyUtils``, ``HoodieAppendHandle``,
docs/facts/hudi-record-and-secondary-index.md#secondary-index.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.statistics_provider import Declined
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from index_store.formats.keys import file_group
from index_store.kinds.base import ColumnCoverage, Coverage, KeyLookupKind, ProofMemory
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.index_info import SECONDARY_PREFIX as PREFIX
from index_store.kinds.index_info import SECONDARY_VERSIONS, IndexInfo, read_index_info
from index_store.kinds.record_keys.key_groups import KeyGroups
from index_store.kinds.record_keys.record_index import KEYS_IN_LOGS, LOOK_UPS, RecordIndex, too_many
from index_store.kinds.record_keys.record_index import make as record_index
from index_store.kinds.record_keys.secondary_entries import escape, split_entry, texts_of
from index_store.kinds.record_keys.stored_values import StoredValues
from index_store.storage.errors import FormatError, StatsError, TableError, naming_column
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["SecondaryIndex", "make"]

ENTRIES_READ = 250_000
#: How much of a larger index is looked at: so many blocks, so many entries of each.
SAMPLED_BLOCKS, SAMPLED_ENTRIES = 32, 16
#: The bounds of so many files are looked up to see whether the index is of the column.
WITNESSES = 4
#: The outcomes of the proof that an index has every row: by all entries, or by their number and a sample.
_NOT_PROVEN, _BY_ALL, _BY_SAMPLE = "not proven", "by all entries", "by a sample"
#: So many instants are read to see which indexes the table ever made.
INDEXINGS_READ = 16


def make(table: Table, slices: FileSlices) -> SecondaryIndex | None:
    """The kind, if the table has a complete secondary index of one column and a record index for these slices."""
    if not any(name.startswith(PREFIX) for name in table.available_indexes):
        return None
    keys = record_index(table, slices)
    if keys is None:
        return None
    try:
        every = [info for info in read_index_info(table) if info.name.startswith(PREFIX)]
    except TableError:  # index.json is damaged; no kind is lost but this one
        return None
    found = {info.columns[0]: info for info in every if info.read}
    return SecondaryIndex(table, slices, keys, found, [info.name for info in every]) if found else None


def _is_only_one(table: Table, names: Iterable[str]) -> bool:
    """Whether the table has one secondary index and, as far as the active timeline shows, never made another."""
    made = set(names)
    indexings = [one for one in table.timeline.instants if one.action == "indexing"]
    if len(made) > 1 or len(indexings) > INDEXINGS_READ:
        return False
    try:
        for instant in indexings:
            infos = table.timeline.details(instant).get("indexPartitionInfos") or ()
            made |= {name for info in infos if (name := str(info["metadataPartitionPath"])).startswith(PREFIX)}
    except (TableError, FormatError, TypeError, KeyError):
        return False
    return len(made) == 1


class SecondaryIndex(KeyLookupKind):
    """All secondary indexes of a table, by column. The proof of each is made once."""

    name = "secondary_index"

    def __init__(
        self,
        table: Table,
        slices: FileSlices,
        keys: RecordIndex,
        indexes: Mapping[str, IndexInfo],
        names: Sequence[str],
    ) -> None:
        self._table = table
        self._slices = slices
        self._keys = keys
        self._indexes = indexes
        self._opened: dict[str, _Index] = {}
        self._sampled: set[str] = set()
        self._is_merged = table.table_type == "MERGE_ON_READ" or any(one.log_files for one in slices)
        self._names = names
        self._stored = StoredValues(table)

    def remember(self, memory: ProofMemory) -> None:
        """Whether an index knows every row is worked out once for a state of the table."""
        self._keys.remember(memory)

    def begin(self, columns: Sequence[Field]) -> None:
        """Start to read the indexes of these columns, and the record index that proves them."""
        if not self._table.storage.is_local and (not self._is_merged or self._is_only_one):
            self._keys.begin()
            for column in columns:
                self._index(column).groups.begin()

    def is_key(self, column: Field) -> bool:
        """Whether the column has an index."""
        return column.name in self._indexes

    def might_contain(
        self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_] | Declined | None:
        """True for the slices that hold a row with one of the values, as far as the index or the values show it."""
        if column.name not in self._indexes:
            return None
        if len(values) > LOOK_UPS:
            return too_many(len(values))
        by_index = self._by_index(column, values, candidates)
        if not self._is_merged or isinstance(by_index, Declined):
            return by_index
        read = np.ones(len(self._slices), np.bool_) if by_index is None else self._logged
        mask = read.copy() if by_index is None else by_index | read
        chosen = np.flatnonzero(read if candidates is None else read & candidates).tolist()
        if not merges_to_stored_values(self._table.properties):
            chosen = [slice_index for slice_index in chosen if not self._logged[slice_index]]
        with naming_column(self._table.path, column.name):
            held = self._stored.look_up(column, values, {one: self._slices[one].files for one in chosen})
        mask[chosen] = False
        mask[list(held.slices)] = True
        return Declined(held.why, mask) if held.why else mask

    def _by_index(
        self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.bool_] | Declined | None:
        """The slices that the entries lead to; None where the index is not trusted."""
        if self._is_merged and not self._is_only_one:
            return None
        keys = self.record_keys(column, values) if self._knows_every_row(column) else None
        return keys if keys is None or isinstance(keys, Declined) else self._keys.locate_keys(sorted(keys), candidates)

    def record_keys(self, column: Field, values: Sequence[object]) -> set[str] | Declined | None:
        """The record keys that the index has for non-null values.

        None for a value that has no certain text. Declined when they are too many to be looked up.
        """
        if column.name not in self._indexes:
            return None
        index = self._index(column)
        texts: list[str] = []
        for value in values:
            found = texts_of(value, column, index.version, self._table.columns.units.get(column.name, ""))
            if not found:
                return None
            texts += found
        with naming_column(index.groups.path, column.name):
            found_keys = index.look_up(texts, past_deletes=column.name in self._sampled)
        if found_keys is None:
            return Declined(f"{len(values):,} keys have more than the {LOOK_UPS:,} rows that are looked up one by one")
        return found_keys

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """All slices or none, for the columns that have an index; of values that are read, before they are."""
        n, logged = len(self._slices), int(self._logged.sum())
        custom = 0 if merges_to_stored_values(self._table.properties) else logged
        known: dict[str, ColumnCoverage] = {}
        for column in columns:
            if column.name not in self._indexes:
                continue
            if self._is_merged or self._knows_every_row(column):
                counts = {Trust.OK: n - custom, Trust.CUSTOM_MERGE: custom}
                known[column.name] = ColumnCoverage(n - custom, {why: m for why, m in counts.items() if m})
            else:
                why = Trust.NO_RECORD if self._keys.keys_are_unique else Trust.KEY_TWICE
                known[column.name] = ColumnCoverage(0, {why: n})
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def _is_only_one(self) -> bool:
        return _is_only_one(self._table, self._names)

    @cached_property
    def _logged(self) -> npt.NDArray[np.bool_]:
        """The slices with log files."""
        return np.array([bool(one.log_files) for one in self._slices], np.bool_)

    def _index(self, column: Field) -> _Index:
        if column.name not in self._opened:
            info, metadata = self._indexes[column.name], self._table.metadata
            assert metadata is not None, "without a metadata table there is no record index"
            self._opened[column.name] = _Index(KeyGroups(metadata, info.name), SECONDARY_VERSIONS[info.version])
        return self._opened[column.name]

    def _knows_every_row(self, column: Field) -> bool:
        if column.name not in self._indexes:
            return False
        info = self._indexes[column.name]
        name = f"{info.name}, version {info.version}: has every row of {column.name}"
        outcome = self._keys.proofs.outcome(name, lambda: self._prove(column))
        if outcome == _BY_SAMPLE:
            self._sampled.add(column.name)
        return outcome in (_BY_ALL, _BY_SAMPLE)

    def _prove(self, column: Field) -> str:
        if not (self._keys.keys_are_unique and self._is_complete(column) and self._is_of(column)):
            return _NOT_PROVEN
        return _BY_SAMPLE if column.name in self._sampled else _BY_ALL

    def _is_complete(self, column: Field) -> bool:
        """Whether each row has exactly one entry. Raises StatsError when the index cannot be read."""
        names = read_name_history(self._table.storage)
        if column.name in names.reused | names.renamed:
            return False  # entries of another column may stand under the name
        index, logged = self._index(column), self._keys.logged
        rows = self._rows_with_entry(column, index.version)
        if rows is None or logged is None:
            return False
        with naming_column(index.groups.path, column.name):
            if rows + len(logged.slices_of) > ENTRIES_READ:
                self._sampled.add(column.name)
                return index.version == 2 and self._counts_agree(index)
            keys = index.every_record_key(
                ENTRIES_READ, {key.encode("utf-8", "surrogatepass") for _, key in logged.slices_of}
            )
            return keys is not None and len(keys) == rows and self._keys.has_all(keys, ENTRIES_READ)

    def _is_of(self, column: Field) -> bool:
        """True. Raises StatsError when the index has not the values that some files hold: it is of another column.

        ``index.json``, which names the column, has no checksum.
        """
        statistics = column_stats(self._table, self._slices)
        known = None if statistics is None else statistics.statistics([column]).get(column.name)
        if known is None:
            return True
        plain = np.flatnonzero(known.lo_known & known.hi_known & (known.trust == Trust.OK) & ~self._logged)
        for slice_index in plain[:: len(plain) // WITNESSES + 1].tolist():
            for value in (known.lo[slice_index], known.hi[slice_index]):
                keys = self.record_keys(column, [value.item() if isinstance(value, np.generic) else value])
                if isinstance(keys, Declined):
                    continue
                found = self._keys.locate_keys(sorted(keys)) if keys else None
                if keys == set() or (isinstance(found, np.ndarray) and not found[slice_index]):
                    name = self._indexes[column.name].name
                    why = f"{name} lacks a value of the column, so it is of another one"
                    raise StatsError(self._table.path, column.name, why)
        return True

    def _counts_agree(self, index: _Index) -> bool:
        """Whether a large index has as many entries as there are keys, and a sample of them is as it should be."""
        if index.groups.count(KEYS_IN_LOGS) != self._keys.whole_count:
            return False
        for (_, number), entry in index.groups.sample(SAMPLED_BLOCKS, SAMPLED_ENTRIES):
            prefix, key = split_entry(entry)
            if file_group(prefix, len(index.groups)) != number or not self._keys.has(key):
                return False
        return True

    def _rows_with_entry(self, column: Field, version: int) -> int | None:
        """The number of entries of an index that has every row; None when it is not known."""
        if version == 2:
            return self._keys.rows
        if self._logged.any():
            return None  # which of their rows are NULL is not known
        statistics = column_stats(self._table, self._slices)
        known = None if statistics is None else statistics.statistics([column]).get(column.name)
        if known is None or (known.null_count == UNKNOWN_COUNT).any() or self._keys.rows is None:
            return None
        return self._keys.rows - int(known.null_count.sum())


@frozen
class _Index:
    """One index. Methods raise TableError and FormatError."""

    groups: KeyGroups
    version: int

    def look_up(self, texts: Sequence[str], *, past_deletes: bool) -> set[str] | None:
        """The record keys of all entries of these texts; None when they are more than can be looked up.

        ``past_deletes``: also of those that a delete block removes.
        """
        found: set[str] = set()
        for text in texts:
            prefix = f"{escape(text)}$"
            groups = self.groups.named if self.version == 1 else (("", file_group(prefix, len(self.groups))),)
            for name in groups:
                group = self.groups.opened(name)
                if group is not None:
                    raw = prefix.encode("utf-8", "surrogatepass")
                    live = group.starting_with(raw, LOOK_UPS, past_deletes=past_deletes)
                    if live is None or len(found) + len(live) > LOOK_UPS:
                        return None
                    found.update(split_entry(key)[1] for key in live)
        return found

    def every_record_key(self, limit: int, others: Container[bytes]) -> set[bytes] | None:
        """The record keys of all entries but ``others``.

        None when a key has two, there are more than ``limit``, or one lies in a wrong group.
        """
        found: set[bytes] = set()
        read = counted = 0
        for (_, number), live in self.groups.keys(limit):
            read += len(live)
            for entry in live:
                prefix, record_key = split_entry(entry)
                if self.version == 2 and file_group(prefix, len(self.groups)) != number:
                    return None
                key = record_key.encode("utf-8", "surrogatepass")
                if key not in others:
                    counted += 1
                    found.add(key)
        return found if len(found) == counted and read <= limit else None
