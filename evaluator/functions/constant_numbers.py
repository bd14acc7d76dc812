"""Numbers of constants: quotients, powers, roundings and bits, where every engine gives the same.

    pow(2, 10), round(2.45, 1), 7 div 2       1024.0, 2.5, 3

``pow`` is that of java.lang.Math.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions.base import INTEGERS, decimal_parts, widest_integer
from evaluator.functions.constant_moments import ConstantFunction, Result
from evaluator.language.literal import exact_number
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, INT, Kind, Type, decimal_type

__all__ = ["FUNCTIONS"]

_WIDE = Context(prec=200)
_EXACT = 1 << 53
#: Numbers below have at most nine digits before the point; no engine cuts the scale of their quotients to less than 6.
_LARGE = 10**9


def _quotient(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    """A decimal divided without a rest at six digits, which every engine keeps."""
    if not all(t.kind.is_integer or t.kind is Kind.DECIMAL for t in types) or all(t.kind.is_integer for t in types):
        return None
    dividend, divisor = map(Fraction, values)
    if not divisor or max(abs(dividend), abs(divisor)) >= _LARGE or any(t.scale > 6 for t in types):
        return None
    millionths = dividend / divisor * 1_000_000
    if millionths.denominator != 1 or abs(millionths) >= _LARGE * 1_000_000:
        return None
    return exact_number(Decimal(int(millionths)).scaleb(-6)), decimal_type(38, 6)


def _pow(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    """pow of whole numbers whose result a double holds, and the first power: Java's ``Math.pow`` is exact there."""
    if not all(t.kind.is_number for t in types) or not all(math.isfinite(v) for v in values):
        return None
    if values[1] == 1:
        return float(values[0]), DOUBLE
    if any(v != math.floor(v) for v in values):
        return None
    base, exponent = (int(v) for v in values)
    if not 0 <= exponent <= 53 or abs(base) > _EXACT or (base == 0 and exponent == 0):
        return None
    power = base**exponent
    return (float(power), DOUBLE) if abs(power) < 1 << 1000 and int(float(power)) == power else None


def _rounded(half: str) -> ConstantFunction:
    """round and bround to a digit behind the point: the shortest decimal digits of a double are what is rounded."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        number, digits = values[0], values[1] if len(values) > 1 else 0
        if not isinstance(digits, int) or not -9 <= digits <= 15:
            return None
        if types[0] in (INT, BIGINT) and digits < 0 and semantics.functions_of_spark:
            whole = int(Decimal(number).quantize(Decimal(1).scaleb(-digits), half, _WIDE))
            smallest, largest = types[0].integer_range()
            return (whole, types[0]) if smallest <= whole <= largest else None
        if digits < 0:
            return None
        if types[0].kind is Kind.DECIMAL:
            exact = Decimal(Fraction(number).numerator) / Decimal(Fraction(number).denominator)
            if Fraction(exact) != number:
                return None
        elif types[0].kind is Kind.DOUBLE and math.isfinite(number) and 1e-3 <= abs(number) < 1e7:
            exact = Decimal(repr(number))
            if len(exact.as_tuple().digits) > 15:
                return None
        else:
            return None
        rounded = exact.quantize(Decimal(1).scaleb(-digits), half, _WIDE)
        if types[0].kind is Kind.DOUBLE:
            return (float(rounded), DOUBLE) if rounded else None
        if digits >= types[0].scale:
            return number, types[0]
        return exact_number(rounded), decimal_type(min(types[0].precision - types[0].scale + 1 + digits, 38), digits)

    return compute


def _square_root(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    number = values[0]
    if not (types[0].kind.is_integer or types[0].kind is Kind.DOUBLE) or not 0 < abs(number) <= _EXACT or number < 0:
        return None
    return math.sqrt(number), DOUBLE


def _whole_quotient(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    left, right = values
    if not all(t.kind.is_integer for t in types) or right == 0 or max(abs(left), abs(right)) >= 1 << 31:
        return None
    quotient = abs(left) // abs(right)
    return (quotient if (left < 0) == (right < 0) else -quotient), BIGINT


def _of_bits(operate: Callable[[int, int], int]) -> ConstantFunction:
    """& | ^ of two integers, in the wider type of both."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
        if not all(t.kind in INTEGERS for t in types):
            return None
        return operate(*values), widest_integer(t.kind for t in types)

    return compute


