"""The rule table (contract C2): when can a leaf be TRUE, given the range of its operands?

Only *can be TRUE* is written, once, over two abstract ranges; *can be FALSE* is the same rule of the opposite operator.
With ``a.lo <= x <= a.hi`` and ``b.lo <= y <= b.hi`` for every non-null x, y (a constant v is the range lo = hi = v):

    ============  =========================================  ===================================================
    leaf          can be TRUE when                           why
    ============  =========================================  ===================================================
    x <  y        a.lo < b.hi                                the smallest x against the largest y
    x <= y        a.lo <= b.hi                               likewise
    x =  y        a.lo <= b.hi and b.lo <= a.hi              the ranges meet
    x != y        a.lo < b.hi or b.lo < a.hi                 unequal is less or greater; neither only if lo = v = hi
    x in S        some s of S with a.lo <= s <= a.hi         binary search in sorted S
    x not in S    not (a.lo = a.hi and a.lo in S)
    x in [p, q)   p <= a.hi and a.lo < q                     starts with p, where q is the successor of p
    x not so      a.lo < p or q <= a.hi                      some value below the prefix, or above it
    x in (p, q)   p < a.hi and a.lo < q                      an interval without its ends; with an end ``<=``
    x is null     null count is not known to be 0
    ============  =========================================  ===================================================

The rules use only ``<`` and ``<=`` of bounds, and only ``&`` and ``|`` of their results. So one table serves one slice,
all slices as arrays, and the symbols from which faster forms of the same rules are derived (``statistics.ranges``): the
paths cannot disagree. A test of a bound that is not known is TRUE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluator.binding.truth_values import Possible
from evaluator.language import outcome
from evaluator.statistics.ranges import MaskedBound, Members, Range, is_one_of, meets

__all__ = [
    "OPPOSITE",
    "Ends",
    "can_be_in",
    "can_be_true",
    "can_start_with",
    "compare",
    "in_sets",
    "is_constant",
    "is_in",
    "is_null",
    "pack",
    "refine_single_values",
    "starts_with",
]


def _less(a: Range, b: Range) -> Any:
    return a.lo < b.hi


def _at_most(a: Range, b: Range) -> Any:
    return a.lo <= b.hi


_CAN_BE_TRUE: dict[str, Callable[[Range, Range], Any]] = {
    "<": _less,
    "<=": _at_most,
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: _at_most(b, a),
    "=": lambda a, b: _at_most(a, b) & _at_most(b, a),
    "!=": lambda a, b: _less(a, b) | _less(b, a),
}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def compare(op: str, a: Range, b: Range) -> Possible:
    """``x op y``."""
    if op == "<=>":
        both = _and(a.value, b.value)
        # NULL <=> NULL is TRUE, NULL <=> value is FALSE: never NULL itself.
        return Possible(
            _either(_and(both, _CAN_BE_TRUE["="](a, b)), _and(a.null, b.null)),
            _either(_and(both, _CAN_BE_TRUE["!="](a, b)), _and(a.null, b.value), _and(a.value, b.null)),
            False,
        )
    return Possible(can_be_true(op, a, b), can_be_true(OPPOSITE[op], a, b), _either(a.null, b.null))


def can_be_true(op: str, a: Range, b: Range) -> Any:
    """Where ``x op y`` can be TRUE; ``<=>`` needs more than one rule."""
    return _and(_and(a.value, b.value), _CAN_BE_TRUE[op](a, b))


def can_be_in(a: Range, members: Members) -> Any:
    """Where ``x IN members`` can be TRUE."""
    return _and(a.value, meets(a, members))


def is_in(a: Range, members: Members) -> Possible:
    """``x IN members``. A NULL member turns FALSE into NULL, and so NOT IN is never TRUE."""
    hit, missed = can_be_in(a, members), _and(a.value, _not(is_one_of(a, members)))
    if members.has_null:
        return Possible(hit, False, _either(a.null, missed))
    return Possible(hit, missed, a.null)


def can_start_with(a: Range, prefix: Range, successor: Range | None) -> Any:
    """Where ``x`` can have this prefix; ``successor`` as of ``starts_with``."""
    at_least = _at_most(prefix, a)
    return _and(a.value, at_least if successor is None else at_least & _less(a, successor))


def starts_with(a: Range, prefix: Range, successor: Range | None, exact: bool) -> Possible:
    """``x`` has this prefix; ``successor`` is the smallest text above all such x, None if there is none.

    With ``exact`` False the prefix is only necessary for the leaf to be TRUE, so FALSE is always possible.
    """
    below = _less(a, prefix)
    if successor is not None:
        below = below | _at_most(successor, a)
    return Possible(can_start_with(a, prefix, successor), _and(a.value, below) if exact else a.value, a.null)


def is_null(a: Range) -> Possible:
    """``x IS NULL``: never NULL."""
    return Possible(a.null, a.value, False)


class Ends(NamedTuple):
    """An interval: its ends as ranges of one value, None for no end; whether each end is left out."""

    lo: Range | None
    hi: Range | None
    lo_open: bool
    hi_open: bool


def in_sets(a: Range, of_values: Possible, of_null: int) -> Possible:
    """Conditions on ``x`` together: for each truth value the intervals of x on which it is possible.

    ``of_null`` is the outcome where x is NULL.
    """
    bits = (outcome.TRUE, outcome.FALSE, outcome.NULL)
    return Possible(
        *(
            _either(_and(a.value, _meets_any(a, intervals)), a.null if of_null & bit else False)
            for intervals, bit in zip(of_values, bits, strict=True)
        )
    )


def _meets_any(a: Range, intervals: Sequence[Ends]) -> Any:
    """Whether a range has a value in one of the intervals."""
    return _either(*(_meets(a, interval) for interval in intervals))


def _meets(a: Range, interval: Ends) -> Any:
    lo, hi, lo_open, hi_open = interval
    above = True if lo is None else _less(lo, a) if lo_open else _at_most(lo, a)
    below = True if hi is None else _less(a, hi) if hi_open else _at_most(a, hi)
    return _and(above, below)


def is_constant(a: Range, truth: bool, *, any_of_null: bool = False) -> Possible:
    """A leaf with the same truth for every value, and that or NULL for NULL; or anything at all for NULL."""
    likely, otherwise = _either(a.value, a.null), a.null if any_of_null else False
    return Possible(likely, otherwise, a.null) if truth else Possible(otherwise, likely, a.null)


def refine_single_values(by_bounds: Any, a: Range, holds: Callable[[Any], bool | None]) -> Any:
    """Where lo = hi, all values of the slice are that one: ``holds`` decides what the bounds leave open.

    ``by_bounds`` is the outcome by bounds: an int, or ``(n,) uint8``.
    """
    both = outcome.TRUE | outcome.FALSE
    if not isinstance(a.lo, MaskedBound):
        return by_bounds & ~_opposite(holds(a.lo)) if by_bounds & both == both and a.lo == a.hi else by_bounds
    single = a.lo.single(a.hi)
    if np.ndim(single) == 0:
        return by_bounds
    single &= by_bounds & both == both
    rows = np.flatnonzero(single)
    values = a.lo.values[rows].tolist()  # all at once: bounds may be Arrow's
    ruled_out = {value: _opposite(holds(value)) for value in dict.fromkeys(values)}
    decided = np.full(len(single), by_bounds, np.uint8)
    decided[rows] &= ~np.fromiter(map(ruled_out.__getitem__, values), np.uint8, len(values))
    return decided


def _opposite(answer: bool | None) -> int:
    return 0 if answer is None else outcome.FALSE if answer else outcome.TRUE


def pack(possible: Possible) -> Any:
    """The possible values as one outcome: an int, or ``(n,) uint8`` when any of the flags is an array."""
    by_bit = tuple(zip(possible, (outcome.TRUE, outcome.FALSE, outcome.NULL), strict=True))
    arrays = [(flags, bit) for flags, bit in by_bit if isinstance(flags, np.ndarray)]
    fixed = sum(bit for flags, bit in by_bit if not isinstance(flags, np.ndarray) and flags)
    if not arrays:
        return fixed
    # A boolean is stored as the byte 0 or 1, so shifting it is putting its bit in place.
    shifted = [flags.view(np.uint8) << np.uint8(bit >> 1) for flags, bit in arrays]
    result = shifted[0]
    for bits in shifted[1:]:
        result |= bits
    return result | np.uint8(fixed) if fixed else result


def _and(a: Any, b: Any) -> Any:
    """``a & b``, without work where one side is a plain TRUE or FALSE."""
    return b if a is True else a if b is True else False if a is False or b is False else a & b


def _either(*parts: Any) -> Any:
    """The OR of all, without work where one is a plain TRUE or FALSE."""
    total: Any = False
    for part in parts:
        if part is True:
            return True
        if part is not False:
            total = part if total is False else total | part
    return total


def _not(answer: Any) -> Any:
    return answer ^ True
