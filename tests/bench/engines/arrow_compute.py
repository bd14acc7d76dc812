"""pyarrow.compute: kernels over arrays, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.bench.bound_tests import AnyMember, BoundTest, question, render
from tests.bench.datasets import Files
from tests.bench.engines.base import Engine, NotOffered, Query
from tests.bench.shapes import Shape

__all__ = ["ArrowCompute"]

_KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "=": pc.equal,
    "!=": pc.not_equal,
}


class ArrowCompute(Engine):
    """Comparisons, Kleene's AND and OR, and ``indices_nonzero``."""

    name = "pyarrow.compute"

    def __init__(self, files: Files) -> None:
        table = files.arrow_table().combine_chunks()
        self._bounds = {name: table.column(name).chunk(0) for name in table.column_names}

    @staticmethod
    def version() -> str:
        return f"pyarrow {pa.__version__}"

    def prepare(self, shape: Shape) -> Query:
        asked = question(shape.expression)
        if isinstance(asked, AnyMember) and not hasattr(pc, "search_sorted"):
            raise NotOffered("no kernel for it in this version")
        return lambda: (
            pc.indices_nonzero(render(asked, self._test, pc.and_kleene, pc.or_kleene))
            .to_numpy()
            .astype(np.int64, copy=False)
        )

    def _test(self, leaf: BoundTest | AnyMember) -> Any:
        if isinstance(leaf, AnyMember):
            members = pa.array(leaf.members)
            return pc.less(
                pc.search_sorted(members, self._bounds[leaf.lo], side="left"),
                pc.search_sorted(members, self._bounds[leaf.hi], side="right"),
            )
        bound = self._bounds[leaf.bound]
        return _KERNELS[leaf.op](bound, pa.scalar(leaf.value, bound.type))
