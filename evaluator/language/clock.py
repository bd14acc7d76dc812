"""The moment at which a query runs, as a plan knows it: from its own moment on, or one fixed moment.

A plan may be used later than it is made, and clocks move on. So the clock of a query is at the plan's moment or after
it, and what is too old for the plan stays too old:

    a plan of 2026-11-22 12:00 UTC             of a query that runs later       with a fixed moment
    ========================================   ==============================   ==================
    current_timestamp()                        from 2026-11-22 11:55 UTC on     2026-11-22 12:00
    current_date(), the zone is UTC            from 2026-11-22 on               2026-11-22
    current_date(), the zone is not known      from 2026-11-21 on               that of the zone assumed
    unix_timestamp()                           from 1795348500 on               1795348800

The machine of the query may be behind that of the plan: by ``CLOCK_SKEW`` at most, which is what Kerberos allows in a
cluster. No query runs in the year 9000 or later: functions can then take the range like any other.
"""

from __future__ import annotations

import datetime
import time

from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Call, Node, walk_distinct
from evaluator.language.interval import Interval, point
from evaluator.language.records import record
from evaluator.language.zones import instant_of, wall_clocks_between

__all__ = ["CLOCK_SKEW", "MOMENT_FUNCTIONS", "WIDEST_CHANGE", "Clock", "is_moment", "reads_clock"]

#: By how many seconds the clock of a query may be behind that of the plan.
CLOCK_SKEW = 300.0
#: The functions of the clock, all without arguments, and whether Hive has them too.
MOMENT_FUNCTIONS = {
    "current_date": True,
    "curdate": False,
    "current_timestamp": True,
    "now": False,
    "localtimestamp": False,
    "unix_timestamp": True,
}

_HOUR = 3_600_000_000
#: The wall clocks of all zones, from that of UTC.
_WEST, _EAST = 12 * _HOUR, 14 * _HOUR
#: The most by which a zone's offset can differ between two moments since 1900.
WIDEST_CHANGE = _WEST + _EAST
_LAST = (datetime.datetime(9000, 1, 1) - EPOCH) // MICROSECOND - 1


@record
class Clock:
    """The instants, in microseconds of UTC, at which a query may run.

    zone_known   whether the session's zone is that of the semantics; otherwise it may be any
    wall_clock   what the session's clock shows, where that is fixed instead of an instant
    """

    first: int
    last: int
    zone_known: bool = True
    wall_clock: int | None = None

    @classmethod
    def from_now_on(cls, *, zone_known: bool, skew: float = CLOCK_SKEW, now: float | None = None) -> Clock:
        """The clock of a query that runs now or later. ``now``: seconds since the epoch; by default this moment."""
        seconds = time.time() if now is None else now
        return cls(int((seconds - skew) * 1_000_000), _LAST, zone_known)

    @classmethod
    def fixed(cls, instant: int) -> Clock:
        """The clock at one instant."""
        return cls(instant, instant)

    @classmethod
    def showing(cls, wall_clock: int, zone: str) -> Clock:
        """The clock that shows this in the session's zone. Raises UnsupportedError for a year that is not known."""
        instants = instant_of(wall_clock, zone)
        if instants is None:
            raise UnsupportedError(f"wall clocks of {zone} are decided in the years 1900 to 9999 only")
        return cls(instants.lo, instants.hi, True, wall_clock)

    @property
    def is_fixed(self) -> bool:
        """Whether the clock stands still, so that a condition on it is one on a constant."""
        return self.wall_clock is not None or self.first == self.last

    def instants(self) -> Interval:
        """The instants, in microseconds of UTC."""
        return Interval(self.first, self.last, null=False)

    def wall_clocks(self, zone: str) -> Interval:
        """What the session's clock may show, in microseconds."""
        if self.wall_clock is not None:
            return point(self.wall_clock)
        if not self.zone_known:
            return Interval(self.first - _WEST, self.last + _EAST, null=False)
        return Interval(*wall_clocks_between(self.first, self.last, zone), null=False)

    def days(self, zone: str) -> Interval:
        """The day that the session's clock may show, since 1970-01-01."""
        clocks = self.wall_clocks(zone)
        return clocks.with_bounds(*(None if end is None else end // DAY for end in (clocks.lo, clocks.hi)))

    def beyond_zone(self, interval: Interval) -> Interval:
        """Moments of the clock, for what converts them by the session's zone: wider where that is not known."""
        if self.zone_known or self.is_fixed:
            return interval
        lo, hi = interval.lo, interval.hi
        return interval.with_bounds(
            None if lo is None else lo - WIDEST_CHANGE, None if hi is None else hi + WIDEST_CHANGE
        )


def reads_clock(node: Node) -> bool:
    """Whether a filter, or an operand, depends on the moment of the query."""
    return any(map(is_moment, walk_distinct(node)))


def is_moment(node: Node) -> bool:
    """Whether a node is a function of the clock alone, such as ``current_date()``."""
    return isinstance(node, Call) and not node.arguments and node.function in MOMENT_FUNCTIONS
