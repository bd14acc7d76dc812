"""The tables that the settings name are opened at the start: until then health says "starting".

    a table                                    counts as
    ----------------------------------------   ------------------------------------------------------------------
    is open                                    opened
    cannot be read for what may pass           opening, and is tried again
    cannot be read otherwise                   not opened: the log names it, and a request tries it again
    is still opening after ``tables_seconds``  not opened; the opening goes on

Health holds counts, and the log has the names (SECURITY.md). Requests are answered meanwhile. One about a table that is
still opening waits for a part of its time, and is then refused as "busy": a client that knows other sidecars asks one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from evaluator.language.errors import SargoError
from handler.sidecar.reading.current_view import PAUSE_SECONDS
from handler.sidecar.recording.journal import Journal
from handler.sidecar.roots.allowed_roots import AllowedTable
from handler.sidecar.tables import Tables, TableUnavailable

__all__ = ["WarmStart"]

#: How many of the threads that open tables are used for this.
_SHARE_OF_THREADS = 2


class WarmStart:
    """Opens tables. ``opening``: how many are not yet; ``not_opened``: how many could not be."""

    def __init__(self, tables: Tables, locations: Sequence[AllowedTable], seconds: float, workers: int) -> None:
        self.opening = len(locations)
        self.not_opened = 0
        self._tables = tables
        self._locations = locations
        self._opening = {location.path for location in locations}
        self._seconds = seconds
        self._places = max(1, workers // _SHARE_OF_THREADS)

    def is_opening(self, location: AllowedTable) -> bool:
        """Whether the settings name the table, and it is not open yet."""
        return location.path in self._opening

    async def run(self, journal: Journal) -> None:
        """Open them all, some at a time; none takes longer than until the end of ``seconds``."""
        places = asyncio.Semaphore(self._places)
        end = time.monotonic() + self._seconds
        await asyncio.gather(*(self._open(location, places, end, journal) for location in self._locations))

    async def _open(self, location: AllowedTable, places: asyncio.Semaphore, end: float, journal: Journal) -> None:
        began = time.monotonic()
        try:
            instant = await asyncio.wait_for(self._opened(location, places), max(0.0, end - began))
            journal.say("opened", table=location.path, instant=instant, seconds=round(time.monotonic() - began, 3))
        except TableUnavailable as error:
            self._failed(location, error.why, journal)
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            why = self._tables.failure(location) or "it is still being opened"
            self._failed(location, f"after {self._seconds:g} s: {why}", journal)
        except Exception as error:
            journal.failure("warm_start", error)
            self.not_opened += 1
        finally:
            self.opening -= 1
            self._opening.discard(location.path)

    def _failed(self, location: AllowedTable, why: str, journal: Journal) -> None:
        self.not_opened += 1
        journal.say("not_opened", "warning", table=location.path, why=why)

    async def _opened(self, location: AllowedTable, places: asyncio.Semaphore) -> str | None:
        """The instant of the table's view."""
        async with places:
            while True:
                try:
                    view = (await self._tables.view(location)).view
                    with suppress(SargoError):  # whoever asks for the listing is told why there is none
                        await self._tables.listed_files(location, view)
                    return view.instant
                except TableUnavailable as error:
                    if not error.may_pass:
                        raise
                await asyncio.sleep(PAUSE_SECONDS)
