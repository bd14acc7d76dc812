"""Constraints on secondary keys from a filter: the ranges of keys of the rows for which the whole filter can be TRUE.

A filter is TRUE only where each of its required leaves is, those that ANDs join at the top. By column of the key:

    required leaf              ranges of the column's piece of the key (``keys``)
    -------------------------  -------------------------------------------------------
    city = 'sfo', IN, <=>      the pieces of the values
    city IS NULL               the piece of NULL
    ts < 7, ts >= 3            a range; of several leaves the intersection
    city LIKE 'sf%'            a range
    anything else              all keys

    key (city, rider, ts)      city IN ('a', 'b') AND rider = 'x' AND ts > 3  ->  (a x 3.., b x 3..): two ranges
                               city > 'a' AND rider = 'x'                     ->  (a..): later columns are left out

Values that a reader may rebase (ancient days and moments) constrain nothing. Constants are those of the bound filter,
which allow for every engine's treatment of the two zeros. Ranges include NaN wherever an engine may take it to be in
the range (``keys.ranges_of``).

Pitfall P15 is described in docs/facts/pitfalls.md#p15.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import BoundLeaf, Comparison, NullTest, Prefix
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.language import arrow_functions as pc
from evaluator.language.key_set import KeySet
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from index_store.own.provider.per_file_statistics import is_ancient
from index_store.own.provider.slice_statistics import ordinal_of
from index_store.own.secondary.key_merge import SortedPieces
from index_store.own.secondary.keys import (
    Range,
    after,
    encode,
    encode_null,
    encode_value,
    key_range,
    prefix_range,
    ranges_of,
)
from index_store.table.plain_values import plain_type

__all__ = ["KeyRanges", "pieces_of_many", "pieces_of_values", "ranges_of_filter", "required_leaves"]

#: At most so many combinations of values are looked up; a column that would give more is left out.
MAX_POINTS = 1000
#: So many values of a list, several of which may be the same, are turned into points.
_MAX_VALUES = 10_000
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


@frozen
class KeyRanges:
    """Ranges of keys, the leaves that they follow from, and how many columns of the key they constrain.

    leading    whether each range begins with the piece of a value of the first column
    narrower   whether the ranges may skip more than the leaves by themselves
    """

    ranges: tuple[Range, ...]
    leaves: tuple[int, ...]
    columns: int
    leading: bool
    narrower: bool


@frozen
class _Pieces:
    """The ranges of one column's piece, in order; ``points``: each of them is a single piece."""

    ranges: tuple[Range, ...]
    points: bool
    leaves: tuple[int, ...]


def required_leaves(bound: BoundExpression) -> tuple[int, ...]:
    """The numbers of the leaves that are TRUE wherever the filter is: those that only ANDs join."""

    def joined(operands: list[tuple[int, ...]]) -> tuple[int, ...]:
        return tuple(leaf for operand in operands for leaf in operand)

    return bound.program.fold(
        leaf=lambda index: (index,),
        negate=lambda _: (),
        conjoin=joined,
        disjoin=lambda operands: operands[0] if len(operands) == 1 else (),
    )


def ranges_of_filter(bound: BoundExpression, columns: Sequence[Field]) -> KeyRanges | None:
    """The ranges of keys of these columns, for rows that make the filter TRUE; None: all keys."""
    required = [(number, bound.leaves[number]) for number in required_leaves(bound)]
    below: tuple[bytes, ...] = (b"",)
    leaves: tuple[int, ...] = ()
    constraint: KeyRanges | None = None
    for number, column in enumerate(columns):
        pieces = _pieces_of_column(required, column)
        if pieces is None or len(below) * len(pieces.ranges) > MAX_POINTS:
            break
        leaves = tuple(sorted({*leaves, *pieces.leaves}))
        ranges = tuple(
            (start + lo, after(start) if hi is None else start + hi) for start in below for lo, hi in pieces.ranges
        )
        constraint = KeyRanges(
            ranges,
            leaves,
            number + 1,
            pieces.points if constraint is None else constraint.leading,
            len(leaves) > 1 or not _says_it_all(bound.leaves[leaves[0]]),
        )
        if not pieces.points:
            break
        below = tuple(lo for lo, _ in ranges)
    return constraint


def _says_it_all(leaf: BoundLeaf) -> bool:
    """Whether look-ups and bounds of a slice decide the leaf as well as its key does."""
    return (
        leaf.lookup is not None
        or isinstance(leaf.test, NullTest)
        or (isinstance(leaf.test, Comparison) and leaf.test.op in ("<", "<=", ">", ">="))
    )


def _pieces_of_column(required: Iterable[tuple[int, BoundLeaf]], column: Field) -> _Pieces | None:
    pieces: _Pieces | None = None
    for number, leaf in required:
        try:
            one = _pieces_of_leaf(number, leaf, column)
        except (ValueError, TypeError, OverflowError):  # a constant that is none of the column's type
            continue
        if one is not None:
            pieces = (
                one
                if pieces is None
                else _Pieces(
                    _shared(pieces.ranges, one.ranges), pieces.points or one.points, (*pieces.leaves, *one.leaves)
                )
            )
    return pieces


