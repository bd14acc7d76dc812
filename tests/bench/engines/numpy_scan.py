"""The flat scan: one pass over each array of bounds, without masks, and ``flatnonzero``.

Numbers are 8 bytes a bound; text is numpy's own fixed-width form. A file without any value has bounds that no value
meets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Kind
from tests.bench.bound_tests import AnyMember, BoundTest, question, render
from tests.bench.datasets import PARTITION, Column, Files
from tests.bench.engines.base import Engine, Query
from tests.bench.shapes import Shape

__all__ = ["OPERATORS", "NumpyScan"]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}

Mask = npt.NDArray[np.bool_]


class NumpyScan(Engine):
    """Arrays and comparison operators."""

    name = "flat numpy scan"

    def __init__(self, files: Files) -> None:
        self._bounds: dict[str, npt.NDArray[Any]] = {}
        for name, column in files.columns.items():
            lo, hi = _bounds(column)
            self._bounds |= {name: lo} if name == PARTITION else {f"{name}_lo": lo, f"{name}_hi": hi}

    @staticmethod
    def version() -> str:
        return f"numpy {np.__version__}"

    def prepare(self, shape: Shape) -> Query:
        asked = question(shape.expression)
        return lambda: np.flatnonzero(render(asked, self._test, operator.iand, operator.ior))

    def _test(self, leaf: BoundTest | AnyMember) -> Mask:
        if isinstance(leaf, AnyMember):
            members = np.array(leaf.members)
            return np.searchsorted(members, self._bounds[leaf.lo], "left") < np.searchsorted(
                members, self._bounds[leaf.hi], "right"
            )
        value = leaf.value.encode() if isinstance(leaf.value, str) else leaf.value
        return OPERATORS[leaf.op](self._bounds[leaf.bound], value)


def _bounds(column: Column) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if column.type.kind is Kind.STRING:
        lo, hi = (bound.fill_null("").to_numpy(zero_copy_only=False).astype(bytes) for bound in (column.lo, column.hi))
        lo[column.all_null] = b"\xff"
        return lo, hi
    lo, hi = column.lo.copy(), column.hi.copy()
    lo[column.all_null], hi[column.all_null] = (np.inf, -np.inf) if column.all_null.any() else (0, 0)
    return lo, hi
