"""Constants of the calendar: values of DATE count days from 1970-01-01, those of TIMESTAMP count microseconds.

2020-01-02   day 18,263   =   ordinal 737,426 of Python's calendar - EPOCH_ORDINAL
"""

from __future__ import annotations

import datetime

__all__ = [
    "DAY",
    "EPOCH",
    "EPOCH_ORDINAL",
    "FIRST_DAY",
    "FIRST_GREGORIAN_DAY",
    "LAST_DAY",
    "MICROSECOND",
    "REBASED_DAYS",
]

EPOCH = datetime.datetime(1970, 1, 1)
#: Day 0 in the count of ``datetime.date.toordinal``.
EPOCH_ORDINAL = EPOCH.toordinal()
MICROSECOND = datetime.timedelta(microseconds=1)
#: A day in microseconds.
DAY = 86_400_000_000
#: 1582-10-15. Engines and versions disagree about the calendar of earlier days.
FIRST_GREGORIAN_DAY = datetime.date(1582, 10, 15).toordinal() - EPOCH_ORDINAL
#: 0001-01-01, the first day of Python's calendar, and of SQL's.
FIRST_DAY = datetime.date.min.toordinal() - EPOCH_ORDINAL
#: More days than twice those by which a value of the years 1 to 1582 moves in another calendar (10) and zone (1).
REBASED_DAYS = 31
#: 9999-12-31, the last day of Python's calendar. Engines write later years in different ways.
LAST_DAY = datetime.date.max.toordinal() - EPOCH_ORDINAL
