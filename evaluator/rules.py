"""The rule table (contract C2): when can a leaf be TRUE, given the range of its operands?

Only *can be TRUE* is written, once, over two abstract ranges; *can be FALSE* is the same rule of the opposite operator.
With ``a.lo <= x <= a.hi`` and ``b.lo <= y <= b.hi`` for every non-null x, y (a constant v is the range lo = hi = v):

    ============  =========================================  ===================================================
    leaf          can be TRUE when                           why
    ============  =========================================  ===================================================
    x <  y        a.lo < b.hi                                the smallest x against the largest y
    x <= y        a.lo <= b.hi                               likewise
    x =  y        a.lo <= b.hi and b.lo <= a.hi              the ranges meet
    x != y        not (a.lo = a.hi = b.lo = b.hi)            only one value on both sides makes it impossible
    x in S        some s of S with a.lo <= s <= a.hi         binary search in sorted S
    x not in S    not (a.lo = a.hi and a.lo in S)
    x in [p, q)   a.hi >= p and a.lo < q                     starts with p, where q is the successor of p
    x is null     null count is not known to be 0
    ============  =========================================  ===================================================

A bound that is not known leaves its side of the test TRUE. The functions use only ``< <= == & |`` and so serve one
slice (Python scalars) and all slices (numpy arrays) alike: the two paths cannot disagree.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator import outcome
from evaluator.interval import Interval

__all__ = ["Members", "Range", "compare", "is_constant", "is_in", "is_null", "on_points", "range_of", "starts_with"]


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """The range of an operand in one slice (scalars) or in all slices (``(n,)`` arrays; scalars broadcast)."""

    lo: Any
    hi: Any
    lo_unknown: Any
    hi_unknown: Any
    null: Any
    value: Any


def range_of(interval: Interval, filler: Any) -> Range:
    """One slice's interval as a range of scalars; ``filler`` stands under an unknown bound."""
    return Range(filler if interval.lo is None else interval.lo, filler if interval.hi is None else interval.hi,
                 interval.lo is None, interval.hi is None, interval.null, interval.value)


def _less(a: Range, b: Range) -> Any:
    return _or(a.lo < b.hi, a.lo_unknown, b.hi_unknown)


def _at_most(a: Range, b: Range) -> Any:
    return _or(a.lo <= b.hi, a.lo_unknown, b.hi_unknown)


def _equal(a: Range, b: Range) -> Any:
    return _at_most(a, b) & _at_most(b, a)


def _different(a: Range, b: Range) -> Any:
    # lo = hi = v is one value; elsewhere two values differ, or may.
    one_value = (a.lo == b.hi) & (a.hi == b.lo) & (b.lo == b.hi)
    return _or(_negate(one_value), a.lo_unknown, a.hi_unknown, b.lo_unknown, b.hi_unknown)


