"""Wall clocks and instants of a session zone, in microseconds.

A wall clock may name no instant (a gap) or two (an overlap). An instant names one wall clock. An ambiguous reading
gives an interval that contains every possible result. Python's calendar covers the years 1 to 9999, and before 1900
zone tables disagree: outside 1900 to 9999 nothing is known.

    Europe/Berlin  2024-03-31 02:30  (gap)       00:30 or 01:30 UTC; clocks show 03:30 or 01:30
                   2024-10-27 02:30  (overlap)   00:30 or 01:30 UTC
"""

from __future__ import annotations

import datetime
import functools
import re
from zoneinfo import ZoneInfo

from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.interval import Interval

__all__ = [
    "FIRST_SHOWN",
    "LAST_SHOWN",
    "instant_of",
    "offset_parts",
    "shown",
    "wall_clock_of",
    "wall_clocks_between",
    "zone_named",
]

_UTC_EPOCH = EPOCH.replace(tzinfo=datetime.timezone.utc)
#: The wall clocks and instants, in microseconds, that zone tables agree on.
FIRST_SHOWN = (datetime.datetime(1900, 1, 1) - EPOCH) // MICROSECOND
LAST_SHOWN = (datetime.datetime(9999, 12, 30) - EPOCH) // MICROSECOND
_TABLE_END = (datetime.datetime(2100, 1, 1) - EPOCH) // MICROSECOND
_OFFSET = re.compile(r"([+-])(\d{2}):(\d{2})(?::(\d{2}))?")
_JAVA_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def offset_parts(name: str) -> tuple[str, int, int, int] | None:
    """Sign, hours, minutes and seconds of a fixed offset in one of Java's spellings; None for any other zone name.

    >>> offset_parts("UTC+8"), offset_parts("-0330"), offset_parts("Europe/Paris")
    (('+', 8, 0, 0), ('-', 3, 30, 0), None)
    """
    match = _JAVA_OFFSET.fullmatch(name)
    if match is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    return match[1], hours, minutes, seconds


@functools.lru_cache(maxsize=64)
def zone_named(name: str) -> datetime.tzinfo:
    """The zone of an IANA name or of a fixed offset such as ``+05:30``. Raises as ZoneInfo does for others."""
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return ZoneInfo(name)
    hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
    east = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return datetime.timezone(east if offset[1] == "+" else -east)


def instant_of(wall_clock: int, zone: str) -> Interval | None:
    """The instants, in UTC microseconds, that a wall clock of the zone may mean; None when nothing is known."""
    if zone == "UTC":
        return Interval(wall_clock, wall_clock, null=False)
    if not FIRST_SHOWN <= wall_clock <= LAST_SHOWN:
        return None
    local = (EPOCH + wall_clock * MICROSECOND).replace(tzinfo=zone_named(zone))
    readings = [(local.replace(fold=fold) - _UTC_EPOCH) // MICROSECOND for fold in (0, 1)]
    return Interval(min(readings), max(readings), null=False)


def wall_clock_of(instant: int, zone: str) -> int | None:
    """The wall clock of the zone, in microseconds, at an instant; None when nothing is known."""
    if zone == "UTC":
        return instant
    if not FIRST_SHOWN <= instant <= LAST_SHOWN:
        return None
    local = (_UTC_EPOCH + instant * MICROSECOND).astimezone(zone_named(zone)).replace(tzinfo=None)
    return (local - EPOCH) // MICROSECOND


def shown(wall_clock: int, zone: str) -> tuple[int, int] | None:
    """Bounds of the wall clocks shown at the instants that a wall clock may mean; None when nothing is known.

    They differ where the wall clock lies in a gap: 02:30 on the day when clocks are set forward means 01:30 or 03:30.
    """
    if zone == "UTC":
        return wall_clock, wall_clock
    instants = instant_of(wall_clock, zone)
    if instants is None:
        return None
    clocks = [wall_clock_of(instant, zone) for instant in (instants.lo, instants.hi)]
    if None in clocks:
        return None
    return min(wall_clock, *clocks), max(wall_clock, *clocks)  # type: ignore[type-var, return-value]


def wall_clocks_between(lo: int | None, hi: int | None, zone: str) -> tuple[int | None, int | None]:
    """Bounds of the wall clocks shown while the instant runs from lo to hi.

    A clock that is set back in between shows some times twice. It may then show less than it did at lo, and may have
    shown more than it does at hi, by as much as it is set back.
    """
    if zone == "UTC":
        return lo, hi
    start = None if lo is None else wall_clock_of(lo, zone)
    end = None if hi is None else wall_clock_of(hi, zone)
    again = _shown_again(lo, hi, zone)
    return (None if start is None else start - again), (None if end is None else end + again)


def _shown_again(lo: int | None, hi: int | None, zone: str) -> int:
    """By how much the clock is set back between two instants, at most: 0 for never, a day where it is not known."""
    if lo is None or hi is None or not FIRST_SHOWN <= lo <= hi <= _TABLE_END:
        return DAY
    amounts = [drop for first, last, drop in _set_backs(zone) if first <= hi and last >= lo]
    return max(amounts, default=0)


@functools.lru_cache(maxsize=1024)  # of all zones: reading one takes a tenth of a second
def _set_backs(zone: str) -> tuple[tuple[int, int, int], ...]:
    """When the clock of a zone is set back from 1900 to 2100: (from, until, by), by the offset at each midnight.

    Two changes within three days would add up: together they count as a day.
    """
    set_backs: list[tuple[int, int, int]] = []
    name = zone_named(zone)
    if isinstance(name, datetime.timezone):  # a fixed offset
        return ()
    previous: datetime.timedelta | None = None
    for day in range(FIRST_SHOWN // DAY, _TABLE_END // DAY + 2):
        offset = (_UTC_EPOCH + datetime.timedelta(days=day)).astimezone(name).utcoffset()
        if previous is not None and offset is not None and offset < previous:
            drop = (previous - offset) // MICROSECOND
            if set_backs and set_backs[-1][1] > (day - 4) * DAY:
                set_backs[-1] = (*set_backs[-1][:2], DAY)
                drop = DAY
            set_backs.append(((day - 1) * DAY, day * DAY, drop))
        previous = offset
    return tuple(set_backs)