def _pieces_of_leaf(number: int, leaf: BoundLeaf, column: Field) -> _Pieces | None:
    test = leaf.test
    if leaf.lookup is not None and not leaf.lookup.function and leaf.lookup.column == column:
        if len(leaf.lookup.values) > _MAX_VALUES:
            return None
        pieces = pieces_of_values(leaf.lookup.values, column)
        return (
            None
            if pieces is None or len(pieces) > MAX_POINTS
            else _Pieces(tuple(key_range(one) for one in pieces), True, (number,))
        )
    match test:
        case NullTest(operand=BoundColumn() as operand) if operand.field == column:
            return _Pieces((key_range(encode_null()),), True, (number,))
        case Prefix(operand=BoundColumn() as operand, prefix=prefix) if (
            operand.field == column and _is_plain(operand) and isinstance(prefix.value, str)
        ):
            return _Pieces((prefix_range(prefix.value),), False, (number,)) if prefix.value else None
        case Comparison(op=op, left=BoundColumn() as operand, right=BoundConstant() as constant) if (
            operand.field == column
            and _is_plain(operand)
            and not constant.interval.null
            and constant.interval.value
            and op != "!="
        ):
            lo = constant.interval.lo if op not in ("<", "<=") else None
            hi = constant.interval.hi if op not in (">", ">=") else None
            ranges = _range(column.type, lo, hi, inclusive=op not in ("<", ">"))
            return None if ranges is None else _Pieces(ranges, False, (number,))
        case _:
            return None


def _is_plain(operand: BoundColumn) -> bool:
    """Whether the filter sees the column as the files have it: CHAR is compared without its padding (P15)."""
    same = operand.type == operand.field.type or all(
        one.kind in (Kind.STRING, Kind.VARCHAR) for one in (operand.type, operand.field.type)
    )
    return same and operand.type.kind is not Kind.CHAR


def _range(of: Type, lo: Any, hi: Any, *, inclusive: bool) -> tuple[Range, ...] | None:
    """The pieces between two values in the form of arrays, where None is no end; None: no constraint follows."""
    if isinstance(lo, Fraction) or isinstance(hi, Fraction):
        inclusive = True
        lo, hi = lo if lo is None else math.floor(lo), hi if hi is None else math.ceil(hi)
    if lo is not None and is_ancient(lo, of):
        lo = None  # a greater value may be stored as a smaller one
    if hi is not None and is_ancient(hi, of):
        return None
    if pa.types.is_integer(plain_type(of)):
        lo, hi = (end if end is None or _LEAST <= end <= _GREATEST else None for end in (lo, hi))
    if lo is None and hi is None:
        return None
    return ranges_of(of, lo, hi, lo_inclusive=inclusive, hi_inclusive=inclusive)


def pieces_of_many(values: Sequence[object], column: Field) -> SortedPieces | None:
    """``pieces_of_values`` of many values at once."""
    plain = _plain_values(values, column)
    if plain is None:
        pieces = pieces_of_values(values, column)
        return None if pieces is None else SortedPieces(pa.array(pieces, pa.binary()))
    if len(plain) and pa.types.is_int64(plain.type) and is_ancient(pc.min(plain).as_py(), column.type):
        return None
    return SortedPieces.of(encode([plain], [column.type]))


def _plain_values(values: Sequence[object], column: Field) -> pa.Array | None:
    """The values of a look-up in plain form; None when they have to be taken one by one."""
    kind = column.type.kind
    if isinstance(values, KeySet):
        if values.type != column.type:
            return None
        return values.array.cast(pa.large_binary()) if kind.is_text else values.array
    try:
        if kind in (Kind.STRING, Kind.VARCHAR) and all(type(one) is str for one in values):
            return pa.array(values, pa.large_string()).cast(pa.large_binary())
        if (
            plain_type(column.type) == pa.int64()
            and kind is not Kind.DECIMAL
            and all(type(one) is int for one in values)
        ):
            return pa.array(values, pa.int64())
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
        pass  # a value that no row has, or text with half of a surrogate pair
    return None


def pieces_of_values(values: Iterable[object], column: Field) -> tuple[bytes, ...] | None:
    """The pieces of the values of a look-up that the column can hold, in order; None if readers may rebase one."""
    asked = [value for one in values if (value := ordinal_of(one, column)) is not None]
    if any(is_ancient(one, column.type) for one in asked):
        return None
    return tuple(sorted({encode_value(one, column.type) for one in asked}))


def _shared(some: Sequence[Range], others: Sequence[Range]) -> tuple[Range, ...]:
    """The intersection of two sets of ranges, each in order and without overlaps."""
    shared: list[Range] = []
    for lo, hi in some:
        for low, high in others:
            start, end = max(lo, low), hi if high is None else high if hi is None else min(hi, high)
            if end is None or start < end:
                shared.append((start, end))
    return tuple(shared)
