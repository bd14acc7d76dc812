"""Hudi's ``record_index``: which file group holds a record key. Answers ``key = v`` and ``key IN (...)`` exactly.

    key   -> String.hashCode picks the file group of the index -> one block of its base HFile, and its log files on top
    value -> partition and file id (``formats.record_location``)

A partitioned index (``isPartitioned``, Hudi 1.1) has groups for each partition of the table and knows a key once in
each: keys are looked up for every partition that the other kinds leave.

A key without an entry is in no file, so the index is used only when it is whole: it must be available, its files
complete, describe the latest commit, and the slices must be the latest ones. Of rows inserted twice under one key
(``insert``, ``bulk_insert``, an index that is not global) it knows the last one only, so it is used where the table
has as many rows as the index has keys; ``secondary_index`` is built on the same proof. Both are counted without reading
them: rows by the statistics of the key column, keys by the trailers of the HFiles (``KeyGroups.count``). Keys that
stand in log files are read there, left out of both numbers, and found in all slices that have them (``logged_keys``).
Source: docs/facts/hudi-record-and-secondary-index.md#record-index, ``HoodieMetadataPayload``,
``HoodieTableMetadataUtil.getFileIDForFileGroup``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from index_store.formats.bounded.json_text import parse_json
from index_store.formats.keys import file_group
from index_store.formats.record_location import Location, LocationDecoder
from index_store.kinds.base import ColumnCoverage, Coverage, KeyLookupKind, ProofMemory
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.record_keys.key_groups import KeyGroups
from index_store.kinds.record_keys.key_witness import begin_witnesses
from index_store.kinds.record_keys.logged_keys import LoggedKeys, read_logged_keys
from index_store.kinds.record_keys.proofs import Proofs
from index_store.kinds.record_keys.record_keys import is_record_key, record_keys
from index_store.storage.errors import FormatError, TableError, naming_column
from index_store.table.listing import FROM_METADATA
from index_store.table.metadata_table import MetadataTable
from index_store.table.reads import DEFINITIONS
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["RecordIndex", "make"]

PARTITION = "record_index"
#: An index with more keys in its log files is not counted, and so not used: each is looked for in the base files.
KEYS_IN_LOGS = 100_000
#: So many look-ups (keys, times partitions of a partitioned index) are made for one condition.
LOOK_UPS = 20_000
#: So many footers are read to count rows.
FOOTERS_READ = 100
#: So many keys, and decoders of files, are remembered.
KEYS_REMEMBERED, FILES_REMEMBERED = 100_000, 256

Mask = npt.NDArray[np.bool_]


def too_many(keys: int, partitions: int = 1) -> Declined:
    """Why so many keys are not looked up."""
    where = f" in {partitions:,} partitions" if partitions > 1 else ""
    return Declined(f"{keys:,} keys{where} are more than the {LOOK_UPS:,} that are looked up one by one")


def make(table: Table, slices: FileSlices) -> RecordIndex | None:
    """The kind, if the table has a whole record index and the slices are the latest ones.

    A metadata table whose list lacks files may lack their keys, too.
    """
    last = table.timeline.last
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    if last is None or slices.instant != last.requested or slices.source != FROM_METADATA:
        return None
    partitioned = _is_partitioned(table)
    return None if partitioned is None else RecordIndex(table, slices, table.metadata, partitioned=partitioned)


def _is_partitioned(table: Table) -> bool | None:
    """The setting in index.json; None when it cannot be read or has another form."""
    try:
        data = table.documents.read(DEFINITIONS)
        if data is None:
            return False
        found = parse_json(data, DEFINITIONS)
        options = found["indexDefinitions"].get(PARTITION, {}).get("indexOptions") or {}
        return {"true": True, "false": False}.get(str(options.get("isPartitioned", "false")).lower())
    except (TableError, FormatError, ValueError, KeyError, TypeError, AttributeError):
        return None


class RecordIndex(KeyLookupKind):
    """Looks up record keys; every key is read once."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable, *, partitioned: bool = False) -> None:
        self._table = table
        self._slices = slices
        self._partitioned = partitioned
        self._groups = KeyGroups(metadata, PARTITION, partitioned=partitioned)
        self._decoders: dict[int, LocationDecoder] = {}  # by ``HFileSearch.number``
        self._found: dict[tuple[str, str], Location | None] = {}
        self.proofs = Proofs()

    def remember(self, memory: ProofMemory) -> None:
        """Whether keys are unique is worked out once for a state of the table."""
        self.proofs.remember(memory)

    def begin(self, columns: Sequence[Field] = ()) -> None:
        """Start to read the index, the log files, and the footers that say which column is the key."""
        del columns
        if not self._table.storage.is_local:
            below_logs = {one.base_file for one in self._slices if one.log_files and one.base_file}
            begin_witnesses(self._table, self._slices, but=below_logs)
            self._table.storage.begin(path for one in self._slices for path in one.log_files)
            self._groups.begin()

    def is_key(self, column: Field) -> bool:
        """Whether the column is the record key."""
        return is_record_key(self._table, column)

    def might_contain(
        self, column: Field, values: Sequence[object], candidates: Mask | None = None
    ) -> Mask | Declined | None:
        """True for the slices that hold one of the keys, if every key is proven to stand in one row only."""
        if not is_record_key(self._table, column):
            return None
        if len(values) > LOOK_UPS:
            return too_many(len(values))
        if not self.keys_are_unique:
            return None
        return self.locate(column, values, candidates)

    def locate(self, column: Field, values: Sequence[object], candidates: Mask | None = None) -> Mask | Declined | None:
        """``(n,) bool``: where the index has one of the keys. Raises StatsError when it cannot be read."""
        keys = record_keys(self._table, self._slices, column, values)
        return None if keys is None else self.locate_keys(keys, candidates)

    def locate_keys(self, keys: Sequence[str], candidates: Mask | None = None) -> Mask | Declined | None:
        """``(n,) bool``: where the index has one of these record keys, whatever column they are made of.

        A partitioned index is searched in the partitions of the candidates only; other slices are True. None: a file
        group that the table does not have.
        """
        mask = np.zeros(len(self._slices), np.bool_)
        logged = {} if self.logged is None else self.logged.slices_of
        try:
            partitions = self._asked(candidates, mask) if self._partitioned else ("",)
            if len(keys) * len(partitions) > LOOK_UPS:
                return too_many(len(keys), len(partitions))
            for partition in partitions:
                for key in keys if len(keys) < 3 else sorted(keys):  # keys of one block one after the other
                    for logged_at in logged.get((partition, key), ()):
                        mask[logged_at] = True
                    location = self._locate(partition, key)
                    slice_index = None if location is None else self._places.get(location)
                    if slice_index is not None:
                        mask[slice_index] = True
                    elif location is not None and self._is_live(partition, key):
                        return None
        except (FormatError, TableError) as error:
            with naming_column(self._groups.path, RECORD_KEY):
                raise error
        return mask

    def _asked(self, candidates: Mask | None, mask: Mask) -> Sequence[str]:
        """The partitions to look into. In ``mask`` slices of others become True."""
        sizes, wanted = self._groups.sizes, set()
        for slice_index, one in enumerate(self._slices):
            if one.partition not in sizes or (candidates is not None and not candidates[slice_index]):
                mask[slice_index] = True
            else:
                wanted.add(one.partition)
        return sorted(wanted)

    def _is_live(self, partition: str, key: str) -> bool:
        """Whether the index has a key that no delete block names."""
        group = self._groups.opened((partition, file_group(key, self._groups.sizes[partition])))
        return group is not None and group.find(key.encode("utf-8", "surrogatepass")) is not None

    def _locate(self, partition: str, key: str) -> Location | None:
        """Where the index has a key, or had one that a delete block names."""
        name = (partition, key)
        if name in self._found:
            return self._found[name]
        if len(self._found) >= KEYS_REMEMBERED:
            self._found.clear()
        location = self._found[name] = self._read(partition, key)
        return location

    def _read(self, partition: str, key: str) -> Location | None:
        group = self._groups.opened((partition, file_group(key, self._groups.sizes[partition])))
        found = None if group is None else group.find(key.encode("utf-8", "surrogatepass"), past_deletes=True)
        if found is None:
            return None
        file, block, start, end = found
        decoder = self._decoders.get(file.number)
        if decoder is None:
            if len(self._decoders) >= FILES_REMEMBERED:
                self._decoders.clear()
            decoder = self._decoders[file.number] = LocationDecoder(file.hfile.schema)
        return decoder.decode(block, start, end)

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """All slices or none, for the columns that are a record key."""
        n = len(self._slices)
        keys = [column.name for column in columns if is_record_key(self._table, column)]
        usable = n if keys and self.keys_are_unique else 0
        known = {name: ColumnCoverage(usable, {Trust.OK if usable else Trust.KEY_TWICE: n}) for name in keys}
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def rows(self) -> int | None:
        """How many base rows have a key that stands in no log file; None when it is not known."""
        in_files, logged = self._base_rows(), self.logged
        return None if in_files is None or logged is None else in_files - logged.base_rows

    @cached_property
    def logged(self) -> LoggedKeys | None:
        """The keys in log files; None when they are too many. Raises StatsError when they cannot be read."""
        if not any(one.log_files for one in self._slices):
            return LoggedKeys({}, 0)
        with naming_column(self._table.path, RECORD_KEY):
            return read_logged_keys(self._table, self._slices, partitioned=self._partitioned)

    def _base_rows(self) -> int | None:
        """By the statistics of the key column or of a column of the key; of a few files by their footers."""
        bases = self._slices
        if any(one.log_files or not one.base_file for one in bases):
            bases = replace(bases, items=tuple(replace(one, log_files=()) for one in bases if one.base_file))
        if not bases.items:
            return 0
        known = column_stats(self._table, bases)
        for name in (RECORD_KEY, *self._table.record_key_fields):
            column = self._table.schema.resolve(name, case_sensitive=True)
            statistics = None if known is None or column is None else known.statistics([column]).get(name)
            if statistics is not None and not (statistics.row_count == UNKNOWN_COUNT).any():
                return int(statistics.row_count.sum())
        if len(bases) > FOOTERS_READ:
            return None
        self._table.footers.expect([one.base_file or "" for one in bases])
        footers = [self._table.footers.read(one.base_file or "") for one in bases]
        return None if any(one is None for one in footers) else sum(one.num_rows for one in footers)

    @cached_property
    def keys_are_unique(self) -> bool:
        """Whether there are as many keys as rows: then no key stands in two rows, of which the index knows one.

        Of a partitioned index: in two rows of one partition. Rows and keys are those that no log file names; where the
        others are is known from the files.
        """
        name = f"{PARTITION}, partitioned: {self._partitioned}: keys are unique"
        return self.proofs.outcome(name, lambda: str(self.rows is not None and self.rows == self.count)) == "True"

    @cached_property
    def whole_count(self) -> int | None:
        """The number of keys in the index, None beyond the limits. Raises StatsError."""
        with naming_column(self._groups.path, RECORD_KEY):
            return self._groups.count(KEYS_IN_LOGS)

    @cached_property
    def count(self) -> int | None:
        """How many of them stand in no log file."""
        whole, logged = self.whole_count, self.logged
        if whole is None or logged is None:
            return None
        with naming_column(self._groups.path, RECORD_KEY):
            sizes = self._groups.sizes
            return whole - sum(
                self._is_live(partition, key) for partition, key in logged.slices_of if partition in sizes
            )

    def has(self, key: str) -> bool:
        """Whether some partition has this key."""
        with naming_column(self._groups.path, RECORD_KEY):
            return any(self._is_live(partition, key) for partition in self._groups.sizes)

    def has_all(self, keys: set[bytes], limit: int) -> bool:
        """Whether the index holds each of these keys; False when it has more than ``limit``."""
        left = set(keys)
        with naming_column(self._groups.path, RECORD_KEY):
            for _, held in self._groups.keys(limit):
                left -= held
        return not left

    @cached_property
    def _places(self) -> Mapping[Location, int]:
        return {(one.partition, one.file_id): i for i, one in enumerate(self._slices)}
