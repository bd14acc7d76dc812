"""What the sidecar remembers of its answers for its page: sums by time, by table and by column, each within a limit."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

__all__ = ["MAX_COLUMNS", "MAX_PERIODS", "MAX_TABLES", "PERIOD_SECONDS", "History", "Period", "TableSums"]

#: The sums of an hour are kept.
PERIOD_SECONDS, MAX_PERIODS = 30, 120
#: The tables whose sums are kept, those that were asked for last; and the columns of each.
MAX_TABLES, MAX_COLUMNS = 200, 50


@dataclass(slots=True)
class Period:
    """The answers of ``PERIOD_SECONDS`` from ``begin``, in seconds since 1970."""

    begin: int
    answers: int = 0
    listed: int = 0
    skipped: int = 0
    could_skip: int = 0


@dataclass(slots=True)
class TableSums:
    """The answers for a table. ``unindexed``: how often each column was asked for that no index has."""

    answers: int = 0
    listed: int = 0
    skipped: int = 0
    unindexed: dict[str, int] = field(default_factory=dict)


class History:
    """Sums of answers. Used on the event loop only."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.periods: deque[Period] = deque(maxlen=MAX_PERIODS)
        self.tables: OrderedDict[str, TableSums] = OrderedDict()
        self.began = clock()

    def add(self, table: str, listed: int, skipped: int, could_skip: int, unindexed: Iterable[str] = ()) -> None:
        """Count one answer."""
        begin = int(self._clock()) // PERIOD_SECONDS * PERIOD_SECONDS
        if not self.periods or self.periods[-1].begin != begin:
            self.periods.append(Period(begin))
        period = self.periods[-1]
        period.answers += 1
        period.listed += listed
        period.skipped += skipped
        period.could_skip += could_skip
        sums = self.tables.setdefault(table, TableSums())
        self.tables.move_to_end(table)
        while len(self.tables) > MAX_TABLES:
            self.tables.popitem(last=False)
        sums.answers += 1
        sums.listed += listed
        sums.skipped += skipped
        for column in unindexed:
            if column in sums.unindexed or len(sums.unindexed) < MAX_COLUMNS:
                sums.unindexed[column] = sums.unindexed.get(column, 0) + 1
