"""The way of expensive filters: one after the other through the planning process, while the others go on.

    who asks                                     is answered
    -------------------------------------------  -----------------------------------------------------------------
    when the process is free                     with the plan, if it is made within ``request_seconds``
    behind others                                the same; who waits for ``request_seconds`` in vain leaves the queue
    with ``MAX_WAITING`` before it, or           at once: nothing is skipped
    ``MAX_OF_TABLE`` for the same table

A request that waits here holds one of the places of ``max_requests``. So only a part of the places can be taken by
expensive filters, and one table cannot take all of these.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from handler.sidecar.decisions.planning import PlannedFilter
from handler.sidecar.decisions.planning_process import PlanningFailed, PlanningJob, PlanningProcess

__all__ = ["MAX_OF_TABLE", "MAX_WAITING", "ExpensiveFilters"]

#: The jobs that are at work or wait, in all and for one table.
MAX_WAITING, MAX_OF_TABLE = 16, 4


class ExpensiveFilters:
    """Passes jobs to a planning process. Used from one event loop only."""

    def __init__(self, process: PlanningProcess, wait_seconds: float) -> None:
        """``wait_seconds``: how long a job waits for its turn."""
        self._process = process
        self._wait_seconds = wait_seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sargo-planning")
        self._turn = asyncio.Lock()
        self._of_table: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """The number of jobs that are at work or wait."""
        return self._of_table.total()

    async def ask(self, job: PlanningJob) -> PlannedFilter | str:
        """The plan, or the explanation. Raises PlanningFailed."""
        table = job.source.path
        if self.waiting >= MAX_WAITING or self._of_table[table] >= MAX_OF_TABLE:
            raise PlanningFailed("other expensive filters are being evaluated")
        self._of_table[table] += 1
        try:
            try:
                await asyncio.wait_for(self._turn.acquire(), self._wait_seconds)
            except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
                raise PlanningFailed("other expensive filters were being evaluated") from None
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, self._process.ask, job)
            finally:
                self._turn.release()
        finally:
            self._of_table[table] -= 1
            if not self._of_table[table]:
                del self._of_table[table]

    def start(self) -> None:
        """Start the process."""
        self._thread.submit(self._process.start)

    def close(self) -> None:
        """End the process; a job that is at work fails."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._process.stop()
