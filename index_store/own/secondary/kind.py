"""The own secondary indexes as an index kind: which slices may have a row with some values (C4, C5, C6).

    city = 'sfo', IN, <=>                   entries of the values, in one shard each
    city < 'm', city IS NULL                bounds and NULLs of each slice
    city = 'sfo' AND rider = 'x',           entries of the whole filter, as far as the columns of the key go: values
    ts BETWEEN 3 AND 7, city LIKE 'sf%'     that stand together in one row, which no leaf by itself tells

An answer applies only to slices whose files are exactly those that the index has entries of. Any other slice, of an
older or a newer instant, is read (hybrid scan).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, Match, StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from index_store.kinds.base import NOTHING, ColumnCoverage, Coverage, column_coverage
from index_store.own.provider.own_indexes import OwnIndexes, intersection, own_indexes_of, slice_coverage
from index_store.own.secondary.secondary_index import SecondaryIndex

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnSecondaryIndex", "make"]

Mask = npt.NDArray[np.bool_]


def make(table: Table, slices: FileSlices) -> OwnSecondaryIndex | None:
    """The kind, if the table may have an index of its own."""
    own = own_indexes_of(table, slices)
    return None if own is None else OwnSecondaryIndex(own)


class OwnSecondaryIndex:
    """All own secondary indexes of a table. Each is read when something is first asked that it may know.

    ``OwnSketches`` reports the indexes that cannot be opened, of both kinds.
    """

    name = "own_secondary_index"

    def __init__(self, own: OwnIndexes) -> None:
        self._own = own

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Everything about the columns that some index has; look-ups of those that lead a key."""
        if not self.indexes:
            return NOTHING
        names = {column.name for index in self.indexes for column in index.columns}
        leading = {index.columns[0].name for index in self.indexes}
        return RequiredStatistics(
            bounds=tuple([one for one in asked.bounds if one.name in names]),
            nulls=tuple([one for one in asked.nulls if one.name in names]),
            keys=tuple([one for one in asked.keys if not one.function and one.column.name in leading]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of the columns; entries are read when the evaluator asks."""
        columns = {
            column.name: statistics
            for column in required.columns
            if (statistics := self._statistics(column)) is not None
        }
        return StatisticsProvider(self.name, columns, self.might_contain, filter_might_match=self.filter_might_match)

    def might_contain(self, lookup: Lookup, candidates: Mask) -> Mask | Declined | None:
        """``(n,) bool``: False for the candidates none of whose rows has one of the values."""
        answers = [
            index.might_contain(lookup, candidates)
            for index in self.indexes
            if index.columns[0].name == lookup.column.name and not lookup.function
        ]
        masks = [one for one in answers if not isinstance(one, Declined)]
        declined = [one for one in answers if isinstance(one, Declined)]
        mask = intersection(masks)
        return declined[0] if mask is None and declined else mask

    def filter_might_match(self, bound: BoundExpression, candidates: Mask) -> Match | None:
        """Which slices may have a row that makes the whole filter TRUE, as far as each index knows its columns."""
        matches = [
            match for index in self.indexes if (match := index.filter_might_match(bound, candidates)) is not None
        ]
        mask = intersection(match.filter_might_match for match in matches)
        if mask is None:
            return None
        return Match(mask, tuple(sorted({leaf for match in matches for leaf in match.leaves})))

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices the indexes know, of each column that leads a key or has bounds."""
        n = len(self._own.slices)
        by_column: dict[str, ColumnCoverage] = {}
        for column in columns:
            usable = max(
                (int(index.usable(1).sum()) for index in self.indexes if index.columns[0].name == column.name),
                default=-1,
            )
            statistics = self._statistics(column)
            if statistics is not None:
                by_column[column.name] = column_coverage(statistics)
            if usable > (by_column[column.name].usable if column.name in by_column else -1):
                by_column[column.name] = slice_coverage(usable, n)
        return Coverage(self.name, self._own.slices.instant, n, by_column)

    def _statistics(self, column: Field) -> ColumnStatistics | None:
        indexes = [index for index in self.indexes if any(one.name == column.name for one in index.columns)]
        return indexes[0].statistics(column) if indexes and column.type.kind is not Kind.OTHER else None

    @cached_property
    def indexes(self) -> tuple[SecondaryIndex, ...]:
        """The indexes with a column that the table still has."""
        indexes = (SecondaryIndex(index, self._own) for index in self._own.secondary)
        return tuple([index for index in indexes if index.columns])
