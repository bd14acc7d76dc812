"""Readers that merge the versions of one row in different ways, each as plainly as it can be written.

    base_first         each version meets the one that is shown so far
    log_files_first    log files are merged with each other, the result with the base row
    log_files_win      the same, and the result hides the base row whatever its ordering value is
    latest             by commit time

A reader takes the versions of one key with their places, that of the base file (none, or one) apart from those of log
files, and gives the one that it shows, or the deletion that it obeys; None when there is no version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["COMMIT_READERS", "EVENT_READERS", "FINAL", "Placed", "Record"]

#: The ordering value of a deletion that has none.
FINAL = "final"


@dataclass(frozen=True)
class Record:
    """A version of a row. ``ordering``: a number, None for NULL, FINAL for a deletion without an ordering value."""

    key: str
    ordering: int | str | None
    deletes: bool = False


#: A version with its place.
Placed = tuple[int, Record]
Versions = Sequence[Placed]


def _merged(older: Placed | None, newer: Placed, *, null_is_zero: bool) -> Placed:
    """By event time; a deletion without an ordering value wins over what comes before it."""
    if older is None or newer[1].ordering == FINAL:
        return newer
    values = [0 if one[1].ordering == FINAL else one[1].ordering for one in (older, newer)]
    if null_is_zero:
        values = [0 if value is None else value for value in values]
    if None in values:
        return newer
    return older if int(values[0] or 0) > int(values[1] or 0) else newer


def base_first(base: Versions, logged: Versions, *, null_is_zero: bool) -> Placed | None:
    state: Placed | None = None
    for one in (*base, *logged):
        state = _merged(state, one, null_is_zero=null_is_zero)
    return state


def log_files_first(base: Versions, logged: Versions, *, null_is_zero: bool) -> Placed | None:
    of_logs = base_first((), logged, null_is_zero=null_is_zero)
    if of_logs is None or not base:
        return of_logs or (base[0] if base else None)
    return _merged(base[0], of_logs, null_is_zero=null_is_zero)


def log_files_win(base: Versions, logged: Versions, *, null_is_zero: bool) -> Placed | None:
    return base_first((), logged, null_is_zero=null_is_zero) or (base[0] if base else None)


def latest(base: Versions, logged: Versions, *, null_is_zero: bool) -> Placed | None:
    del null_is_zero
    every = (*base, *logged)
    return every[-1] if every else None


EVENT_READERS = (base_first, log_files_first, log_files_win)
COMMIT_READERS = (latest, log_files_win)
