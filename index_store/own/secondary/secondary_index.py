"""One secondary index, asked which slices of its table may have a row with some values of its key.

    lookup of city      the shard of each value, the entries of its keys, their file groups, the slices of these
    of many values      the same, in one pass over each shard (``key_merge``), while it reads a bounded number of blocks
    whole filter        the same for ranges of composite keys (``constraints``), while they span few blocks
    bounds and NULLs    what the list of file groups keeps of each column of the key

A slice is known when its files are exactly those of which the index has the entries, in the same state: otherwise every
answer leaves it (C4). So does one whose files have a column of the key in another type than the table has it now, one
with log files whose merge makes values that are in no file, and, for several columns of a key, one whose merge takes
columns of a row from several versions of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import Declined, Match
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.builders.sketching import type_field
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.provider.per_file_statistics import per_file_statistics
from index_store.own.provider.slice_statistics import IndexedColumn
from index_store.own.secondary.constraints import pieces_of_many, pieces_of_values, ranges_of_filter
from index_store.own.secondary.entry_block import BlockCache
from index_store.own.secondary.generation import live_groups
from index_store.own.secondary.key_merge import SortedPieces
from index_store.own.secondary.keys import Range, is_encodable, key_range
from index_store.own.secondary.keys import leading as leading_length
from index_store.own.secondary.search import Search
from index_store.own.secondary.shards import shard_of
from index_store.own.secondary.slice_entries import key_columns, statistics_plan
from index_store.own.secondary.staged_entries import lines_of, slice_name
from index_store.own.store.own_index import OwnIndex
from index_store.storage.errors import naming_column
from index_store.table.file_types import ABSENT, EMPTY, FileType, fit_of

__all__ = ["FEW_VALUES", "MAX_BLOCKS", "MAX_MERGED_BLOCKS", "SecondaryIndex"]

Mask = npt.NDArray[np.bool_]
#: So many blocks of entries are read to match a filter; what would need more is not worth it.
MAX_BLOCKS = 1024
#: More values than these are looked up in one pass over each shard.
FEW_VALUES = 64
#: So many blocks, of 2,048 entries each, are read for a look-up of many values: some ten seconds.
MAX_MERGED_BLOCKS = 1 << 15


class SecondaryIndex:
    """One secondary index of a table, for the slices of ``OwnIndexes``.

    columns: those of the key that the table still has under their names, up to the first that it has not.
    """

    def __init__(self, index: OwnIndex, own: OwnIndexes) -> None:
        self._index, self._own = index, own
        self._searches: dict[int, Search] = {}
        self._blocks = BlockCache()
        self._statistics: dict[str, ColumnStatistics] = {}
        self._usable: dict[int, Mask] = {}
        columns: list[Field] = []
        for name in key_columns(index.definition):
            column = own.table.schema.resolve(name, case_sensitive=True)
            if column is None or own.is_reused(name) or not is_encodable(column.type):
                break
            columns.append(column)
        self.columns = tuple(columns)

    # -- questions

    def might_contain(self, lookup: Lookup, candidates: Mask) -> Mask | Declined | None:
        """``(n,) bool``: False for the candidates without an entry of the values.

        None when readers may change a value, Declined when too many blocks would be read.
        """
        if lookup.column.type != self.columns[0].type or not (self.usable(1) & candidates).any():
            return None
        if len(lookup.values) > FEW_VALUES:
            many = pieces_of_many(lookup.values, self.columns[0])
            return None if many is None else self._slices_with_keys(many, candidates)
        pieces = pieces_of_values(lookup.values, self.columns[0])
        if pieces is None:
            return None
        return self._slices_with_entries(self._by_shard([key_range(one) for one in pieces], leading=True), 1)

    def filter_might_match(self, bound: BoundExpression, candidates: Mask) -> Match | None:
        """Where the whole filter may be TRUE; None when its leaves by themselves say as much, or it costs too much."""
        wanted = ranges_of_filter(bound, self.columns)
        if wanted is None or not wanted.narrower or not (self.usable(wanted.columns) & candidates).any():
            return None
        ranges = self._by_shard(wanted.ranges, leading=wanted.leading)
        with naming_column(self._index.path, self.columns[0].name):
            if sum(self._search(shard).blocks(some) for shard, some in ranges.items()) > MAX_BLOCKS:
                return None
        return Match(self._slices_with_entries(ranges, wanted.columns), wanted.leaves)

    def statistics(self, column: Field) -> ColumnStatistics:
        """Bounds and NULLs of a column of the key, by slice. Raises StatsError."""
        if column.name not in self._statistics:
            self._statistics[column.name] = self._read_statistics(column)
        return self._statistics[column.name]

    def _read_statistics(self, column: Field) -> ColumnStatistics:
        """The list of groups has the statistics of whole slices: each slice counts as one file here."""
        n = len(self._own.slices)
        (target,) = statistics_plan([column.name]).targets
        known = np.flatnonzero(self._row_of_slice >= 0)
        groups = self._groups.take(pa.array(self._row_of_slice[known]))
        with naming_column(self._index.path, column.name):
            by_type = list(
                per_file_statistics(
                    np.arange(groups.num_rows),
                    groups,
                    target,
                    column,
                    self._own.unit_of(column),
                    absent_is_null=self._own.absent_is_null(column),
                )
            )
        if not by_type:
            return ColumnStatistics.unknown(column.type, n, Trust.NO_RECORD)
        indexed = IndexedColumn(column, [(known[one.index_rows], one) for one in by_type])
        files = SliceFiles(("",) * n, ("",) * n, np.arange(n), self._own.has_logs, np.ones(n, np.intp))
        return indexed.statistics(files, custom_merge=self._own.custom_merge)

    def usable(self, columns: int) -> Mask:
        """``(n,) bool``: the slices of whose rows the entries tell these first columns of the key."""
        if columns not in self._usable:
            self._usable[columns] = self._find_usable(columns)
        return self._usable[columns]

    def _find_usable(self, columns: int) -> Mask:
        usable = self._row_of_slice >= 0
        if self._own.custom_merge or (columns > 1 and not self._own.merges_whole_records):
            usable = usable & ~self._own.has_logs
        for column in self.columns[:columns]:
            usable[usable] = self._fits(column)[self._row_of_slice[usable]]
        return usable

    # -- entries

    def _slices_with_entries(self, ranges: Mapping[int, Sequence[Range]], columns: int) -> Mask:
        """Where an entry is in one of the ranges of its shard, or entries do not tell these columns."""
        might_contain = ~self.usable(columns)
        with naming_column(self._index.path, self.columns[0].name):
            for shard, some in ranges.items():
                groups = self._search(shard).groups(some)
                slices = self._slice_of_group[groups[groups < len(self._slice_of_group)]]
                might_contain[slices[slices >= 0]] = True
        return might_contain

    def _slices_with_keys(self, keys: SortedPieces, candidates: Mask) -> Mask | Declined:
        """Where a candidate has an entry of one of the keys, or entries do not tell the first column."""
        looked_for = self.usable(1) & candidates
        sought: Mask = np.zeros(len(self._slice_of_group), np.bool_)
        known = np.flatnonzero(self._slice_of_group >= 0)
        sought[known] = looked_for[self._slice_of_group[known]]
        asked = known[sought[known]]
        with naming_column(self._index.path, self.columns[0].name):
            count = len(self._index.version.generations[0].shards)
            shards = shard_of(keys.array, count)
            by_shard = [(self._search(shard), keys.chosen(shards == shard)) for shard in np.unique(shards).tolist()]
            spans = [search.spans(some) for search, some in by_shard]
            blocks = sum(len(of_table) for of_shard in spans for of_table in of_shard)
            if blocks > MAX_MERGED_BLOCKS:
                name = self._index.definition.name
                return Declined(
                    f"the entries of {len(keys):,} keys are in {blocks:,} blocks of {name}, "
                    f"more than the {MAX_MERGED_BLOCKS:,} that are read for one filter"
                )
            for (search, some), of_shard in zip(by_shard, spans, strict=True):
                if sought.any():
                    search.find(some, of_shard, sought)
        might_contain: Mask = ~looked_for
        might_contain[self._slice_of_group[asked[~sought[asked]]]] = True
        return might_contain

    def _by_shard(self, ranges: Sequence[Range], *, leading: bool) -> Mapping[int, Sequence[Range]]:
        """The ranges to look for in each shard; ``leading``: each begins with a value of the first column."""
        count = len(self._index.version.generations[0].shards)
        if not leading:
            return dict.fromkeys(range(count), ranges)
        by_shard: dict[int, list[Range]] = {}
        for one in ranges:
            by_shard.setdefault(shard_of(one[0][: leading_length(one[0])], count), []).append(one)
        return by_shard

    def _search(self, shard: int) -> Search:
        if shard not in self._searches:
            self._searches[shard] = Search(
                self._index.folder, [one.shards[shard] for one in self._index.version.generations], self._blocks
            )
        return self._searches[shard]

    # -- file groups and slices

    @cached_property
    def _groups(self) -> pa.Table:
        return live_groups(self._index.folder, self._index.version.generations)

    @cached_property
    def _row_of_slice(self) -> npt.NDArray[np.int64]:
        """The row of each slice in the list of groups, -1 where its files are not those of the group."""
        names = self._groups.column("name").to_pylist()
        files = self._groups.column("files").to_pylist()
        rows = {(name, lines): row for row, (name, lines) in enumerate(zip(names, files, strict=True))}
        slices = self._own.slices
        sizes = (
            self._own.sizes_of_logs(path for one in slices for path in one.log_files)
            if self._own.logs_may_grow
            else None
        )
        return np.array(
            [rows.get((slice_name(one.partition, one.file_id), lines_of(one.files, sizes)), -1) for one in slices],
            np.int64,
        )

    @cached_property
    def _slice_of_group(self) -> npt.NDArray[np.int64]:
        """The slice of each file group by number, -1 for the groups of none."""
        numbers = self._groups.column("group").to_numpy()
        slice_of_group = np.full(int(numbers.max(initial=-1)) + 1, -1, np.int64)
        known = np.flatnonzero(self._row_of_slice >= 0)
        slice_of_group[numbers[self._row_of_slice[known]]] = known
        return slice_of_group

    # -- types

    def _fits(self, column: Field) -> Mask:
        """``(groups,) bool``: keys tell the values of the column, in the type that the table has."""
        types = self._groups.column(type_field(column.name)).combine_chunks().dictionary_encode()
        fits = [self._type_fits(FileType(text), column) for text in types.dictionary.to_pylist()]
        by_group: Mask = np.array([*fits, False], np.bool_)[types.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return by_group

    def _type_fits(self, of: FileType, column: Field) -> bool:
        if of == EMPTY:
            return True
        if of == ABSENT:
            return self._own.absent_is_null(column)
        return of.is_known and of.unit != "nanos" and fit_of(of, column.type, self._own.unit_of(column)) is True
