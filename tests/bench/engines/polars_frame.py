"""Polars: a DataFrame in memory, one expression, the indices of the rows where it is true. One thread."""

from __future__ import annotations

import operator

import numpy as np
import polars as pl

from tests.bench.bound_tests import AnyMember, BoundTest, question, render
from tests.bench.datasets import Files
from tests.bench.engines.base import Engine, FileNumbers, Query
from tests.bench.engines.numpy_scan import OPERATORS
from tests.bench.shapes import Shape

__all__ = ["PolarsFrame"]


class PolarsFrame(Engine):
    """``select(arg_where(...))``: no other of Polars' ways to row numbers (``filter``, ``lazy``) costs less."""

    name = "Polars"

    def __init__(self, files: Files) -> None:
        self._frame = pl.from_arrow(files.arrow_table()).rechunk()

    @staticmethod
    def version() -> str:
        return f"Polars {pl.__version__}"

    def prepare(self, shape: Shape) -> Query:
        places = pl.arg_where(render(question(shape.expression), _test, operator.and_, operator.or_))
        return lambda: self._run(places)

    def _run(self, places: pl.Expr) -> FileNumbers:
        return self._frame.select(places).to_series().to_numpy().astype(np.int64, copy=False)


def _test(leaf: BoundTest | AnyMember) -> pl.Expr:
    if isinstance(leaf, AnyMember):
        members = pl.lit(pl.Series(leaf.members))
        return members.search_sorted(pl.col(leaf.lo), "left") < members.search_sorted(pl.col(leaf.hi), "right")
    value = pl.lit(leaf.value, pl.Int32).cast(pl.Date) if leaf.bound.startswith("day") else leaf.value
    return OPERATORS[leaf.op](pl.col(leaf.bound), value)
