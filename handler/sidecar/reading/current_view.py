"""The latest view of one table: made, kept current by looks, and kept for a while when the table cannot be read.

    a look, or the opening after it          what happens to the view
    --------------------------------------   ----------------------------------------------------------------------
    shows the state of the view              it is confirmed
    shows another state                      the table is opened again; meanwhile the old view answers
    fails with what may pass (time-out,      it is kept. It answers for ``keep_view_seconds`` after it was confirmed
    503, a connection that breaks)           last, with a reason that tells its age; then nothing is skipped
    is refused, or finds no Hudi table       it is dropped at once: the right to read it was taken away, or the
    that can be opened                       table is gone

Keeping is right because an old view is right for the files that it knows (``request_matching``). That does not hold
where a name may come to mean another column: a table with a history of its schema gets no kept view. Neither do
queries that need a look after their arrival. When the table can be read again and shows the state of the view, nothing
else is read. Between two attempts that fail lie ``PAUSE_SECONDS``, or ``retry_seconds`` when the failure will not pass.

A view that left out what it could not read is made anew, at most every ``retry_seconds`` and ever less often.

An opening that waits for a store that does not answer is begun once more beside the first as soon as a look is
answered: at most MAX_OPENINGS at a time, each after twice the time, of which the first that ends counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from handler.sidecar.decisions.planning import cut_text
from handler.sidecar.reading.looks import Look, Signature, TableReader
from handler.sidecar.settings import Settings
from handler.sidecar.view import View
from index_store import Table
from index_store.storage.errors import TransientError
from index_store.storage.storage import Storage

__all__ = ["MAX_OPENINGS", "PAUSE_SECONDS", "CurrentView", "Threads"]

T = TypeVar("T")
#: Seconds between the beginnings of two attempts of which the first met a failure that may pass.
PAUSE_SECONDS = 1.0
#: Openings of one table at a time, and attempts of one reading when the table changes while it is opened.
MAX_OPENINGS, _MAX_ATTEMPTS = 4, 3
#: A view that keeps leaving something out is made anew after ``retry_seconds`` times 1, 2, 4, ... up to this.
_MAX_TIMES_LONGER = 32
#: The queries that are remembered because their decisions left something out.
_MAX_DOUBTS = 64
#: The length of the error of a table that cannot be read, and of the same in a reason.
_MAX_WHY, _MAX_CAUSE = 1000, 160


@frozen
class Threads:
    """Threads for looks, and for openings and plans: a look that hangs delays no plan."""

    looks: Executor
    work: Executor


@frozen
class _Opened:
    """A view, the signature of what was opened, and when the look before it began."""

    view: View
    signature: Signature
    began: float


class CurrentView:
    """Used from one event loop only.

    view      the latest one, whether it may answer or not
    failure   why the last attempt failed, and whether that may pass; None when it did not
    reading   the attempt that is being made
    """

    def __init__(
        self,
        reader: TableReader,
        make_view: Callable[[Table, View | None, bytes], View],
        on_change: Callable[[], None],
        settings: Settings,
        threads: Threads,
        clock: Callable[[], float],
    ) -> None:
        """``make_view``: of an opened table, the view before and a signature. ``on_change``: the view is another."""
        self.view: View | None = None
        self.failure: str | None = None
        self.may_pass = False
        self.reading: asyncio.Task[None] | None = None
        self._reader = reader
        self._make_view = make_view
        self._on_change = on_change
        self._settings = settings
        self._threads = threads
        self._clock = clock
        self._signature: Signature | None = None
        self._read_at = self._confirmed_at = -float("inf")
        self._cause = ""
        self._doubts: set[bytes] = set()
        self._doubted_at, self._times_longer = 0.0, 1

    # -- for answers

    def answering(self, newer_than: float | None = None) -> View | None:
        """The view, if it may answer: a kept one for a while, and none that was confirmed before ``newer_than``."""
        if newer_than is not None and self._confirmed_at < newer_than:
            return None
        if self.failure is None or self.view is None:
            return self.view
        may_answer = self._age() <= self._settings.keep_view_seconds and not self.view.evolves_by_id
        return self.view if may_answer else None

    def confirmed_view(self, newer_than: float) -> View | None:
        """The view, if the table was read after ``newer_than`` without a failure; else None."""
        return self.view if self.failure is None and self._read_at >= newer_than else None

    @property
    def is_kept(self) -> bool:
        """Whether the view answers although the table cannot be read."""
        return self.failure is not None and self.answering() is not None

    def note(self) -> str | None:
        """The reason for an answer of a kept view."""
        if not self.is_kept or self.view is None:
            return None
        state = f"its state of {self.view.instant}" if self.view.instant else "its earlier state"
        return f"the table could not be read for {self._age():.0f} s ({self._cause}): answered from {state}"

    @property
    def age(self) -> float:
        """Seconds since the view was seen to be the table's latest state."""
        return self._age()

    def _age(self) -> float:
        return self._clock() - self._confirmed_at

    # -- reading the table

    async def refresh(self, newer_than: float, patience: float | None) -> None:
        """Look at the table unless that was begun after ``newer_than``. With a view, wait at most ``patience`` s."""
        while self._read_at < newer_than:
            if self.failure is not None and self._clock() - self._read_at < self._pause:
                return
            if self.reading is None:
                self.reading = asyncio.ensure_future(self._read())
            wait = None if self.answering() is None else patience
            done, _ = await asyncio.wait({self.reading}, timeout=wait)
            if not done:
                return

    @property
    def _pause(self) -> float:
        retry = self._settings.retry_seconds
        return min(PAUSE_SECONDS, retry) if self.may_pass else retry

    async def _read(self) -> None:
        started = self._clock()
        try:
            await self._look_and_open()
        except Exception as error:  # the table cannot be read, whatever the fault of its files is
            self._fail(error)
            if self.view is not None and not (self.may_pass and self._settings.keep_view_seconds):
                self._replace(None)
        finally:
            self._read_at = started
            self.reading = None

    async def _look_and_open(self) -> None:
        began = self._clock()
        look = await self._look(None if self.view is None else self._signature)
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            if self.view is not None and look.signature == self._signature and not self._is_due():
                break
            try:
                opened = await self._open(look, began)
            except TransientError:
                raise
            except SargoError:  # perhaps a commit, or a clean, came between the look and the opening
                if attempt == _MAX_ATTEMPTS:
                    raise
                before, began = look.signature, self._clock()
                look = await self._look(before)
                if look.signature == before:
                    raise
                continue
            is_same = opened.signature == self._signature
            self._times_longer = min(2 * self._times_longer, _MAX_TIMES_LONGER) if is_same else 1
            self._replace(opened.view)
            self._signature, began = opened.signature, opened.began
            break
        self._confirmed_at = began
        if self.failure is not None and self.view is not None:
            self.view.opened.table.storage.has_answered()
        self.failure = None

    def _fail(self, error: Exception) -> None:
        text = " ".join(str(error).split())
        self.failure = cut_text(f"{type(error).__name__}: {text}", _MAX_WHY)
        self._cause = cut_text(text, _MAX_CAUSE)
        self.may_pass = isinstance(error, TransientError | TimeoutError | ConnectionError)

    def _replace(self, view: View | None) -> None:
        self.view = view
        self._doubts.clear()
        self._on_change()

    async def _look(self, known: Signature | None) -> Look:
        return await self._run(self._threads.looks, lambda: self._reader.look(known))

    async def _open(self, look: Look, began: float) -> _Opened:
        attempts: dict[asyncio.Future[_Opened], Storage] = {}

        def begin(look: Look, began: float) -> None:
            reading, before = self._reader.storage(), self.view

            def work() -> _Opened:
                table, signature = self._reader.open(look, reading)
                return _Opened(self._make_view(table, before, signature.digest), signature, began)

            attempt = asyncio.ensure_future(self._run(self._threads.work, work))
            attempt.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may ask for it
            attempts[attempt] = reading

        begin(look, began)
        seconds = self._settings.look_seconds
        while True:
            done, _ = await asyncio.wait(attempts, timeout=seconds * 2 ** (len(attempts) - 1))
            for attempt in done:
                if attempt.exception() is None or len(attempts) == 1:
                    return attempt.result()
                del attempts[attempt]
            if len(attempts) < MAX_OPENINGS and all(reading.hangs(seconds) for reading in attempts.values()):
                began = self._clock()
                try:
                    look = await self._look(None)
                except Exception as error:  # it still does not answer
                    self._fail(error)
                else:
                    begin(look, began)

    async def _run(self, threads: Executor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    # -- what was left out

    def judge(self, view: View, query: bytes, *, is_complete: bool) -> None:
        """Note whether a decision of the view could use all that the table has."""
        if view is not self.view or self.failure is not None:
            return
        if is_complete:
            self._doubts.discard(query)
        elif len(self._doubts) < _MAX_DOUBTS:
            self._doubted_at = self._doubted_at if self._doubts else self._clock()
            self._doubts.add(query)

    def _is_due(self) -> bool:
        """Whether the view is made anew because it left something out."""
        waited = self._clock() - self._doubted_at
        return bool(self._doubts) and waited >= self._settings.retry_seconds * self._times_longer
