"""Evaluates one comparison of a pruning formula in some slices: by codes where the column has an index, exactly where
codes are equal.

``where`` is a ``slice`` or ``(k,)`` row numbers; the answer is ``(k,) bool``.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.pruning_formula import Apart, Atom, Flag, Within
from evaluator.statistics.codes import ABOVE, BoundCodes
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.ranges import MaskedBound, Members
from evaluator.statistics.stored_bounds import taken

__all__ = [
    "Where",
    "code_of",
    "nonzero",
    "rows_of",
    "test_apart",
    "test_atom",
    "test_exactly",
    "test_flag",
    "test_within",
]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[Any]
Where = slice | Rows

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: Up to here members are searched for each slice; above, codes are looked up in a table of 65,536 entries.
_FEW_ROWS = 4096
#: Slices whose codes are looked up at a time: numpy makes row numbers of 8 bytes of them, which stay in the cache.
_LOOKED_UP_AT_ONCE = 1 << 16


def code_of(atom: Atom) -> int | None:
    """The code of an atom's constant, or None when its column has no index."""
    index = atom.column.index
    return None if index is None else index.coder.code(atom.value)


def test_atom(atom: Atom, code: int | None, where: Where, out: Mask | None) -> Mask:
    """One bound against its constant; ``code`` is that of ``code_of``, ``out`` an array to write to, if it can be."""
    if code is None or atom.column.index is None:
        return _test_values(atom, where)
    bound = _side(atom, atom.column.index)
    codes = bound.codes[where]
    compare = np.less if atom.is_lower else np.greater
    mask: Mask = compare(codes, np.uint16(code), out=out)
    whole = isinstance(where, slice) and len(codes) == len(bound.codes)
    ties: Rows = bound.of_code(code) if whole else np.flatnonzero(codes == np.uint16(code))
    if len(ties):
        mask[ties] = test_exactly(atom, ties if whole else rows_of(where, ties))
    return mask


def test_exactly(atom: Atom, rows: Rows) -> Mask:
    """The bounds of these slices, all of them known, against the constant."""
    values = atom.column.lo if atom.is_lower else atom.column.hi
    mask: Mask = np.asarray(_OPERATORS[atom.op](values[rows], _constant(atom.value)), np.bool_)
    return mask


def _test_values(atom: Atom, where: Where) -> Mask:
    column = atom.column
    values, unknown = (column.lo, column.unknown_bounds[0]) if atom.is_lower else (column.hi, column.unknown_bounds[1])
    if unknown is True:
        return np.ones(_size(where), np.bool_)
    mask: Mask = np.asarray(_OPERATORS[atom.op](taken(values, where), _constant(atom.value)), np.bool_)
    if unknown is not False:
        mask |= _some(unknown, where)
    return mask


def test_flag(flag: Flag, where: Where) -> Mask:
    """Whether NULL, or a value, may occur."""
    flags = flag.column.may_be_null if flag.what == "null" else flag.column.may_be_value
    mask: Mask = flags[where]
    return mask.copy() if isinstance(where, slice) else mask


def test_within(within: Within, where: Where, out: Mask | None) -> Mask:
    """Some member lies between the bounds; ``out`` is an array to write to, if it can be."""
    column, index = within.column, within.column.index
    size = _size(where)
    if index is None or size <= _FEW_ROWS:
        lo, hi = _bounds(column, where)
        is_within: Mask = np.broadcast_to(lo.meets(hi, within.members), (size,)) & _some(column.any_value, where)
        return is_within
    return _within_by_table(within.members, index, column, where, out)


