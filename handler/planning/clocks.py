"""The clock of a plan: from the plan's moment on, or at one moment that the caller gives.

given                                       the clock of the query
==========================================  ==========================================================
nothing                                     from now on, less ``CLOCK_SKEW`` seconds
clock_skew=3600                             from an hour before now on
as_of_clock="2026-11-22 12:00"              shows this wall clock, in the session's zone
as_of_clock="2026-11-22T12:00:00+01:00"     is at this instant
a Hive filter, and nothing                  not known: Hive has fixed its moment before, and not said when
"""

from __future__ import annotations

import datetime
import math
from typing import Any, TypeAlias

from evaluator.language.clock import CLOCK_SKEW, Clock
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.records import record
from evaluator.language.semantics import Semantics

__all__ = ["CLOCK_SKEW", "AsOfClock", "PlanMoment", "check_clock", "clock_of"]

#: A moment as ISO text or as a datetime, with an offset from UTC or in the session's zone.
AsOfClock: TypeAlias = str | datetime.datetime

_FORM = "as_of_clock is a moment such as '2026-11-22 12:00:00' or '2026-11-22T12:00:00+01:00', or a datetime"
_UTC_EPOCH = EPOCH.replace(tzinfo=datetime.timezone.utc)


@record
class PlanMoment:
    """For which moments a plan holds whose filter reads the clock.

    at        the plan's moment, in UTC; of a fixed wall clock, what the session's clock shows
    is_fixed  the plan holds for this moment only; otherwise for every query that runs then or later
    """

    at: str
    is_fixed: bool

    def __str__(self) -> str:
        return f"holds at {self.at} only" if self.is_fixed else f"holds from {self.at} on"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"at": self.at, "fixed": self.is_fixed}

    @classmethod
    def of(cls, clock: Clock) -> PlanMoment:
        """The moment of a clock."""
        if clock.wall_clock is not None:
            return cls(_text(clock.wall_clock), True)
        return cls(f"{_text(clock.first)} UTC", clock.is_fixed)


def check_clock(as_of_clock: Any, clock_skew: Any) -> None:
    """Raise TypeError or ValueError for an argument that cannot be one."""
    if as_of_clock is not None:
        _moment(as_of_clock)
    if isinstance(clock_skew, bool) or not isinstance(clock_skew, int | float):
        raise TypeError(f"clock_skew is a number of seconds, not {type(clock_skew).__name__}")
    if not 0 <= clock_skew < math.inf:
        raise ValueError(f"clock_skew is a number of seconds from 0 on, not {clock_skew}")


def clock_of(as_of_clock: AsOfClock | None, clock_skew: float, time_zone: str | None) -> Clock:
    """The clock of a query that runs at a moment, or from now on. ``time_zone``: that of the session, if it is known.

    Raises TypeError, ValueError and UnsupportedError as ``check_clock`` and ``Semantics.named`` do.
    """
    if as_of_clock is None:
        return Clock.from_now_on(zone_known=time_zone is not None, skew=clock_skew)
    moment = _moment(as_of_clock)
    if moment.tzinfo is not None:
        return Clock.fixed((moment - _UTC_EPOCH) // MICROSECOND)
    return Clock.showing((moment - EPOCH) // MICROSECOND, Semantics.named("spark", time_zone).zone)


def _moment(given: Any) -> datetime.datetime:
    if isinstance(given, datetime.datetime):
        moment = given
    elif isinstance(given, str):
        text = given.strip()
        try:
            moment = datetime.datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1:] in ("Z", "z") else text)
        except ValueError:
            raise ValueError(f"{_FORM}, not {given!r:.60}") from None
    else:
        raise TypeError(f"{_FORM}, not {type(given).__name__}")
    if not 1901 <= moment.year <= 8990:
        raise ValueError(f"as_of_clock is in the years 1901 to 8990, not {given!r:.60}")
    return moment


def _text(micros: int) -> str:
    text: str = (EPOCH + micros * MICROSECOND).isoformat(" ")
    return text
