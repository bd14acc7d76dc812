"""floor, ceil, round and bround over intervals: exact, or within a unit of the last digit, by engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from evaluator.functions.arithmetic import wider_number, within
from evaluator.functions.base import Argument, RangeFunction, count_of, strict, within_type
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import exact_number
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, Kind, Type, decimal_type

__all__ = ["FUNCTIONS"]


def _floor_type(types: Sequence[Type]) -> Type:
    kind = types[0].kind
    if kind is Kind.DECIMAL:
        return decimal_type(min(38, types[0].precision - types[0].scale + 1), 0)
    return BIGINT if kind.is_number else wider_number(types)


def _rounded_by(function: Callable[[Any], int]) -> Callable[[Sequence[Argument], Type, Semantics], Interval]:
    def compute(arguments: Sequence[Argument], result: Type, semantics: Semantics) -> Interval:
        if len(arguments) != 1:
            raise UnsupportedError("rounding to a number of digits by floor or ceil is not decided")
        x = within_type(arguments[0])
        if not x.is_bounded or not all(math.isfinite(end) for end in (x.lo, x.hi)):
            return strict(arguments, null=True)
        lo, hi = x.lo, x.hi
        if semantics.longs_round_by_double and arguments[0].type.kind is Kind.BIGINT:
            largest = arguments[0].type.integer_range()[1]
            lo, hi = min(lo, int(float(lo))), max(hi, min(int(float(hi)), largest))
        return within(function(lo), function(hi), arguments, result)

    return compute


def _round_type(types: Sequence[Type]) -> Type:
    if types[0].kind is Kind.DECIMAL:
        return decimal_type(38, types[0].scale)
    return wider_number(types[:1])


def _round(arguments: Sequence[Argument], result: Type, semantics: Semantics) -> Interval:
    """round(x, d): whether half up, half even or in binary, the result is within one unit of the last digit."""
    digits = count_of(arguments[1], "a number of digits") if len(arguments) > 1 else 0
    x = arguments[0].interval
    if not x.is_bounded or not -15 <= digits <= 15:
        return strict(arguments, null=True)
    if result.kind.is_integer and digits >= 0:
        return x
    unit = Fraction(1, 10**digits) if digits > 0 else 10**-digits
    if result.kind.is_fractional:
        lo, hi = float(exact_number(x.lo) - 2 * unit), float(exact_number(x.hi) + 2 * unit)
        if semantics.doubles_round_by_long:
            lo, hi = min(lo, 2.0**63), max(hi, -(2.0**63))
        return within(lo, hi, arguments, result)
    return within(x.lo - unit, x.hi + unit, arguments, result)


FUNCTIONS = {
    "floor": RangeFunction(_floor_type, _rounded_by(math.floor)),
    "ceil": RangeFunction(_floor_type, _rounded_by(math.ceil)),
    "round": RangeFunction(_round_type, _round),
    "bround": RangeFunction(_round_type, _round),
}
