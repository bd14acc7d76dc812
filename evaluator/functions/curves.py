"""Functions of doubles that Java and C compute to within a unit in the last place: powers, roots, angles; factorial.

    pow(x, 2)     x in [-3, 2]     ->  [0, 9], widened by six units in the last place
    atan(x)       x in [0, 1]      ->  [0, 0.7853981633974486]
    sin(x)        x in [1, 2]      ->  [-1, 1]; of one value its sine, widened
    factorial(n)  n in [3, 25]     ->  [6, 20!], NULL possible

Results that are not finite, and those of arguments outside of a function's domain, are NaN, NULL or infinite: they are
left open.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.functions.base import Argument, RangeFunction, constant_of, strict
from evaluator.functions.conversions import vanishes
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, Kind, Type

__all__ = ["FUNCTIONS"]

#: n! fits 64 bits up to here; beyond, and below 0, it is NULL.
_LARGEST_FACTORIAL = 20
#: A greater power of a number that is off by one unit in the last place may be anything.
_LARGEST_EXPONENT = 1_000.0
#: Java 8 multiplies an angle by 180 and then divides by pi: beyond, it has no degrees that are finite.
_LARGEST_ANGLE = sys.float_info.max / 180
#: What a third power root by ``**`` may be off: 1/3 is no double, and its error grows with the logarithm.
_CUBE_ROOT_ERROR = 1e-13


def _doubles(types: Sequence[Type]) -> Type:
    if not all(t.kind.is_number for t in types):
        raise UnsupportedError(f"a function of numbers over {', '.join(map(str, types))} is not decided")
    return DOUBLE


def _ends(argument: Argument, semantics: Semantics) -> tuple[float, float] | None:
    """The bounds of an argument as doubles; None where it may be NaN, infinite or lost on the way to a double."""
    x = argument.interval
    if vanishes(argument.type, semantics) or not x.is_bounded:
        return None
    try:
        ends = float(x.lo), float(x.hi)
    except OverflowError:
        return None
    return ends if all(map(math.isfinite, ends)) else None


def _around(arguments: Sequence[Argument], values: Sequence[float], units: int = 4) -> Interval:
    """An interval around results, widened by so many units in the last place."""
    lo, hi = min(values), max(values)
    for _ in range(units):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
    return strict(arguments, lo, hi) if all(map(math.isfinite, (*values, lo, hi))) else strict(arguments, null=True)


def _monotone(function: Callable[[float], float], smallest: float, largest: float) -> RangeFunction:
    """A function that never falls, or never rises, from ``smallest`` to ``largest``."""

    def compute(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
        ends = _ends(arguments[0], semantics)
        if ends is None or ends[0] < smallest or ends[1] > largest:
            return strict(arguments, null=True)
        return _around(arguments, [function(end) for end in ends])

    return RangeFunction(_doubles, compute)


def _wave(function: Callable[[float], float]) -> RangeFunction:
    """sin, cos: any value from -1 to 1, but for a single argument."""

    def compute(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
        ends = _ends(arguments[0], semantics)
        if ends is None:
            return strict(arguments, null=True)
        if ends[0] != ends[1]:
            return strict(arguments, -1.0, 1.0)
        return _around(arguments, [function(end) for end in ends])

    return RangeFunction(_doubles, compute)


def _cube_root(x: float) -> float:
    return math.copysign(abs(x) ** (1 / 3), x)


def _cbrt(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    ends = _ends(arguments[0], semantics)
    if ends is None:
        return strict(arguments, null=True)
    lo, hi = map(_cube_root, ends)
    return _around(arguments, [lo - abs(lo) * _CUBE_ROOT_ERROR, hi + abs(hi) * _CUBE_ROOT_ERROR])


def _power(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """pow(x, n): monotone on each side of 0; a power of a negative number needs a whole n, and one of 0 an n >= 0."""
    exponent = constant_of(arguments[1], "an exponent")
    ends = _ends(arguments[0], semantics)
    if ends is None or vanishes(arguments[1].type, semantics):
        return strict(arguments, null=True)
    try:
        n = float(exponent)
        if not abs(n) <= _LARGEST_EXPONENT or (ends[0] <= 0.0 and (n < 0 or not n.is_integer())):
            return strict(arguments, null=True)
        nearest_to_zero = min(max(ends[0], 0.0), ends[1])
        values = [math.pow(x, n) for x in (*ends, nearest_to_zero)]
    except (OverflowError, ValueError):
        return strict(arguments, null=True)
    return _around(arguments, values, 4 + math.ceil(abs(n)))


def _whole(types: Sequence[Type]) -> Type:
    if types[0].kind not in (Kind.TINYINT, Kind.SMALLINT, Kind.INT):
        raise UnsupportedError(f"factorial of {types[0]} is not decided")
    return BIGINT


def _factorial(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    n: Any = arguments[0].interval
    lo = 0 if n.lo is None else max(n.lo, 0)
    hi = _LARGEST_FACTORIAL if n.hi is None else min(n.hi, _LARGEST_FACTORIAL)
    if lo > hi:
        return Interval(null=True, value=False)
    return strict(arguments, math.factorial(lo), math.factorial(hi), null=(lo, hi) != (n.lo, n.hi))


FUNCTIONS = {
    "sin": _wave(math.sin),
    "cos": _wave(math.cos),
    "asin": _monotone(math.asin, -1.0, 1.0),
    "acos": _monotone(math.acos, -1.0, 1.0),
    "atan": _monotone(math.atan, -math.inf, math.inf),
    "tanh": _monotone(math.tanh, -math.inf, math.inf),
    "degrees": _monotone(math.degrees, -_LARGEST_ANGLE, _LARGEST_ANGLE),
    "radians": _monotone(math.radians, -math.inf, math.inf),
    "cbrt": RangeFunction(_doubles, _cbrt),
    "pow": RangeFunction(_doubles, _power),
    "factorial": RangeFunction(_whole, _factorial),
}
