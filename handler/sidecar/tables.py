"""The open tables, each with its view, kept up to date and within a limit of memory.

    event                         what happens
    ---------------------------   ----------------------------------------------------------------------------------
    a request names a table       its timeline is read, at most every ``refresh_seconds``; concurrent requests share
                                  one reading
    the timeline has changed      the table is opened again; when that takes longer than ``refresh_wait_seconds``,
                                  requests are answered from the old view, which is right for the files that it knows
                                  (``request_matching``)
    the table cannot be opened    it is not tried again for ``retry_seconds``
    the cache is full             the tables that were not used for the longest time are closed
    a filter is expensive         it is planned in another process (``decisions``), and waits for no lock of its table

All methods run on the event loop, and blocking calls run in threads. At most one thread reads the timeline of a table,
one makes its plans, and one reads its older instants. A slow table therefore delays only requests for itself, as long
as fewer than a third as many tables are slow at once as there are threads.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evaluator.language.errors import SargoError
from handler.sidecar.decisions.expensive_filters import ExpensiveFilters
from handler.sidecar.decisions.planning import (
    PlannedFilter,
    PlanningLimits,
    TooExpensive,
    cut_text,
    nothing_planned,
)
from handler.sidecar.decisions.planning_process import PlanningFailed, PlanningJob, PlanningProcess, TableSource
from handler.sidecar.idl import Refused
from handler.sidecar.roots.allowed_roots import AllowedTable
from handler.sidecar.settings import Settings
from handler.sidecar.view import FilterDecision, FilterQuery, View
from index_store import Table
from index_store.opened_table import OpenTable
from index_store.own.store.locations import version_names
from index_store.snapshots import default_cache
from index_store.storage.storage import Storage
from index_store.table.metadata_table import timeline_directory
from index_store.table.properties import read_properties

__all__ = ["TableUnavailable", "Tables"]

T = TypeVar("T")
#: The number of views of older instants that are kept beside the latest one.
MAX_OLDER_VIEWS = 2
#: The number of recent queries that a new view evaluates before it replaces the old one.
WARM_UP_QUERIES = 4
#: The number of open tables that are kept, and of those that cannot be opened.
MAX_TABLES, MAX_UNAVAILABLE = 1000, 256
#: The length of the error of a table that cannot be opened.
_MAX_WHY = 1000
_Signature = tuple[Any, ...]


class TableUnavailable(SargoError):  # noqa: N818 - a state, not a fault of the caller
    """The table could not be opened at the last attempt. ``why``: the error of that attempt."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A table and its views.

    signature   of the table at the time of ``view``: when it changes, the table is opened again
    read_at     when the timeline was read last; ``reading``: the reading in progress
    failure     why the table could not be opened at the last attempt
    older       views of older instants, and ``tasks`` the plans and views that are being made
    lock        held by the task that makes a plan
    older_lock  held by the task that reads an older instant
    """

    location: AllowedTable
    options: Mapping[str, str]
    view: View | None = None
    signature: _Signature = ()
    read_at: float = -float("inf")
    reading: asyncio.Task[None] | None = None
    failure: str | None = None
    older: OrderedDict[str, View] = field(default_factory=OrderedDict)
    tasks: dict[tuple[object, ...], asyncio.Task[Any]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    older_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def nbytes(self) -> int:
        return sum(view.nbytes for view in (self.view, *self.older.values()) if view is not None)


class Tables:
    """The open tables. Used from one event loop only."""

    def __init__(self, settings: Settings, threads: Executor, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._threads = threads
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
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
        return sum(entry.failure is not None for entry in self._entries.values())

    async def view(self, location: AllowedTable, as_of: str | None = None, newer_than: float | None = None) -> View:
        """The table's view, of a timeline that was read after ``newer_than`` (default: ``refresh_seconds`` ago).

        Raises TableUnavailable.
        """
        entry = self._entry(location)
        if newer_than is None:
            await self._refresh(
                entry, self._clock() - self._settings.refresh_seconds, self._settings.refresh_wait_seconds
            )
        else:
            await self._refresh(entry, newer_than, None)
        if entry.view is None:
            raise TableUnavailable(entry.failure or "the table was closed")
        view = entry.view
        if as_of is not None:
            view = await self._older(entry, view, as_of)
        self._evict(entry)
        return view

    async def decide(self, location: AllowedTable, view: View, query: FilterQuery) -> FilterDecision:
        """The decision for a query; concurrent requests share one computation. Raises PlanningFailed."""
        cached = view.cached_decision(query)
        if cached is not None:
            return cached
        entry = self._entry(location)

        async def make() -> FilterDecision:
            try:
                if len(query.filter) <= view.limits.filter_bytes:
                    async with entry.lock:
                        return await self._run(lambda: view.decide(query))
            except TooExpensive:
                pass
            return await self._plan_elsewhere(entry, view, query)

        decision = await self._once(entry, (id(view), query.key), make)
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
                async with entry.lock:
                    return await self._run(lambda: view.explain(query))
            source = await self._run(lambda: self._source(entry, view))
            job = PlanningJob(source=source, query=query, limits=self._last_limits, wanted="explanation")
            text = str(await self._expensive.ask(job))
            view.keep_explanation(query, text)
            return text

        return await self._once(entry, (id(view), query.key, "explanation"), make)

    async def what_helps(self, location: AllowedTable, view: View, query: FilterQuery) -> str:
        """What would make the query's plan keep fewer slices: data is read, so by the planning process only.

        Raises PlanningFailed.
        """
        cached = view.cached_explanation(query, "help")
        if cached is not None:
            return cached
        entry = self._entry(location)

        async def make() -> str:
            source = await self._run(lambda: self._source(entry, view))
            job = PlanningJob(source=source, query=query, limits=self._last_limits, wanted="help")
            text = str(await self._expensive.ask(job))
            view.keep_explanation(query, text, "help")
            return text

        return await self._once(entry, (id(view), query.key, "help"), make)

    @property
    def expensive_waiting(self) -> int:
        """The number of expensive filters that are planned or wait."""
        return self._expensive.waiting

    def start(self) -> None:
        """Start the process that plans expensive filters, which else begins with the first of them."""
        self._expensive.start()

    def close(self) -> None:
        """End the process that plans expensive filters."""
        self._expensive.close()

    def now(self) -> float:
        """The time on the clock of ``newer_than``."""
        return self._clock()

    async def _plan_elsewhere(self, entry: _Entry, view: View, query: FilterQuery) -> FilterDecision:
        source = await self._run(lambda: self._source(entry, view))
        try:
            planned = await self._expensive.ask(PlanningJob(source=source, query=query, limits=self._last_limits))
            assert isinstance(planned, PlannedFilter)
        except PlanningFailed as failed:
            if not failed.is_final:
                raise
            planned = nothing_planned(len(view.files.slices), failed.why)
        return await self._run(lambda: view.keep(query, planned))

    def _source(self, entry: _Entry, view: View) -> TableSource:
        return TableSource(
            path=entry.location.path,
            root=entry.location.root,
            storage_options=dict(self._settings.storage_options),
            table_options=dict(entry.options),
            as_of=view.as_of,
            signature=view.signature,
            files=view.files.digest,
        )

    # -- reading the timeline

    def _entry(self, location: AllowedTable) -> _Entry:
        entry = self._entries.get(location.path)
        if entry is None:
            entry = _Entry(location=location, options=self._settings.table_options.get(location.path, {}))
            self._entries[location.path] = entry
            self._evict(entry)
        self._entries.move_to_end(location.path)
        return entry

    async def _refresh(self, entry: _Entry, newer_than: float, patience: float | None) -> None:
        """Read the timeline unless it was read after ``newer_than``. With an old view, wait at most ``patience`` s."""
        while entry.read_at < newer_than:
            if entry.failure is not None and self._clock() - entry.read_at < self._settings.retry_seconds:
                return
            if entry.reading is None:
                entry.reading = asyncio.ensure_future(self._read_timeline(entry))
            wait = None if entry.view is None else patience
            done, _ = await asyncio.wait({entry.reading}, timeout=wait)
            if not done:
                return

    async def _read_timeline(self, entry: _Entry) -> None:
        started = self._clock()
        try:
            signature = await self._run(lambda: _signature(self._storage(entry.location), entry.options))
            if entry.view is None or signature != entry.signature:
                entry.view = await self._run(lambda: self._renew(entry, _digest(signature)))
                entry.signature = signature
                entry.older.clear()
            entry.failure = None
        except Exception as error:  # the table is unavailable, whatever the fault of its files is
            entry.failure = cut_text(f"{type(error).__name__}: {' '.join(str(error).split())}", _MAX_WHY)
            entry.view = None
            entry.older.clear()
        finally:
            entry.read_at = started
            entry.reading = None

    def _renew(self, entry: _Entry, signature: bytes) -> View:
        """A new view that has evaluated the latest queries already, so that requests do not wait for its first plan."""
        opened = OpenTable(Table(self._storage(entry.location), entry.options), default_cache())
        view = self._view(opened, None, signature)
        for query in entry.view.latest_queries(WARM_UP_QUERIES) if entry.view is not None else ():
            with suppress(TooExpensive):
                view.decide(query)
        return view

    async def _older(self, entry: _Entry, latest: View, as_of: str) -> View:
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
            return await self._once(entry, (id(latest), as_of), make)
        except SargoError as error:
            raise TableUnavailable(str(error)) from error

    async def _once(self, entry: _Entry, key: tuple[object, ...], make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of ``make``. Concurrent callers share one computation, which ends even when all have left."""
        task: asyncio.Task[T] | None = entry.tasks.get(key)
        if task is None:
            if len(entry.tasks) >= self._settings.max_requests:
                raise Refused("busy", f"{len(entry.tasks)} questions about this table are being worked on")
            task = asyncio.ensure_future(make())
            entry.tasks[key] = task
            task.add_done_callback(lambda done: _end_task(entry, key, done))
        return await asyncio.shield(task)

    def _evict(self, keep: _Entry) -> None:
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

    def _close(self, name: str, keep: _Entry) -> bool:
        entry = self._entries[name]
        if entry is keep or entry.reading is not None or entry.tasks:
            return False
        del self._entries[name]
        return True

    def _storage(self, location: AllowedTable) -> Storage:
        options = None if location.filesystem is not None else self._settings.storage_options
        return Storage.at(location.path, location.filesystem, options)

    def _older_view(self, entry: _Entry, as_of: str, signature: bytes) -> View:
        """The table is opened a second time, because another thread may make plans on the latest view meanwhile."""
        opened = OpenTable(Table(self._storage(entry.location), entry.options))
        return self._view(opened, as_of, signature)

    def _view(self, opened: OpenTable, as_of: str | None, signature: bytes) -> View:
        return View(opened, as_of, self._settings.max_evaluations, signature)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _end_task(entry: _Entry, key: tuple[object, ...], done: asyncio.Task[Any]) -> None:
    entry.tasks.pop(key, None)
    if not done.cancelled():
        done.exception()  # retrieved here, for every caller may have left


def _digest(signature: _Signature) -> bytes:
    """16 bytes that identify a signature."""
    return hashlib.blake2b(repr(signature).encode(), digest_size=16).digest()


def _signature(storage: Storage, options: Mapping[str, str]) -> _Signature:
    """A value that changes with every commit to the table or its own indexes: properties, timeline files, versions."""
    properties = read_properties(storage)
    version = properties.get("hoodie.table.version", "")
    folder = timeline_directory(int(version) if version.isdecimal() else 0, properties.get("hoodie.timeline.path", ""))
    return (
        tuple(sorted(properties.items())),
        *((entry.path, entry.size) for entry in storage.files(folder)),
        *((name, 0) for name in version_names(storage, options)),
    )
