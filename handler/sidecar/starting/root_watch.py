"""The roots are asked at the start, before health says "ok", and those that cannot be read again later.

    a root                     the log              health
    ------------------------   ------------------   --------------------------------------------------------
    was not asked yet                               "starting"
    cannot be read             ``root_unreadable``  its cause, to those who have shown the secret; else a count
    can be read again          ``root_readable``

Asking opens the client of a root's store (hdfs:// takes seconds), so that the first question does not wait for it. A
root that cannot be read does not keep the sidecar from becoming healthy. It is asked again after FIRST_PAUSE_SECONDS,
then ever less often, because a check that hangs leaves a thread behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Executor

from handler.sidecar.recording.journal import Journal
from handler.sidecar.roots.allowed_roots import AllowedRoots

__all__ = ["FIRST_PAUSE_SECONDS", "RootWatch"]

#: Seconds that a check may take; and until roots that cannot be read are asked again, the first time and at most.
_CHECK_SECONDS, FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 10.0, 10.0, 900.0


class RootWatch:
    """``was_asked``: whether all roots were asked once. ``causes``: why roots cannot be read, by root."""

    def __init__(
        self, roots: AllowedRoots, options: Mapping[str, str], threads: Executor, *, seconds: float = _CHECK_SECONDS
    ) -> None:
        """``options``: the setting ``storage_options``. ``seconds``: for one check."""
        self.was_asked = asyncio.Event()
        self.causes: Mapping[str, str] = {}
        self._roots = roots
        self._options = options
        self._threads = threads
        self._seconds = min(seconds, _CHECK_SECONDS)

    async def run(self, journal: Journal) -> None:
        """Ask until all roots can be read."""
        pause = FIRST_PAUSE_SECONDS
        loop = asyncio.get_running_loop()
        while True:
            try:
                causes = await loop.run_in_executor(
                    self._threads, lambda: self._roots.check(self._options, self._seconds)
                )
                for root in sorted(self.causes.keys() - causes.keys()):
                    journal.say("root_readable", root=root)
                for root, why in causes.items():
                    if self.causes.get(root) != why:
                        journal.say("root_unreadable", "warning", root=root, why=why)
                self.causes = causes
            except Exception as error:
                journal.failure("root_watch", error)
                return
            finally:
                self.was_asked.set()
            if not causes:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)
