"""What own indexes know of the merged rows of slices with log files, as an index kind of its own (C5, C6).

    files of a slice         i = 3 .. 9 in the base file, 20 in a log file that updates the row of 9
    own_index                3 .. 9 and 20: what stands in the files
    own_merged_rows          3 .. 8 and 20: what a reader may show

A filter of several conditions is also held against each part, because a merged row is a whole row of one of them.

A slice has statistics here when an index has a row for exactly its files (``store.merged_slices``): one file more or
less, and nothing is said. From table version 8 on files are written once, so their names are enough. In version 6 log
files are appended to, and hold the blocks of several instants: their sizes have to be those that were merged, and the
slices have to be of an instant that is not older.

What is said holds for merged rows alone. The option ``sargo.rows=stored`` switches the kind off, for readers that show
the rows of base files as they stand: read-optimised queries, and readers that do not merge.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Match, StatisticsProvider
from evaluator.evaluation.evaluate import evaluate
from evaluator.language.schema import Field
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes, own_indexes_of
from index_store.own.store.merged_slices import MergedPart, merged_parts
from index_store.own.store.own_index import IndexedFiles, OwnIndex
from index_store.storage.errors import StatsError
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.table_options import ROWS, STORED

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["OwnMergedRows", "make"]

Mask = npt.NDArray[np.bool_]


def make(table: Table, slices: FileSlices) -> OwnMergedRows | None:
    """The kind, if the table may have log files and an index of its own."""
    if table.table_type != "MERGE_ON_READ" or table.options.get(ROWS, "").lower() == STORED:
        return None
    own = own_indexes_of(table, slices)
    return None if own is None else OwnMergedRows(_MergedSlices(own))


class OwnMergedRows(OwnSketches):
    """The sketches of merged rows in all indexes of a table. ``OwnSketches`` reports indexes that cannot be opened."""

    name = "own_merged_rows"

    def __init__(self, own: _MergedSlices) -> None:
        super().__init__(own)
        self._merged = own
        self._columns_asked: dict[str, Field] = {}
        self._functions_asked: dict[tuple[str, str], Field] = {}

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Statistics of the columns, and matches of whole filters on them."""
        self._columns_asked.update({column.name: column for column in required.columns})
        self._functions_asked.update({(key, column.name): column for key, column in required.functions})
        provider = super().provide(required)
        return replace(provider, filter_might_match=self.filter_might_match) if self._merged.sketches else provider

    def filter_might_match(self, bound: BoundExpression, candidates: Mask) -> Match | None:
        """Where a part of a merged slice might match: every merged row is a whole row of one of the parts."""
        del candidates  # all parts are evaluated at once
        names = {name for leaf in bound.leaves for name in leaf.columns}
        asked = self._apart.requires(
            RequiredStatistics(
                bounds=tuple([column for name, column in self._columns_asked.items() if name in names]),
                functions=tuple([(key, of) for (key, name), of in self._functions_asked.items() if name in names]),
            )
        )
        if len(bound.leaves) < 2 or not asked or not len(self._parts.slice_of):
            return None
        kept = evaluate(bound, len(self._parts.slice_of), [self._apart.provide(asked)]).kept_rows
        might_match = np.ones(len(self._merged.slices), np.bool_)
        might_match[self._parts.slice_of] = False
        might_match[self._parts.slice_of[kept]] = True
        return Match(might_match, tuple(range(len(bound.leaves))))

    @cached_property
    def _parts(self) -> _PartsApart:
        return _PartsApart(self._merged)

    @cached_property
    def _apart(self) -> OwnSketches:
        return OwnSketches(self._parts)


class _MergedSlices(OwnIndexes):
    """The own indexes of a table, asked for merged slices as if each was one file."""

    def __init__(self, own: OwnIndexes, slices: FileSlices | None = None) -> None:
        """``slices``: by default those of the table."""
        super().__init__(own.table, slices or own.slices)
        self._own = own

    @cached_property
    def sketches(self) -> tuple[IndexedFiles, ...]:
        """The indexes that have merged slices."""
        return tuple([one for one in self._own.sketches if isinstance(one, OwnIndex) and one.version.merged])

    @property
    def faults(self) -> tuple[StatsError, ...]:
        return ()

    @cached_property
    def files(self) -> SliceFiles:
        """The parts of slices with log files as their "files"; "", which no index knows, for any other slice.

        They count as log files, because their numbers of rows are upper limits.
        """
        parts = self.parts
        count = np.array([max(1, len(one)) for one in parts], np.intp)
        slice_of = np.repeat(np.arange(len(parts)), count)
        paths = [path for some in parts for path in ([part.path for part in some] or [""])]
        return SliceFiles(
            tuple(paths),
            tuple(np.repeat(np.array([one.partition for one in self.slices], object), count).tolist()),
            slice_of,
            np.ones(len(slice_of), np.bool_),
            count,
        )

    @cached_property
    def parts(self) -> list[tuple[MergedPart, ...]]:
        """The parts of each slice, none for one without log files."""
        return [merged_parts(one) if one.log_files else () for one in self.slices]

    @property
    def custom_merge(self) -> bool:
        """No slice of a custom merge is merged."""
        return False

    @property
    def rows_are_whole(self) -> bool:
        return True

    def unchanged(self, indexed: pa.Table, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The rows, -1 for a part of table version 6 of which other bytes, or later ones, were merged."""
        known = np.flatnonzero(rows >= 0)
        if not self.logs_may_grow or not len(known):
            return rows
        rows = rows.copy()
        sizes, instants = (indexed[name].take(pa.array(rows[known])).to_pylist() for name in ("size", "instant"))
        parts = [part for number in known.tolist() if (part := MergedPart.named(self.files.paths[number])) is not None]
        now = self.sizes_of_logs(dict.fromkeys(path for part in parts for path in part.files))
        for number, part, size, instant in zip(known.tolist(), parts, sizes, instants, strict=True):
            of_files = [now[path] for path in part.files]
            if min(of_files) < 0 or sum(of_files) != size or instant > (self.slices.instant or ""):
                rows[number] = -1
        return rows


class _PartsApart(_MergedSlices):
    """The same indexes, asked as if each part of a merged slice was a slice; ``slice_of`` ``(f,)`` is its slice."""

    def __init__(self, merged: _MergedSlices) -> None:
        items = [
            FileSlice(item.partition, item.file_id, part.path)
            for item, parts in zip(merged.slices, merged.parts, strict=True)
            for part in parts
        ]
        super().__init__(merged, replace(merged.slices, items=tuple(items)))
        self.slice_of = np.repeat(np.arange(len(merged.parts)), [len(parts) for parts in merged.parts])

    @cached_property
    def files(self) -> SliceFiles:
        """The parts."""
        f = len(self.slices)
        return SliceFiles(
            tuple([item.base_file or "" for item in self.slices]),
            tuple([item.partition for item in self.slices]),
            np.arange(f),
            np.ones(f, np.bool_),
            np.ones(f, np.intp),
        )
