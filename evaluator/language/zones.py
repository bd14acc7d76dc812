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
import math
import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.interval import Interval

__all__ = [
    "FIRST_SHOWN",
    "LAST_SHOWN",
    "instant_of",
    "offset_parts",
    "offset_spread",
    "shift_near",
    "shown",
    "shown_between",
    "wall_clock_of",
    "wall_clocks_between",
    "zone_named",
]

_UTC_EPOCH = EPOCH.replace(tzinfo=datetime.timezone.utc)
#: The wall clocks and instants, in microseconds, that zone tables agree on.
FIRST_SHOWN = (datetime.datetime(1900, 1, 1) - EPOCH) // MICROSECOND
LAST_SHOWN = (datetime.datetime(9999, 12, 30) - EPOCH) // MICROSECOND
_TABLE_END = (datetime.datetime(2100, 1, 1) - EPOCH) // MICROSECOND
#: A wall clock of the first day may mean an instant before it.
_KNOWN_FROM = FIRST_SHOWN + DAY
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


def shift_near(wall_clock: int, zone: str) -> int:
    """By how much a wall clock in or behind a gap may be moved against others, when all are taken to instants.

    Mostly 0. 02:30 in a gap becomes 03:30: it equals the 03:30 behind the gap, and comes after its 03:15. Where zone
    tables disagree the amount is a day.
    """
    if zone == "UTC" or isinstance(zone_named(zone), datetime.timezone):
        return 0
    if not FIRST_SHOWN + DAY <= wall_clock <= LAST_SHOWN - DAY:
        return DAY
    around = [(wall_clock + step, instant_of(wall_clock + step, zone)) for step in (-DAY, 0, DAY)]
    offsets = [clock - end for clock, instants in around if instants for end in (instants.lo, instants.hi)]
    shift: int = max(offsets) - min(offsets)
    near = shift and any(shown(moment, zone) != (moment, moment) for moment in (wall_clock, wall_clock - shift))
    return shift if near else 0


def wall_clocks_between(lo: Any, hi: Any, zone: str) -> tuple[Any, Any]:
    """Bounds of the wall clocks shown while the instant runs from lo to hi; None is no bound.

    A clock that is set back shows some times twice: up to the change, and again after it. A constant of such a time may
    stand for either. So what is shown the first time may also be earlier by as much as the clock is set back, and what
    is shown again may be later.
    """
    if zone == "UTC":
        return lo, hi

    def shown_at(instant: Any) -> tuple[Any, Any] | None:
        clock = wall_clock_of(instant, zone)
        return None if clock is None else (clock, clock)

    repeated = []
    for one in _changes_between(lo, hi, zone):
        back = one.before - one.after
        first = one.instant - back if lo is None else max(lo, one.instant - back)
        last = one.instant + back - 1 if hi is None else min(hi, one.instant + back - 1)
        if back > 0 and first <= min(last, one.instant - 1):
            repeated.append((first + one.after, min(last, one.instant - 1) + one.before))
        if back > 0 and max(first, one.instant) <= last:
            repeated.append((max(first, one.instant) + one.after, last + one.before))
    return _hull_of_images(lo, hi, zone, shown_at, repeated)


def shown_between(lo: Any, hi: Any, zone: str) -> tuple[Any, Any]:
    """Bounds of the wall clocks shown at the instants that the wall clocks from lo to hi may mean; None is no bound.

    Those in a gap are shown later, or earlier, by as much as the clock is set forward.
    """
    if zone == "UTC":
        return lo, hi

    def image(wall_clock: Any) -> tuple[Any, Any] | None:
        whole = math.floor(wall_clock)
        clocks = shown(whole, zone)
        return None if clocks is None else (clocks[0] + (wall_clock - whole), clocks[1] + (wall_clock - whole))

    moved = []
    for one in _changes_between(lo, hi, zone):
        first, last, forward = one.instant + one.before, one.instant + one.after - 1, one.after - one.before
        first, last = first if lo is None else max(first, lo), last if hi is None else min(last, hi)
        if first <= last:
            moved.append((first - forward, last + forward))
    return _hull_of_images(lo, hi, zone, image, moved)


