"""An opened table: what was read of it once stays with it, so that the next filter pays for its own columns only.

Slices, index kinds and statistics are kept per instant. An opened table answers for the timeline as it was when it was
opened: open it again to see newer commits (its answers stay right for the files that they name). Of a large table the
latest slices and their statistics are also kept on disk (``index_store.snapshots``): opening it again, or after a
commit, reads no more than is new.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import FilterMightMatch, Match
from evaluator.evaluation.evaluate import Evaluation, MightContain, StatisticsProvider, evaluate
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language.errors import SargoError
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from index_store.indexed_table import IndexedTable
from index_store.indexed_table import open_table as open_indexed_table
from index_store.kinds.base import IndexKind, faults_of
from index_store.snapshots import (
    Snapshot,
    SnapshotCache,
    StoredKind,
    default_cache,
    keep_slices,
    open_snapshot,
    with_snapshot,
)
from index_store.snapshots.snapshot import INDEXED_FROM
from index_store.table.file_slices import FileSlices

__all__ = ["CachedStatistics", "OpenTable", "TableAnswers", "TableAt", "open_table"]

OnFailure = Callable[[Exception], None]

_BOUNDS, _NULLS = "bounds of", "nulls of"


@dataclass(slots=True)
class CachedStatistics:
    """One index kind of a table at an instant and what it answered so far.

    Only what the kind needs for a filter is read, once: also a question that it had nothing to say to is remembered.
    The second filter over a column of a large table builds its index, which all later ones use.
    """

    kind: IndexKind
    layers: Layers | None = None
    #: Of all slices; of those of the base, when a snapshot keeps them in layers and knows those of ``since`` apart.
    statistics: dict[str, ColumnStatistics] = field(default_factory=dict)
    since: dict[str, ColumnStatistics] = field(default_factory=dict)
    expressions: dict[tuple[str, str], ColumnStatistics] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)
    matching: FilterMightMatch | None = None
    _views: LayeredProvider | None = None

    def source(self, asked: RequiredStatistics, on_failure: OnFailure) -> StatisticsProvider:
        """What the kind says to these questions; where it fails, which is reported, it says nothing (C4)."""
        if self.layers is not None:
            return self.layered_source(asked, on_failure).whole
        needs = self._learn(asked, on_failure)
        return (
            StatisticsProvider(
                self.kind.name,
                self.statistics,
                self._look_up(needs.keys, on_failure),
                self.expressions,
                self._match(on_failure),
            )
            if needs
            else StatisticsProvider(self.kind.name, {})
        )

    def layered_source(self, asked: RequiredStatistics, on_failure: OnFailure) -> LayeredProvider:
        """The same by layer, of a table that has some."""
        needs = self._learn(asked, on_failure)
        assert self.layers is not None
        if not needs:
            return LayeredProvider.split(self.layers, StatisticsProvider(self.kind.name, {}))
        return self._layered(self.layers).answering(self._look_up(needs.keys, on_failure), self._match(on_failure))

    def _layered(self, layers: Layers) -> LayeredProvider:
        if self._views is None:
            whole = StatisticsProvider(self.kind.name, self.statistics, None, self.expressions)
            self._views = (
                LayeredProvider.split(layers, whole)
                if not isinstance(self.kind, StoredKind)
                else (LayeredProvider.joined(layers, whole, StatisticsProvider(self.kind.name, self.since)))
            )
        return self._views

    def _learn(self, asked: RequiredStatistics, on_failure: OnFailure) -> RequiredStatistics:
        """Ask the kind what was not asked before; gives those of the questions that it has something for."""
        try:
            needs = self.kind.requires(asked)
            faults: Sequence[Exception] = faults_of(self.kind)
        except Exception as error:
            needs, faults = RequiredStatistics(), [error]
        for fault in faults:
            on_failure(fault)
        asked_before = self.asked
        for column in needs.columns:
            if (_BOUNDS, column.name) in asked_before:
                self._index(column.name)
        missing = RequiredStatistics(
            tuple([one for one in needs.bounds if (_BOUNDS, one.name) not in asked_before]),
            tuple([one for one in needs.nulls if (_NULLS, one.name) not in asked_before]),
            tuple([one for one in needs.functions if (one[0], one[1].name) not in asked_before]),
        )
        if missing:
            self._load(missing, on_failure)
        return needs

    def _index(self, name: str) -> None:
        known = self.statistics.get(name)
        if known is not None and known.index is None and len(known) >= INDEXED_FROM:
            self.statistics[name] = with_index(known)

    def _load(self, needs: RequiredStatistics, on_failure: OnFailure) -> None:
        try:
            if isinstance(self.kind, StoredKind):
                self._load_stored(self.kind, needs)
            else:
                found = self.kind.provide(needs)
                self.statistics.update(found.statistics)
                self.expressions.update(found.expressions)
                self.matching = found.filter_might_match or self.matching
        except Exception as error:
            parts = list(needs.parts())
            if len(parts) == 1:
                on_failure(error)
                return
            for part in parts:  # one column's fault is not the others'
                self._load(part, on_failure)
            return
        self.asked.update((_BOUNDS, column.name) for column in needs.bounds)
        self.asked.update((_NULLS, column.name) for column in needs.columns)
        self.asked.update((function, column.name) for function, column in needs.functions)

    def _load_stored(self, kind: StoredKind, needs: RequiredStatistics) -> None:
        for name, found in kind.columns(needs).items():
            if found.base is not None:
                self.statistics[name] = found.base
            if found.since is not None:
                self.since[name] = found.since

    def _look_up(self, needed: Sequence[Lookup], on_failure: OnFailure) -> MightContain | None:
        if not needed:
            return None

        def might_contain(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
            if lookup not in needed:
                return None
            try:
                answering = self.kind.provide(RequiredStatistics(keys=(lookup,))).might_contain
                return None if answering is None else answering(lookup, candidates)
            except Exception as error:
                on_failure(error)
                return None

        return might_contain

    def _match(self, on_failure: OnFailure) -> FilterMightMatch | None:
        matching = self.matching
        if matching is None:
            return None

        def filter_might_match(bound: BoundExpression, candidates: npt.NDArray[np.bool_]) -> Match | None:
            try:
                return matching(bound, candidates)
            except Exception as error:
                on_failure(error)
                return None

        return filter_might_match


@dataclass(frozen=True, slots=True)
class TableAnswers:
    """What all kinds of a table say to some questions: by kind, and by layer where the table has some."""

    sources: list[StatisticsProvider]
    layers: Layers | None = None
    layered: list[LayeredProvider] = field(default_factory=list)

    def evaluate(self, bound: BoundExpression, n: int) -> Evaluation:
        """The outcome of a filter in the table's n slices."""
        if self.layers is not None:
            return evaluate_layers(bound, self.layers, self.layered)
        return evaluate(bound, n, self.sources)


