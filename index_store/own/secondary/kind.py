"""Our own secondary indexes as an index kind: which slices have a row with these values (C4, C5, C6).

    city = 'sfo', IN, <=>                   entries of the values, in one shard each
    city < 'm', city IS NULL                bounds and NULLs of each slice
    city = 'sfo' AND rider = 'x',           entries of the whole filter, as far as the columns of the key go: values
    ts BETWEEN 3 AND 7, city LIKE 'sf%'     that stand together in one row, which no leaf by itself tells

A slice is known when its files are exactly those of which the index has its entries. Any other one, of an older or a
newer instant, is read (hybrid scan). So is one whose files have a column in another type than the table has it now, one
whose merge makes values of its own, and for keys of several columns one whose merge mixes versions of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Match, StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import NOTHING, ColumnCoverage, Coverage, column_coverage
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.kinds.column_stats.file_reading import LOG_LIMIT
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.build.sketching import Target, type_field
from index_store.own.definition import SECONDARY_INDEX
from index_store.own.provider.per_file_statistics import KnownColumn
from index_store.own.provider.sketch_statistics import Piece, fit_of, pieces_of
from index_store.own.secondary.constraints import pieces_of_values, ranges_of_filter
from index_store.own.secondary.generation import live_groups
from index_store.own.secondary.keys import Range, is_encodable, key_range
from index_store.own.secondary.keys import leading as leading_length
from index_store.own.secondary.search import Search
from index_store.own.secondary.shards import shard_of
from index_store.own.secondary.slice_entries import key_columns, statistics_plan
from index_store.own.secondary.staged_entries import lines_of, slice_name
from index_store.own.sketches.values import ABSENT, EMPTY, FileType
from index_store.own.store.locations import indexes_of, may_have_indexes
from index_store.own.store.own_index import OwnIndex
from index_store.storage.errors import TableError, naming_column
from index_store.table.merge_rule import merges_to_stored_values, merges_whole_records
from index_store.table.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnSecondaryIndex", "make"]

Mask = npt.NDArray[np.bool_]
#: So many blocks of entries are read to match a filter; what would need more is not worth it.
MAX_BLOCKS = 1024


def make(table: Table, slices: FileSlices) -> OwnSecondaryIndex | None:
    """The kind, if the table may have an index of its own."""
    return OwnSecondaryIndex(table, slices) if may_have_indexes(table) else None


class OwnSecondaryIndex:
    """All secondary indexes of its own that a table has. Each is read when something is first asked that it may know.

    What is wrong with an index that cannot be opened is said by ``own.kind``, which opens all of them.
    """

    name = "own_secondary_index"

    def __init__(self, table: Table, slices: FileSlices) -> None:
        self._table = table
        self._slices = slices

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Everything about the columns that some index has; look-ups of those that lead a key."""
        if not self._indexes:
            return NOTHING
        names = {column.name for index in self._indexes for column in index.columns}
        leading = {index.columns[0].name for index in self._indexes}
        return RequiredStatistics(
            bounds=tuple([one for one in asked.bounds if one.name in names]),
            nulls=tuple([one for one in asked.nulls if one.name in names]),
            keys=tuple([one for one in asked.keys if not one.function and one.column.name in leading]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of the columns; entries are looked into when the evaluator asks."""
        found = {
            column.name: statistics
            for column in required.columns
            if (statistics := self._statistics(column)) is not None
        }
        return StatisticsProvider(self.name, found, self.might_contain, filter_might_match=self.filter_might_match)

    def might_contain(self, lookup: Lookup, candidates: Mask) -> Mask | None:
        """``(n,) bool``: False for the slices none of whose rows has one of the values."""
        del candidates  # all slices are found at once
        found: Mask | None = None
        for index in self._indexes:
            if index.columns[0].name == lookup.column.name and not lookup.function:
                said = index.might_contain(lookup)
                if said is not None:
                    found = said if found is None else found & said
        return found

    def filter_might_match(self, bound: BoundExpression, candidates: Mask) -> Match | None:
        """Which slices may have a row that makes the whole filter TRUE, as far as each index knows its columns."""
        found: Match | None = None
        for index in self._indexes:
            said = index.filter_might_match(bound, candidates)
            if said is not None:
                found = (
                    said
                    if found is None
                    else Match(
                        found.filter_might_match & said.filter_might_match, tuple(sorted({*found.leaves, *said.leaves}))
                    )
                )
        return found

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices the indexes know, of each column that leads a key or has bounds."""
        n = len(self._slices)
        known: dict[str, ColumnCoverage] = {}
        for column in columns:
            usable = max(
                (int(index.usable(1).sum()) for index in self._indexes if index.columns[0].name == column.name),
                default=-1,
            )
            statistics = self._statistics(column)
            if statistics is not None:
                known[column.name] = column_coverage(statistics)
            if usable > (known[column.name].usable if column.name in known else -1):
                counts = {Trust.OK: usable, Trust.NO_RECORD: n - usable}
                known[column.name] = ColumnCoverage(usable, {why: m for why, m in counts.items() if m})
        return Coverage(self.name, self._slices.instant, n, known)

    def _statistics(self, column: Field) -> ColumnStatistics | None:
        of = [index for index in self._indexes if any(one.name == column.name for one in index.columns)]
        return of[0].statistics(column) if of and column.type.kind is not Kind.OTHER else None

    @cached_property
    def _indexes(self) -> tuple[_Index, ...]:
        found = []
        for place in indexes_of(self._table):
            if place.index is not None and place.index.definition.kind == SECONDARY_INDEX:
                index = _Index(place.index, self._table, self._slices)
                if index.columns:
                    found.append(index)
        return tuple(found)


class _Index:
    """One index and the slices of the table that it is of.

    columns: those of the key that the table still has under their names, up to the first that it has not.
    """

    def __init__(self, index: OwnIndex, table: Table, slices: FileSlices) -> None:
        self._index, self._table, self._slices = index, table, slices
        self._searches: dict[int, Search] = {}
        self._statistics: dict[str, ColumnStatistics] = {}
        self._usable: dict[int, Mask] = {}
        reused = read_name_history(table.storage).reused
        found: list[Field] = []
        for name in key_columns(index.definition):
            column = table.schema.resolve(name, case_sensitive=True)
            if column is None or name in reused or not is_encodable(column.type):
                break
            found.append(column)
        self.columns = tuple(found)

    # -- what is asked

    def might_contain(self, lookup: Lookup) -> Mask | None:
        """False for the slices without an entry of the values; None when readers may make one of another."""
        if lookup.column.type != self.columns[0].type or not self.usable(1).any():
            return None
        pieces = pieces_of_values(lookup.values, self.columns[0])
        if pieces is None:
            return None
        return self._with_groups(self._by_shard([key_range(one) for one in pieces], leading=True), 1)

    def filter_might_match(self, bound: BoundExpression, candidates: Mask) -> Match | None:
        """Where the whole filter may be TRUE; None when its leaves by themselves say as much, or it costs too much."""
        wanted = ranges_of_filter(bound, self.columns)
        if wanted is None or not wanted.narrower or not (self.usable(wanted.columns) & candidates).any():
            return None
        ranges = self._by_shard(wanted.ranges, leading=wanted.leading)
        with naming_column(self._index.path, self.columns[0].name):
            if sum(self._search(shard).blocks(some) for shard, some in ranges.items()) > MAX_BLOCKS:
                return None
        return Match(self._with_groups(ranges, wanted.columns), wanted.leaves)

    def statistics(self, column: Field) -> ColumnStatistics:
        """Bounds and NULLs of a column of the key, by slice."""
        if column.name not in self._statistics:
            (target,) = statistics_plan([column.name]).targets
            known = np.flatnonzero(self._row_of_slice >= 0)
            groups = self._groups.take(pa.array(self._row_of_slice[known]))
            found = KnownColumn(column, [(known[piece.rows], piece) for piece in self._pieces(column, target, groups)])
            files = SliceFiles(
                ("",) * len(self._slices),
                ("",) * len(self._slices),
                np.arange(len(self._slices)),
                self._logged,
                np.ones(len(self._slices), np.intp),
            )
            self._statistics[column.name] = (
                found.statistics(files, custom_merge=self._custom_merge)
                if (found.pieces)
                else ColumnStatistics.unknown(column.type, len(self._slices), Trust.NO_RECORD)
            )
        return self._statistics[column.name]

    def usable(self, columns: int) -> Mask:
        """``(n,) bool``: the slices of whose rows the entries tell these first columns of the key."""
        if columns not in self._usable:
            self._usable[columns] = self._told(columns)
        return self._usable[columns]

    def _told(self, columns: int) -> Mask:
        found = self._row_of_slice >= 0
        if self._custom_merge or (columns > 1 and not merges_whole_records(self._table.properties)):
            found = found & ~self._logged
        rows = self._row_of_slice[found]
        for column in self.columns[:columns]:
            fits = self._fits(column)
            found[found] = fits[rows]
            rows = self._row_of_slice[found]
        return found

    # -- entries

    def _with_groups(self, ranges: Mapping[int, Sequence[Range]], columns: int) -> Mask:
        """Where an entry is in one of the ranges of its shard, or entries do not tell these columns."""
        found = ~self.usable(columns)
        with naming_column(self._index.path, self.columns[0].name):
            for shard, some in ranges.items():
                groups = self._search(shard).groups(some)
                places = self._slice_of_group[groups[groups < len(self._slice_of_group)]]
                found[places[places >= 0]] = True
        return found

    def _by_shard(self, ranges: Sequence[Range], *, leading: bool) -> Mapping[int, Sequence[Range]]:
        """The ranges to look for in each shard; ``leading``: each begins with a value of the first column."""
        count = len(self._index.version.generations[0].shards)
        if not leading:
            return dict.fromkeys(range(count), ranges)
        found: dict[int, list[Range]] = {}
        for one in ranges:
            found.setdefault(shard_of(one[0][: leading_length(one[0])], count), []).append(one)
        return found

    def _search(self, shard: int) -> Search:
        if shard not in self._searches:
            self._searches[shard] = Search(
                self._index.folder, [one.shards[shard] for one in self._index.version.generations]
            )
        return self._searches[shard]

    # -- groups and slices

    @cached_property
    def _groups(self) -> pa.Table:
        return live_groups(self._index.folder, self._index.version.generations)

    @cached_property
    def _row_of_slice(self) -> npt.NDArray[np.int64]:
        """The row of each slice in the list of groups, -1 where its files are not those of the group."""
        names = self._groups.column("name").to_pylist()
        files = self._groups.column("files").to_pylist()
        rows = {(name, lines): row for row, (name, lines) in enumerate(zip(names, files, strict=True))}
        grows = self._sizes_of_logs() if self._table.version < 8 else None
        return np.array(
            [
                rows.get((slice_name(one.partition, one.file_id), lines_of(one.files, grows)), -1)
                for one in self._slices
            ],
            np.int64,
        )

    def _sizes_of_logs(self) -> dict[str, int]:
        """Version 6 may append to a log file: their sizes now, -1 for those that were not looked at."""
        sizes: dict[str, int] = {}
        for path in (path for one in self._slices for path in one.log_files):
            sizes[path] = -1
            if len(sizes) <= LOG_LIMIT:
                try:
                    with self._table.storage.input_file(path) as stream:
                        sizes[path] = stream.size()
                except (TableError, OSError):
                    pass
        return sizes

    @cached_property
    def _slice_of_group(self) -> npt.NDArray[np.int64]:
        numbers = self._groups.column("group").to_numpy()
        found = np.full(int(numbers.max(initial=-1)) + 1, -1, np.int64)
        known = np.flatnonzero(self._row_of_slice >= 0)
        found[numbers[self._row_of_slice[known]]] = known
        return found

    @cached_property
    def _logged(self) -> Mask:
        return np.array([bool(one.log_files) for one in self._slices], np.bool_)

    @cached_property
    def _custom_merge(self) -> bool:
        return not merges_to_stored_values(self._table.properties)

    # -- types

    def _unit(self, column: Field) -> str:
        return self._table.columns.units.get(column.name, "") if column.type.kind.is_timestamp else ""

    def _absent_is_null(self, column: Field) -> bool:
        return reads_as_null(column, self._table, read_name_history(self._table.storage).renamed)

    def _pieces(self, column: Field, target: Target, groups: pa.Table) -> list[Piece]:
        with naming_column(self._index.path, column.name):
            return list(
                pieces_of(
                    np.arange(groups.num_rows),
                    groups,
                    target,
                    column,
                    self._unit(column),
                    absent_is_null=self._absent_is_null(column),
                )
            )

    def _fits(self, column: Field) -> Mask:
        """``(groups,) bool``: keys tell the values of the column, in the type that the table has."""
        types = self._groups.column(type_field(column.name)).combine_chunks().dictionary_encode()
        told = [self._tells(FileType(text), column) for text in types.dictionary.to_pylist()]
        found: Mask = np.array([*told, False], np.bool_)[types.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return found

    def _tells(self, of: FileType, column: Field) -> bool:
        if of == EMPTY:
            return True
        if of == ABSENT:
            return self._absent_is_null(column)
        return of.is_known and of.unit != "nanos" and fit_of(of, column.type, self._unit(column)) is True
