"""What an index kind is: one source of statistics about the slices of one table (C5, C6). Two verbs:

    needs(asked) -> RequiredStatistics      those of a filter's required statistics for which the kind would read
    something answer(needs) -> StatisticsProvider    the statistics of all slices at once, in their order

Asking reads no statistics: at most what defines an index, once. Only what a kind needs is read, when it answers; keys
are looked up when the evaluator comes to them, in the slices that all statistics leave. A kind says nothing where it
knows nothing: what is not in its answer is unknown, never "no rows".
A new kind is one file with a function ``make(table, slices) -> kind or None`` and one line in ``kinds/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import FilterMightMatch, StatisticsProvider
from evaluator.language.errors import SargoError
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.distrust import Trust

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = [
    "ColumnCoverage",
    "Coverage",
    "IndexKind",
    "LookUpKeys",
    "MakeKind",
    "answer_of_keys",
    "column_coverage",
    "faults_of",
    "match_of",
    "needs_of_keys",
]

Mask = npt.NDArray[np.bool_]
NOTHING = RequiredStatistics()
#: Which slices may hold a row where a column has one of the values, among the candidates; None: nothing to say.
LookUpKeys = Callable[[Field, Sequence[object], Mask], "Mask | None"]


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

    def needs(self, asked: RequiredStatistics) -> RequiredStatistics:
        """The questions that the kind has statistics for; empty when it has nothing to say."""
        ...

    def answer(self, needs: RequiredStatistics) -> StatisticsProvider:
        """What the kind says to questions that it needs statistics for: all slices at once, read once."""
        ...

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """What the kind knows of these columns."""
        ...


def match_of(kind: IndexKind) -> FilterMightMatch | None:
    """How a kind rules slices out by a filter as a whole, if it does (its ``filter_might_match``), without its
    statistics.
    """
    found: FilterMightMatch | None = getattr(kind, "filter_might_match", None)
    return found


def faults_of(kind: IndexKind) -> Sequence[SargoError]:
    """What a kind of several stores cannot read (its ``faults``) while it answers from the others; mostly nothing."""
    found: Sequence[SargoError] = getattr(kind, "faults", ())
    return found


class MakeKind(Protocol):
    """Makes a kind for a table and its slices, or None when the table does not have this index."""

    def __call__(self, table: Table, slices: FileSlices) -> IndexKind | None: ...


def needs_of_keys(asked: RequiredStatistics, is_key: Callable[[Field], bool]) -> RequiredStatistics:
    """The look-ups of plain columns that a kind has keys of."""
    keys = tuple([one for one in asked.keys if not one.function and is_key(one.column)]) if asked.keys else ()
    return RequiredStatistics(keys=keys) if keys else NOTHING


def answer_of_keys(kind: str, look_up: LookUpKeys) -> StatisticsProvider:
    """The answer of a kind that knows keys of plain columns and nothing else."""

    def might_contain(lookup: Lookup, candidates: Mask) -> Mask | None:
        return None if lookup.function else look_up(lookup.column, lookup.values, candidates)

    return StatisticsProvider(kind, {}, might_contain)


def column_coverage(statistics: ColumnStatistics) -> ColumnCoverage:
    """Count what is usable in a column's statistics, and why the rest is not."""
    usable = statistics.lo_known | statistics.hi_known | ~statistics.may_be_value
    codes, counts = np.unique(statistics.trust, return_counts=True)
    reasons = {Trust(int(code)): int(count) for code, count in zip(codes, counts, strict=True)}
    return ColumnCoverage(int(usable.sum()), reasons)
