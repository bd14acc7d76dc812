"""The life of a sidecar: create its parts, listen until SIGTERM or SIGINT, then finish the running calls."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TextIO

from evaluator.language.records import frozen
from handler.sidecar.pages import Pages
from handler.sidecar.recording.journal import Journal
from handler.sidecar.recording.metrics import Metrics
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.server import Server
from handler.sidecar.service import Service
from handler.sidecar.settings import Settings

__all__ = ["Sidecar", "running", "serve"]

#: The prefix of the names of the sidecar's threads, and how long they may take to end after it has stopped.
_THREADS, _END_SECONDS = "sargo", 1.0
#: How long a thread may keep the interpreter while another one waits: the event loop waits for so long at most.
_SWITCH_SECONDS = 0.001
#: As Python collects by default; the command line waits for more, since most commands end before.
_COLLECTED_AFTER = (700, 10, 10)
#: Modules that are imported by what first uses them. Before there is a question they take no time of its answer.
_FIRST_QUESTION = ("fastavro", "pyarrow.compute", "sarg.decoding")
#: How long a start waits for the roots before the sidecar counts as running, and answers "starting".
_ROOT_SECONDS = 1.0


@frozen(slots=False)
class Sidecar:
    """A sidecar that is listening. ``metrics_port`` is None when there are no pages."""

    host: str
    port: int
    metrics_port: int | None
    server: Server
    service: Service
    metrics: Metrics


@asynccontextmanager
async def running(
    settings: Settings, log: TextIO = sys.stderr, roots: AllowedRoots | None = None
) -> AsyncIterator[Sidecar]:
    """A sidecar that listens inside of the block and finishes its calls at the end. Raises SettingsError.

    ``roots``: by default those of the settings.
    """
    journal = Journal(log, settings.log_level, settings.log_values)
    metrics = Metrics()
    threads = ThreadPoolExecutor(settings.workers, thread_name_prefix=_THREADS)
    service = Service(settings, roots or AllowedRoots.of(settings), metrics, journal, threads)
    server = Server(settings, service, metrics, journal)
    metrics.watch("sargo_tables_open", "Tables that are open", lambda: len(service.tables))
    metrics.watch(
        "sargo_breaker_open_tables",
        "Tables that could not be opened and are left alone for retry_seconds",
        lambda: service.tables.unavailable,
    )
    metrics.watch(
        "sargo_tables_kept",
        "Tables that cannot be read now and are answered for from an earlier state",
        lambda: service.tables.kept,
    )
    metrics.watch("sargo_cache_bytes", "Bytes that the open tables hold", lambda: service.tables.nbytes)
    metrics.watch(
        "sargo_expensive_filters",
        "Expensive filters that are planned or wait for it",
        lambda: service.tables.expensive_waiting,
    )
    metrics.watch("sargo_bytes_in_flight", "Bytes of requests that are held", lambda: server.bytes_held)
    metrics.watch(
        "sargo_roots_unreadable",
        "Roots that could not be read when they were asked last",
        lambda: len(service.root_watch.causes),
    )
    pages = None
    background: list[asyncio.Future[None]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: journal.unexpected(context))
    try:
        host, port = await server.start()
        if settings.metrics_port >= 0:
            page = _status_page(settings, service, metrics, journal)
            pages = Pages(settings.metrics_host, settings.metrics_port, metrics.registry, service.state, page)
        metrics_port = None if pages is None else pages.port
        journal.say(
            "listening",
            host=host,
            port=port,
            metrics_port=metrics_port,
            tls=settings.tls_key is not None,
            secret=server.has_secret,
            shadow=settings.shadow,
            roots=list(settings.roots),
        )
        background = [asyncio.ensure_future(one.run(journal)) for one in (service.root_watch, service.warm_start)]
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            await asyncio.wait_for(service.root_watch.was_asked.wait(), _ROOT_SECONDS)
        yield Sidecar(host, port, metrics_port, server, service, metrics)
    finally:
        journal.say("stopping", running=len(server.calls))
        for task in background:
            task.cancel()
        await server.stop()
        if pages is not None:
            pages.close()
        service.close()
        threads.shutdown(wait=False, cancel_futures=True)
        journal.say("stopped")


def _status_page(
    settings: Settings, service: Service, metrics: Metrics, journal: Journal
) -> Callable[..., Iterable[bytes]] | None:
    """The page for people, unless it is turned off or the libraries of the extra ``html`` are missing."""
    if not settings.page:
        return None
    try:
        web = importlib.import_module("handler.sidecar.status.web")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("handler", "index_store", "evaluator", "sarg"):
            raise
        journal.say("no_page", why=f"{error.name} is missing: pip install 'sargo[html]'")
        return None
    page: Callable[..., Iterable[bytes]] = web.StatusPage(
        service, metrics, settings.shared_secret(), asyncio.get_running_loop()
    )
    return page


def serve(settings: Settings, started: Callable[[Sidecar], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Raises SettingsError when the sidecar cannot start."""

    async def until_stopped() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # there are no signal handlers on Windows
                loop.add_signal_handler(number, stop.set)
        async with running(settings) as sidecar:
            sidecar.service.tables.start()
            if started is not None:
                started(sidecar)
            await stop.wait()

    for name in _FIRST_QUESTION:
        importlib.import_module(name)
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_COLLECTED_AFTER)
    gc.freeze()  # modules are not searched for garbage again
    asyncio.run(until_stopped())
    _exit_despite_hanging_threads()


def _exit_despite_hanging_threads() -> None:
    """Exit although a thread waits for a store that does not answer; the interpreter would wait for the thread."""
    end = time.monotonic() + _END_SECONDS
    for thread in threading.enumerate():
        if thread.name.startswith(_THREADS):
            thread.join(max(0.0, end - time.monotonic()))
    if any(thread.name.startswith(_THREADS) for thread in threading.enumerate()):
        for process in multiprocessing.active_children():
            process.kill()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
