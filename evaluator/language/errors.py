"""The base of all errors, and the error of the evaluator. The planner alone turns errors into "skip nothing" (C4)."""

from __future__ import annotations


class SargoError(Exception):
    """Base of every error that Sargo raises on purpose."""


class UnsupportedError(SargoError):
    """A type, function or version that is well formed but not supported. ``what`` describes it, for reports."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class UnknownColumnError(UnsupportedError):
    """A column that a table does not have, or whose name is ambiguous there.

    ``name`` is the column as the filter names it, ``near`` the names that may be meant.
    """

    def __init__(self, name: str, why: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(why + (f"; did you mean {' or '.join(near)}?" if near else ""))
        self.name = name
        self.why = why
        self.near = near
