"""A view: a table at one reading of its timeline, with the plans, the matched lists of names and the answers it made.

The answers of a view never change, so plans, matched lists and answers are cached for as long as it is the view of its
table. A plan whose statistics could not be read is not cached, because the next attempt may succeed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from sys import getsizeof
from typing import Literal

from bitarray import frozenbitarray

from evaluator.language.records import frozen
from handler.recently_used import RecentlyUsed
from handler.sidecar.decisions.planning import (
    EXPLAINED_AT_ONCE,
    SMALL,
    FilterQuery,
    PlannedFilter,
    PlanningLimits,
    explain_filter,
    plan_filter,
)
from handler.sidecar.listed_files import ListedFiles
from handler.sidecar.names import ListedNames, computed_once
from handler.sidecar.request_matching import MatchedNames, QueryType, SelectedNames, ViewFiles
from handler.sidecar.sizes import bytes_of
from index_store.opened_table import OpenTable
from index_store.table.schema_history import has_schema_history

__all__ = ["FilterDecision", "FilterQuery", "View"]

#: An explanation, what would help beside it, and the explanation as a page.
Part = Literal["explanation", "help", "page"]

#: The limits of a view's cache: decisions and their bytes, matched lists and their bytes, answers and their bytes.
MAX_DECISIONS, MAX_DECISION_BYTES, MAX_LISTS, MAX_LIST_BYTES = 64, 32 << 20, 64, 64 << 20
MAX_SELECTIONS, MAX_SELECTION_BYTES = 256, 16 << 20
#: Explanations that took long are kept for the next who asks.
MAX_EXPLANATIONS = 8
#: The bytes of a decision beside its arrays and texts.
_DECISION_BYTES = 1_000
#: The table is weighed again after so many decisions: evaluation keeps arrays beside the statistics.
_WEIGHED_EVERY = 32


@frozen(slots=False, eq=False)
class FilterDecision:
    """What was planned for a query: two bits for each slice of the view."""

    query: FilterQuery
    planned: PlannedFilter

    @property
    def skipped(self) -> frozenbitarray:
        """Bit i: the plan skips slice i."""
        return self.planned.skipped

    @property
    def nbytes(self) -> int:
        """Bytes of memory: the filter, the bits and the texts."""
        planned = self.planned
        texts = len(self.query.filter) + 4 * (len(planned.text) + sum(map(len, planned.reasons)))
        return texts + planned.skipped.nbytes + planned.full.nbytes + _DECISION_BYTES


class View:
    """A view of an open table. One thread at a time may call ``decide`` or ``explain``; all else is thread-safe."""

    def __init__(
        self, opened: OpenTable, as_of: str | None = None, max_evaluations: int = 1 << 62, signature: bytes = b""
    ) -> None:
        """``max_evaluations``: parts of a filter times slices. Raises TableError when the slices cannot be listed."""
        self.opened = opened
        self.as_of = as_of
        self.signature = signature
        self.limits: PlanningLimits = replace(SMALL, max_evaluations=max_evaluations)
        self.table_type = opened.table.table_type
        self.version = opened.table.version
        #: A column's name may come to mean another column with the next commit, which a kept view does not see.
        self.evolves_by_id = has_schema_history(opened.table.storage)
        slices = opened.at(as_of).slices
        self.instant = slices.instant
        self.files = ViewFiles.of(slices)
        self._decisions: RecentlyUsed[bytes, FilterDecision] = RecentlyUsed(
            MAX_DECISIONS, MAX_DECISION_BYTES, attrgetter("nbytes"), keeps_one=True
        )
        self._explanations: RecentlyUsed[tuple[Part, bytes], str] = RecentlyUsed(MAX_EXPLANATIONS, bytes_of=getsizeof)
        self._lists: RecentlyUsed[bytes, MatchedNames] = RecentlyUsed(
            MAX_LISTS, MAX_LIST_BYTES, attrgetter("nbytes"), keeps_one=True
        )
        self._selections: RecentlyUsed[tuple[FilterDecision, bytes, QueryType], SelectedNames] = RecentlyUsed(
            MAX_SELECTIONS, MAX_SELECTION_BYTES, attrgetter("nbytes")
        )
        self._lock = threading.Lock()
        self._decided = 0
        self._weighed_at = self._statistics_read()
        self._table_bytes = bytes_of(self.opened)

    @property
    def nbytes(self) -> int:
        """Bytes of memory: the table's slices and statistics, the file names, the cached decisions and lists."""
        with self._lock:
            kept = (self._decisions, self._explanations, self._lists, self._selections)
            cached = sum(one.nbytes for one in kept)
        listed = self.listed_files.nbytes if self.has_listed_files else 0
        return self._table_bytes + self.files.nbytes + listed + cached

    @property
    def has_listed_files(self) -> bool:
        """Whether ``listed_files`` is computed."""
        return "listed_files" in self.__dict__

    @computed_once
    def listed_files(self) -> ListedFiles:
        """The lengths and partitions of ``files``. For one thread at a time. Raises NotListed and TableError."""
        return ListedFiles.of(self.files, self.opened.table)

    def _statistics_read(self) -> int:
        """The number of statistics that were read."""
        return sum(len(cached.loaded) for cached in self.opened.at(self.as_of).cached)

    # -- decisions

    def cached_decision(self, query: FilterQuery) -> FilterDecision | None:
        """The decision that was made for the same query before."""
        key = query.key
        with self._lock:
            return self._decisions.get(key)

    def latest_queries(self, count: int) -> list[FilterQuery]:
        """At most ``count`` queries, those that were used last."""
        with self._lock:
            return [decision.query for decision in self._decisions.latest(count)]

    def decide(self, query: FilterQuery) -> FilterDecision:
        """Evaluate a small filter on the view; one that cannot be read skips nothing. Raises TooExpensive."""
        planned = plan_filter(self.opened, self.as_of, query, self.limits)
        self._weigh_table()
        return self.keep(query, planned)

    def explain(self, query: FilterQuery) -> str:
        """The explanation of a small filter's plan. Raises TooExpensive. Like ``decide``, for one thread at a time."""
        return explain_filter(self.opened, self.as_of, query, EXPLAINED_AT_ONCE)

    def cached_explanation(self, query: FilterQuery, part: Part = "explanation") -> str | None:
        """The explanation that was made for the same query before, or what would help."""
        with self._lock:
            return self._explanations.peek((part, query.key))

    def keep_explanation(self, query: FilterQuery, text: str, part: Part = "explanation") -> None:
        """Keep an explanation for those who ask again."""
        with self._lock:
            self._explanations.put((part, query.key), text)

    def keep(self, query: FilterQuery, planned: PlannedFilter) -> FilterDecision:
        """The decision that follows from a plan; it is cached if all statistics could be read."""
        decision = FilterDecision(query, planned)
        if planned.is_complete:
            with self._lock:
                self._drop_selections(self._decisions.put(query.key, decision))
        return decision

    def _weigh_table(self) -> None:
        self._decided += 1
        if self._statistics_read() != self._weighed_at or self._decided % _WEIGHED_EVERY == 0:
            self._weighed_at = self._statistics_read()
            self._table_bytes = bytes_of(self.opened)

    # -- lists of names

    def has_match(self, listed: ListedNames) -> bool:
        """Whether the match of the list is cached."""
        with self._lock:
            return self._lists.peek(listed.key) is not None

    def match(self, listed: ListedNames) -> MatchedNames:
        """The match of the list with ``files``. Raises Refused."""
        with self._lock:
            cached = self._lists.get(listed.key)
        if cached is not None:
            return cached
        matched = self.files.match(listed, self.table_type)
        with self._lock:
            self._lists.put(listed.key, matched)
        return matched

    # -- answers

    def known_selection(
        self, decision: FilterDecision, listed: ListedNames, query_type: QueryType
    ) -> SelectedNames | None:
        """What was selected of the same list by the same decision."""
        key = (decision, listed.key, query_type)
        with self._lock:
            return self._selections.get(key)

    def keep_selection(
        self, decision: FilterDecision, listed: ListedNames, query_type: QueryType, selected: SelectedNames
    ) -> None:
        """Remember what was selected, as long as its decision is cached. The bytes of its match count with it."""
        key = (decision, listed.key, query_type)
        with self._lock:
            if self._selections.peek(key) is None and self._decisions.peek(decision.query.key) is decision:
                self._selections.put(key, selected)

    def _drop_selections(self, decisions: Sequence[FilterDecision]) -> None:
        if decisions:
            for key in [key for key in self._selections if key[0] in decisions]:
                self._selections.pop(key)
