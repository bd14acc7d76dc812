"""The tables that are open, each with its view, kept up to date and within a limit of memory.

    look at the timeline    at most every ``refresh_seconds`` for one table, by one thread, whoever asks meanwhile waits
    it moved                the table is opened anew; answers come from the old view when that takes longer than
                            ``refresh_wait_seconds`` (they are right for the files that it knows: ``listed.py``)
    it cannot be opened     left alone for ``retry_seconds``
    too many bytes          those are closed that were not asked for the longest time

Everything here runs on the event loop; what blocks runs in threads. A table has at most one thread that reads its
timeline and one that makes a plan or reads an older instant, so that a slow table holds up nobody but those who ask
for it, until half as many tables are slow at once as there are threads.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evaluator.language.errors import SargoError
from handler.sidecar.allowed_roots import AllowedTable
from handler.sidecar.idl import Refused
from handler.sidecar.settings import Settings
from handler.sidecar.view import Decision, Question, View
from index_store import Table
from index_store.opened_table import OpenTable
from index_store.own.store.locations import version_names
from index_store.snapshots import default_cache
from index_store.storage.storage import Storage
from index_store.table.metadata_table import timeline_directory
from index_store.table.properties import read_properties

__all__ = ["TableUnavailable", "Tables"]

T = TypeVar("T")
#: Views as of an older instant that are kept beside the latest one.
_OLDER = 2
#: Questions that a new view answers before it takes the place of the old one.
_WARMED = 4
#: Tables that are remembered at all, those that cannot be opened among them.
_MAX_TABLES = 1000
_Signature = tuple[Any, ...]


class TableUnavailable(SargoError):  # noqa: N818 - a state, not a fault of the caller
    """The table could not be opened, just now or not long ago. ``why`` says what was wrong."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class _Entry:
    location: AllowedTable
    options: Mapping[str, str]
    view: View | None = None
    signature: _Signature = ()
    looked_at: float = -float("inf")
    looking: asyncio.Task[None] | None = None
    failure: str | None = None
    older: OrderedDict[str, View] = field(default_factory=OrderedDict)
    at_work: dict[tuple[object, ...], asyncio.Task[Any]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

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
        self.closed = 0

    def __len__(self) -> int:
        return sum(entry.view is not None for entry in self._entries.values())

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the open tables hold."""
        return sum(entry.nbytes for entry in self._entries.values())

    @property
    def unavailable(self) -> int:
        """How many tables could not be opened when they were last tried."""
        return sum(entry.failure is not None for entry in self._entries.values())

    async def view(self, location: AllowedTable, as_of: str | None = None, newer_than: float | None = None) -> View:
        """The table's view: of the timeline as it was after ``newer_than`` on the clock, or within ``refresh_seconds``.

        Raises TableUnavailable.
        """
        entry = self._entry(location)
        if newer_than is None:
            await self._look(entry, self._clock() - self._settings.refresh_seconds, self._settings.refresh_wait_seconds)
        else:
            await self._look(entry, newer_than, None)
        if entry.view is None:
            raise TableUnavailable(entry.failure or "the table was closed")
        view = entry.view
        if as_of is not None:
            view = await self._older(entry, view, as_of)
        self._make_room(entry)
        return view

    async def decide(self, location: AllowedTable, view: View, question: Question) -> Decision:
        """The plan for a question, made once however many ask for it."""
        found = view.remembered(question)
        if found is not None:
            return found
        entry = self._entry(location)

        async def make() -> Decision:
            async with entry.lock:
                return await self._run(lambda: view.decide(question))

        decision = await self._once(entry, (id(view), question.key), make)
        self._make_room(entry)
        return decision

    def now(self) -> float:
        """The clock that ``newer_than`` is read from."""
        return self._clock()

    # -- looking at the timeline

    def _entry(self, location: AllowedTable) -> _Entry:
        entry = self._entries.get(location.path)
        if entry is None:
            entry = _Entry(location, self._settings.table_options.get(location.path, {}))
            self._entries[location.path] = entry
            self._make_room(entry)
        self._entries.move_to_end(location.path)
        return entry

    async def _look(self, entry: _Entry, newer_than: float, patience: float | None) -> None:
        """Wait for a look at the timeline after ``newer_than``; with an old view at hand for ``patience`` only."""
        while entry.looked_at < newer_than:
            if entry.failure is not None and self._clock() - entry.looked_at < self._settings.retry_seconds:
                return
            if entry.looking is None:
                entry.looking = asyncio.ensure_future(self._look_once(entry))
            wait = None if entry.view is None else patience
            done, _ = await asyncio.wait({entry.looking}, timeout=wait)
            if not done:
                return

    async def _look_once(self, entry: _Entry) -> None:
        started = self._clock()
        try:
            signature = await self._run(lambda: _signature(self._storage(entry.location), entry.options))
            if entry.view is None or signature != entry.signature:
                entry.view = await self._run(lambda: self._renew(entry))
                entry.signature = signature
                entry.older.clear()
            entry.failure = None
        except Exception as error:  # whatever a table makes the readers stumble over
            entry.failure = f"{type(error).__name__}: {' '.join(str(error).split())}"
            entry.view = None
            entry.older.clear()
        finally:
            entry.looked_at = started
            entry.looking = None

    def _renew(self, entry: _Entry) -> View:
        """The new view, which has made the plans of the last questions already: others need not wait for its first."""
        view = self._open(entry)
        for question in entry.view.asked_last(_WARMED) if entry.view is not None else ():
            view.decide(question)
        return view

    async def _older(self, entry: _Entry, latest: View, as_of: str) -> View:
        known = entry.older.get(as_of)
        if known is not None:
            return known

        async def make() -> View:
            async with entry.lock:
                view = await self._run(lambda: self._view(OpenTable(latest.opened.table), as_of))
            if entry.view is latest:
                entry.older[as_of] = view
                while len(entry.older) > _OLDER:
                    entry.older.popitem(last=False)
            return view

        try:
            return await self._once(entry, (id(latest), as_of), make)
        except SargoError as error:
            raise TableUnavailable(str(error)) from error

    async def _once(self, entry: _Entry, key: tuple[object, ...], make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What ``make`` gives, made once for all who ask meanwhile, and to its end when they have left."""
        task: asyncio.Task[T] | None = entry.at_work.get(key)
        if task is None:
            if len(entry.at_work) >= self._settings.max_requests:
                raise Refused("busy", f"{len(entry.at_work)} questions about this table are being worked on")
            task = asyncio.ensure_future(make())
            entry.at_work[key] = task
            task.add_done_callback(lambda done: _forget(entry, key, done))
        return await asyncio.shield(task)

    def _make_room(self, keep: _Entry) -> None:
        """Close the least used tables until the rest fits; the one in use stays."""
        for name, entry in list(self._entries.items()):
            if self.nbytes <= self._settings.cache_bytes and len(self._entries) <= _MAX_TABLES:
                return
            if entry is not keep and entry.looking is None and not entry.at_work:
                del self._entries[name]
                self.closed += entry.view is not None

    def _storage(self, location: AllowedTable) -> Storage:
        options = None if location.filesystem is not None else self._settings.storage_options
        return Storage.at(location.path, location.filesystem, options)

    def _open(self, entry: _Entry) -> View:
        return self._view(OpenTable(Table(self._storage(entry.location), entry.options), default_cache()))

    def _view(self, opened: OpenTable, as_of: str | None = None) -> View:
        return View(opened, as_of, self._settings.max_evaluations)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _forget(entry: _Entry, key: tuple[object, ...], done: asyncio.Task[Any]) -> None:
    entry.at_work.pop(key, None)
    if not done.cancelled():
        done.exception()  # those who waited for it may all have left


def _signature(storage: Storage, options: Mapping[str, str]) -> _Signature:
    """What changes whenever a table does, or an index of ours: properties, files of the timeline, versions."""
    properties = read_properties(storage)
    version = properties.get("hoodie.table.version", "")
    folder = timeline_directory(int(version) if version.isdecimal() else 0, properties.get("hoodie.timeline.path", ""))
    return (
        tuple(sorted(properties.items())),
        *((entry.path, entry.size) for entry in storage.files(folder)),
        *((name, 0) for name in version_names(storage, options)),
    )
