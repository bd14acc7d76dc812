"""Our own indexes as an index kind: what their sketches say of a table's slices (C4, C5, C6).

The indexes (``own.places``) know files, not slices, and files never change: so an index of any instant serves any
other. A file that came after the last refresh, a log file that was appended to since, and a file whose row
cannot be used are not known, and their slices are read (hybrid scan). Nothing is read before a column is asked for.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import ColumnCoverage, Coverage, column_coverage
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.kinds.column_stats.file_reading import LOG_LIMIT
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.build.expressions import Expression
from index_store.own.build.sketching import ROWS, SketchPlan, Target
from index_store.own.definition import SKETCHES
from index_store.own.provider.per_file_statistics import KnownColumn
from index_store.own.provider.sketch_statistics import pieces_of
from index_store.own.store.locations import IndexLocation, indexes_of, may_have_indexes
from index_store.own.store.own_index import IndexedFiles
from index_store.storage.errors import StatsError, TableError, naming_column
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["OwnSketches", "make"]

Mask = npt.NDArray[np.bool_]


def make(table: Table, slices: FileSlices) -> OwnSketches | None:
    """The kind, if the table may have an index of its own."""
    return OwnSketches(table, slices) if may_have_indexes(table) else None


class OwnSketches:
    """All indexes of sketches of a table. Each is opened when something is first asked that it may know."""

    name = "own_index"

    def __init__(self, table: Table, slices: FileSlices, indexes: Sequence[IndexedFiles] | None = None) -> None:
        """``indexes``: those to ask; by default all that the table has."""
        self._table = table
        self._slices = slices
        self._given = indexes
        self._known: dict[tuple[str, bool], list[KnownColumn]] = {}
        self._statistics: dict[str, ColumnStatistics | None] = {}

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
        """Statistics of the columns; filters are looked into when the evaluator asks for values."""
        found = {
            column.name: statistics
            for column in required.columns
            if (statistics := self.statistics(column)) is not None
        }
        expressions = {
            (form, column.name): statistics
            for form, column in required.functions
            if (statistics := self.expression_statistics(form)) is not None
        }
        return StatisticsProvider(self.name, found, self.might_contain, expressions)

    def expression_statistics(self, form: str) -> ColumnStatistics | None:
        """Statistics of an expression by its form, of the first index that has it. Raises StatsError.

        Values of several columns of a merged row may come from several files: then slices with log files are unknown.
        """
        key = f"={form}"
        if key not in self._statistics:
            found = self._expression(form)
            if found is None or any(self._is_reused(column) for column in found[1].columns):
                self._statistics[key] = None
            else:
                index, expression = found
                known = index.read_expression(form, self._files)
                custom = self._custom_merge or len(expression.columns) > 1
                statistics = known.statistics(self._files, custom_merge=custom) if known.pieces else None
                if statistics is not None and any("." in column.name for column in expression.columns):
                    unknown = np.full(len(statistics), UNKNOWN_COUNT)  # a parent may be NULL (P19)
                    statistics = replace(statistics, null_count=unknown, row_count=unknown)
                self._statistics[key] = None if statistics is None else replace(statistics, parts=None)
        return self._statistics[key]

    def _expression(self, form: str) -> tuple[_Index, Expression] | None:
        return next(
            (
                (index, target.expression)
                for index in self._indexes
                if (target := index.of_form(form)) is not None and target.expression is not None
            ),
            None,
        )

    def statistics(self, column: Field) -> ColumnStatistics | None:
        """The statistics of a column, None when no index has it. Raises StatsError."""
        if column.name not in self._statistics:
            known = self._of(column)
            if not known:
                self._statistics[column.name] = None
            elif self._is_reused(column):
                self._statistics[column.name] = ColumnStatistics.unknown(column.type, len(self._slices), Trust.RENAMED)
            else:
                found = [one.statistics(self._files, custom_merge=self._custom_merge) for one in known if one.pieces]
                self._statistics[column.name] = (
                    max(found, key=_worth)
                    if found
                    else ColumnStatistics.unknown(column.type, len(self._slices), Trust.NO_RECORD)
                )
        return self._statistics[column.name]

    def might_contain(self, lookup: Lookup, candidates: Mask) -> Mask | None:
        """False for the slices none of whose files has one of the values, by the filters of all files."""
        del candidates  # all filters are looked into at once
        column = lookup.column
        if lookup.function or self._is_reused(column):
            return None
        found: Mask | None = None
        for known in self._of(column, filters=True):
            said = known.might_contain(lookup.values, self._files, custom_merge=self._custom_merge)
            if said is not None:
                found = said if found is None else found & said
        return found

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of each column that an index has, or filters if these are more."""
        n = len(self._slices)
        known = {}
        for column in columns:
            statistics = self.statistics(column)
            if statistics is not None:
                known[column.name] = column_coverage(statistics)
                filtered = max(
                    (
                        one.filtered(self._files, custom_merge=self._custom_merge)
                        for one in self._of(column, filters=True)
                    ),
                    default=0,
                )
                if filtered > known[column.name].usable:
                    counts = {Trust.OK: filtered, Trust.NO_RECORD: n - filtered}
                    known[column.name] = ColumnCoverage(filtered, {why: m for why, m in counts.items() if m})
        return Coverage(self.name, self._slices.instant, n, known)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of the expressions that the indexes have."""
        return tuple(dict.fromkeys(form for index in self._indexes for form in index.forms))

    @cached_property
    def _indexes(self) -> tuple[_Index, ...]:
        if self._given is not None:
            return tuple(_Index(one, self._table) for one in self._given)
        return tuple(
            [
                _Index(place.index, self._table)
                for place in self._places
                if place.index is not None and place.index.definition.kind == SKETCHES
            ]
        )

    @property
    def faults(self) -> tuple[StatsError, ...]:
        """The indexes that cannot be opened, of sketches or others: the rest answers without them."""
        return tuple(StatsError(place.folder.path, "", place.fault) for place in self._places if place.index is None)

    @cached_property
    def _places(self) -> Sequence[IndexLocation]:
        return () if self._given is not None else indexes_of(self._table)

    @cached_property
    def _files(self) -> SliceFiles:
        return SliceFiles.of(self._slices)

    @cached_property
    def _custom_merge(self) -> bool:
        return not merges_to_stored_values(self._table.properties)

    def _is_reused(self, column: Field) -> bool:
        return column.name in read_name_history(self._table.storage).reused

    def _of(self, column: Field, *, filters: bool = False) -> list[KnownColumn]:
        """What each index that has the column knows of the slices' files: statistics, or filters. Read once."""
        key = column.name, filters
        if key not in self._known:
            found = (index.read(column, self._files, filters=filters) for index in self._indexes)
            self._known[key] = [] if column.type.kind is Kind.OTHER else [one for one in found if one is not None]
        return self._known[key]