_CAN_BE_TRUE: dict[str, Callable[[Range, Range], Any]] = {
    "<": _less,
    "<=": _at_most,
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: _at_most(b, a),
    "=": _equal,
    "!=": _different,
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def compare(op: str, a: Range, b: Range) -> Any:
    """The outcome of ``x op y``: int for scalars, ``(n,) uint8`` for arrays."""
    both = _both(a, b)
    if op == "<=>":
        # NULL <=> NULL is TRUE, NULL <=> value is FALSE: never NULL itself.
        return _outcome((both & _equal(a, b)) | (a.null & b.null),
                        (both & _different(a, b)) | (a.null & b.value) | (a.value & b.null), False)
    can_be_true, can_be_false = _CAN_BE_TRUE[op](a, b), _CAN_BE_TRUE[_OPPOSITE[op]](a, b)
    if both is not True:
        can_be_true, can_be_false = both & can_be_true, both & can_be_false
    return _outcome(can_be_true, can_be_false, _or(a.null, b.null))


def _both(a: Range, b: Range) -> Any:
    return b.value if a.value is True else a.value if b.value is True else a.value & b.value


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The non-null members of an IN list, sorted, as a list and as an array; ``has_null`` when NULL was among them."""

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


def is_in(a: Range, members: Members) -> Any:
    """The outcome of ``x IN members``. A NULL member turns FALSE into NULL, and so NOT IN is never TRUE."""
    hit, only = _members_between(a, members)
    missed = a.value & _negate(only)
    if members.has_null:
        return _outcome(a.value & hit, False, a.null | missed)
    return _outcome(a.value & hit, missed, a.null)


def _members_between(a: Range, members: Members) -> tuple[Any, Any]:
    """(some member lies in the range, the range is one value and that is a member)."""
    values = members.values
    if not values:
        return False & a.value, False & a.value
    smallest_reaches = (values[0] <= a.hi) | a.hi_unknown
    largest_reaches = (values[-1] >= a.lo) | a.lo_unknown
    if isinstance(a.lo, np.ndarray):
        at = np.searchsorted(members.array, a.lo, side="left")
        following = members.array[np.minimum(at, len(values) - 1)]
        inside = (at < len(values)) & (following <= a.hi)
        is_member = (at < len(values)) & (following == a.lo)
    else:
        index = bisect.bisect_left(values, a.lo)
        inside = index < len(values) and values[index] <= a.hi
        is_member = index < len(values) and values[index] == a.lo
    half_known = a.lo_unknown | a.hi_unknown
    hit = (inside & _negate(half_known)) | (half_known & smallest_reaches & largest_reaches)
    return hit, (a.lo == a.hi) & is_member & _negate(half_known)


def starts_with(a: Range, prefix: Any, successor: Any | None, exact: bool) -> Any:
    """The outcome of "x has this prefix"; ``successor`` is the smallest text above all such x, None if there is none.

    With ``exact`` False the prefix is only necessary for the leaf to be TRUE, so FALSE is always possible.
    """
    above = True if successor is None else (a.lo < successor) | a.lo_unknown
    can = ((a.hi >= prefix) | a.hi_unknown) & above
    below = False if successor is None else (a.hi >= successor) | a.hi_unknown
    cannot = (a.lo < prefix) | a.lo_unknown | below if exact else True
    return _outcome(a.value & can, a.value & cannot, a.null)


def on_points(found: Any, a: Range, holds: Callable[[Any], bool | None]) -> Any:
    """Decide by ``holds`` what bounds leave open, where lo = hi: all values of the slice are that one."""
    both = outcome.TRUE | outcome.FALSE
    if not isinstance(found, np.ndarray):
        if found & both != both or a.lo_unknown or a.hi_unknown or a.lo != a.hi:
            return found
        return found & ~_opposite(holds(a.lo))
    single = (a.lo == a.hi) & _negate(a.lo_unknown | a.hi_unknown) & (found & both == both)
    answers: dict[Any, bool | None] = {}
    decided = found.copy()
    for index in np.flatnonzero(single).tolist():
        value = a.lo[index]
        if value not in answers:
            answers[value] = holds(value)
        decided[index] &= ~np.uint8(_opposite(answers[value]))
    return decided


def _opposite(answer: bool | None) -> int:
    return 0 if answer is None else outcome.FALSE if answer else outcome.TRUE


def is_null(a: Range) -> Any:
    """The outcome of ``x IS NULL``: never NULL."""
    return _outcome(a.null, a.value, False)


def is_constant(a: Range, truth: bool) -> Any:
    """The outcome of a leaf with the same truth for every value, and anything at all for NULL."""
    return _outcome(a.value | a.null if truth else a.null, a.null if truth else a.value | a.null, a.null)


def _or(test: Any, *unknown: Any) -> Any:
    """The test, or TRUE where a bound that it looks at is unknown."""
    for flags in unknown:
        if flags is not False:
            test = test | flags
    return test


def _negate(flags: Any) -> Any:
    return flags ^ True


def _outcome(can_be_true: Any, can_be_false: Any, can_be_null: Any) -> Any:
    planes = ((can_be_true, outcome.TRUE), (can_be_false, outcome.FALSE), (can_be_null, outcome.NULL))
    arrays = [(plane, bit) for plane, bit in planes if isinstance(plane, np.ndarray)]
    if arrays:
        # A boolean is stored as the byte 0 or 1, so shifting it is putting its bit in place.
        fixed = sum(bit for plane, bit in planes if not isinstance(plane, np.ndarray) and plane)
        shifted = [plane.view(np.uint8) << np.uint8(bit >> 1) for plane, bit in arrays]
        result = shifted[0]
        for one in shifted[1:]:
            result |= one
        return result | np.uint8(fixed) if fixed else result
    return (outcome.TRUE if can_be_true else 0) | (outcome.FALSE if can_be_false else 0) | (
        outcome.NULL if can_be_null else 0)
