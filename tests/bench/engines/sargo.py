"""Sargo's evaluator: over statistics that are indexed where a table has so many files, with scans only, and over plain
ones.

It answers more than its peers: TRUE, FALSE and NULL of each file, where bounds may be unknown. Only the kept files are
asked for here, as for the others.
"""

from __future__ import annotations

import functools
import importlib.metadata
import time
from dataclasses import dataclass, replace

import numpy as np

from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from evaluator.statistics.codes import code_offsets
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics, array_dtype, filler
from evaluator.statistics.distrust import all_null
from evaluator.statistics.indexing import with_index, with_ranks
from evaluator.statistics.interval_index import IntervalIndex
from index_store.snapshots.snapshot import INDEXED_FROM
from tests.bench.datasets import TYPES, Column, Files
from tests.bench.engines.base import Engine, FileNumbers, Query
from tests.bench.shapes import Shape

__all__ = ["SCHEMA", "SEMANTICS", "Sargo", "SargoFlat", "SargoScan", "as_opened", "statistics_of"]

SCHEMA = Schema([Field(name, of) for name, of in TYPES.items()])
SEMANTICS = Semantics.named("spark", "UTC")


@dataclass(frozen=True)
class _Loaded:
    """Statistics by column, as an index kind gives them and indexed, and the CPU seconds of indexing each."""

    plain: dict[str, ColumnStatistics]
    indexed: dict[str, ColumnStatistics]
    build_seconds: dict[str, float]


@functools.lru_cache(maxsize=1)
def _load(files: Files) -> _Loaded:
    loaded = _Loaded({name: statistics_of(column, files) for name, column in files.columns.items()}, {}, {})
    for name, statistics in loaded.plain.items():
        start = time.process_time()
        loaded.indexed[name] = as_opened(statistics)
        loaded.build_seconds[name] = time.process_time() - start
    return loaded


def as_opened(statistics: ColumnStatistics) -> ColumnStatistics:
    """Statistics as an opened table has them that many filters ask: with an index; of fewer files with ranks."""
    return with_index(statistics) if len(statistics) >= INDEXED_FROM else with_ranks(statistics)


class Sargo(Engine):
    """Statistics as an opened table has them (``as_opened``). ``build_seconds``: CPU time, by column."""

    name = "Sargo"

    def __init__(self, files: Files) -> None:
        self._n = len(files)
        self._source = StatisticsProvider("column_stats", self._columns(files))
        self.build_seconds = _load(files).build_seconds

    def _columns(self, files: Files) -> dict[str, ColumnStatistics]:
        return _load(files).indexed

    @staticmethod
    def version() -> str:
        return f"Sargo {importlib.metadata.version('sargo')}"

    def prepare(self, shape: Shape) -> Query:
        bound = bind(shape.expression, SCHEMA, SEMANTICS)
        return lambda: self._kept(bound)

    def unprepared(self, shape: Shape) -> Query:
        return lambda: self._kept(bind(shape.expression, SCHEMA, SEMANTICS))

    def _kept(self, bound: BoundExpression) -> FileNumbers:
        return evaluate(bound, self._n, [self._source]).kept_rows


class SargoScan(Sargo):
    """The same without look-ups: in its interval index every file is a wide one, so that all codes are compared."""

    name = "Sargo, scan of codes"

    def _columns(self, files: Files) -> dict[str, ColumnStatistics]:
        return {
            name: replace(column, index=_without_look_ups(column.index))
            for name, column in _load(files).indexed.items()
        }


class SargoFlat(Sargo):
    """Arrays of bounds as an index kind gives them."""

    name = "Sargo, not indexed"

    def _columns(self, files: Files) -> dict[str, ColumnStatistics]:
        return _load(files).plain


def _without_look_ups(index: ColumnIndex | None) -> ColumnIndex | None:
    if index is None:
        return None
    order, none = index.lo.order, index.lo.codes[:0]
    return replace(
        index,
        intervals=IntervalIndex(
            order[:0],
            hi=none,
            starts=code_offsets(none),
            reach=code_offsets(none),
            wide=order,
            wide_lo=index.lo.codes[order],
            wide_hi=index.hi.codes[order],
        ),
    )


def statistics_of(column: Column, files: Files) -> ColumnStatistics:
    """A column in the form that index kinds give, with fillers under bounds that are not known."""
    known = ~column.all_null
    if column.type.kind is Kind.STRING:
        lo, hi = column.objects()
        bounds = []
        for array in (lo, hi):
            if not known.all():
                array = np.where(known, array, filler(column.type))
            bounds.append(array)
        lo, hi = bounds if hi is not lo else (bounds[0], bounds[0])
    else:
        lo, hi = (
            np.where(known, bound, filler(column.type)).astype(array_dtype(column.type))
            for bound in (column.lo, column.hi)
        )
    assert np.array_equal(column.all_null, all_null(column.null_count, files.row_count))
    return ColumnStatistics(
        column.type,
        lo,
        hi,
        lo_known=known,
        hi_known=known,
        null_count=column.null_count,
        row_count=files.row_count,
        trust=np.zeros(len(files), np.uint8),
    )
