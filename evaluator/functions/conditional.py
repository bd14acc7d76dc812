"""Conditionals over intervals, and the test for NaN.

A row takes one of the branches, so the result lies in the hull of their intervals.

    coalesce(a, b)   a in [1, 5], NULL possible; b in [10, 20]   ->  [1, 20], never NULL
    coalesce(a, b)   a in [1, 5], never NULL                     ->  [1, 5]: b is never reached
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.functions.base import INTEGERS, Argument, RangeFunction, decimal_parts, widest_integer
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, hull
from evaluator.language.semantics import Semantics
from evaluator.language.types import BOOLEAN, Kind, Type, decimal_type

__all__ = ["FUNCTIONS"]


def _one_type(types: Sequence[Type]) -> Type:
    """The common type of the branches, to which each converts without changing its value."""
    typed = [t for t in types if t.kind is not Kind.VOID]
    if not typed:
        return Type(Kind.VOID)
    first = typed[0]
    if all(t == first for t in typed) and first.kind not in (Kind.CHAR, Kind.OTHER):
        return first
    kinds = {t.kind for t in typed}
    if kinds <= set(INTEGERS):
        return widest_integer(kinds)
    if kinds <= {Kind.STRING, Kind.VARCHAR}:
        return Type(Kind.STRING)
    if kinds <= {*INTEGERS, Kind.DECIMAL}:
        whole, scale = (max(parts) for parts in zip(*map(decimal_parts, typed), strict=True))
        if whole + scale <= 38:
            return decimal_type(whole + scale, scale)
    raise UnsupportedError(f"branches of {' and '.join(map(str, typed))} are not decided")


def _branches(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    return hull(a.interval for a in arguments)


def _coalesce(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """The first argument that is not NULL. Arguments after one that is never NULL are not reached."""
    reached: list[Interval] = []
    for argument in arguments:
        reached.append(argument.interval)
        if not argument.interval.null:
            break
    result = hull(reached)
    return Interval(result.lo, result.hi, all(i.null for i in reached), result.value)


def _number(types: Sequence[Type]) -> Type:
    if len(types) != 1 or not types[0].kind.is_number:
        raise UnsupportedError("isnan of anything but a number is not decided")
    return BOOLEAN


def _is_nan(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """isnan (Spark) is never NULL: of NULL it is false. Where both bounds are known there is no NaN."""
    x = arguments[0]
    may_be = x.type.kind.is_fractional and x.interval.value and not x.interval.is_bounded
    return Interval(0, int(may_be), null=False)


FUNCTIONS = {
    "branches": RangeFunction(_one_type, _branches),
    "coalesce": RangeFunction(_one_type, _coalesce),
    "isnan": RangeFunction(_number, _is_nan),
}
