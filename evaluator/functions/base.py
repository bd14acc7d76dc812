"""The form of a range function, and the few steps that all families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.errors import UnsupportedError
from evaluator.interval import Interval
from evaluator.semantics import Semantics
from evaluator.types import Type

__all__ = ["Argument", "Compute", "RangeFunction", "constant_of", "monotone", "strict"]


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
    return strict([argument], None if interval.lo is None else function(interval.lo),
                  None if interval.hi is None else function(interval.hi), null=null)


def constant_of(argument: Argument, what: str) -> Any:
    """The one value of an argument that must be a constant. Raises UnsupportedError."""
    interval = argument.interval
    if not interval.is_point or interval.null:
        raise UnsupportedError(f"{what} that is no constant is not decided")
    return interval.lo
