"""The contract of an index kind: one source of statistics about the file slices of one table (C5, C6).

An index kind has two verbs:

    requires(asked) -> RequiredStatistics       the part of a filter's required statistics that the kind can serve
    provide(required) -> StatisticsProvider     these statistics, of all slices at once, in the order of the slices

``requires`` reads no statistics; it may read the definition of an index, once. ``provide`` reads the required columns
only. Keys are looked up later, when the evaluator reaches their leaf, in the slices that the statistics have left.
A slice or column that is missing from a kind's statistics is unknown; it never means "no rows".

A new kind is one module with a function ``make(table, slices) -> kind or None`` and one line in
``index_store/registered_kinds.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, FilterMightMatch, StatisticsProvider
from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
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
    "KeyLookupKind",
    "LookUpKeys",
    "MakeKind",
    "column_coverage",
    "faults_of",
    "filter_match_of",
    "key_lookup_provider",
    "required_key_lookups",
]

Mask = npt.NDArray[np.bool_]
NOTHING = RequiredStatistics()
#: Which slices may hold a row where a column has one of the values, among the candidates; None: nothing to say.
LookUpKeys = Callable[[Field, Sequence[object], Mask], "Mask | Declined | None"]


@frozen
class ColumnCoverage:
    """One column: in how many slices a bound or an all-null claim is usable, and how many slices have which Trust."""

    usable: int
    reasons: Mapping[Trust, int]


@frozen
class Coverage:
    """What a kind covers (C5): its name, the instant of its slices, how many they are, and each column."""

    kind: str
    instant: str | None
    slices: int
    columns: Mapping[str, ColumnCoverage] = field(default_factory=dict)


class IndexKind(Protocol):
    """One index. Methods raise StatsError or TableError when the index cannot be read."""

    name: str

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """The part of ``asked`` that the kind has statistics for; empty when it has none."""
        ...

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """The required statistics of all slices, each read once; ``required`` is what ``requires`` returned."""
        ...

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of these columns."""
        ...


def filter_match_of(kind: IndexKind) -> FilterMightMatch | None:
    """The kind's ``filter_might_match``, which rules out slices by a whole filter; None when it has no such method."""
    found: FilterMightMatch | None = getattr(kind, "filter_might_match", None)
    return found


def faults_of(kind: IndexKind) -> Sequence[SargoError]:
    """The errors of a kind's unreadable stores (its ``faults``), when it still answers from its other stores."""
    found: Sequence[SargoError] = getattr(kind, "faults", ())
    return found


class MakeKind(Protocol):
    """Makes a kind for a table and its slices, or None when the table does not have this index."""

    def __call__(self, table: Table, slices: FileSlices) -> IndexKind | None: ...


def required_key_lookups(asked: RequiredStatistics, is_key: Callable[[Field], bool]) -> RequiredStatistics:
    """The key look-ups of ``asked`` in the plain columns that ``is_key`` accepts."""
    keys = tuple([one for one in asked.keys if not one.function and is_key(one.column)]) if asked.keys else ()
    return RequiredStatistics(keys=keys) if keys else NOTHING


def key_lookup_provider(kind: str, look_up: LookUpKeys) -> StatisticsProvider:
    """The provider of a kind that looks up keys of plain columns and has no other statistics."""

    def might_contain(lookup: Lookup, candidates: Mask) -> Mask | Declined | None:
        return None if lookup.function else look_up(lookup.column, lookup.values, candidates)

    return StatisticsProvider(kind, {}, might_contain)


class ProofMemory(Protocol):
    """Keeps the outcomes of proofs for one state of a table, by name, beside those kept before; it never raises."""

    def read(self) -> dict[str, str]: ...

    def write(self, proofs: Mapping[str, str]) -> None: ...


class KeyLookupKind(ABC):
    """An index kind that looks up keys of plain columns and has no other statistics.

    ``provide`` reads nothing: keys are looked up when the evaluator reaches their leaf.
    """

    name: str

    @abstractmethod
    def is_key(self, column: Field) -> bool:
        """Whether the values of a column can be looked up."""

    @abstractmethod
    def might_contain(
        self, column: Field, values: Sequence[object], candidates: Mask | None = None
    ) -> Mask | Declined | None:
        """False for the slices without a row that has one of the values; None when nothing is known of them."""

    def begin(self, columns: Sequence[Field]) -> None:  # noqa: B027 (most kinds have nothing to begin)
        """Start to read what every look-up in these keys needs. No effect on a local disk."""

    def remember(self, memory: ProofMemory) -> None:  # noqa: B027 (most kinds prove nothing)
        """Take the proofs that others made of the same state of the table, and keep those that are made."""

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """The key look-ups of ``asked`` in columns that are keys."""
        return required_key_lookups(asked, self.is_key)

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """A provider of key look-ups."""
        del required
        return key_lookup_provider(self.name, self.might_contain)


def begin_lookups(kinds: Iterable[IndexKind], asked: RequiredStatistics) -> None:
    """Start to read what the look-ups of ``asked`` will need, where a request costs a round trip; faults come later."""
    for kind in kinds if asked.keys else ():
        if isinstance(kind, KeyLookupKind):
            with suppress(SargoError):
                columns = [lookup.column for lookup in kind.requires(asked).keys]
                if columns:
                    kind.begin(columns)


def column_coverage(statistics: ColumnStatistics) -> ColumnCoverage:
    """Count what is usable in a column's statistics, and why the rest is not."""
    usable = statistics.lo_known | statistics.hi_known | ~statistics.may_be_value
    codes, counts = np.unique(statistics.trust, return_counts=True)
    reasons = {Trust(int(code)): int(count) for code, count in zip(codes, counts, strict=True)}
    return ColumnCoverage(int(usable.sum()), reasons)
