"""An opened table: what was read of it once stays with it, so that the next filter pays for its own columns only.

Slices, index kinds and statistics are kept per instant. An opened table answers for the timeline as it was when it was
opened: open it again to see newer commits (its answers stay right for the files that they name).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import index_store
from evaluator.columns import ColumnStatistics
from evaluator.errors import SargoError
from evaluator.evaluate import MayHold, Source
from evaluator.schema import Field
from index_store import FileSlices, IndexKind, Table
from index_store.kinds.base import ExpressionKind

__all__ = ["Knowledge", "OpenTable", "TableAt", "open_table"]

OnFailure = Callable[[Exception], None]

#: From so many slices on, a column that is asked for again gets an index: it costs a fraction of a second once.
INDEXED_FROM = 20_000


@dataclass(slots=True)
class Knowledge:
    """One index kind of a table at an instant and the statistics that were asked of it so far.

    A column that the kind was asked for and did not know is remembered too. The second filter over a column of a large
    table builds its index, which all later ones use.
    """

    kind: IndexKind
    statistics: dict[str, ColumnStatistics] = field(default_factory=dict)
    expressions: dict[tuple[str, str], ColumnStatistics] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def source(self, columns: Sequence[Field], on_failure: OnFailure) -> Source:
        """What the kind says of these columns; of a column that fails, which is reported, it says nothing (C4)."""
        missing = [column for column in columns if column.name not in self.asked]
        for column in columns:
            if column.name in self.asked:
                self._index(column.name)
        if missing:
            self._load(missing, on_failure)
        return Source(self.kind.name, self.statistics, self._look_up(on_failure), self.expressions)

    def _index(self, name: str) -> None:
        known = self.statistics.get(name)
        if known is not None and known.index is None and len(known) >= INDEXED_FROM:
            self.statistics[name] = known.indexed()

    def _load(self, columns: Sequence[Field], on_failure: OnFailure) -> None:
        try:
            self.statistics.update(self.kind.statistics(columns))
            if isinstance(self.kind, ExpressionKind):
                self.expressions.update(self.kind.expressions(columns))
        except Exception as error:
            if len(columns) == 1:
                on_failure(error)
                return
            for column in columns:  # one column's fault is not the others'
                self._load([column], on_failure)
            return
        self.asked.update(column.name for column in columns)

    def _look_up(self, on_failure: OnFailure) -> MayHold:
        def may_hold(column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_]
                     ) -> npt.NDArray[np.bool_] | None:
            try:
                return self.kind.may_hold(column, values, candidates)
            except Exception as error:
                on_failure(error)
                return None
        return may_hold


@dataclass(frozen=True, slots=True)
class TableAt:
    """The slices of a table at an instant, and its index kinds; ``failure`` says why there are none, if they failed."""

    slices: FileSlices
    knowledge: tuple[Knowledge, ...]
    failure: Exception | None = None


class OpenTable:
    """A handle on a table, made by ``open_table``; ``prune`` takes it in place of a path."""

    def __init__(self, table: Table) -> None:
        self.table = table
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
            slices = self.table.slices(as_of)
            try:
                found = TableAt(slices, tuple(Knowledge(kind) for kind in self.table.kinds(slices)))
            except SargoError as error:
                found = TableAt(slices, (), error)
            self._at[as_of] = found
        return found

    def statistics(self, columns: Sequence[Field], as_of: str | None = None,
                   ) -> Mapping[str, Mapping[str, ColumnStatistics]]:
        """By kind and column, what the kinds know of these columns. Raises what a kind raises."""
        def fail(error: Exception) -> None:
            raise error

        return {known.kind.name: known.source(columns, fail).statistics for known in self.at(as_of).knowledge}


def open_table(path: str | os.PathLike[str], options: Mapping[str, str] | None = None) -> OpenTable:
    """Open the Hudi table at ``path``. Raises TableError when it cannot be read.

    ``options``: what only the table's entry in a catalog says of it, such as ``hoodie.index.type``.
    """
    return OpenTable(index_store.open_table(os.fspath(path), options=options))
