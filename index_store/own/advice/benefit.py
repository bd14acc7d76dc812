"""What an index is worth, from the statistics that it holds: a score for each sketch, and nothing else is read.

    min_max, prefix_set, value_list, partition   ranges, prefixes and values of each file
    bloom_filter                                 how full the filters are: an upper limit, for values in two files
                                                 are not seen (``sargo advise`` looks at values)
    null_count, nan_count                        files without any

Each file that the index knows counts as one, base files and log files alike. Of an index of many files some are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.own.advice.selectivity_score import Effectiveness, of_filters, of_nulls, of_statistics
from index_store.own.build.sketching import sketch_field
from index_store.own.definition import SKETCHES, Definition, Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.bloom_filter import BloomFilter
from index_store.own.store.own_index import FileRows, OwnIndex
from index_store.table.file_slices import FileSlice, FileSlices

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["Benefit", "benefits_of"]

#: So many files are looked at.
MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Benefit:
    """How effective one sketch of an index is; ``drawn``: of so many files it was found out."""

    entry: Entry
    effectiveness: Effectiveness
    drawn: int


def benefits_of(table: Table, index: OwnIndex, most_files: int = MAX_FILES) -> list[Benefit]:
    """The sketches of an index, in its order; one of which nothing is known is left out. Raises StatsError, TableError.

    Empty for an index of another kind, and for one that knows no file.
    """
    n = index.files.num_rows
    if index.definition.kind != SKETCHES or not n:
        return []
    drawn = np.sort(np.random.default_rng(0).permutation(n)[:most_files])
    paths = index.files["path"].take(pa.array(drawn)).to_pylist()
    slices = FileSlices(index.instant, "", tuple(FileSlice("", path, path) for path in paths))
    found = []
    for entry in index.definition.entries:
        one = _of(table, _OneEntry(index, entry), slices, drawn)
        if one is not None:
            found.append(Benefit(entry, one.scaled(n), len(drawn)))
    return found


@dataclass(frozen=True, slots=True)
class _OneEntry:
    """An index, as if it had one of its sketches alone."""

    index: OwnIndex
    entry: Entry

    @property
    def path(self) -> str:
        return self.index.path

    @property
    def definition(self) -> Definition:
        return replace(self.index.definition, entries=(self.entry,))

    @property
    def files(self) -> pa.Table:
        return self.index.files

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        return self.index.find(paths, sizes)

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[FileRows]:
        return self.index.statistics(columns)


def _of(table: Table, index: _OneEntry, slices: FileSlices, drawn: npt.NDArray[np.intp]) -> Effectiveness | None:
    on, sketch = index.entry.on, parse_sketch(index.entry.sketch)
    if isinstance(sketch, BloomFilter):
        return of_filters(_rates(index, sketch)[drawn])
    if sketch.name == "nan_count":
        return of_nulls(_counts(index, sketch_field(on, sketch.name, "nans"))[drawn])
    kind = OwnSketches(OwnIndexes(table, slices, [index]))
    column = table.schema.resolve(on, case_sensitive=True)
    if column is not None:
        statistics = kind.statistics(column)
    else:
        statistics = next((found for key in kind.expression_keys if (found := kind.expression_statistics(key))), None)
    if statistics is None:
        return None
    return of_nulls(statistics.null_count) if sketch.name == "null_count" else of_statistics(statistics)


def _counts(index: _OneEntry, name: str) -> npt.NDArray[np.int64]:
    """``(n,)``: a column of counts, -1 where there is none."""
    found = np.full(index.files.num_rows, -1, np.int64)
    for part in index.statistics([name]):
        if name in part.columns.column_names:
            found[part.place] = part.columns[name].cast(pa.int64()).fill_null(-1).to_numpy()
    return found


def _rates(index: _OneEntry, sketch: BloomFilter) -> npt.NDArray[np.float64]:
    """``(n,)``: which share of absent values each filter finds; 1 where there is no filter. No filter is read."""
    distinct, hashes = (
        _counts(index, sketch_field(index.entry.on, sketch.name, field)) for field in ("distinct", "hashes")
    )
    rates = np.ones(len(distinct))
    rates[(hashes >= 0) & (distinct == 0)] = 0.0
    some = (hashes > 0) & (distinct > 0)
    bits = sketch.bits_of(distinct[some])
    rates[some] = (1 - np.exp(-hashes[some] * distinct[some] / bits)) ** hashes[some]
    return rates
