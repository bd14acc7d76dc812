"""An opened table: file slices, index kinds and statistics, read once and shared by all filters on the table.

    OpenTable          a handle on a table, made by ``open_table``
      TableAtInstant   its slices at an instant, and its index kinds with their cached statistics
        provide(...)   the statistics of all kinds that a filter requires: ``TableStatistics``

An opened table keeps the timeline of the moment when it was opened. Open it again to see newer commits; results of the
older handle stay right for the files that they name. The latest slices of a large table, and their statistics, are also
kept on disk (``index_store.snapshots``): opening the table again, or after a commit, reads what is new and no more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.evaluate import Evaluation, evaluate
from evaluator.evaluation.layered_evaluation import LayeredEvaluation, evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.evaluation.whole_evaluation import WholeEvaluation
from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.layers import Layers
from index_store.cached_statistics import CachedStatistics
from index_store.indexed_table import IndexedTable
from index_store.indexed_table import open_table as open_indexed_table
from index_store.kinds.base import KeyLookupKind, begin_lookups
from index_store.kinds.footer_statistics import FooterStatistics
from index_store.kinds.statistics_memory import RemembersStatistics
from index_store.notebook_text import facts_html
from index_store.open_slices import OpenSlices
from index_store.snapshots import (
    KeptFooters,
    KeptProofs,
    KeptStatistics,
    Snapshot,
    SnapshotCache,
    default_cache,
    keep_slices,
    name_of,
    open_snapshot,
    with_snapshot,
)
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlices
from index_store.table.table_schema import RECORD_KEY

#: The partitions of so many secondary indexes are listed before it is known which columns they are of.
MAX_LISTED = 4

__all__ = ["OpenTable", "Opening", "Rows", "TableAtInstant", "TableStatistics", "open_table"]

#: What a query shows of slices with log files: their merged rows alone, or the rows of their files as they stand.
Rows = Literal["merged", "stored"]


@frozen
class TableStatistics:
    """The statistics of all index kinds that a filter requires; by layer as well, where the table has layers."""

    providers: list[StatisticsProvider]
    layers: Layers | None = None
    layered: list[LayeredProvider] = field(default_factory=list)
    open_slices: OpenSlices | None = None

    def without_footers(self) -> TableStatistics:
        """The same, for those who ask what indexes skip: footers are read anew by each who opens the table."""
        return replace(self, open_slices=None)

    def evaluate(self, bound: BoundExpression, n: int) -> Evaluation:
        """The outcome of a filter in each of the table's n slices."""
        if self.layers is None:
            evaluation = evaluate(bound, n, self.providers)
        else:
            evaluation = evaluate_layers(bound, self.layers, self.layered)
        more = None if self.open_slices is None else self.open_slices.provide(evaluation, self.layers, self.layered)
        if more is None:
            return evaluation
        if self.layers is None:
            return evaluation.narrowed_by(more, WholeEvaluation(evaluation.bound, n, [*self.providers, more]))
        layered = [*self.layered, LayeredProvider.split(self.layers, more)]
        return evaluation.narrowed_by(more, LayeredEvaluation(evaluation.bound, self.layers, layered))


@frozen
class TableAtInstant:
    """The slices of a table at an instant, and the cached statistics of its index kinds.

    ``failure``: why there are no kinds, when making them failed.
    """

    slices: FileSlices
    cached: tuple[CachedStatistics, ...]
    failure: Exception | None = None
    layers: Layers | None = None

    def of_stored_rows(self) -> TableAtInstant:
        """The same without the kind that speaks of merged rows alone."""
        from index_store.own.provider.merged_rows import OwnMergedRows  # few tables have it (``registered_kinds``)

        return replace(self, cached=tuple([one for one in self.cached if not isinstance(one.kind, OwnMergedRows)]))

    def provide(self, required: RequiredStatistics, on_failure: Callable[[str, Exception], None]) -> TableStatistics:
        """The required statistics of every kind. ``on_failure`` takes the kind's name and each error (C4)."""
        begin_lookups((cached.kind for cached in self.cached), required)
        open_slices: OpenSlices | None = None
        layered: list[LayeredProvider] = []
        providers: list[StatisticsProvider] = []
        for cached in self.cached:

            def report(error: Exception, name: str = cached.kind.name) -> None:
                on_failure(name, error)

            if isinstance(cached.kind, FooterStatistics):
                open_slices = OpenSlices(cached.kind, required, report)
            elif self.layers is None:
                providers.append(cached.provide(required, report))
            else:
                layered.append(cached.provide_layers(required, report))
        return TableStatistics(providers or [one.whole for one in layered], self.layers, layered, open_slices)


