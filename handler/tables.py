"""An opened table: what was read of it once stays with it, so that the next filter pays for its own columns only.

Slices, index kinds and statistics are kept per instant. An opened table answers for the timeline as it was when it was
opened: open it again to see newer commits (its answers stay right for the files that they name).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import index_store
from evaluator.columns import ColumnStatistics
from evaluator.errors import SargoError
from evaluator.evaluate import MayHold, Source
from evaluator.leaves import Lookup
from evaluator.needs import Needs
from evaluator.schema import Field
from index_store import FileSlices, IndexKind, Table

__all__ = ["Knowledge", "OpenTable", "TableAt", "open_table"]

OnFailure = Callable[[Exception], None]

#: From so many slices on, a column that is asked for again gets an index: it costs a fraction of a second once.
INDEXED_FROM = 20_000
_BOUNDS, _NULLS = "bounds of", "nulls of"


@dataclass(slots=True)
class Knowledge:
    """One index kind of a table at an instant and what it answered so far.

    Only what the kind needs for a filter is read, once: also a question that it had nothing to say to is remembered.
    The second filter over a column of a large table builds its index, which all later ones use.
    """

    kind: IndexKind
    statistics: dict[str, ColumnStatistics] = field(default_factory=dict)
    expressions: dict[tuple[str, str], ColumnStatistics] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)

    def source(self, asked: Needs, on_failure: OnFailure) -> Source:
        """What the kind says to these questions; where it fails, which is reported, it says nothing (C4)."""
        try:
            needs = self.kind.needs(asked)
        except Exception as error:
            on_failure(error)
            needs = Needs()
        if not needs:
            return Source(self.kind.name, {})
        asked_before = self.asked
        for column in needs.columns:
            if (_BOUNDS, column.name) in asked_before:
                self._index(column.name)
        missing = Needs(tuple([one for one in needs.bounds if (_BOUNDS, one.name) not in asked_before]),
                        tuple([one for one in needs.nulls if (_NULLS, one.name) not in asked_before]),
                        tuple([one for one in needs.functions if (one[0], one[1].name) not in asked_before]))
        if missing:
            self._load(missing, on_failure)
        look_up = self._look_up(needs.keys, on_failure) if needs.keys else None
        return Source(self.kind.name, self.statistics, look_up, self.expressions)

    def _index(self, name: str) -> None:
        known = self.statistics.get(name)
        if known is not None and known.index is None and len(known) >= INDEXED_FROM:
            self.statistics[name] = known.indexed()

    def _load(self, needs: Needs, on_failure: OnFailure) -> None:
        try:
            found = self.kind.answer(needs)
            self.statistics.update(found.statistics)
            self.expressions.update(found.expressions)
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

    def _look_up(self, needed: Sequence[Lookup], on_failure: OnFailure) -> MayHold:
        def may_hold(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
            if lookup not in needed:
                return None
            try:
                answering = self.kind.answer(Needs(keys=(lookup,))).may_hold
                return None if answering is None else answering(lookup, candidates)
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

        asked = Needs(bounds=tuple(columns))
        return {known.kind.name: known.source(asked, fail).statistics for known in self.at(as_of).knowledge}


def open_table(path: str | os.PathLike[str], options: Mapping[str, str] | None = None, *, filesystem: Any = None,
               storage_options: Mapping[str, str] | None = None) -> OpenTable:
    """Open the Hudi table at a local path or a URI. Raises TableError when it cannot be read.

    ``options``: what only the table's entry in a catalog says of it, such as ``hoodie.index.type``.
    ``filesystem``: one of pyarrow or fsspec, of which ``path`` is a path then. ``storage_options``: what the file
    system needs, such as region, endpoint and keys; what is not given comes from the environment.
    """
    return OpenTable(index_store.open_table(os.fspath(path), filesystem=filesystem, options=options,
                                            storage_options=storage_options))
