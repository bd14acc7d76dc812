"""The errors that cross a room's door. Each carries its data; only the planner turns them into "skip nothing"."""

from __future__ import annotations


class SargoError(Exception):
    """Base of every error that Sargo raises on purpose."""


class UnsupportedError(SargoError):
    """Something is well formed but not understood: a type, a function, a version.

    ``what`` names it, in words that can stand in a report.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