@frozen
class Opening:
    """How a table was opened: the arguments of ``open_table``, with the secrets among the options and in the URI."""

    path: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    storage_options: Mapping[str, str] = field(default_factory=dict, repr=False)
    filesystem: Any = field(default=None, repr=False)


class OpenTable:
    """A table whose statistics are kept for the next filter. ``open_table`` makes it, ``prune`` takes it as a path.

    It answers for the timeline as it was when it was opened. Open the table again to see new commits.

    It pickles as the arguments of ``open_table``, the options of the file system with their secrets among them, and its
    last instant. Another process opens the table anew as of that instant, and keeps snapshots in its own folder.
    """

    def __init__(self, table: IndexedTable, cache: SnapshotCache | None = None, opening: Opening | None = None) -> None:
        """``cache``: the folder for snapshots of the table; None: none are kept."""
        self.table = table
        self._cache = cache
        self._opening = opening
        self._until: str | None = None
        self._at: dict[str | None, TableAtInstant] = {}

    @property
    def opening(self) -> Opening:
        """How the table was opened. Raises UnsupportedError where it was not by ``open_table``."""
        if self._opening is None:
            raise UnsupportedError(f"{self.path} was not opened by open_table, so no other process can open it again")
        return self._opening

    def __reduce__(self) -> tuple[Any, ...]:
        last = self.table.timeline.last
        until = self._until or (None if last is None else last.requested)
        return _open_again, (self.opening, until, self._cache is not None)

    @property
    def path(self) -> str:
        return str(self.table.path)

    def __repr__(self) -> str:
        return f"OpenTable({self.path!r})"

    def _repr_html_(self) -> str | None:
        """What a notebook shows; None, for ``repr``, when the table cannot be read."""
        try:
            return self._facts_html()
        except (SargoError, OSError):
            return None

    def _facts_html(self) -> str:
        table, slices = self.table, self.at().slices
        facts = [
            ("path", self.path),
            ("version", f"{table.version}, {table.table_type}"),
            ("instant", slices.instant or "no commit"),
            ("file slices", f"{len(slices):,} in {len(slices.partitions):,} partitions"),
            ("record key", ", ".join(table.record_key_fields)),
            ("partitioned by", ", ".join(table.partition_fields)),
            ("indexes", ", ".join(info.name for info in table.indexes() if info.read)),
        ]
        columns = [(field.name, str(field.type)) for field in table.schema]
        return facts_html(f"Hudi table {table.name}".strip(), facts, columns)

    def at(self, as_of: str | None = None, columns: Collection[str] | None = None) -> TableAtInstant:
        """Slices and kinds at an instant, read once. Raises TableError when the slices cannot be listed.

        ``columns``: those of the filter that is asked next. What it will read is then on its way.
        """
        if as_of is None and self._until is not None:
            last = self.table.timeline.last
            as_of = None if last is not None and last.requested == self._until else self._until
        at = self._at.get(as_of)
        if at is None:
            if as_of is None and self._cache is not None and columns:
                self._cache.begin(name_of(self.table.storage), columns)
            slices, snapshot = self._slices(as_of, self._read_for(columns), self._looked_into(columns))
            layers = None if snapshot is None else snapshot.layers
            try:
                kinds = self.table.kinds(slices)
                if snapshot is not None:
                    for kind in kinds:
                        if isinstance(kind, FooterStatistics):
                            kind.remember(KeptFooters(snapshot))
                        elif isinstance(kind, KeyLookupKind):
                            kind.remember(KeptProofs(snapshot))
                        elif isinstance(kind, RemembersStatistics):
                            kind.remember_statistics(KeptStatistics(snapshot, kind.name))
                    kinds = with_snapshot(kinds, snapshot)
                at = TableAtInstant(slices, tuple(CachedStatistics(kind, layers) for kind in kinds), None, layers)
            except SargoError as error:
                at = TableAtInstant(slices, (), error)
            self._at[as_of] = at
        return at

    def _looked_into(self, columns: Collection[str] | None) -> Sequence[str]:
        """The partitions of the metadata table in which a filter on these columns may look up keys."""
        names = {name.lower() for name in columns or ()}
        of_keys = {name.lower() for name in (RECORD_KEY, *self.table.record_key_fields)}
        secondary = [one for one in self.table.available_indexes if one.startswith("secondary_index_")]
        if len(secondary) > MAX_LISTED or names <= {name.lower() for name in self.table.partition_fields}:
            secondary = []
        return [*secondary, *(["record_index"] if secondary or names & of_keys else [])]

    def _read_for(self, columns: Collection[str] | None) -> Sequence[str]:
        """The partitions of the metadata table that a filter on these columns reads."""
        of_paths = {name.lower() for name in self.table.partition_fields}
        needs_bounds = columns is None or any(name.lower() not in of_paths for name in columns)
        return ("files", "column_stats") if needs_bounds else ("files",)

    def _slices(
        self, as_of: str | None, partitions: Sequence[str], looked_into: Sequence[str]
    ) -> tuple[FileSlices, Snapshot | None]:
        """The slices at an instant, and the snapshot that keeps them when they are the latest ones of a large table."""
        if as_of is not None or self._cache is None:
            self.table.begin_reading(partitions, looked_into)
            return self.table.slices(as_of), None
        self.table.begin_reading(listed=looked_into)
        snapshot = open_snapshot(self.table, self._cache)
        if snapshot is not None:
            return snapshot.slices, snapshot
        self.table.begin_reading(partitions)
        slices = self.table.slices()
        return slices, keep_slices(self.table, slices, self._cache)

    def statistics(
        self,
        columns: Sequence[Field],
        as_of: str | None = None,
    ) -> Mapping[str, Mapping[str, ColumnStatistics]]:
        """The statistics of these columns, by kind and column name. Raises what a kind raises."""

        def fail(error: Exception) -> None:
            raise error

        required = RequiredStatistics(bounds=tuple(columns))
        return {cached.kind.name: cached.provide(required, fail).statistics for cached in self.at(as_of).cached}


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
    options           settings that only the table's entry in a catalog has, such as ``hoodie.index.type``
    cache             the folder for snapshots of large tables; by default the user's cache folder, None for none
    filesystem        an open file system of pyarrow or fsspec; ``path`` is then a path in it
    storage_options   settings of the file system, such as region, endpoint and keys; others come from the environment
    """
    if not (cache is None or cache == "default" or isinstance(cache, SnapshotCache)):
        raise TypeError(f"cache is a SnapshotCache, None or 'default', not {cache!r:.60}")
    chosen = default_cache() if cache == "default" else cache

    def begin(storage: Storage) -> None:
        if chosen is not None:
            chosen.begin(name_of(storage))

    table = open_indexed_table(
        path, filesystem=filesystem, options=options, storage_options=storage_options, for_filters=True, before=begin
    )
    opening = Opening(os.fspath(path), dict(options or {}), dict(storage_options or {}), filesystem)
    return OpenTable(table, chosen, opening)


def _open_again(opening: Opening, until: str | None, keeps_snapshots: bool) -> OpenTable:
    """The table that another process pickled, as of its last instant then."""
    found = open_table(
        opening.path,
        opening.options,
        "default" if keeps_snapshots else None,
        filesystem=opening.filesystem,
        storage_options=opening.storage_options,
    )
    found._until = until
    return found
