"""The interface of a range function, and the steps that all families share.

A range function has two parts. ``result`` gives the type of the result from those of the arguments, once per filter.
``compute`` gives an interval that contains every result, from intervals that contain every argument, once per slice.

    year(d)   DATE -> INT    d in [2019-12-30, 2020-02-01], NULL possible  ->  [2019, 2020], NULL possible

Either raises UnsupportedError, or ``compute`` gives an interval without bounds, where the result is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.records import record
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = [
    "INTEGERS",
    "Argument",
    "Compute",
    "RangeFunction",
    "common_digits",
    "constant_of",
    "count_of",
    "decimal_parts",
    "monotone",
    "strict",
    "widest_integer",
    "within_type",
]

#: The integer kinds; each contains the values of the ones before it.
INTEGERS = (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)
#: The digits of the decimal to which engines convert an integer beside a decimal.
_DIGITS = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 20}


@record
class Argument:
    """An argument in one slice: its type, and an interval that contains its values."""

    type: Type
    interval: Interval


Compute = Callable[[Sequence[Argument], Type, Semantics], Interval]


@record
class RangeFunction:
    """``result``: the type of the result, from those of the arguments. ``compute``: its interval, from theirs.

    Both raise UnsupportedError for arguments that are not decided.
    """

    result: Callable[[Sequence[Type]], Type]
    compute: Compute


def strict(arguments: Sequence[Argument], lo: Any = None, hi: Any = None, *, null: bool = False) -> Interval:
    """The interval of a result that is NULL when any argument is. ``null``: it may be NULL for other reasons too.

    Without a value for each argument there is no such reason: of a slice without rows nothing is NULL.
    """
    intervals = [a.interval for a in arguments]
    value = all(i.value for i in intervals)
    return Interval(lo, hi, (null and value) or any(i.null for i in intervals), value)


def monotone(argument: Argument, function: Callable[[Any], Any], *, null: bool = False) -> Interval:
    """The interval of a result that never falls while its argument rises. ``function`` gives None for no bound."""
    interval = argument.interval
    return strict(
        [argument],
        None if interval.lo is None else function(interval.lo),
        None if interval.hi is None else function(interval.hi),
        null=null,
    )


def within_type(argument: Argument) -> Interval:
    """The interval of an integer, with the ends of its type where a bound is not known."""
    interval = argument.interval
    if interval.is_bounded or not interval.value or not argument.type.kind.is_integer:
        return interval
    smallest, largest = argument.type.integer_range()
    return interval.with_bounds(
        smallest if interval.lo is None else interval.lo, largest if interval.hi is None else interval.hi
    )


def constant_of(argument: Argument, role: str) -> Any:
    """The value of a constant argument. Raises UnsupportedError where it is no constant; ``role`` names it."""
    interval = argument.interval
    if not interval.is_point or interval.null:
        raise UnsupportedError(f"{role} that is no constant is not decided")
    return interval.lo


def count_of(argument: Argument, role: str) -> int:
    """The value of a constant argument that is an INT. Raises UnsupportedError for another one: engines cast it."""
    value = constant_of(argument, role)
    if not isinstance(value, int) or not -(1 << 31) <= value < 1 << 31:
        raise UnsupportedError(f"{role} that is no INT is not decided")
    return value


def widest_integer(kinds: Iterable[Kind]) -> Type:
    """The smallest integer type that contains the values of all these kinds."""
    return Type(max(kinds, key=INTEGERS.index))


def decimal_parts(number_type: Type) -> tuple[int, int]:
    """The digits before and after the point of a decimal, or of an integer beside a decimal."""
    if number_type.kind is not Kind.DECIMAL:
        return _DIGITS[number_type.kind], 0
    return number_type.precision - number_type.scale, number_type.scale


def common_digits(types: Iterable[Type]) -> int:
    """The precision of the decimal that contains all values of these integer and decimal types."""
    return sum(max(parts) for parts in zip(*map(decimal_parts, types), strict=True))
