"""The benefit of an index of sketches: a selectivity score for each sketch, from the statistics of the index alone.

    sketch                                       the score comes from
    -------------------------------------------  ----------------------------------------------------------------
    min_max, prefix_set, value_list, partition   ranges, prefixes and values of each file
    bloom_filter                                 how full the filters are: an upper limit, as values that are in two
                                                 files do not show (``sargo advise`` reads values)
    null_count, nan_count                        the files without any
    sum                                          none: it skips no file

Each file that the index knows counts as one, base files and log files alike; merged slices do not count. Of a large
index some files are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.advice.selectivity_score import (
    SelectivityScore,
    score_of_counts,
    score_of_filters,
    score_of_statistics,
)
from index_store.own.builders.sketching import sketch_field
from index_store.own.definition import SKETCHES, Definition, Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.bloom_filter import BloomFilter
from index_store.own.store.merged_slices import is_merged
from index_store.own.store.own_index import OwnIndex, StatisticsRows
from index_store.table.file_slices import FileSlice, FileSlices

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["Benefit", "benefits_of"]

#: At most so many files are scored; of a larger index some are drawn.
MAX_FILES = 20_000


@frozen
class Benefit:
    """The score of one sketch of an index; ``drawn``: the number of files that it was computed from."""

    entry: Entry
    score: SelectivityScore
    drawn: int


def benefits_of(table: Table, index: OwnIndex, most_files: int = MAX_FILES) -> list[Benefit]:
    """The benefit of each sketch that is known, in the order of the index. Raises StatsError, TableError.

    Empty for an index of another kind, and for one that knows no file.
    """
    files = np.flatnonzero(~is_merged(index.files["path"]))
    n = len(files)
    if index.definition.kind != SKETCHES or not n:
        return []
    drawn = np.sort(np.random.default_rng(0).permutation(files)[:most_files])
    paths = index.files["path"].take(pa.array(drawn)).to_pylist()
    slices = FileSlices(index.instant, "", tuple(FileSlice("", path, path) for path in paths))
    benefits = []
    for entry in index.definition.entries:
        score = _score_of(table, _OneEntry(index, entry), slices, drawn)
        if score is not None:
            benefits.append(Benefit(entry, score.scaled(n), len(drawn)))
    return benefits


@frozen
class _OneEntry:
    """An index restricted to one of its sketches."""

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

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[StatisticsRows]:
        return self.index.statistics(columns)


def _score_of(
    table: Table, index: _OneEntry, slices: FileSlices, drawn: npt.NDArray[np.intp]
) -> SelectivityScore | None:
    on, sketch = index.entry.on, parse_sketch(index.entry.sketch)
    if not sketch.skips_files:
        return None
    if isinstance(sketch, BloomFilter):
        return score_of_filters(_rates(index, sketch)[drawn])
    if sketch.name == "nan_count":
        return score_of_counts(_counts(index, sketch_field(on, sketch.name, "nans"))[drawn])
    kind = OwnSketches(OwnIndexes(table, slices, [index]))
    column = table.schema.resolve(on, case_sensitive=True)
    if column is not None:
        statistics = kind.statistics(column)
    else:
        by_key = (kind.expression_statistics(key) for key in kind.expression_keys)
        statistics = next((one for one in by_key if one is not None), None)
    if statistics is None:
        return None
    return score_of_counts(statistics.null_count) if sketch.name == "null_count" else score_of_statistics(statistics)


def _counts(index: _OneEntry, name: str) -> npt.NDArray[np.int64]:
    """``(n,)``: a column of counts, -1 where there is none."""
    counts = np.full(index.files.num_rows, -1, np.int64)
    for part in index.statistics([name]):
        if name in part.columns.column_names:
            counts[part.index_rows] = part.columns[name].cast(pa.int64()).fill_null(-1).to_numpy()
    return counts


def _rates(index: _OneEntry, sketch: BloomFilter) -> npt.NDArray[np.float64]:
    """``(n,)``: the rate of false positives of each filter, from its counts; 1 where there is no filter."""
    distinct, hashes = (
        _counts(index, sketch_field(index.entry.on, sketch.name, field)) for field in ("distinct", "hashes")
    )
    rates = np.ones(len(distinct))
    rates[(hashes >= 0) & (distinct == 0)] = 0.0
    some = (hashes > 0) & (distinct > 0)
    bits = sketch.bits_of(distinct[some])
    rates[some] = (1 - np.exp(-hashes[some] * distinct[some] / bits)) ** hashes[some]
    return rates
