"""Groups of slices whose statistics of one column differ in nothing but the bounds, sorted by the bounds.

``evaluation.hierarchical`` decides whole runs of such a group at once. Four flags tell groups apart, so a column has
at most 16 groups, mostly one or two:

    lower bound known | upper bound known | NULL possible | a value possible
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity
from evaluator.statistics.stored_bounds import Bounds

__all__ = ["Bound", "SliceGroup", "slice_groups"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@entity
class Bound:
    """One bound of a column in n slices.

    values     ``(n,)``, a filler where not known
    known      ``(n,) bool``
    sort_keys  gives, for some slices by index, keys of fixed width in the order of the bounds; close bounds may be
               equal
    """

    values: Bounds
    known: Mask
    sort_keys: Callable[[Rows], npt.NDArray[Any]]


@entity
class SliceGroup:
    """One group. ``rows`` are its slices by lower, then upper bound; ``lo`` and ``hi`` are the bounds in that order.

    ``lo`` or ``hi`` is None where the bound is unknown in the whole group. ``null`` and ``value``: NULL, or a value,
    may occur.
    """

    rows: Rows
    lo: npt.NDArray[Any] | None
    hi: npt.NDArray[Any] | None
    null: bool
    value: bool


def slice_groups(lo: Bound, hi: Bound, may_be_null: Mask, may_be_value: Mask) -> list[SliceGroup]:
    """Split n slices by the four flags and sort each group. The order of bounds with equal keys is left open."""
    flags = lo.known.astype(np.uint8)
    for bit, mask in enumerate((hi.known, may_be_null, may_be_value), start=1):
        flags |= mask.astype(np.uint8) << np.uint8(bit)
    groups = []
    for combination in np.flatnonzero(np.bincount(flags, minlength=16)).tolist():
        rows, value = np.flatnonzero(flags == combination), bool(combination & 8)
        lower = lo if combination & 1 and value else None
        upper = hi if combination & 2 and value else None
        keys = [bound.sort_keys(rows) for bound in (upper, lower) if bound is not None]
        if keys:
            rows = rows[np.lexsort(keys)]
        lo_values, hi_values = (None if bound is None else bound.values[rows] for bound in (lower, upper))
        groups.append(SliceGroup(rows, lo_values, hi_values, bool(combination & 4), value))
    return groups