def _worth(statistics: ColumnStatistics) -> tuple[int, int]:
    """How many slices have parts, and how many have bounds."""
    parts = 0 if statistics.parts is None else len(np.unique(statistics.parts.slice_of))
    return parts, int((statistics.lo_known | statistics.hi_known | ~statistics.may_be_value).sum())


class _Index:
    """One index and the table that it is of."""

    def __init__(self, index: IndexedFiles, table: Table) -> None:
        self._index = index
        self._table = table
        self._plan = SketchPlan.for_table(table, index.definition)
        self._places: npt.NDArray[np.intp] | None = None

    def target(self, name: str) -> Target | None:
        """What is sketched of a column."""
        return next((one for one in self._plan.targets if one.on == name and one.expression is None), None)

    def of_form(self, form: str) -> Target | None:
        """The expression of a form."""
        return self.forms.get(form)

    @cached_property
    def forms(self) -> Mapping[str, Target]:
        found = {}
        for target in self._plan.targets:
            if target.expression is not None:
                with suppress(UnsupportedError):  # a column is gone, or of another type
                    found[target.expression.form] = target
        return found

    def read_expression(self, form: str, files: SliceFiles) -> KnownColumn:
        """What is known of an expression. Raises StatsError."""
        target = self.forms[form]
        assert target.expression is not None
        return self._read(target, Field(form, target.expression.result), "micros", files, absent_is_null=False)

    def read(self, column: Field, files: SliceFiles, *, filters: bool) -> KnownColumn | None:
        """What is known of a column, or what its filters are; None when the index has none. Raises StatsError."""
        target = self.target(column.name)
        if target is None or (filters and not any(one.is_filter for one in target.sketches)):
            return None
        target = Target(target.on, tuple([one for one in target.sketches if one.is_filter is filters]))
        names = read_name_history(self._table.storage)
        absent_is_null = reads_as_null(column, self._table, names.renamed)
        return self._read(
            target, column, self._table.columns.units.get(column.name, ""), files, absent_is_null=absent_is_null
        )

    def _read(
        self, target: Target, column: Field, unit: str, files: SliceFiles, *, absent_is_null: bool
    ) -> KnownColumn:
        found = []
        unit = unit if column.type.kind.is_timestamp else ""
        with naming_column(self._index.path, target.on):
            places = self._places_of_rows(files)
            for part in self._index.statistics([ROWS, *(field.name for field in target.fields)]):
                wanted = places[part.place] >= 0
                if not wanted.any():
                    continue
                columns = part.columns if wanted.all() else part.columns.filter(wanted)
                pieces = pieces_of(part.place[wanted], columns, target, column, unit, absent_is_null=absent_is_null)
                found += [(places[piece.rows], piece) for piece in pieces]
        return KnownColumn(column, found)

    def _places_of_rows(self, files: SliceFiles) -> npt.NDArray[np.intp]:
        """The place of each file that the index knows among the files of the slices, -1 for the others."""
        if self._places is None:
            rows = self._index.find(files.paths)
            if self._table.version < 8:
                rows = self._without_grown_logs(rows, files)
            self._places = np.full(self._index.files.num_rows, -1, np.intp)
            known = np.flatnonzero(rows >= 0)
            self._places[rows[known]] = known
        return self._places

    def _without_grown_logs(self, rows: npt.NDArray[np.int64], files: SliceFiles) -> npt.NDArray[np.int64]:
        """Version 6 may append to a log file: then the index knows a part of it."""
        rows = rows.copy()
        sizes = self._index.files["size"].to_numpy()
        logs = np.flatnonzero(files.is_log & (rows >= 0)).tolist()
        rows[logs[LOG_LIMIT:]] = -1
        for place in logs[:LOG_LIMIT]:
            try:
                with self._table.storage.input_file(files.paths[place]) as stream:
                    same = stream.size() == sizes[rows[place]]
            except (TableError, OSError):
                same = False
            if not same:
                rows[place] = -1
        return rows
