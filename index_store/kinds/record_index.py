"""Hudi's ``record_index``: which file group holds a record key. Answers ``key = v`` and ``key IN (...)`` exactly.

    key   -> String.hashCode picks the file group of the index -> one block of its base HFile, and its log files on top
    value -> partition, and the file id as a UUID's two halves and an index (encoding 0) or as text (encoding 1)

A key that is not there is in no file. That makes the index worth nothing unless it is whole: it must be available, its
files complete, describe the latest commit, and the slices must be the latest ones. Of rows inserted twice under one key
(``insert``, ``bulk_insert``, an index that is not global) it knows the last one only, so it is used where the table
has as many rows as the index has keys; ``secondary_index`` is built on the same proof.
Partitioned record indexes (``isPartitioned``) are not used. Source: hudi.md 2, B2, ``HoodieMetadataPayload``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.bounds import Trust
from evaluator.columns import UNKNOWN_COUNT
from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.sources import Source
from evaluator.types import STRING
from index_store.errors import FormatError, TableError, naming_column
from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.hfile import HFile, entries
from index_store.formats.keys import file_group
from index_store.index_info import DEFINITIONS
from index_store.kinds.base import ColumnCoverage, Coverage, answer_of_keys, needs_of_keys
from index_store.kinds.column_stats import make as column_stats
from index_store.kinds.key_groups import KeyGroups
from index_store.kinds.record_keys import KEY_COLUMN, is_record_key, record_keys
from index_store.metadata_table import Deletes, MetadataTable

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["RecordIndex", "make"]

PARTITION = "record_index"
#: An index of more keys is not counted, and so not used: counting takes about a microsecond a key.
KEYS_COUNTED = 1_000_000

Location = tuple[str, str]


def make(table: Table, slices: FileSlices) -> RecordIndex | None:
    """The kind, if the table has a whole record index and the slices are the latest ones."""
    last = table.timeline.last
    if PARTITION not in table.available_indexes or table.metadata is None or not table.metadata_is_current:
        return None
    if last is None or slices.instant != last.requested or _is_partitioned(table):
        return None
    return RecordIndex(table, slices, table.metadata)


def _is_partitioned(table: Table) -> bool:
    """What index.json says; a definition that cannot be read counts as partitioned, which is not used."""
    try:
        if not table.storage.exists(DEFINITIONS):
            return False
        found = json.loads(table.storage.read(DEFINITIONS))
        options = found["indexDefinitions"].get(PARTITION, {}).get("indexOptions") or {}
        return str(options.get("isPartitioned", "false")).lower() != "false"
    except (TableError, ValueError, KeyError, TypeError, AttributeError):
        return True


class RecordIndex:
    """Looks up record keys; every key is read once."""

    name = PARTITION

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._groups = KeyGroups(metadata, PARTITION)
        self._found: dict[str, Location | None] = {}

    def needs(self, asked: Needs) -> Needs:
        """Look-ups of the record key."""
        return needs_of_keys(asked, lambda column: is_record_key(self._table, column))

    def answer(self, needs: Needs) -> Source:
        """Keys are looked up when the evaluator asks for them."""
        del needs
        return answer_of_keys(self.name, self.may_hold)

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """True for the slices that hold one of the keys, if every key is proven to stand in one row only."""
        del candidates
        if not is_record_key(self._table, column) or not self.keys_are_unique:
            return None
        return self.locate(column, values)

    def locate(self, column: Field, values: Sequence[object]) -> npt.NDArray[np.bool_] | None:
        """``(n,) bool``: where the index has one of the keys. Raises StatsError when it cannot be read."""
        keys = record_keys(self._table, column, values)
        return None if keys is None else self.locate_keys(keys)

    def locate_keys(self, keys: Sequence[str]) -> npt.NDArray[np.bool_] | None:
        """``(n,) bool``: where the index has one of these record keys, whatever column they are made of."""
        with naming_column(self._groups.path, KEY_COLUMN):
            self._look_up([key for key in keys if key not in self._found])
        mask = np.zeros(len(self._slices), np.bool_)
        for key in keys:
            location = self._found[key]
            if location is not None:
                place = self._places.get(location)
                if place is None:
                    return None                               # a file group that the table does not have
                mask[place] = True
        return mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """All slices or none, for the columns that are a record key."""
        n = len(self._slices)
        keys = [column.name for column in columns if is_record_key(self._table, column)]
        usable = n if keys and self.keys_are_unique else 0
        known = {name: ColumnCoverage(usable, {Trust.OK if usable else Trust.KEY_TWICE: n}) for name in keys}
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def rows(self) -> int | None:
        """How many rows the slices have, by the statistics of the key column; None when there are log files."""
        known = column_stats(self._table, self._slices)
        if known is None:
            return None
        key = Field(KEY_COLUMN, STRING)
        statistics = known.statistics([key]).get(KEY_COLUMN)
        if statistics is None or (statistics.row_count == UNKNOWN_COUNT).any():
            return None
        return int(statistics.row_count.sum())

    @cached_property
    def keys_are_unique(self) -> bool:
        """Whether there are as many keys as rows: then no key stands in two rows, of which the index knows one.

        Slices with log files prove nothing. An index of more than ``KEYS_COUNTED`` keys is not counted.
        """
        rows = self.rows
        return rows is not None and rows <= KEYS_COUNTED and rows == self._count_keys()

    def _count_keys(self) -> int:
        """How many keys the index holds; any number above ``KEYS_COUNTED`` when there are more."""
        with naming_column(self._groups.path, KEY_COLUMN):
            return sum(len(keys) for _, keys in self._groups.keys(KEYS_COUNTED))

    def has_all(self, keys: set[bytes]) -> bool:
        """Whether the index holds each of these keys; False when it has more than ``KEYS_COUNTED``."""
        left = set(keys)
        with naming_column(self._groups.path, KEY_COLUMN):
            for _, held in self._groups.keys(KEYS_COUNTED):
                left -= held
        return not left

    @cached_property
    def _places(self) -> Mapping[Location, int]:
        return {(one.partition, one.file_id): i for i, one in enumerate(self._slices)}

    def _look_up(self, keys: Sequence[str]) -> None:
        wanted: dict[int, set[bytes]] = {}
        for key in keys:
            wanted.setdefault(file_group(key, len(self._groups)), set()).add(key.encode("utf-8", "surrogatepass"))
        for number, some in wanted.items():
            found = self._read(number, some)
            for raw in some:
                self._found[raw.decode("utf-8", "surrogatepass")] = found.get(raw)

    def _read(self, number: int, keys: set[bytes]) -> dict[bytes, Location]:
        """Where keys of one group are, after everything that lies on top of its base file."""
        found: dict[bytes, Location] = {}
        for layer in self._groups.layers(number):
            if isinstance(layer, Deletes):
                for key in layer.keys:
                    found.pop(key.encode("utf-8", "surrogatepass"), None)
            else:
                with naming_column(layer.path, KEY_COLUMN):
                    _load(layer.hfile, keys, found)
        return found


def _load(hfile: HFile, keys: set[bytes], found: dict[bytes, Location]) -> None:
    reader: RecordReader | None = None
    for block in hfile.blocks(sorted(keys)):
        for key, start, end in entries(block):
            if key not in keys:
                continue
            if start == end:
                found.pop(key, None)
                continue
            reader = reader or RecordReader(hfile.schema)
            location = unwrap(reader.read(block[start:end]).get("recordIndexMetadata"))
            if location is None:
                found.pop(key, None)
            else:
                found[key] = _location(location)


def _location(stored: Mapping[str, Any]) -> Location:
    """Partition and file id (``HoodieTableMetadataUtil.getLocationFromRecordIndexInfo``)."""
    partition = stored.get("partitionName") or ""
    if stored.get("fileIdEncoding") == 1:
        return partition, str(stored.get("fileId") or "")
    high, low, index = stored.get("fileIdHighBits"), stored.get("fileIdLowBits"), stored.get("fileIndex")
    if high is None or low is None:
        raise FormatError("a record index entry names no file")
    file_id = str(uuid.UUID(int=(high & (1 << 64) - 1) << 64 | low & (1 << 64) - 1))
    return partition, file_id if index is None or index < 0 else f"{file_id}-{index}"
