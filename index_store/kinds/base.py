"""What an index kind is: one source of statistics about the slices of one table (C5, C6).

A kind is bound to a table and its slices when it is made. It answers for all slices at once, in their order, and says
nothing where it knows nothing: a column that is not in its answer, or ``None``, is unknown, never "no rows".
A new kind is one file with a function ``make(table, slices) -> kind or None`` and one line in ``kinds/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from evaluator.bounds import Trust
from evaluator.columns import ColumnStatistics
from evaluator.schema import Field

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["ColumnCoverage", "Coverage", "ExpressionKind", "IndexKind", "MakeKind", "column_coverage"]


@dataclass(frozen=True, slots=True)
class ColumnCoverage:
    """One column: in how many slices a bound or an all-null claim is usable, and how many slices have which Trust."""

    usable: int
    reasons: Mapping[Trust, int]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a kind covers (C5): its name, the instant of its slices, how many they are, and each column."""

    kind: str
    instant: str | None
    slices: int
    columns: Mapping[str, ColumnCoverage] = field(default_factory=dict)


class IndexKind(Protocol):
    """One index. Methods raise StatsError or TableError when the index cannot be read."""

    name: str

    def statistics(self, columns: Sequence[Field]) -> Mapping[str, ColumnStatistics]:
        """Statistics by column name, only for columns that the kind has something to say about."""
        ...

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """For ``column = v`` or ``column IN (...)``, non-null values in the form of ``evaluator.types``.

        ``candidates``: the slices that other kinds leave; no others need be looked at.
        ``(n,) bool``: False where no row of the slice has any of the values. None: nothing to say.
        """
        ...

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """What the kind knows of these columns."""
        ...


@runtime_checkable
class ExpressionKind(Protocol):
    """An index kind that also knows what functions of columns yield."""

    def expressions(self, columns: Sequence[Field]) -> Mapping[tuple[str, str], ColumnStatistics]:
        """Statistics of functions of these columns, by the names of function and column: ``("lower", "s")``."""
        ...


class MakeKind(Protocol):
    """Makes a kind for a table and its slices, or None when the table does not have this index."""

    def __call__(self, table: Table, slices: FileSlices) -> IndexKind | None: ...


def column_coverage(statistics: ColumnStatistics) -> ColumnCoverage:
    """Count what is usable in a column's statistics, and why the rest is not."""
    usable = statistics.lo_known | statistics.hi_known | ~statistics.may_be_value
    codes, counts = np.unique(statistics.trust, return_counts=True)
    reasons = {Trust(int(code)): int(count) for code, count in zip(codes, counts, strict=True)}
    return ColumnCoverage(int(usable.sum()), reasons)
