"""Sargo's evaluator, over indexed statistics and over plain ones.

It answers more than its peers: TRUE, FALSE and NULL of each file, where bounds may be unknown. Only the kept files are
asked for here, as for the others.
"""

from __future__ import annotations

import importlib.metadata

import numpy as np

from evaluator.bind import bind
from evaluator.bounds import all_null
from evaluator.columns import ColumnStatistics, array_dtype, filler
from evaluator.evaluate import Evaluation, Source, evaluate
from evaluator.schema import Field, Schema
from evaluator.semantics import Semantics
from evaluator.types import Kind
from tests.bench.datasets import TYPES, Column, Files
from tests.bench.engines.base import Engine, FileNumbers, Query
from tests.bench.shapes import Shape
from tests.bench.timing import cpu_seconds

__all__ = ["Sargo", "SargoFlat", "indexed", "kept"]

_SCHEMA = Schema([Field(name, of) for name, of in TYPES.items()])
_SEMANTICS = Semantics.named("spark", "UTC")


def indexed(statistics: ColumnStatistics) -> ColumnStatistics:
    """The same statistics with what makes filters fast, made once."""
    return getattr(statistics, "indexed", lambda: statistics)()


def kept(evaluation: Evaluation) -> FileNumbers:
    """The numbers of the kept files, sorted."""
    found = getattr(evaluation, "kept_rows", None)
    return np.flatnonzero(evaluation.keep) if found is None else found


class SargoFlat(Engine):
    """Arrays of bounds as an index kind gives them."""

    name = "Sargo, not indexed"

    def __init__(self, files: Files) -> None:
        self._n = len(files)
        self._source = Source("column_stats", {name: self._ready(name, _statistics(column, files))
                                               for name, column in files.columns.items()})

    def _ready(self, _name: str, statistics: ColumnStatistics) -> ColumnStatistics:
        return statistics

    @staticmethod
    def version() -> str:
        return f"Sargo {importlib.metadata.version('sargo')}"

    def prepare(self, shape: Shape) -> Query:
        bound = bind(shape.expression, _SCHEMA, _SEMANTICS)
        return lambda: kept(evaluate(bound, self._n, [self._source]))

    def unprepared(self, shape: Shape) -> Query:
        return lambda: kept(evaluate(bind(shape.expression, _SCHEMA, _SEMANTICS), self._n, [self._source]))


class Sargo(SargoFlat):
    """The same, indexed; ``build_seconds`` is the CPU time of that by column."""

    name = "Sargo"

    def __init__(self, files: Files) -> None:
        self.build_seconds: dict[str, float] = {}
        super().__init__(files)

    def _ready(self, name: str, statistics: ColumnStatistics) -> ColumnStatistics:
        made: list[ColumnStatistics] = []
        self.build_seconds[name] = cpu_seconds(lambda: made.append(indexed(statistics)))
        return made[0]


def _statistics(column: Column, files: Files) -> ColumnStatistics:
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
        lo, hi = (np.where(known, bound, filler(column.type)).astype(array_dtype(column.type))
                  for bound in (column.lo, column.hi))
    assert np.array_equal(column.all_null, all_null(column.null_count, files.row_count))
    return ColumnStatistics(column.type, lo, hi, known, known, column.null_count, files.row_count,
                            np.zeros(len(files), np.uint8))
