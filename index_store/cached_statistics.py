"""The statistics of one index kind of a table at an instant, each read once and cached for later filters.

    first filter over a column     requires -> read -> cached
    second filter over it          cached; a column of many slices gets an index for searching
    32nd filter over it            text of fewer slices gets ranks
    a column without statistics    remembered too, so that it is not read again
    a column that cannot be read   reported to ``on_failure`` and left out (C4); other columns are not affected

A table of which a snapshot is kept has its slices in two layers, base and delta (``evaluator.statistics.layers``); its
statistics are then cached by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, FilterMightMatch, Match, MightContain, StatisticsProvider
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index, with_ranks
from evaluator.statistics.layers import Layers
from index_store.kinds.base import IndexKind, faults_of
from index_store.snapshots import StoredKind
from index_store.snapshots.snapshot import INDEXED_FROM

__all__ = ["CachedStatistics", "OnFailure"]

#: Takes each error that leaves out a part of the statistics.
OnFailure = Callable[[Exception], None]

#: Texts of more slices than this get ranks, from this filter on: by then comparing them has cost what ranks cost.
_MAX_UNRANKED, _RANKED_FROM = 500, 32
_BOUNDS, _NULLS = "bounds of", "nulls of"


@dataclass(slots=True)
class CachedStatistics:
    """An index kind and what was read of it so far.

    kind         the index kind
    layers       base and delta of a table with a snapshot; None for any other table
    statistics   by column: of all slices, or of those of the base where a ``StoredKind`` gives both layers
    delta        by column: of the slices of the delta, where a ``StoredKind`` gives both layers
    expressions  by function and column
    loaded       what was read, by what it is and the column's name; also where the kind had nothing
    """

    kind: IndexKind
    layers: Layers | None = None
    statistics: dict[str, ColumnStatistics] = field(default_factory=dict, init=False)
    delta: dict[str, ColumnStatistics] = field(default_factory=dict, init=False)
    expressions: dict[tuple[str, str], ColumnStatistics] = field(default_factory=dict, init=False)
    loaded: set[tuple[str, str]] = field(default_factory=set, init=False)
    _asked_again: Counter[str] = field(default_factory=Counter, init=False)
    _filter_might_match: FilterMightMatch | None = field(default=None, init=False)
    _layered: LayeredProvider | None = field(default=None, init=False)

    def provide(self, required: RequiredStatistics, on_failure: OnFailure) -> StatisticsProvider:
        """The kind's part of the required statistics, in the numbers of all slices."""
        if self.layers is not None:
            return self.provide_layers(required, on_failure).whole
        served = self._load_missing(required, on_failure)
        if not served:
            return StatisticsProvider(self.kind.name, {})
        return StatisticsProvider(
            self.kind.name,
            self.statistics,
            self._key_lookup(served.keys, on_failure),
            self.expressions,
            self._filter_match(on_failure),
        )

    def provide_layers(self, required: RequiredStatistics, on_failure: OnFailure) -> LayeredProvider:
        """The kind's part of the required statistics by layer, of a table that has layers."""
        served = self._load_missing(required, on_failure)
        assert self.layers is not None
        if not served:
            return LayeredProvider.split(self.layers, StatisticsProvider(self.kind.name, {}))
        lookup = self._key_lookup(served.keys, on_failure)
        return self._layered_statistics(self.layers).answering(lookup, self._filter_match(on_failure))

    def _layered_statistics(self, layers: Layers) -> LayeredProvider:
        if self._layered is None:
            whole = StatisticsProvider(self.kind.name, self.statistics, None, self.expressions)
            if isinstance(self.kind, StoredKind):
                delta = StatisticsProvider(self.kind.name, self.delta)
                self._layered = LayeredProvider.joined(layers, whole, delta)
            else:
                self._layered = LayeredProvider.split(layers, whole)
        return self._layered

    def _load_missing(self, required: RequiredStatistics, on_failure: OnFailure) -> RequiredStatistics:
        """Read what was not read before; the part of ``required`` that the kind serves."""
        try:
            served = self.kind.requires(required)
            faults: Sequence[Exception] = faults_of(self.kind)
        except Exception as error:
            served, faults = RequiredStatistics(), [error]
        for fault in faults:
            on_failure(fault)
        loaded_before = self.loaded
        for column in served.columns:
            if (_BOUNDS, column.name) in loaded_before:
                self._asked_again[column.name] += 1
                self._prepare(column.name)
        missing = RequiredStatistics(
            tuple([column for column in served.bounds if (_BOUNDS, column.name) not in loaded_before]),
            tuple([column for column in served.nulls if (_NULLS, column.name) not in loaded_before]),
            tuple([one for one in served.functions if (one[0], one[1].name) not in loaded_before]),
        )
        if missing:
            self._load(missing, on_failure)
        return served

    def _prepare(self, name: str) -> None:
        """An index or ranks, where a column is asked for often enough."""
        statistics = self.statistics.get(name)
        if statistics is None or statistics.index is not None:
            return
        if len(statistics) >= INDEXED_FROM:
            self.statistics[name] = with_index(statistics)
        elif len(statistics) > _MAX_UNRANKED and self._asked_again[name] >= _RANKED_FROM - 1:
            self.statistics[name] = with_ranks(statistics)

    def _load(self, missing: RequiredStatistics, on_failure: OnFailure) -> None:
        try:
            if isinstance(self.kind, StoredKind):
                self._load_layers(self.kind, missing)
            else:
                provider = self.kind.provide(missing)
                self.statistics.update(provider.statistics)
                self.expressions.update(provider.expressions)
                self._filter_might_match = provider.filter_might_match or self._filter_might_match
        except Exception as error:
            parts = list(missing.parts())
            if len(parts) == 1:
                on_failure(error)
                return
            for part in parts:  # the fault of one column does not cost the others
                self._load(part, on_failure)
            return
        self.loaded.update((_BOUNDS, column.name) for column in missing.bounds)
        self.loaded.update((_NULLS, column.name) for column in missing.columns)
        self.loaded.update((function, column.name) for function, column in missing.functions)

    def _load_layers(self, kind: StoredKind, missing: RequiredStatistics) -> None:
        for name, column_layers in kind.columns(missing).items():
            if column_layers.base is not None:
                self.statistics[name] = column_layers.base
            if column_layers.delta is not None:
                self.delta[name] = column_layers.delta

    def _key_lookup(self, lookups: Sequence[Lookup], on_failure: OnFailure) -> MightContain | None:
        """Look-ups of the kind's keys that report an error and then say nothing; None when none is required."""
        if not lookups:
            return None

        def might_contain(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | Declined | None:
            if lookup not in lookups:
                return None
            try:
                of_kind = self.kind.provide(RequiredStatistics(keys=(lookup,))).might_contain
                return None if of_kind is None else of_kind(lookup, candidates)
            except Exception as error:
                on_failure(error)
                return None

        return might_contain

    def _filter_match(self, on_failure: OnFailure) -> FilterMightMatch | None:
        """The kind's match of whole filters, which reports an error and then says nothing; None when it has none."""
        of_kind = self._filter_might_match
        if of_kind is None:
            return None

        def filter_might_match(bound: BoundExpression, candidates: npt.NDArray[np.bool_]) -> Match | None:
            try:
                return of_kind(bound, candidates)
            except Exception as error:
                on_failure(error)
                return None

        return filter_might_match
