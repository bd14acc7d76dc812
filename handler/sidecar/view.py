"""A view: a table at one reading of its timeline, with the plans and the matched lists of names that were computed.

The answers of a view never change, so plans and matched lists are cached for as long as it is the view of its table.
A plan whose statistics could not be read is not cached, because the next attempt may succeed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.language.expression import Literal, Unknown, walk
from handler.planning.hive_filter import read_hive_filter
from handler.planning.plan import Plan
from handler.planning.prune import prune
from handler.sidecar.names import ListedNames
from handler.sidecar.request_matching import MatchedNames, Verdicts, ViewFiles
from handler.sidecar.sizes import bytes_of
from handler.sql.parsing import Engine
from index_store.opened_table import OpenTable

__all__ = ["FilterDecision", "FilterQuery", "View"]

#: The limits of a view's cache: plans, matched lists, and bytes of matched lists.
MAX_PLANS, MAX_LISTS, MAX_LIST_BYTES = 64, 64, 64 << 20
#: The bytes of a cached plan for each slice: its masks, outcomes and verdicts.
_PLAN_BYTES = 16


@dataclass(frozen=True, slots=True)
class FilterQuery:
    """A filter as Base64 text, the engine whose rules it follows, and the session's time zone or None."""

    filter: bytes
    engine: Engine
    time_zone: str | None

    @property
    def key(self) -> bytes:
        """16 bytes that identify the query."""
        parts = (self.engine.encode(), (self.time_zone or "").encode(), self.filter)
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class FilterDecision:
    """The plan for a filter, with the verdict on every file of the view.

    is_read        whether the filter could be read
    is_too_large   whether it was not evaluated because it has too many parts for the number of slices
    skipped        ``(n,) bool``: the slices that the plan skips
    verdicts       ``(f + 1,) uint8``: ``ViewFiles.verdicts``
    """

    plan: Plan
    is_read: bool
    is_too_large: bool
    skipped: npt.NDArray[np.bool_]
    verdicts: Verdicts

    @property
    def reasons(self) -> list[str]:
        """The reasons of the plan as texts."""
        return [reason.text for reason in self.plan.reasons]

    @property
    def may_be_cached(self) -> bool:
        """Whether all statistics could be read."""
        return not any(reason.scope == "store" for reason in self.plan.reasons)


class View:
    """A view of an open table. One thread at a time may call ``decide``; every other method is thread-safe."""

    def __init__(self, opened: OpenTable, as_of: str | None = None, max_evaluations: int = 1 << 62) -> None:
        """``max_evaluations``: parts of a filter times slices. Raises TableError when the slices cannot be listed."""
        self.opened = opened
        self.max_evaluations = max_evaluations
        self.as_of = as_of
        self.table_type = opened.table.table_type
        self.version = opened.table.version
        slices = opened.at(as_of).slices
        self.instant = slices.instant
        self.files = ViewFiles.of(slices)
        self._plans: OrderedDict[bytes, tuple[FilterQuery, FilterDecision]] = OrderedDict()
        self._lists: OrderedDict[bytes, MatchedNames] = OrderedDict()
        self._lock = threading.Lock()
        self._weighed_at = self._statistics_read()
        self._table_bytes = bytes_of(self.opened)

    @property
    def nbytes(self) -> int:
        """Bytes of memory: the table's slices and statistics, the file names, the cached plans and lists."""
        with self._lock:
            cached = self._list_bytes() + len(self._plans) * len(self.files.slices) * _PLAN_BYTES
        return self._table_bytes + self.files.nbytes + cached

    def _statistics_read(self) -> int:
        """The number of statistics that were read; the memory of the table grows only with it."""
        return sum(len(cached.loaded) for cached in self.opened.at(self.as_of).cached)

    # -- plans

    def cached_decision(self, query: FilterQuery) -> FilterDecision | None:
        """The decision that was made for the same query before."""
        key = query.key
        with self._lock:
            cached = self._plans.get(key)
            if cached is None:
                return None
            self._plans.move_to_end(key)
            return cached[1]

    def latest_queries(self, count: int) -> list[FilterQuery]:
        """At most ``count`` queries, those that were used last."""
        with self._lock:
            return [query for query, _ in list(self._plans.values())[-count:]]

    def decide(self, query: FilterQuery) -> FilterDecision:
        """Evaluate a filter on the view. A filter that cannot be read or evaluated skips nothing; it does not raise."""
        is_read = True
        try:
            expression = read_hive_filter(
                query.filter.decode("ascii"), self.opened.table.schema, zone_known=query.time_zone is not None
            )
        except Exception as error:
            is_read = False
            expression = Unknown(f"the filter cannot be read: {type(error).__name__}: {error}")
        parts = sum(not isinstance(node, Literal) for node in walk(expression))
        is_too_large = parts * len(self.files.slices) > self.max_evaluations
        if is_too_large:
            expression = Unknown(
                f"{parts} parts of the filter on {len(self.files.slices)} file slices: more than max_evaluations"
            )
        plan = prune(self.opened, expression, query.engine, self.as_of, time_zone=query.time_zone or "UTC")
        skipped = np.ones(len(plan.slices), np.bool_)
        skipped[plan.kept_rows] = False
        full = np.zeros(len(plan.slices), np.bool_)
        if plan.explanation is not None:
            full[plan.explanation.evaluation.fully_matched_rows] = True
        decision = FilterDecision(plan, is_read, is_too_large, skipped, self.files.verdicts(skipped, full))
        if decision.may_be_cached:
            with self._lock:
                self._plans[query.key] = query, decision
                if len(self._plans) > MAX_PLANS:
                    self._plans.popitem(last=False)
        if self._statistics_read() != self._weighed_at:
            self._weighed_at = self._statistics_read()
            self._table_bytes = bytes_of(self.opened)
        return decision

    # -- lists of names

    def has_match(self, listed: ListedNames) -> bool:
        """Whether the match of the list is cached."""
        with self._lock:
            return listed.key in self._lists

    def match(self, listed: ListedNames) -> MatchedNames:
        """The match of the list with ``files``. Raises Refused."""
        with self._lock:
            cached = self._lists.get(listed.key)
            if cached is not None:
                self._lists.move_to_end(listed.key)
                return cached
        matched = self.files.match(listed, self.table_type)
        with self._lock:
            self._lists[listed.key] = matched
            while len(self._lists) > 1 and (len(self._lists) > MAX_LISTS or self._list_bytes() > MAX_LIST_BYTES):
                self._lists.popitem(last=False)
        return matched

    def _list_bytes(self) -> int:
        return sum(matched.nbytes for matched in self._lists.values())
