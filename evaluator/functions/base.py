"""The form of a range function, and the few steps that all families share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = [
    "INTEGERS",
    "Argument",
    "Compute",
    "RangeFunction",
    "common_digits",
    "constant_of",
    "decimal_parts",
    "monotone",
    "strict",
    "widest_integer",
]

#: The integer kinds, each holding the ones before it, and the digits that engines give them among decimals.
INTEGERS = (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)
_DIGITS = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 20}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in one slice: its type and what is known of its values."""

    type: Type
    interval: Interval


Compute = Callable[[Sequence[Argument], Type, Semantics], Interval]


@dataclass(frozen=True, slots=True)
class RangeFunction:
    """``result`` gives the type from the argument types, or raises UnsupportedError; ``compute`` gives the interval."""

    result: Callable[[Sequence[Type]], Type]
    compute: Compute


def strict(arguments: Sequence[Argument], lo: Any = None, hi: Any = None, *, null: bool = False) -> Interval:
    """A result that is NULL when any argument is (or, with ``null``, for other reasons too)."""
    intervals = [a.interval for a in arguments]
    return Interval(lo, hi, null or any(i.null for i in intervals), all(i.value for i in intervals))


def monotone(argument: Argument, function: Callable[[Any], Any], *, null: bool = False) -> Interval:
    """A result that never falls while its argument rises. ``function`` may give None for a bound it does not know."""
    interval = argument.interval
    return strict(
        [argument],
        None if interval.lo is None else function(interval.lo),
        None if interval.hi is None else function(interval.hi),
        null=null,
    )


def constant_of(argument: Argument, what: str) -> Any:
    """The one value of an argument that must be a constant. Raises UnsupportedError."""
    interval = argument.interval
    if not interval.is_point or interval.null:
        raise UnsupportedError(f"{what} that is no constant is not decided")
    return interval.lo


def widest_integer(kinds: Iterable[Kind]) -> Type:
    """The integer type that holds all of these."""
    return Type(max(kinds, key=INTEGERS.index))


def decimal_parts(of: Type) -> tuple[int, int]:
    """(digits before the point, digits behind it) of a decimal, or of an integer among decimals."""
    return (of.precision - of.scale, of.scale) if of.kind is Kind.DECIMAL else (_DIGITS[of.kind], 0)


def common_digits(types: Iterable[Type]) -> int:
    """The digits of the decimal that would hold all values of these integer and decimal types."""
    return sum(max(parts) for parts in zip(*map(decimal_parts, types), strict=True))
