"""The open tables, each with its view, kept up to date and within a limit of memory.

    event                         what happens
    ---------------------------   ----------------------------------------------------------------------------------
    a request names a table       it is looked at, at most every ``refresh_seconds`` (``reading``); concurrent requests
                                  share one look and one opening, and wait for it as long as they may
    it has changed                it is opened again; when that takes longer than ``refresh_wait_seconds``, requests
                                  are answered from the old view, which is right for the files that it knows
                                  (``request_matching``)
    it cannot be read             the view is kept for ``keep_view_seconds``, or dropped (``reading``)
    the cache is full             the tables that were not used for the longest time are closed
    a filter is expensive         it is planned in another process (``decisions``), and waits for no lock of its table

All methods run on the event loop, and blocking calls run in threads. At most one thread looks at a table, MAX_OPENINGS
open it, one makes its plans, and one reads its older instants. A slow table therefore delays only requests for itself,
as long as fewer than a sixth as many tables are slow at once as there are threads. Looks have threads of their own.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal, NamedTuple, TypeVar

from evaluator.language.errors import SargoError
from handler.sidecar.decisions.expensive_filters import ExpensiveFilters
from handler.sidecar.decisions.planning import (
    PlannedFilter,
    PlanningLimits,
    TooExpensive,
    nothing_planned,
)
from handler.sidecar.decisions.planning_process import PlanningFailed, PlanningJob, PlanningProcess, TableSource
from handler.sidecar.listed_files import ListedFiles
from handler.sidecar.reading.current_view import CurrentView, Threads
from handler.sidecar.reading.looks import TableReader
from handler.sidecar.roots.allowed_roots import AllowedTable
from handler.sidecar.settings import Settings
from handler.sidecar.table_entry import TableEntry, TableState, TableUnavailable
from handler.sidecar.view import FilterDecision, FilterQuery, View
from index_store import Table
from index_store.opened_table import OpenTable
from index_store.snapshots import default_cache

__all__ = ["Answering", "TableState", "TableUnavailable", "Tables"]

T = TypeVar("T")
#: The number of views of older instants that are kept beside the latest one.
MAX_OLDER_VIEWS = 2
#: The number of recent queries that a new view evaluates before it replaces the old one.
WARM_UP_QUERIES = 4
#: The number of open tables that are kept, and of those that cannot be opened.
MAX_TABLES, MAX_UNAVAILABLE = 1000, 256


class Answering(NamedTuple):
    """A view that answers. ``note``: the reason that tells its age when the table cannot be read now."""

    view: View
    note: str | None


class Tables:
    """The open tables. Used from one event loop only."""

    def __init__(
        self,
        settings: Settings,
        threads: ThreadPoolExecutor,
        clock: Callable[[], float] = time.monotonic,
        options: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """``options``: ``table_options`` by the locations of the tables; by default as the settings write them."""
        self._settings = settings
        self._options = settings.table_options if options is None else options
        self._threads = Threads(ThreadPoolExecutor(settings.workers, "sargo-look"), threads)
        self._clock = clock
        self._entries: OrderedDict[str, TableEntry] = OrderedDict()
        self._expensive = ExpensiveFilters(
            PlanningProcess(settings.planning_seconds, settings.planning_bytes), settings.request_seconds
        )
        self._last_limits = PlanningLimits(
            filter_bytes=settings.max_filter_bytes,
            nodes=settings.max_filter_nodes,
            max_evaluations=settings.max_evaluations,
        )
        self.closed = 0

    def __len__(self) -> int:
        return sum(entry.view is not None for entry in self._entries.values())

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the open tables hold."""
        return sum(entry.nbytes for entry in self._entries.values())

    @property
    def unavailable(self) -> int:
        """The number of tables that could not be opened at the last attempt."""
        return sum(one.current.failure is not None and not one.current.is_kept for one in self._entries.values())

    @property
    def kept(self) -> int:
        """The number of tables that cannot be read now and are answered for from an earlier state."""
        return sum(entry.current.is_kept for entry in self._entries.values())

    @property
    def is_looking(self) -> bool:
        """Whether a table is being looked at or opened."""
        return any(entry.current.reading is not None for entry in self._entries.values())

    def failure(self, location: AllowedTable) -> str | None:
        """Why the last attempt to read the table failed."""
        entry = self._entries.get(location.path)
        return None if entry is None else entry.current.failure

    def is_opening(self, location: AllowedTable) -> bool:
        """Whether there is no view of the table yet, and one is being made."""
        entry = self._entries.get(location.path)
        return entry is not None and entry.current.answering() is None and entry.current.reading is not None

    async def view(
        self, location: AllowedTable, as_of: str | None = None, newer_than: float | None = None
    ) -> Answering:
        """The table's view: of a look that was begun after ``newer_than``; by default ``refresh_seconds`` ago, or kept.

        Raises TableUnavailable.
        """
        entry = self._entry(location)
        current = entry.current
        if newer_than is None:
            settings = self._settings
            await current.refresh(self._clock() - settings.refresh_seconds, settings.refresh_wait_seconds)
        else:
            await current.refresh(newer_than, None)
        view, note = current.answering(newer_than), current.note()
        if view is None:
            raise TableUnavailable(current.failure or "the table was closed", may_pass=current.may_pass)
        if as_of is not None:
            view = await self._older(entry, view, as_of)
        self._evict(entry)
        return Answering(view, note)

    def current_view(self, location: AllowedTable) -> View | None:
        """What ``view`` returns, if it needs no look and has no note; else None."""
        entry = self._entries.get(location.path)
        if entry is None:
            return None
        self._entries.move_to_end(location.path)
        return entry.current.confirmed_view(self._clock() - self._settings.refresh_seconds)

    def latest(self, table: str) -> View | None:
        """The latest view of a table, by its location, if it is open."""
        entry = self._entries.get(table)
        return None if entry is None else entry.view

    async def listed_files(self, location: AllowedTable, view: View) -> ListedFiles:
        """The lengths and partitions of the view's files. Raises NotListed and SargoError."""
        if view.has_listed_files:
            return view.listed_files
        listed = await self.with_view(location, view, "listed", lambda: view.listed_files)
        self._evict(self._entry(location))
        return listed

    async def decide(self, location: AllowedTable, view: View, query: FilterQuery) -> FilterDecision:
        """The decision for a query; concurrent requests share one computation. Raises PlanningFailed."""
        cached = view.cached_decision(query)
        if cached is not None:
            return cached
        entry = self._entry(location)

        async def make() -> FilterDecision:
            try:
                if query.filter_bytes <= view.limits.filter_bytes:
                    return await self._alone(entry, lambda: view.decide(query))
            except TooExpensive:
                pass
            return await self._plan_elsewhere(entry, view, query)

        decision = await entry.once((id(view), query.key), make)
        entry.current.judge(view, query.key, is_complete=decision.planned.is_complete)
        self._evict(entry)
        return decision

    async def explain(self, location: AllowedTable, view: View, query: FilterQuery) -> str:
        """The explanation of the query's plan. Raises PlanningFailed."""
        cached = view.cached_explanation(query)
        if cached is not None:
            return cached
        entry = self._entry(location)

        async def make() -> str:
            with suppress(TooExpensive):
                return await self._alone(entry, lambda: view.explain(query))
            return await self._explain_elsewhere(entry, view, query, "explanation")

        return await entry.once((id(view), query.key, "explanation"), make)

    async def what_helps(self, location: AllowedTable, view: View, query: FilterQuery) -> str:
        """What would make the query's plan keep fewer slices: data is read, so by the planning process only.

        Raises PlanningFailed.
        """
        cached = view.cached_explanation(query, "help")
        if cached is not None:
            return cached
        entry = self._entry(location)
        return await entry.once(
            (id(view), query.key, "help"), lambda: self._explain_elsewhere(entry, view, query, "help")
        )

    async def page(
        self,
        location: AllowedTable,
        view: View,
        query: FilterQuery,
        make: Callable[[View, FilterQuery], str | None],
    ) -> str | None:
        """What ``make`` makes of the query's plan, as a page, in the thread that makes the table's plans."""
        cached = view.cached_explanation(query, "page")
        if cached is not None:
            return cached
        entry = self._entry(location)

        async def work() -> str | None:
            page = await self._alone(entry, lambda: make(view, query))
            if page is not None:
                view.keep_explanation(query, page, "page")
            return page

        return await entry.once((id(view), query.key, "page"), work)

    async def together(
        self, location: AllowedTable, equal: tuple[object, ...], work: Callable[[], T], threads: ThreadPoolExecutor
    ) -> T:
        """What ``work`` returns on a thread, once for all who ask for what is ``equal`` at the same time."""

        async def make() -> T:
            return await asyncio.get_running_loop().run_in_executor(threads, work)

        return await self._entry(location).once(equal, make)

    async def with_view(self, location: AllowedTable, view: View, wanted: str, work: Callable[[], T]) -> T:
        """What ``work`` returns on the thread that makes the table's plans, once for all who want the same."""
        entry = self._entry(location)
        return await entry.once((id(view), wanted), lambda: self._alone(entry, work))

    def states(self, count: int) -> list[TableState]:
        """At most ``count`` tables, those that were used last first."""
        latest = list(itertools.islice(reversed(self._entries.items()), count))
        return [entry.state(name) for name, entry in latest]

    @property
    def expensive_waiting(self) -> int:
        """The number of expensive filters that are planned or wait."""
        return self._expensive.waiting

    def start(self) -> None:
        """Start the process that plans expensive filters, which else begins with the first of them."""
        self._expensive.start()

    def close(self) -> None:
        """End the process that plans expensive filters, and the threads for looks."""
        self._expensive.close()
        self._threads.looks.shutdown(wait=False, cancel_futures=True)

    def now(self) -> float:
        """The time on the clock of ``newer_than``."""
        return self._clock()

    async def _plan_elsewhere(self, entry: TableEntry, view: View, query: FilterQuery) -> FilterDecision:
        source = await self._run(lambda: self._source(entry, view))
        try:
            planned = await self._expensive.ask(PlanningJob(source=source, query=query, limits=self._last_limits))
            assert isinstance(planned, PlannedFilter)
        except PlanningFailed as failed:
            if not failed.is_final:
                raise
            planned = nothing_planned(len(view.files.slices), failed.why)
        return await self._run(lambda: view.keep(query, planned))

    async def _explain_elsewhere(
        self, entry: TableEntry, view: View, query: FilterQuery, wanted: Literal["explanation", "help"]
    ) -> str:
        source = await self._run(lambda: self._source(entry, view))
        job = PlanningJob(source=source, query=query, limits=self._last_limits, wanted=wanted)
        text = str(await self._expensive.ask(job))
        view.keep_explanation(query, text, wanted)
        return text

    def _source(self, entry: TableEntry, view: View) -> TableSource:
        return TableSource(
            path=entry.location.path,
            root=entry.location.root,
            storage_options=self._settings.options_of(entry.location.path),
            table_options=dict(entry.options),
            as_of=view.as_of,
            signature=view.signature,
            files=view.files.digest,
        )

    # -- the views

    def _entry(self, location: AllowedTable) -> TableEntry:
        entry = self._entries.get(location.path)
        if entry is None:
            settings = self._settings
            options = self._options.get(location.path, {})
            reader = TableReader(location, options, settings.options_of(location.path), settings.look_seconds)
            entry = TableEntry(location=location, options=options, reader=reader, max_tasks=settings.max_requests)
            entry.current = CurrentView(reader, self._renewed, entry.older.clear, settings, self._threads, self._clock)
            self._entries[location.path] = entry
            self._evict(entry)
        self._entries.move_to_end(location.path)
        return entry

    def _renewed(self, table: Table, before: View | None, signature: bytes) -> View:
        """A new view that has evaluated the latest queries already, so that requests do not wait for its first plan."""
        view = self._view(OpenTable(table, default_cache()), None, signature)
        for query in before.latest_queries(WARM_UP_QUERIES) if before is not None else ():
            with suppress(TooExpensive):
                view.decide(query)
        if before is not None and before.has_listed_files:
            with suppress(SargoError):
                view.listed_files  # noqa: B018
        return view

    async def _older(self, entry: TableEntry, latest: View, as_of: str) -> View:
        cached = entry.older.get(as_of)
        if cached is not None:
            return cached

        async def make() -> View:
            async with entry.older_lock:
                view = await self._run(lambda: self._older_view(entry, as_of, latest.signature))
            if entry.view is latest:
                entry.older[as_of] = view
                while len(entry.older) > MAX_OLDER_VIEWS:
                    entry.older.popitem(last=False)
            return view

        try:
            return await entry.once((id(latest), as_of), make)
        except SargoError as error:
            raise TableUnavailable(str(error)) from error

    def _evict(self, keep: TableEntry) -> None:
        """Close the tables that were not used for the longest time until the rest fits; ``keep`` stays open."""
        opened = [name for name, entry in self._entries.items() if entry.view is not None]
        others = [name for name, entry in self._entries.items() if entry.view is None]
        held = self.nbytes
        too_many, too_many_others = len(opened) - MAX_TABLES, len(others) - MAX_UNAVAILABLE
        for name in others[: max(0, too_many_others)]:
            self._close(name, keep)
        for number, name in enumerate(opened):
            if number >= too_many and held <= self._settings.cache_bytes:
                return
            nbytes = self._entries[name].nbytes
            if self._close(name, keep):
                self.closed += 1
                held -= nbytes

    def _close(self, name: str, keep: TableEntry) -> bool:
        entry = self._entries[name]
        if entry is keep or entry.current.reading is not None or entry.tasks:
            return False
        del self._entries[name]
        return True

    def _older_view(self, entry: TableEntry, as_of: str, signature: bytes) -> View:
        """The table is opened a second time, because another thread may make plans on the latest view meanwhile."""
        opened = OpenTable(Table(entry.reader.storage(), entry.options))
        return self._view(opened, as_of, signature)

    def _view(self, opened: OpenTable, as_of: str | None, signature: bytes) -> View:
        return View(opened, as_of, self._settings.max_evaluations, signature)

    async def _alone(self, entry: TableEntry, work: Callable[[], T]) -> T:
        """What ``work`` returns, while nothing else works with the views of the table."""
        async with entry.lock:
            return await self._run(work)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads.work, work)
