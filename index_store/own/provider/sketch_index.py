"""One index of sketches, asked for the columns and expressions of its table: stored rows to statistics of files.

    definition    min_max of fare, bloom_filter of city, min_max of lower(city)

    read(fare)                       bounds and NULLs of each file that the index knows
    read(city, filters=True)         the Bloom filters; they are read for look-ups only, as they are large
    read_expression("lower(city)")   bounds of the expression, found by its canonical key

A file that the index does not know, and a log file that has grown since, gets no row: its slice is read (C4).

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field
from index_store.own.builders.expressions import Expression
from index_store.own.builders.sketching import ROWS, SketchPlan, Target
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.provider.per_file_statistics import per_file_statistics
from index_store.own.provider.slice_statistics import IndexedColumn
from index_store.own.store.own_index import IndexedFiles
from index_store.storage.errors import naming_column

__all__ = ["SketchIndex"]


class SketchIndex:
    """One index of sketches of a table, for the slices of ``OwnIndexes``."""

    def __init__(self, index: IndexedFiles, own: OwnIndexes) -> None:
        """Raises UnsupportedError and FormatError for a definition that is not understood."""
        self._index = index
        self._own = own
        self._plan = SketchPlan.for_table(own.table, index.definition)

    def target(self, name: str) -> Target | None:
        """What is sketched of a column."""
        return next((one for one in self._plan.targets if one.on == name and one.expression is None), None)

    @property
    def path(self) -> str:
        """Where the index is."""
        return self._index.path

    def has_filters(self, column: Field) -> bool:
        """Whether it keeps filters of a column."""
        target = self.target(column.name)
        return target is not None and any(sketch.is_filter for sketch in target.sketches)

    @cached_property
    def expressions(self) -> Mapping[str, tuple[Target, Expression]]:
        """The expressions that can be computed of the table as it is now, by canonical key."""
        by_key = {}
        for target in self._plan.targets:
            if target.expression is not None:
                with suppress(UnsupportedError):  # a column is gone, or of another type
                    by_key[target.expression.key] = target, target.expression
        return by_key

    def read_expression(self, key: str) -> IndexedColumn:
        """What the index knows of an expression. Raises StatsError."""
        target, expression = self.expressions[key]
        unit = "micros" if expression.result.kind.is_timestamp else ""
        return self._read(target, Field(key, expression.result), unit, absent_is_null=False)

    def read(self, column: Field, *, filters: bool = False) -> IndexedColumn | None:
        """What the index knows of a column, or what its filters are; None when it has none. Raises StatsError."""
        target = self.target(column.name)
        if target is None or (filters and not self.has_filters(column)):
            return None
        sketches = tuple([one for one in target.sketches if one.skips_files and one.is_filter is filters])
        return self._read(
            Target(target.on, sketches),
            column,
            self._own.unit_of(column),
            absent_is_null=self._own.absent_is_null(column),
        )

    def _read(self, target: Target, column: Field, unit: str, *, absent_is_null: bool) -> IndexedColumn:
        statistics = []
        with naming_column(self._index.path, target.on):
            file_of_row = self._file_of_row
            for part in self._index.statistics([ROWS, *(field.name for field in target.fields)]):
                wanted = file_of_row[part.index_rows] >= 0
                if not wanted.any():
                    continue
                rows, columns = part.index_rows, part.columns
                if not wanted.all():
                    rows, columns = rows[wanted], columns.filter(wanted)
                by_type = per_file_statistics(rows, columns, target, column, unit, absent_is_null=absent_is_null)
                statistics.extend([(file_of_row[one.index_rows], one) for one in by_type])
        return IndexedColumn(column, statistics)

    @cached_property
    def _file_of_row(self) -> npt.NDArray[np.intp]:
        """For each row of the index the number of its file among those of the slices, -1 for a file of none."""
        files = self._own.files
        rows = self._own.unchanged(self._index.files, self._index.find(files.paths))
        file_of_row = np.full(self._index.files.num_rows, -1, np.intp)
        known = np.flatnonzero(rows >= 0)
        file_of_row[rows[known]] = known
        return file_of_row