def _inverted(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> Result | None:
    return (~values[0], types[0]) if types[0].kind in INTEGERS else None


def _shifted(name: str) -> ConstantFunction:
    """Bits of an INT or a BIGINT moved by a number of places, as Java moves them."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        if types[0] not in (INT, BIGINT) or not types[1].kind.is_integer or not semantics.functions_of_spark:
            return None
        width = 32 if types[0] == INT else 64
        places = values[1] % width
        if name == "shiftright":
            return values[0] >> places, types[0]
        bits = values[0] % (1 << width)
        bits = bits << places if name == "shiftleft" else bits >> places
        bits %= 1 << width
        return bits - (1 << width if bits >> (width - 1) else 0), types[0]

    return compute


def _remainder(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
    """The remainder of decimals, with the sign of the first one."""
    dividend, divisor = _decimals(values, types, semantics)
    if not divisor:
        return None
    return _of_remainder(dividend - divisor * math.trunc(dividend / divisor), types)


def _positive_remainder(
    values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics
) -> Result | None:
    """pmod: a negative remainder has the divisor added once."""
    integers = semantics.functions_of_spark and all(t.kind.is_integer for t in types)
    dividend, divisor = map(Fraction, values) if integers else _decimals(values, types, semantics)
    if not divisor:
        return None
    remainder = dividend - divisor * math.trunc(dividend / divisor)
    if remainder < 0:
        total = remainder + divisor
        remainder = total - divisor * math.trunc(total / divisor)
    if integers:
        return int(remainder), widest_integer(t.kind for t in types)
    return _of_remainder(remainder, types)


def _decimals(values: Sequence[Any], types: Sequence[Type], semantics: Semantics) -> tuple[Fraction, Fraction]:
    """Two numbers of which one is a decimal at least, none large; (0, 0) for others."""
    kinds = [t.kind for t in types]
    if (
        not semantics.functions_of_spark
        or Kind.DECIMAL not in kinds
        or not all(kind.is_integer or kind is Kind.DECIMAL for kind in kinds)
        or any(abs(value) >= _LARGE for value in values)
        or any(t.scale > 6 for t in types)
    ):
        return Fraction(0), Fraction(0)
    return Fraction(values[0]), Fraction(values[1])


def _of_remainder(value: Fraction, types: Sequence[Type]) -> Result:
    whole, scale = (max(parts) for parts in zip(*map(decimal_parts, types), strict=True))
    return exact_number(value), decimal_type(min(whole + scale, 38), scale)


def _limited(rounding: str) -> ConstantFunction:
    """Spark's ceil and floor of a decimal or an integer, to a digit before or behind the point."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> Result | None:
        number, digits = values
        if not semantics.functions_of_spark or types[0].scale > 6:
            return None
        if not (types[0].kind is Kind.DECIMAL or types[0] in (INT, BIGINT)):
            return None
        if not isinstance(digits, int) or not -9 <= digits <= 6 or abs(number) >= _LARGE:
            return None
        exact = _WIDE.divide(Decimal(Fraction(number).numerator), Decimal(Fraction(number).denominator))
        digits = min(digits, types[0].scale)
        whole, scale = max(decimal_parts(types[0])[0] + 1, 1 - digits), max(digits, 0)
        rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding, _WIDE)
        return exact_number(rounded), decimal_type(min(whole + scale, 38), scale)

    return compute


FUNCTIONS: dict[tuple[str, int], ConstantFunction] = {
    ("&", 2): _of_bits(int.__and__),
    ("|", 2): _of_bits(int.__or__),
    ("^", 2): _of_bits(int.__xor__),
    ("pow", 2): _pow,
    ("round", 1): _rounded(ROUND_HALF_UP),
    ("round", 2): _rounded(ROUND_HALF_UP),
    ("bround", 1): _rounded(ROUND_HALF_EVEN),
    ("bround", 2): _rounded(ROUND_HALF_EVEN),
    ("sqrt", 1): _square_root,
    ("div", 2): _whole_quotient,
    ("/", 2): _quotient,
    ("%", 2): _remainder,
    ("pmod", 2): _positive_remainder,
    ("ceil", 2): _limited(ROUND_CEILING),
    ("floor", 2): _limited(ROUND_FLOOR),
    ("~", 1): _inverted,
    **{(name, 2): _shifted(name) for name in ("shiftleft", "shiftright", "shiftrightunsigned")},
}
