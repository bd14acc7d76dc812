"""Arithmetic over intervals.

type       rule
---------  ---------------------------------------------------------------------------------------------------------
integer    exact. A result beyond the type is not decided: engines wrap, fail or yield NULL.
decimal    exact while the result type has at most 38 digits; a quotient is rounded to six digits or more.
double     + - * / round monotonically in each argument, so the rounded ends bound the rounded results.
           Transcendental functions are widened by four units in the last place, more than libraries of Java and
           C differ.
float      computed in double and widened by 2^-21: engines compute in single or in double precision.

a + b on a in [1, 10], b in [-3, 5]     ->  [-2, 15]
a * b on a in [-2, 3], b in [-5, 4]     ->  [-15, 12]    the extremes lie at the four corners
a / b on b in [-1, 1]                   ->  unknown      the divisor may be 0
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from evaluator.functions.base import (
    Argument,
    RangeFunction,
    constant_of,
    decimal_parts,
    monotone,
    strict,
    widest_integer,
    within_type,
)
from evaluator.functions.conversions import vanishes
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, FLOAT, Kind, Type, decimal_type

__all__ = ["FUNCTIONS", "integer_type", "wider_number", "within"]

#: A relative and an absolute error above those of a float32, and a bound safely below its infinity.
_SINGLE, _TINY, _LARGEST_SINGLE = 2.0**-21, 2.0**-140, 3.0e38
#: Engines keep six digits behind the point of a quotient that has at most so many before it, whatever the settings.
_MAX_WHOLE_DIGITS, _MILLIONTH = 26, Fraction(1, 10**6)
#: Quotients below fit the 32 digits that engines keep before the point.
_LARGEST_QUOTIENT = 10**31


def wider_number(types: Sequence[Type]) -> Type:
    """The common type to which the engines convert numbers of these types."""
    if not all(t.kind.is_number for t in types):
        raise UnsupportedError(f"arithmetic on {', '.join(map(str, types))} is not decided")
    if any(t.kind.is_fractional for t in types):
        return DOUBLE if any(t.kind is Kind.DOUBLE for t in types) else FLOAT
    if any(t.kind is Kind.DECIMAL for t in types):
        whole, scale = (max(parts) for parts in zip(*map(decimal_parts, types), strict=True))
        return _fitting(whole + scale, scale)
    return widest_integer(t.kind for t in types)


def _fitting(precision: int, scale: int) -> Type:
    """The type of an exact result. Beyond 38 digits Hive and Spark round away all but six decimal places."""
    if precision > 38 and scale > 6:
        raise UnsupportedError("a decimal result of more than 38 digits is rounded by the engine: not decided")
    return decimal_type(min(precision, 38), scale)


def _sum_type(types: Sequence[Type]) -> Type:
    wide = wider_number(types)
    return _fitting(wide.precision + 1, wide.scale) if wide.kind is Kind.DECIMAL else wide


def _product_type(types: Sequence[Type]) -> Type:
    wide = wider_number(types)
    if wide.kind is not Kind.DECIMAL:
        return wide
    return _fitting(sum(sum(decimal_parts(t)) for t in types) + 1, sum(t.scale for t in types))


def _same_type(types: Sequence[Type]) -> Type:
    return wider_number(types[:1])


def _double_type(types: Sequence[Type]) -> Type:
    if not all(t.kind.is_number for t in types):
        raise UnsupportedError(f"arithmetic on {', '.join(map(str, types))} is not decided")
    return DOUBLE


def _in_type(value: Any, result: Type) -> Any:
    """The bound where the result type contains it, else None (overflow: not decided)."""
    if value is None:
        return None
    if result.kind.is_integer:
        lo, hi = result.integer_range()
        return value if lo <= value <= hi else None
    if result.kind is Kind.DECIMAL:
        return value if abs(value) < 10 ** (result.precision - result.scale) else None
    return value if math.isfinite(value) else None


def within(lo: Any, hi: Any, arguments: Sequence[Argument], result: Type, *, null: bool = False) -> Interval:
    """Both bounds, or none: a result that overflows may become any value of the type."""
    if result.kind is Kind.FLOAT:
        # Each argument may be rounded first, and the result afterwards: each by 2^-24 of the largest number involved.
        ends = (end for a in arguments for x in (within_type(a),) for end in (x.lo, x.hi))
        slack = max(abs(float(end)) for end in (lo, hi, *ends)) * _SINGLE + _TINY
        if not math.isfinite(slack):
            return strict(arguments, null=True)
        lo, hi = (None if abs(end) > _LARGEST_SINGLE else end for end in (lo - slack, hi + slack))
    else:
        lo, hi = _in_type(lo, result), _in_type(hi, result)
    if lo is None or hi is None:
        return strict(arguments, null=True)
    return strict(arguments, lo, hi, null=null)


def _as_result(value: Any, result: Type) -> Any:
    if not result.kind.is_fractional:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _ends(arguments: Sequence[Argument], result: Type) -> list[tuple[Any, Any]] | None:
    intervals = [within_type(argument) for argument in arguments]
    if not all(x.is_bounded for x in intervals):
        return None
    return [(_as_result(x.lo, result), _as_result(x.hi, result)) for x in intervals]


def _corners(operation: Callable[[Any, Any], Any]) -> Callable[[Sequence[Argument], Type, Semantics], Interval]:
    """A function of two arguments that is monotone in each. Its extremes lie at the four corners of their ranges."""

    def compute(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
        ends = _ends(arguments, result)
        if ends is None:
            return strict(arguments, null=True)
        values = [operation(x, y) for x in ends[0] for y in ends[1]]
        if result.kind.is_fractional and any(math.isnan(v) for v in values):
            return strict(arguments, null=True)
        return within(min(values), max(values), arguments, result)

    return compute


def _divide_type(types: Sequence[Type]) -> Type:
    wide = wider_number(types)
    if len(types) != 2:
        raise UnsupportedError("a quotient is of two numbers")
    if wide.kind is Kind.DECIMAL:
        return decimal_type(38, 6)
    return FLOAT if wide.kind is Kind.FLOAT else DOUBLE


def _divide(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    """x / y in doubles or in decimals; not decided where the divisor may be 0, which yields NULL or an error."""
    ends = _ends(arguments, result)
    if ends is None or ends[1][0] <= 0.0 <= ends[1][1]:
        return strict(arguments, null=True)
    if result.kind is Kind.DECIMAL:  # NULL where it does not fit, and rounded to six digits behind the point or more
        quotients = [Fraction(x) / Fraction(y) for x in ends[0] for y in ends[1]]
        if max(map(abs, quotients)) >= _LARGEST_QUOTIENT:
            return strict(arguments, null=True)  # or an error
        slack = _slack([argument.type for argument in arguments])
        return strict(arguments, min(quotients) - slack, max(quotients) + slack, null=True)
    values = [x / y for x in ends[0] for y in ends[1]]
    return within(min(values), max(values), arguments, result)


def _slack(types: Sequence[Type]) -> Fraction:
    """Twice what an engine may round off a quotient of decimals.

    It keeps six digits behind the point, also where 38 are not enough for those before it. Spark without
    ``decimalOperations.allowPrecisionLoss`` keeps two, as it shares the missing digits between both sides.
    """
    cut = decimal_parts(types[0])[0] + types[1].scale > _MAX_WHOLE_DIGITS
    return Fraction(2, 100) if cut else 2 * _MILLIONTH


def integer_type(types: Sequence[Type]) -> Type:
    """The widest of some types of integers; raises UnsupportedError for other numbers."""
    wide = wider_number(types)
    if not wide.kind.is_integer:
        raise UnsupportedError("remainders and bits of numbers that are no integers are not decided")
    return wide


def _remainder(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    """x % n has the sign of x. Within one period [kn, (k+1)n) on one side of 0 it is x - kn; it is always below |n|."""
    n = abs(constant_of(arguments[1], "a divisor"))
    x = within_type(arguments[0])
    if n == 0 or not x.is_bounded:
        return strict(arguments, null=True)
    if x.lo >= 0:
        return (
            strict(arguments, x.lo % n, x.hi % n) if x.lo // n == x.hi // n else strict(arguments, 0, min(n - 1, x.hi))
        )
    if x.hi <= 0:
        return (
            strict(arguments, -(-x.lo % n), -(-x.hi % n))
            if -x.lo // n == -x.hi // n
            else strict(arguments, max(1 - n, x.lo), 0)
        )
    return within(max(1 - n, x.lo), min(n - 1, x.hi), arguments, result)


def _positive_remainder(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """pmod(x, n), n > 0: in 0 .. n - 1. Engines compute (x % n + n) % n, so n + n must not overflow."""
    n = constant_of(arguments[1], "a divisor")
    if not 0 < n < 1 << 30:
        return strict(arguments, null=True)
    x = arguments[0].interval
    if x.is_bounded and x.lo // n == x.hi // n:
        return strict(arguments, x.lo % n, x.hi % n)
    return strict(arguments, 0, n - 1)


def _negative(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    x = within_type(arguments[0])
    if not x.is_bounded:
        return strict(arguments, null=True)
    return within(-x.hi, -x.lo, arguments, result)


def _absolute(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    """abs(x) falls up to 0 and rises from there. The smallest integer has no absolute value in its type."""
    x = within_type(arguments[0])
    if not x.is_bounded:
        return strict(arguments, null=True)
    greatest = max(abs(x.lo), abs(x.hi))
    least = x.lo * 0 if x.lo <= 0 <= x.hi else min(abs(x.lo), abs(x.hi))
    return within(least, greatest, arguments, result)


def _whole_quotient_type(types: Sequence[Type]) -> Type:
    integer_type(types)
    return BIGINT


def _whole_quotient(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    """x div n, cut towards 0: it never falls, or never rises, while x does."""
    n = constant_of(arguments[1], "a divisor")
    x = within_type(arguments[0])
    if n == 0 or not x.is_bounded:
        return strict(arguments, null=True)
    ends = [abs(end) // abs(n) * (1 if (end < 0) == (n < 0) else -1) for end in (x.lo, x.hi)]
    return within(min(ends), max(ends), arguments, result)


def _positive(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    return arguments[0].interval


def _widened(value: float, direction: float) -> float:
    for _ in range(4):
        value = math.nextafter(value, direction)
    return value


def _transcendental(function: Callable[[float], float], smallest: float) -> Callable[..., Interval]:
    """An increasing function of a double, defined above ``smallest``. Elsewhere it is NULL or NaN: not decided."""

    def end(value: Any, direction: float) -> float | None:
        try:
            return _widened(function(float(value)), direction)
        except OverflowError:
            return sys.float_info.max if direction < 0 else None  # beyond all doubles: infinity to the engine
        except ValueError:
            return None

    def compute(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
        if len(arguments) != 1:
            raise UnsupportedError("a logarithm with a base is not decided")
        if vanishes(arguments[0].type, semantics):
            return strict(arguments, null=True)
        x = arguments[0].interval
        if x.lo is None or x.lo <= smallest:
            return strict(arguments, null=True)
        lo = end(x.lo, -math.inf)
        return strict(arguments, lo, None if x.hi is None else end(x.hi, math.inf))

    return compute


def _extreme(sign: int) -> Callable[[Sequence[Argument], Type, Semantics], Interval]:
    """greatest (sign 1) or least (-1) is one of the arguments. Spark skips NULLs, Hive yields NULL.

    greatest is at least the lower bound of every argument that is never NULL; least at most its upper bound.
    """

    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        intervals = [within_type(argument) for argument in arguments]
        valued = [x for x in intervals if x.value]
        if not all(x.is_bounded for x in valued):
            return Interval()
        lo, hi = min((x.lo for x in valued), default=None), max((x.hi for x in valued), default=None)
        for x in valued:
            if not x.null and sign > 0:
                lo = max(lo, x.lo)
            elif not x.null:
                hi = min(hi, x.hi)
        return Interval(lo, hi, any(x.null for x in intervals), bool(valued))

    return compute


def _alike(types: Sequence[Type]) -> Type:
    kinds = {t.kind for t in types}
    if len(kinds) == 1 and Kind.CHAR not in kinds and Kind.DECIMAL not in kinds:
        return types[0]
    wide = wider_number(types)
    if wide.kind.is_fractional:  # each may be rounded to the common type
        raise UnsupportedError("the greatest or least of different number types is not decided")
    return wide


def _sign(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    if vanishes(arguments[0].type, semantics):
        return strict(arguments, null=True)
    return monotone(arguments[0], lambda x: float((x > 0) - (x < 0)))


FUNCTIONS = {
    "+": RangeFunction(_sum_type, _corners(lambda x, y: x + y)),
    "-": RangeFunction(_sum_type, _corners(lambda x, y: x - y)),
    "*": RangeFunction(_product_type, _corners(lambda x, y: x * y)),
    "/": RangeFunction(_divide_type, _divide),
    "%": RangeFunction(integer_type, _remainder),
    "pmod": RangeFunction(integer_type, _positive_remainder),
    "div": RangeFunction(_whole_quotient_type, _whole_quotient),
    "negative": RangeFunction(_same_type, _negative),
    "positive": RangeFunction(_same_type, _positive),
    "abs": RangeFunction(_same_type, _absolute),
    "exp": RangeFunction(_double_type, _transcendental(math.exp, -math.inf)),
    "ln": RangeFunction(_double_type, _transcendental(math.log, 0.0)),
    "log": RangeFunction(_double_type, _transcendental(math.log, 0.0)),
    "log10": RangeFunction(_double_type, _transcendental(math.log10, 0.0)),
    "log2": RangeFunction(_double_type, _transcendental(math.log2, 0.0)),
    "log1p": RangeFunction(_double_type, _transcendental(math.log1p, -1.0)),
    "expm1": RangeFunction(_double_type, _transcendental(math.expm1, -math.inf)),
    "sqrt": RangeFunction(_double_type, _transcendental(math.sqrt, 0.0)),
    "sign": RangeFunction(_double_type, _sign),
    "greatest": RangeFunction(_alike, _extreme(1)),
    "least": RangeFunction(_alike, _extreme(-1)),
}