@dataclass(frozen=True, slots=True)
class TableAt:
    """The slices of a table at an instant, and its index kinds; ``failure`` says why there are none, if they failed."""

    slices: FileSlices
    knowledge: tuple[CachedStatistics, ...]
    failure: Exception | None = None
    layers: Layers | None = None

    def ask(self, asked: RequiredStatistics, on_failure: Callable[[str, Exception], None]) -> TableAnswers:
        """What every kind says; a failure is reported by the kind's name, and what failed is left out."""
        layered = []
        sources = []
        for known in self.knowledge:

            def fail(error: Exception, name: str = known.kind.name) -> None:
                on_failure(name, error)

            if self.layers is None:
                sources.append(known.source(asked, fail))
            else:
                layered.append(known.layered_source(asked, fail))
        return TableAnswers(sources or [one.whole for one in layered], self.layers, layered)


class OpenTable:
    """A table whose statistics are kept for the next filter. ``open_table`` makes it, ``prune`` takes it as a path.

    It answers for the timeline as it was when it was opened. Open the table again to see new commits.
    """

    def __init__(self, table: IndexedTable, cache: SnapshotCache | None = None) -> None:
        """``cache``: where snapshots of the table are kept; None: nowhere."""
        self.table = table
        self._cache = cache
        self._at: dict[str | None, TableAt] = {}

    @property
    def path(self) -> str:
        return str(self.table.path)

    def __repr__(self) -> str:
        return f"OpenTable({self.path!r})"

    def at(self, as_of: str | None = None) -> TableAt:
        """Slices and kinds at an instant, read once. Raises TableError when the slices cannot be listed."""
        found = self._at.get(as_of)
        if found is None:
            slices, snapshot = self._slices(as_of)
            layers = None if snapshot is None else snapshot.layers
            try:
                kinds = self.table.kinds(slices)
                if snapshot is not None:
                    kinds = with_snapshot(kinds, snapshot)
                found = TableAt(slices, tuple(CachedStatistics(kind, layers) for kind in kinds), None, layers)
            except SargoError as error:
                found = TableAt(slices, (), error)
            self._at[as_of] = found
        return found

    def _slices(self, as_of: str | None) -> tuple[FileSlices, Snapshot | None]:
        """The slices at an instant; with the snapshot that keeps them, if they are the latest ones of a large table."""
        if as_of is not None or self._cache is None:
            return self.table.slices(as_of), None
        snapshot = open_snapshot(self.table, self._cache)
        if snapshot is not None:
            return snapshot.slices, snapshot
        slices = self.table.slices()
        return slices, keep_slices(self.table, slices, self._cache)

    def statistics(
        self,
        columns: Sequence[Field],
        as_of: str | None = None,
    ) -> Mapping[str, Mapping[str, ColumnStatistics]]:
        """By kind and column, what the kinds know of these columns. Raises what a kind raises."""

        def fail(error: Exception) -> None:
            raise error

        asked = RequiredStatistics(bounds=tuple(columns))
        return {known.kind.name: known.source(asked, fail).statistics for known in self.at(as_of).knowledge}


def open_table(
    path: str | os.PathLike[str],
    options: Mapping[str, str] | None = None,
    cache: SnapshotCache | Literal["default"] | None = "default",
    *,
    filesystem: Any = None,
    storage_options: Mapping[str, str] | None = None,
) -> OpenTable:
    """Open a Hudi table. Raises TableError when it cannot be read.

    path              a local path or a URI, such as ``s3://lake/trips``
    options           what only the table's entry in a catalog says of it, such as ``hoodie.index.type``
    cache             where snapshots of large tables are kept; by default the user's cache folder, None for nowhere
    filesystem        an open file system of pyarrow or fsspec; ``path`` is a path of it then
    storage_options   what the file system needs, such as region, endpoint and keys; what is not given comes from the
                      environment
    """
    return OpenTable(
        open_indexed_table(os.fspath(path), filesystem=filesystem, options=options, storage_options=storage_options),
        default_cache() if cache == "default" else cache,
    )