def _hull_of_images(
    lo: Any, hi: Any, zone: str, image: Callable[[Any], tuple[Any, Any] | None], between: list[tuple[Any, Any]]
) -> tuple[Any, Any]:
    """The hull of the images of all moments from lo to hi. It never shrinks while these lie farther apart.

    ``image`` is that of one moment, ``between`` has those that may lie outside of the images of lo and hi. Beyond the
    tables a moment is known within a day only. What lies before their second day stays before their third.
    """
    if lo is not None and lo == hi and _KNOWN_FROM <= lo <= LAST_SHOWN:
        of_one = image(lo)
        if of_one is not None:
            return min([of_one[0], *(low for low, _ in between)]), max([of_one[1], *(high for _, high in between)])
    end = _table_end(zone)
    least = most = None
    if lo is not None and lo >= _KNOWN_FROM:
        of_lo = image(lo) if lo <= end else None
        lows = [low for low, _ in between] + ([] if of_lo is None else [of_lo[0]])
        if hi is None or hi > end:
            lows.append(min(max(lo, end), LAST_SHOWN) - DAY)
        least = min(lows, default=None)
    if hi is not None and hi <= LAST_SHOWN:
        of_hi = image(hi) if _KNOWN_FROM <= hi <= end else None
        highs = [high for _, high in between] + ([] if of_hi is None else [of_hi[1]])
        if lo is None or lo < _KNOWN_FROM:
            highs.append(_KNOWN_FROM + DAY)
        if hi > end:
            highs.append(hi + DAY)
        most = max(highs, default=None)
    return least, most


def offset_spread(first: Any, last: Any, zone: str) -> int | None:
    """By how much the offsets of a zone's clock differ between two moments, and two days around, in microseconds.

    None where not all changes of the zone are known.
    """
    if zone == "UTC":
        return 0
    first, last = first - DAY, last + DAY
    if not (FIRST_SHOWN + DAY <= first <= last <= _table_end(zone) - DAY):
        return None
    offsets = [offset for one in _changes_between(first, last, zone) for offset in (one.before, one.after)]
    return max(offsets, default=0) - min(offsets, default=0)


class _Change(NamedTuple):
    """The instant at which the clock of a zone is set, with its offsets before and after."""

    instant: int
    before: int
    after: int


def _table_end(zone: str) -> int:
    """Until when all changes of a zone are known."""
    return LAST_SHOWN - DAY if isinstance(zone_named(zone), datetime.timezone) else _TABLE_END


def _changes_between(lo: Any, hi: Any, zone: str) -> tuple[_Change, ...]:
    """The changes from a day before lo until a day after hi."""
    changes = _changes(zone)
    first = 0 if lo is None else bisect_left(changes, (lo - DAY,))
    last = len(changes) if hi is None else bisect_left(changes, (hi + DAY,))
    return changes[first:last]


@functools.lru_cache(maxsize=1024)  # of all zones: reading one takes a tenth of a second
def _changes(zone: str) -> tuple[_Change, ...]:
    """The changes of a zone's clock from 1900 to 2100, by its offset at each midnight of UTC."""
    name = zone_named(zone)
    if isinstance(name, datetime.timezone):  # a fixed offset
        return ()

    def offset_at(instant: int) -> int:
        offset = (_UTC_EPOCH + instant * MICROSECOND).astimezone(name).utcoffset()
        return 0 if offset is None else offset // MICROSECOND

    changes: list[_Change] = []
    before = offset_at(FIRST_SHOWN)
    for midnight in range(FIRST_SHOWN + DAY, _TABLE_END + 2 * DAY, DAY):
        after = offset_at(midnight)
        if after != before:
            earlier, later = midnight - DAY, midnight
            while later - earlier > 1:
                middle = (earlier + later) // 2
                earlier, later = (middle, later) if offset_at(middle) == before else (earlier, middle)
            changes.append(_Change(later, before, after))
        before = after
    return tuple(changes)
