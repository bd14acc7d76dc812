"""Bits of integers over intervals: & | ^ ~ and shifts."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence

from evaluator.functions.arithmetic import integer_type, within
from evaluator.functions.base import Argument, RangeFunction, constant_of, strict, within_type
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, INT, Type

__all__ = ["FUNCTIONS"]


def _bits(operation: Callable[[int, int], int]) -> Callable[[Sequence[Argument], Type, Semantics], Interval]:
    """& | ^ of integers. Above the bits in which the ends of a range differ all its values have the same bits.

    i & 12 on [16, 23]    the ends differ in three bits: 16 & 12, and three bits below of which 12 has one: [0, 4]
    """

    def compute(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
        x, y = (within_type(argument) for argument in arguments)
        if not (x.is_bounded and y.is_bounded):
            return strict(arguments, null=True)
        if not (_same_sign(x) and _same_sign(y)):
            parts = [
                compute(
                    [Argument(argument.type, part) for argument, part in zip(arguments, pair, strict=True)], result, _
                )
                for pair in itertools.product(_by_sign(x), _by_sign(y))
            ]
            if all(part.is_bounded for part in parts):
                return within(min(part.lo for part in parts), max(part.hi for part in parts), arguments, result)
            return strict(arguments, *result.integer_range())
        free = max((x.lo ^ x.hi).bit_length(), (y.lo ^ y.hi).bit_length())
        below = (1 << free) - 1
        known = [z.lo & below for z in (x, y) if z.is_point]
        high = operation(x.lo & ~below, y.lo & ~below)
        least, most = 0, below  # of two points: both are 0
        if known and operation(0, below) == 0:
            most = known[0]
        elif known and operation(below, below) == below:
            least = known[0]
        masks = [z.hi for z in (x, y) if z.lo >= 0] if operation is operator.and_ else []
        return within(high + least, min([high + most, *masks]), arguments, result)

    return compute


def _same_sign(x: Interval) -> bool:
    return bool((x.lo < 0) == (x.hi < 0))


def _by_sign(x: Interval) -> list[Interval]:
    """The interval cut at 0, where it holds values of both signs."""
    return [x] if _same_sign(x) else [x.with_bounds(x.lo, -1), x.with_bounds(0, x.hi)]


def _inverted(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
    """~x is -x - 1."""
    x = within_type(arguments[0])
    return strict(arguments, null=True) if not x.is_bounded else within(~x.hi, ~x.lo, arguments, result)


def _one_integer(types: Sequence[Type]) -> Type:
    if len(types) != 1:
        raise UnsupportedError("~ is of one integer")
    return integer_type(types)


def _shift_type(types: Sequence[Type]) -> Type:
    wide = integer_type(types)
    return BIGINT if types[0] == BIGINT else INT if wide.kind.is_integer else wide


def _shifted(shift: Callable[[int, int], int], *, keeps_sign: bool) -> Callable[..., Interval]:
    """Shifts by a number of bits. Engines take it modulo the width of the type."""

    def compute(arguments: Sequence[Argument], result: Type, _: Semantics) -> Interval:
        count = constant_of(arguments[1], "a number of bits")
        x = within_type(arguments[0])
        if not 0 <= count < 32 or not x.is_bounded or (x.lo < 0 and not keeps_sign):
            return strict(arguments, null=True)
        return within(shift(x.lo, count), shift(x.hi, count), arguments, result)

    return compute


FUNCTIONS = {
    "&": RangeFunction(integer_type, _bits(operator.and_)),
    "|": RangeFunction(integer_type, _bits(operator.or_)),
    "^": RangeFunction(integer_type, _bits(operator.xor)),
    "~": RangeFunction(_one_integer, _inverted),
    "shiftleft": RangeFunction(_shift_type, _shifted(operator.lshift, keeps_sign=True)),
    "shiftright": RangeFunction(_shift_type, _shifted(operator.rshift, keeps_sign=True)),
    "shiftrightunsigned": RangeFunction(_shift_type, _shifted(operator.rshift, keeps_sign=False)),
}
