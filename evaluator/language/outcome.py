"""Outcomes (contract C1): the set of values that an expression may take on the rows of a slice.

An outcome is a subset of {TRUE, FALSE, NULL}, held as three bits: 1, 2 and 4. It contains *at least* every value that
occurs, so a slice is kept when TRUE is in it, and is fully matched when it is exactly {TRUE}. ``UNKNOWN`` is the full
set.

    AND   T = Ta & Tb     F = Fa | Fb     N = (Na & (Tb | Nb)) | (Nb & (Ta | Na))
    NOT   swaps T and F
    OR    by De Morgan

    a                b               a AND b          a OR b
    {TRUE}           {TRUE, FALSE}   {TRUE, FALSE}    {TRUE}
    {FALSE}          UNKNOWN         {FALSE}          UNKNOWN
    {TRUE, NULL}     {FALSE}         {FALSE}          {TRUE, NULL}
    UNKNOWN          UNKNOWN         UNKNOWN          UNKNOWN

For non-empty sets the formulas give exactly the image of Kleene's logic. For the empty set (by one column's statistics
the slice has no row) they give a superset of it, as another column's statistics may know of rows. The same formulas
serve one slice (``int``, tabulated), all slices (``(n,) uint8``), and integers with one outcome per byte.
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
    """The outcome as text for people, such as ``{true, null}``."""
    return "{" + ", ".join(name for bit, name in _NAMES.items() if outcome & bit) + "}"


def and_of(a: Any, b: Any, ones: int = 1) -> Any:
    """AND of two outcomes; shifting TRUE's bit by two puts it in NULL's place.

    ``ones``: 0x010101... for integers that hold an outcome in every byte.
    """
    may_pass_a, may_pass_b = a | (a << 2), b | (b << 2)
    return (
        (a & b & (TRUE * ones)) | ((a | b) & (FALSE * ones)) | (((a & may_pass_b) | (b & may_pass_a)) & (NULL * ones))
    )


def not_of(a: Any, ones: int = 1) -> Any:
    """NOT of an outcome; ``ones`` as in ``and_of``."""
    return (a & (NULL * ones)) | ((a & (TRUE * ones)) << 1) | ((a & (FALSE * ones)) >> 1)


NOT_TABLE: tuple[int, ...] = tuple(not_of(o) for o in range(8))
AND_TABLE: tuple[int, ...] = tuple(and_of(a, b) for a in range(8) for b in range(8))
OR_TABLE: tuple[int, ...] = tuple(not_of(and_of(not_of(a), not_of(b))) for a in range(8) for b in range(8))


def negate(a: Outcomes) -> Outcomes:
    """NOT over ``(n,)`` outcomes."""
    negated: Outcomes = not_of(a)
    return negated


def conjoin(operands: Iterable[Outcomes], n: int) -> Outcomes:
    """AND over any number of ``(n,)`` outcomes; of none, TRUE."""
    outcomes = list(operands)
    result: Outcomes = reduce(and_of, outcomes) if outcomes else np.full(n, TRUE, np.uint8)
    return result


def disjoin(operands: Iterable[Outcomes], n: int) -> Outcomes:
    """OR over any number of ``(n,)`` outcomes; of none, FALSE."""
    return negate(conjoin([negate(operand) for operand in operands], n))
