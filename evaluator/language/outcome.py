"""Outcomes (contract C1): the set of values that an expression may take on the rows of a slice.

An outcome is a set of {TRUE, FALSE, NULL} as three bits: 1, 2 and 4. It holds *at least* every value that occurs, so
a slice is kept when TRUE is in it and is fully matched when it is exactly {TRUE}. ``UNKNOWN`` is the full set.

    AND   T = Ta & Tb     F = Fa | Fb     N = (Na & (Tb | Nb)) | (Nb & (Ta | Na))
    NOT   swaps T and F
    OR    by De Morgan

These planes are exactly the image of Kleene's logic, for any two sets. Of the empty set (no row at all, as far as one
column's statistics say) they are a superset of it: another column's statistics may know better. The same formula
serves one slice (``int``, tabulated) and all slices (``(n,) uint8``).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["EMPTY", "FALSE", "NULL", "TRUE", "UNKNOWN", "Outcomes", "and_of", "describe", "not_of", "of_value"]

Outcomes = npt.NDArray[np.uint8]

EMPTY, TRUE, FALSE, NULL = 0, 1, 2, 4
UNKNOWN = TRUE | FALSE | NULL

_NAMES = {TRUE: "true", FALSE: "false", NULL: "null"}
_VALUES: dict[bool | None, int] = {True: TRUE, False: FALSE, None: NULL}


def of_value(value: bool | None) -> int:
    """The outcome of one row's value: {TRUE}, {FALSE} or {NULL}."""
    return _VALUES[value]


def describe(outcome: int) -> str:
    """``{true, null}``: for people."""
    return "{" + ", ".join(name for bit, name in _NAMES.items() if outcome & bit) + "}"


def and_of(a: Any, b: Any, lanes: int = 1) -> Any:
    """AND of two outcomes; shifting TRUE's bit by two puts it in NULL's place.

    ``lanes`` 0x010101... for integers that hold an outcome in every byte.
    """
    may_pass_a, may_pass_b = a | (a << 2), b | (b << 2)
    return (
        (a & b & (TRUE * lanes))
        | ((a | b) & (FALSE * lanes))
        | (((a & may_pass_b) | (b & may_pass_a)) & (NULL * lanes))
    )


def not_of(a: Any, lanes: int = 1) -> Any:
    """NOT of an outcome, likewise."""
    return (a & (NULL * lanes)) | ((a & (TRUE * lanes)) << 1) | ((a & (FALSE * lanes)) >> 1)


NOT_TABLE: tuple[int, ...] = tuple(not_of(o) for o in range(8))
AND_TABLE: tuple[int, ...] = tuple(and_of(a, b) for a in range(8) for b in range(8))
OR_TABLE: tuple[int, ...] = tuple(not_of(and_of(not_of(a), not_of(b))) for a in range(8) for b in range(8))


def negate(a: Outcomes) -> Outcomes:
    """NOT over ``(n,)`` outcomes."""
    negated: Outcomes = not_of(a)
    return negated


def conjoin(parts: Iterable[Outcomes], n: int) -> Outcomes:
    """AND over any number of ``(n,)`` outcomes; no parts at all is TRUE."""
    given = list(parts)
    found: Outcomes = reduce(and_of, given) if given else np.full(n, TRUE, np.uint8)
    return found


def disjoin(parts: Iterable[Outcomes], n: int) -> Outcomes:
    """OR over any number of ``(n,)`` outcomes; no parts at all is FALSE."""
    return negate(conjoin([negate(part) for part in parts], n))