def _within_by_table(
    members: Members, index: ColumnIndex, column: ColumnStatistics, where: Where, out: Mask | None
) -> Mask:
    """``following[c]`` is the least member code above c: a slice of lower code c holds it if its upper code is above.

    Slices that have a member's own code at one of their ends are compared exactly. Of all slices these are read from
    the order by code: bounds in order are found faster among the members.
    """
    codes = np.unique(index.coder.codes(members.array))
    counts = np.diff(np.concatenate(([0], codes.astype(np.intp), [int(ABOVE) + 1])))
    following = np.repeat(np.append(codes, ABOVE), counts)
    lower, upper = index.lo.codes[where], index.hi.codes[where]
    mask: Mask = np.empty(len(lower), np.bool_) if out is None else out
    reached = np.empty(min(len(lower), _LOOKED_UP_AT_ONCE), np.uint16)
    for start in range(0, len(lower), _LOOKED_UP_AT_ONCE):
        some = slice(start, start + _LOOKED_UP_AT_ONCE)
        of_some = following.take(lower[some], out=reached[: len(lower[some])], mode="clip")  # none is out of range
        np.less(of_some, upper[some], out=mask[some])
    if len(lower) == len(index.lo.codes) and isinstance(where, slice):
        ends: list[Rows] = [index.lo.of_codes(codes), index.hi.of_codes(codes)]
    else:
        is_member = np.zeros(int(ABOVE) + 1, np.bool_)
        is_member[codes] = True
        ends = [nonzero(is_member.take(lower)), nonzero(is_member.take(upper))]
    for at_end in ends:
        doubtful = at_end[~mask[at_end]]
        lo, hi = _bounds(column, rows_of(where, doubtful))
        mask[doubtful] = lo.meets(hi, members)
    return mask


def test_apart(apart: Apart, where: Where) -> Mask:
    """The bounds are not one value that is a member."""
    column, index = apart.column, apart.column.index
    if index is None:
        lo, hi = _bounds(column, where)
        return ~np.broadcast_to(np.asarray(lo.is_one_of(hi, apart.members), np.bool_), (_size(where),))
    lower = index.lo.codes[where]
    mask: Mask = np.ones(len(lower), np.bool_)
    points = np.flatnonzero(lower == index.hi.codes[where])
    lo, hi = _bounds(column, rows_of(where, points))
    mask[points] = ~np.asarray(lo.is_one_of(hi, apart.members), np.bool_)
    return mask


def nonzero(mask: Mask) -> npt.NDArray[np.int64]:
    """``np.flatnonzero``, but eight slices at a time where few of many are TRUE."""
    if len(mask) <= _FEW_ROWS:
        return np.flatnonzero(mask)
    whole = len(mask) & ~7
    words = mask[:whole].view(np.uint64)
    filled = np.flatnonzero(words != 0)
    if len(filled) * 24 > whole:
        return np.flatnonzero(mask)
    near = np.flatnonzero(words[filled].view(np.bool_))
    rows = filled[near >> 3] * 8 + (near & 7)
    tail = np.flatnonzero(mask[whole:])
    return np.concatenate((rows, tail + whole)) if len(tail) else rows


def rows_of(where: Where, positions: Rows) -> Rows:
    """Row numbers of positions within ``where``."""
    return positions + where.start if isinstance(where, slice) else where[positions]


def _bounds(column: ColumnStatistics, where: Where) -> tuple[MaskedBound, MaskedBound]:
    unknown_lo, unknown_hi = (_some(flags, where) for flags in column.unknown_bounds)
    return MaskedBound(taken(column.lo, where), unknown_lo), MaskedBound(taken(column.hi, where), unknown_hi)


def _size(where: Where) -> int:
    return where.stop - where.start if isinstance(where, slice) else len(where)


def _some(flags: bool | Mask, where: Where) -> bool | Mask:
    return flags if isinstance(flags, bool) else flags[where]


def _side(atom: Atom, index: ColumnIndex) -> BoundCodes:
    return index.lo if atom.is_lower else index.hi


def _constant(value: Any) -> Any:
    """Text as an object, or numpy would take it for its own fixed-width strings."""
    return np.array(value, object) if isinstance(value, str | bytes) else value
