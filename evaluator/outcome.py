"""Outcomes (contract C1): the set of values that an expression may take on the rows of a slice.

An outcome is a set of {TRUE, FALSE, NULL} as three bits: 1, 2 and 4. It holds *at least* every value that occurs, so
a slice is kept when TRUE is in it and is fully matched when it is exactly {TRUE}. ``UNKNOWN`` is the full set.

    AND   T = Ta & Tb     F = Fa | Fb     N = (Na & (Tb | Nb)) | (Nb & (Ta | Na))
    NOT   swaps T and F
    OR    by De Morgan

The 64 answers of AND and OR and the 8 of NOT are tabulated once from Kleene's three-valued logic. The same table
serves one slice (``int`` in, ``int`` out) and all slices (``(n,) uint8`` in and out).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["EMPTY", "FALSE", "NULL", "TRUE", "UNKNOWN", "Outcomes", "describe", "of_value"]

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


def _kleene_and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _image_of_and(a: int, b: int) -> int:
    """Every value of ``x AND y`` with x drawn from set a and y from set b."""
    image = EMPTY
    for x, x_bit in _VALUES.items():
        for y, y_bit in _VALUES.items():
            if a & x_bit and b & y_bit:
                image |= of_value(_kleene_and(x, y))
    return image


NOT_TABLE = tuple((o & NULL) | (TRUE if o & FALSE else 0) | (FALSE if o & TRUE else 0) for o in range(8))
AND_TABLE = tuple(_image_of_and(a, b) for a in range(8) for b in range(8))
OR_TABLE = tuple(NOT_TABLE[_image_of_and(NOT_TABLE[a], NOT_TABLE[b])] for a in range(8) for b in range(8))

_NOT_ARRAY = np.array(NOT_TABLE, np.uint8)
_AND_ARRAY = np.array(AND_TABLE, np.uint8)
_OR_ARRAY = np.array(OR_TABLE, np.uint8)


def negate(a: Outcomes) -> Outcomes:
    """NOT over ``(n,)`` outcomes."""
    return _NOT_ARRAY[a]


def conjoin(parts: Iterable[Outcomes], n: int) -> Outcomes:
    """AND over any number of ``(n,)`` outcomes; no parts at all is TRUE."""
    return _combine(parts, n, _AND_ARRAY, TRUE)


def disjoin(parts: Iterable[Outcomes], n: int) -> Outcomes:
    """OR over any number of ``(n,)`` outcomes; no parts at all is FALSE."""
    return _combine(parts, n, _OR_ARRAY, FALSE)


def _combine(parts: Iterable[Outcomes], n: int, table: Outcomes, neutral: int) -> Outcomes:
    result: Outcomes | None = None
    for part in parts:
        result = part if result is None else table[(result << 3) | part]
    return np.full(n, neutral, np.uint8) if result is None else result
