"""A sidecar in this process: on a thread with an event loop of its own, for the JVM of a driver on the same machine.

    who shares it   all sessions of the process that give the same storage options
    who may ask     processes of this machine that know its secret, which is drawn anew for each sidecar
    what is read    any table, as this process may read it
    when it ends    with the interpreter
    after a fork    it is the parent's: the child closes its copies of the sockets, and starts one of its own when asked

It takes no settings from ``SARGO_SIDECAR_*``, which are those of ``sargo serve``. Its log goes to the logger
``sargo.sidecar`` of Python, warnings and errors only.
"""

from __future__ import annotations

import asyncio
import atexit
import io
import json
import logging
import os
import secrets
import threading
from collections.abc import Mapping
from typing import TextIO, cast

from pydantic import SecretStr

from evaluator.language.records import frozen
from handler.sidecar.roots.any_table import AnyTable
from handler.sidecar.run import Sidecar, running
from handler.sidecar.settings import Settings

__all__ = ["ANSWER_SECONDS", "InProcess", "SidecarThread", "sidecar_of_process"]

#: How long an answer may take. The first question about a table opens it, which takes a second on object stores.
ANSWER_SECONDS = 5.0
_START_SECONDS, _END_SECONDS = 30.0, 3.0
_LOGGER = logging.getLogger("sargo.sidecar")
_LEVELS = {"warning": logging.WARNING, "error": logging.ERROR}


@frozen(slots=False)
class InProcess:
    """A sidecar that runs in this process: where it listens, and the secret that a question carries."""

    address: str
    secret: str


class SidecarThread(threading.Thread):
    """Runs a sidecar for any table on a thread, until ``end``."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(name="sargo-sidecar", daemon=True)
        self._settings = settings
        self._has_begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self.sidecar: Sidecar | None = None

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
        finally:
            self._has_begun.set()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with running(self._settings, cast(TextIO, _JournalOfLogger()), AnyTable()) as self.sidecar:
            self._has_begun.set()
            await self._end.wait()

    def begin(self) -> Sidecar:
        """Start; raises RuntimeError when the sidecar does not listen."""
        self.start()
        if not self._has_begun.wait(_START_SECONDS) or self.sidecar is None:
            raise RuntimeError(f"the sidecar of this process does not start: {self._failure}") from self._failure
        return self.sidecar

    def end(self) -> None:
        """Stop the sidecar, and wait for the thread a few seconds."""
        if self._loop is not None and self._end is not None and self.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self.join(_END_SECONDS)


class _JournalOfLogger(io.TextIOBase):
    """Takes the lines of a sidecar's log, and passes them to Python's logging."""

    def write(self, text: str) -> int:
        for line in text.splitlines():
            level = logging.WARNING if not line.startswith("{") else _LEVELS.get(json.loads(line).get("level"), 10)
            _LOGGER.log(level, "%s", line)
        return len(text)


_LOCK = threading.Lock()
_RUNNING: dict[frozenset[tuple[str, str]], tuple[SidecarThread, InProcess]] = {}


def sidecar_of_process(storage_options: Mapping[str, str] | None = None) -> InProcess:
    """The sidecar of this process for tables with these storage options; it is started when it does not run yet.

    ``storage_options``: as for ``handler.open_table``. Raises RuntimeError when it does not start.
    """
    options = dict(storage_options or {})
    key = frozenset(options.items())
    with _LOCK:
        if key not in _RUNNING or not _RUNNING[key][0].is_alive():
            secret = secrets.token_urlsafe(32)
            thread = SidecarThread(
                Settings.model_construct(
                    port=0,
                    metrics_port=-1,
                    page=False,
                    secret=SecretStr(secret),
                    request_seconds=ANSWER_SECONDS,
                    drain_seconds=0.0,
                    log_level="warning",
                    storage_options=options,
                )
            )
            sidecar = thread.begin()
            _RUNNING[key] = thread, InProcess(f"{sidecar.host}:{sidecar.port}", secret)
        return _RUNNING[key][1]


def _stop_all() -> None:
    for thread, _ in _RUNNING.values():
        thread.end()


def _forget() -> None:
    """In a child after a fork: no thread runs here, and the sockets are the parent's."""
    global _LOCK
    _LOCK = threading.Lock()
    for thread, _ in _RUNNING.values():
        if thread.sidecar is not None:
            thread.sidecar.server.close_inherited()
    _RUNNING.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
