"""IN over a column, or a function of one, and constants: one list, and the members that a comparison decides apart.

x IN (1, 2, NULL)          Membership
x IN (5, NaN)              Membership, or x against NaN
t IN (now(), t1)           Membership, or t against the range of the clock
f IN (1.1) of a float      f against the interval of the floats that the engine may take for 1.1
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.binding.clock_tests import compared_with_clock
from evaluator.binding.constant_domain import equal_in_any_type, in_domain_of
from evaluator.binding.constant_tests import constant_of, outward
from evaluator.binding.leaves import (
    Comparison,
    Lookup,
    Membership,
    OutOfRange,
    Test,
    lookup_of_result,
)
from evaluator.binding.list_members import as_column_type, as_texts, check_one_comparison, holds_exactly, may_hold_any
from evaluator.binding.nan_tests import against_nan, is_nan
from evaluator.binding.operands import (
    BoundColumn,
    BoundConstant,
    BoundOperand,
)
from evaluator.binding.type_coercion import (
    has_one_form,
    rounding_type,
)
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import SMALLEST_DOUBLE, to_ordinals
from evaluator.language.semantics import Semantics
from evaluator.statistics.columns import array_dtype
from evaluator.statistics.ranges import Members

__all__ = ["membership_tests"]

#: Values that stand for no key.
_INFINITE = (math.inf, -math.inf)


def membership_tests(
    operand: BoundOperand, members: Sequence[BoundOperand], semantics: Semantics
) -> Iterator[tuple[Test, Lookup | None]]:
    """The tests whose OR is ``operand IN members``. Raises UnsupportedError(why) where it is not decided."""
    if isinstance(operand, BoundConstant) or not all(isinstance(m, BoundConstant) for m in members):
        raise UnsupportedError("IN over anything but a column and constants is not decided")
    constants = [m for m in members if isinstance(m, BoundConstant)]
    if semantics.lists_meet_as_text:
        constants = as_texts(operand.type, constants) or constants
    if any(map(is_nan, constants)) and (equal := against_nan("=", operand, semantics)) is not None:
        yield equal, None
        constants = [m for m in constants if not is_nan(m)]
        if not constants:
            return
    moments = [m for m in constants if m.is_range]
    if moments:
        if len({operand.type, *(m.type for m in constants if m.interval.value)}) > 1:
            raise UnsupportedError("IN over moments of different types is not decided")
        for moment in moments:
            yield compared_with_clock("=", operand, moment, semantics), None
        constants = [m for m in constants if not m.is_range]
        if not constants:
            return
    check_one_comparison(operand.type, constants, semantics)
    via = rounding_type((operand.type, *(m.type for m in constants)))
    has_null = any(not m.interval.value for m in constants)
    target: BoundOperand = operand
    points: list[Any] = []
    lookups: list[Any] = []
    is_finite = True
    taken = semantics.lists_take_column_type
    wider: list[Interval] = list(as_column_type(operand.type, constants)) if taken else []
    for member in constants:
        if not member.interval.value:
            continue
        target, interval = in_domain_of(operand, member, semantics, via)
        ordinal = to_ordinals(interval, target.type) if isinstance(target, BoundColumn) else interval
        if not interval.is_point or interval.null:
            wider.append(ordinal)
            if via is not None and not interval.null and not member.type.kind.is_fractional:
                points += equal_in_any_type(operand, member, semantics)
        elif semantics.zeros_differ_in_lists and target.type.kind.is_fractional and ordinal.lo == 0:
            wider.append(ordinal.with_bounds(-SMALLEST_DOUBLE, SMALLEST_DOUBLE))
        elif not (isinstance(ordinal.lo, Fraction) and isinstance(target, BoundColumn)):
            points.append(ordinal.lo)
            lookups.append(interval.lo)
            is_finite = is_finite and interval.lo not in _INFINITE
    dtype = array_dtype(target.type) if isinstance(target, BoundColumn) else np.dtype(object)
    if dtype == np.int64:
        points = [p for p in points if -(1 << 63) <= p < 1 << 63]
    has_key = isinstance(target, BoundColumn) and not wider and has_one_form(target.type)
    has_key = has_key and is_finite and len(constants) == len(members)
    lookup = (
        Lookup(target.field, tuple(lookups)) if has_key and not moments and isinstance(target, BoundColumn) else None
    )
    if (
        isinstance(target, BoundColumn)
        and not has_null
        and not moments
        and not may_hold_any(target.type, points, wider)
    ):
        yield OutOfRange(target, False), None  # Hive folds such a list to FALSE, for NULL rows too
        return
    if wider and not has_null and not any(holds_exactly(operand.type, member) for member in constants):
        raise UnsupportedError("IN over numbers that the column's type does not hold is not decided")
    test = Membership(target, Members.of(points, dtype, has_null))
    if lookup is None and not wider and not moments:
        lookup = lookup_of_result(test, lookups)
    yield test, lookup
    for interval in wider:
        yield Comparison("=", target, constant_of(outward(interval, target), target.type)), None
