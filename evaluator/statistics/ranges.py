"""Ranges: the abstract operands of the rule table (contract C2), for one slice or for all slices.

A rule compares the bounds of a range by ``<`` and ``<=`` only, so a bound is any object with these operators:

    one slice        the plain value; ``LEAST`` and ``GREATEST`` are below and above every value
    all slices       ``MaskedBound``: an array, and a mask of the unknown bounds
    while tracing    a symbol that records the comparison (``evaluation.pruning_formula``, ``evaluation.small``)

                     lo         hi         consequence
    ---------------  ---------  ---------  -----------------------------------------------
    a bound unknown  LEAST      GREATEST   every comparison with it can be TRUE
    no value at all  GREATEST   LEAST      no comparison can be TRUE, none can be FALSE
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.language.interval import Interval
from evaluator.language.key_set import KeySet
from evaluator.language.records import entity

__all__ = [
    "GREATEST",
    "LEAST",
    "MaskedBound",
    "Members",
    "Range",
    "is_one_of",
    "masked_range_of",
    "meets",
    "plain_is_one_of",
    "plain_meets",
    "range_of",
]


class _Least:
    """Below every value."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return other is not self

    __le__ = __lt__

    def __gt__(self, _: object) -> bool:
        return False

    __ge__ = __gt__

    def __repr__(self) -> str:
        return "LEAST"


class _Greatest:
    """Above every value."""

    __slots__ = ()

    def __gt__(self, other: object) -> bool:
        return other is not self

    __ge__ = __gt__

    def __lt__(self, _: object) -> bool:
        return False

    __le__ = __lt__

    def __repr__(self) -> str:
        return "GREATEST"


LEAST, GREATEST = _Least(), _Greatest()


@entity
class Range:
    """The range of an operand: ``lo <= x <= hi`` for its values. ``null``, ``value``: NULL, or a value, may occur."""

    lo: Any
    hi: Any
    null: Any
    value: Any


@entity
class Members:
    """The non-null members of an IN list, sorted, as a list and as an array; ``has_null``: NULL is among them."""

    values: Sequence[Any]
    array: Any
    has_null: bool

    @classmethod
    def of(cls, values: Sequence[Any], dtype: Any, has_null: bool) -> Members:
        """Sort and deduplicate."""
        ordered = sorted(set(values))
        array = np.empty(len(ordered), dtype)
        array[:] = ordered
        return cls(ordered, array, has_null)

    @classmethod
    def of_keys(cls, keys: KeySet, dtype: Any) -> Members:
        """The members that are keys."""
        values = keys.array.to_pylist()
        if dtype != np.dtype(object):
            return cls(values, keys.array.to_numpy(), False)
        array = np.empty(len(values), object)
        array[:] = values
        return cls(values, array, False)


class MaskedBound:
    """One bound in all slices. A comparison is TRUE where either side is unknown.

    values    ``(n,)``, or a scalar for all slices
    unknown   ``(n,) bool``, or a bool for all slices
    """

    __slots__ = ("unknown", "values")

    def __init__(self, values: Any, unknown: Any) -> None:
        self.values = values
        self.unknown = unknown

    def __lt__(self, other: MaskedBound) -> Any:
        return _or(self.values < other.values, self.unknown, other.unknown)

    def __le__(self, other: MaskedBound) -> Any:
        return _or(self.values <= other.values, self.unknown, other.unknown)

    def following(self, members: Members) -> tuple[Any, Any]:
        """The least member that is not below this bound, and whether there is one; without one, another member."""
        values = members.array
        at = np.searchsorted(values, self.values, side="left")
        return values[np.minimum(at, len(values) - 1)], at < len(values)

    def meets(self, hi: MaskedBound, members: Members) -> Any:
        """Whether some member lies between this lower bound and the upper one."""
        values = members.array
        following, follows = self.following(members)
        inside = follows & (following <= hi.values)
        if self.unknown is False and hi.unknown is False:
            return inside
        # As arrays without axes: numpy would convert plain text and bytes to its own type, which drops NULs at the end.
        smallest, largest = values[:1].reshape(()), values[-1:].reshape(())
        smallest_reaches = (smallest <= hi.values) | hi.unknown
        largest_reaches = (largest >= self.values) | self.unknown
        half_known = self.unknown | hi.unknown
        return (inside | half_known) & smallest_reaches & largest_reaches

    def is_one_of(self, hi: MaskedBound, members: Members) -> Any:
        """Whether lower and upper bound are the same value, and that is a member."""
        following, follows = self.following(members)
        is_member = follows & (following == self.values)
        return is_member & (self.values == hi.values) & _not(self.unknown) & _not(hi.unknown)

    def single(self, hi: MaskedBound) -> Any:
        """Whether lower and upper bound are the same value."""
        return (self.values == hi.values) & _not(self.unknown) & _not(hi.unknown)


def meets(a: Range, members: Members) -> Any:
    """Whether some member lies in the range."""
    if not members.values:
        return False
    return a.lo.meets(a.hi, members) if _is_abstract(a.lo) else plain_meets(a.lo, a.hi, members)


def is_one_of(a: Range, members: Members) -> Any:
    """Whether the range is one value, and that is a member."""
    if not members.values:
        return False
    return a.lo.is_one_of(a.hi, members) if _is_abstract(a.lo) else plain_is_one_of(a.lo, a.hi, members)


def plain_meets(lo: Any, hi: Any, members: Members) -> bool:
    """``meets`` for the bounds of one slice."""
    index = bisect.bisect_left(members.values, lo)
    return index < len(members.values) and bool(members.values[index] <= hi)


def plain_is_one_of(lo: Any, hi: Any, members: Members) -> bool:
    """``is_one_of`` for the bounds of one slice."""
    index = bisect.bisect_left(members.values, lo)
    return index < len(members.values) and bool(members.values[index] == lo) and bool(lo == hi)


def _is_abstract(bound: Any) -> bool:
    return hasattr(bound, "meets")


def range_of(interval: Interval) -> Range:
    """One slice's interval as a range of plain values."""
    if not interval.value:
        return Range(GREATEST, LEAST, interval.null, False)
    return Range(
        LEAST if interval.lo is None else interval.lo,
        GREATEST if interval.hi is None else interval.hi,
        interval.null,
        True,
    )


def masked_range_of(interval: Interval, filler: Any) -> Range:
    """The same interval in every slice; ``filler`` replaces an unknown bound."""

    def bound(end: Any) -> MaskedBound:
        # As an object: numpy would convert text to its own fixed-width strings.
        value = filler if end is None else end
        return MaskedBound(np.array(value, object) if isinstance(value, str | bytes) else value, end is None)

    return Range(bound(interval.lo), bound(interval.hi), interval.null, interval.value)


def _or(test: Any, *unknown: Any) -> Any:
    for flags in unknown:
        if flags is not False:
            test = test | flags
    return test


def _not(flags: Any) -> Any:
    return flags ^ True
