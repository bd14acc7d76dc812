"""An interval that contains every value of one operand in one slice: the argument and result of range functions.

Every non-null value x of the slice satisfies ``lo <= x <= hi``; ``None`` is an unknown bound. Each family of types has
one form of value, so that any two numbers compare exactly in Python:

    integers, dates, booleans (0, 1)   ``int``
    decimals, finer timestamps         ``int`` or ``fractions.Fraction``
    float, double                      ``float``, never NaN: an operand that may be NaN has no bounds
    text, binary                       ``str``, ``bytes``
    timestamps                         microseconds: wall clock in the session zone, or UTC for TIMESTAMP_LTZ
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluator.language.records import record

__all__ = ["NULL", "UNKNOWN", "Interval", "hull", "point"]


@record
class Interval:
    """Bounds of the values; ``null``: NULL may occur; ``value``: a value may occur."""

    lo: Any = None
    hi: Any = None
    null: bool = True
    value: bool = True

    @property
    def is_bounded(self) -> bool:
        return self.lo is not None and self.hi is not None

    @property
    def is_point(self) -> bool:
        """True when every non-null value is the same one."""
        return self.lo is not None and bool(self.lo == self.hi)

    def with_bounds(self, lo: Any, hi: Any) -> Interval:
        """Other bounds, same NULL and value."""
        return Interval(lo, hi, self.null, self.value)

    def nullable(self) -> Interval:
        """The same, but NULL may occur too."""
        return Interval(self.lo, self.hi, True, self.value)


UNKNOWN = Interval()
NULL = Interval(null=True, value=False)


def point(value: Any) -> Interval:
    """Exactly this value on every row; None is NULL."""
    return NULL if value is None else Interval(value, value, null=False)


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval that contains the values of all: for branches, any of which may be taken."""
    branches = list(intervals)
    valued = [branch for branch in branches if branch.value]
    lo = None if any(branch.lo is None for branch in valued) else min((branch.lo for branch in valued), default=None)
    hi = None if any(branch.hi is None for branch in valued) else max((branch.hi for branch in valued), default=None)
    return Interval(lo, hi, any(branch.null for branch in branches), bool(valued))
