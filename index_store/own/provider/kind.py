"""The own indexes of sketches as an index kind: statistics, expressions and filters of a table's slices (C4, C5, C6).

    city = 'oslo'         filters of the file, then values, prefixes or bounds
    fare > 10             bounds
    lower(city) = 'x'     bounds of the expression, where an index has it by the same canonical key
    city IS NULL          counts of NULLs

The indexes know files, not slices, and files never change: so an index of any instant serves any other. A file that
came after the last refresh, a log file that has grown since, and a file whose row cannot be used are unknown, and their
slices are read (hybrid scan). A column is read when a filter first asks for it.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import Coverage, column_coverage
from index_store.kinds.statistics_memory import KeptArrays, MakeStatistics, NoMemory, StatisticsMemory
from index_store.own.builders.expressions import Expression
from index_store.own.provider.own_indexes import OwnIndexes, intersection, own_indexes_of, slice_coverage
from index_store.own.provider.sketch_index import SketchIndex
from index_store.own.provider.slice_filters import SliceFilters
from index_store.own.provider.slice_statistics import IndexedColumn, might_contain
from index_store.storage.errors import StatsError

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnSketches", "make"]

Mask = npt.NDArray[np.bool_]
#: More values than these are not looked for in filters of files, which takes some 20 microseconds each.
MAX_VALUES = 20_000


def make(table: Table, slices: FileSlices) -> OwnSketches | None:
    """The kind, if the table may have an index of its own."""
    own = own_indexes_of(table, slices)
    return None if own is None else OwnSketches(own)


class OwnSketches:
    """All indexes of sketches of a table. Each is opened when something is first asked that it may know."""

    name = "own_index"

    def __init__(self, own: OwnIndexes) -> None:
        self._own = own
        self._columns: dict[tuple[str, bool], list[IndexedColumn]] = {}
        self._statistics: dict[str, ColumnStatistics | None] = {}
        self._expressions: dict[str, ColumnStatistics | None] = {}
        self._filters_read: dict[str, list[SliceFilters]] = {}
        self._memory: StatisticsMemory = NoMemory()

    def remember_statistics(self, memory: StatisticsMemory) -> None:
        """Take the statistics that others have made of the same versions and state, and keep those that are made."""
        self._memory = memory

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Everything about the columns that some index has."""

        def has(column: Field) -> bool:
            return any(index.target(column.name) is not None for index in self._indexes)

        return RequiredStatistics(
            bounds=tuple([one for one in asked.bounds if has(one)]),
            nulls=tuple([one for one in asked.nulls if has(one)]),
            functions=tuple([one for one in asked.functions if self._expression(one[0]) is not None]),
            keys=tuple([one for one in asked.keys if not one.function and has(one.column)]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of the columns; filters are read when the evaluator asks for values."""
        columns = {
            column.name: statistics
            for column in required.columns
            if (statistics := self.statistics(column)) is not None
        }
        expressions = {
            (key, column.name): statistics
            for key, column in required.functions
            if (statistics := self.expression_statistics(key)) is not None
        }
        return StatisticsProvider(self.name, columns, self.might_contain, expressions)

    def statistics(self, column: Field) -> ColumnStatistics | None:
        """Statistics of a column by slice, None when no index has it. Raises StatsError."""
        if column.name not in self._statistics:
            of = Field(f"column {column.name}", column.type)
            self._statistics[column.name] = self._kept(of, lambda: self._best_statistics(column))
        return self._statistics[column.name]

    def _best_statistics(self, column: Field) -> ColumnStatistics | None:
        """Those of the index that knows most."""
        indexed = self._read(column)
        if not indexed:
            return None
        n = len(self._own.slices)
        if self._own.is_reused(column.name):
            return ColumnStatistics.unknown(column.type, n, Trust.RENAMED)
        by_index = [
            one.statistics(self._own.files, custom_merge=self._own.custom_merge) for one in indexed if one.per_file
        ]
        return max(by_index, key=_worth) if by_index else ColumnStatistics.unknown(column.type, n, Trust.NO_RECORD)

    def expression_statistics(self, key: str) -> ColumnStatistics | None:
        """Statistics of an expression by its canonical key, of the first index that has it. Raises StatsError."""
        if key not in self._expressions:
            indexed = self._expression(key)
            self._expressions[key] = None if indexed is None else self._expression_statistics(*indexed)
        return self._expressions[key]

    def _expression_statistics(self, index: SketchIndex, expression: Expression) -> ColumnStatistics | None:
        of = Field(f"expression {expression.key}", expression.result)
        return self._kept(of, lambda: self._read_expression(index, expression))

    def _kept(self, of: Field, make: MakeStatistics) -> ColumnStatistics | None:
        """What the memory has of this column or expression, or what ``make`` gives."""
        version = self._own.version
        return self._memory.statistics(of, version, make) if version else make()

    def _read_expression(self, index: SketchIndex, expression: Expression) -> ColumnStatistics | None:
        """A merged row may have the inputs of an expression from several files: then logs make a slice unknown."""
        if any(self._own.is_reused(column.name) for column in expression.columns):
            return None
        column = index.read_expression(expression.key)
        if not column.per_file:
            return None
        custom_merge = self._own.custom_merge or (len(expression.columns) > 1 and not self._own.rows_are_whole)
        statistics = column.statistics(self._own.files, custom_merge=custom_merge)
        if any("." in column.name for column in expression.columns):
            unknown = np.full(len(statistics), UNKNOWN_COUNT)  # a parent may be NULL (P19)
            statistics = replace(statistics, null_count=unknown, row_count=unknown)
        return replace(statistics, parts=None)

    def _expression(self, key: str) -> tuple[SketchIndex, Expression] | None:
        """The first index that has an expression."""
        return next(((index, index.expressions[key][1]) for index in self._indexes if key in index.expressions), None)

    def might_contain(self, lookup: Lookup, candidates: Mask) -> Mask | Declined | None:
        """``(n,) bool``: False for the slices none of whose files has one of the values, by their filters."""
        del candidates  # all filters are read at once
        if lookup.function or self._own.is_reused(lookup.column.name):
            return None
        filters = self._filters(lookup.column)
        if len(lookup.values) > MAX_VALUES and filters:
            return Declined(
                f"{len(lookup.values):,} values are more than the {MAX_VALUES:,} looked for in filters of files"
            )
        return intersection(might_contain(one, lookup.values, lookup.column) for one in filters)

    def _filters(self, column: Field) -> list[SliceFilters]:
        """The filters of a column in each index that has some, read once. Raises StatsError."""
        if column.name not in self._filters_read:
            of_type = column.type.kind is not Kind.OTHER
            found = [self._filters_in(one, column) for one in self._indexes if of_type and one.has_filters(column)]
            self._filters_read[column.name] = [one for one in found if one is not None]
        return self._filters_read[column.name]

    def _filters_in(self, index: SketchIndex, column: Field) -> SliceFilters | None:
        made: list[SliceFilters] = []

        def make() -> KeptArrays | None:
            indexed = index.read(column, filters=True)
            filters = indexed and indexed.filters(self._own.files, custom_merge=self._own.custom_merge)
            made.extend([filters] if filters else [])
            return filters.to_arrays() if filters else None

        of = Field(f"filters of {column.name} in {index.path}", column.type)
        kept = self._memory.arrays(of, self._own.version, make) if self._own.version else make()
        return made[0] if made else None if kept is None else SliceFilters.from_arrays(kept)

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of each column that an index has, or filters if these are more."""
        n = len(self._own.slices)
        by_column = {}
        for column in columns:
            statistics = self.statistics(column)
            if statistics is not None:
                by_column[column.name] = column_coverage(statistics)
                filtered = self._count_filtered(column)
                if filtered > by_column[column.name].usable:
                    by_column[column.name] = slice_coverage(filtered, n)
        return Coverage(self.name, self._own.slices.instant, n, by_column)

    def _count_filtered(self, column: Field) -> int:
        """How many slices have a filter of the column for each of their files, in the index that has most."""
        indexed = self._read(column, filters=True)
        return max(
            (one.count_filtered(self._own.files, custom_merge=self._own.custom_merge) for one in indexed), default=0
        )

    @property
    def expression_keys(self) -> tuple[str, ...]:
        """The canonical keys of the expressions that the indexes have."""
        return tuple(dict.fromkeys(key for index in self._indexes for key in index.expressions))

    @property
    def faults(self) -> tuple[StatsError, ...]:
        """Why own indexes of any kind cannot be opened: the others answer without them."""
        return self._own.faults

    @cached_property
    def _indexes(self) -> tuple[SketchIndex, ...]:
        return tuple(SketchIndex(index, self._own) for index in self._own.sketches)

    def _read(self, column: Field, *, filters: bool = False) -> list[IndexedColumn]:
        """What each index that has the column knows of it: statistics, or filters. Read once."""
        key = column.name, filters
        if key not in self._columns:
            by_index = (index.read(column, filters=filters) for index in self._indexes)
            self._columns[key] = [] if column.type.kind is Kind.OTHER else [one for one in by_index if one is not None]
        return self._columns[key]


def _worth(statistics: ColumnStatistics) -> tuple[int, int]:
    """How many slices have parts, and how many have bounds."""
    parts = 0 if statistics.parts is None else len(np.unique(statistics.parts.slice_of))
    return parts, int((statistics.lo_known | statistics.hi_known | ~statistics.may_be_value).sum())
