"""hex of text, bytes and integers, bin of integers, and ascii, the number of a first character.

    hex(s)     s in ['a', 'b']    ->  ['61', '62']: two digits for each byte sort as the bytes do
    hex(n)     n in [16, 31]      ->  ['10', '1F']: digits of one count sort as the numbers do
    bin(n)     n in [4, 9]        ->  ['0', '111...1']: 64 digits at most
    ascii(s)   s in ['ab', 'cz']  ->  [97, 99]

Hive and Spark write a negative integer as the 64 bits that it has. ``ascii`` of a character beyond ASCII is its number
in Spark, and that of its first byte in Hive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evaluator.functions.base import Argument, RangeFunction, monotone, strict, within_type
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT, STRING, Kind, Type

__all__ = ["FUNCTIONS"]

_BITS = 1 << 64


def _hex_type(types: Sequence[Type]) -> Type:
    if not (types[0].kind.is_integer or types[0].kind in (Kind.STRING, Kind.VARCHAR, Kind.BINARY)):
        raise UnsupportedError(f"hex of {types[0]} is not decided")
    return STRING


def _hex(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    if arguments[0].type.kind.is_integer:
        return _in_digits(arguments, lambda number: f"{number:X}", "F" * 16)

    def digits(value: str | bytes) -> str:
        return (value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")).hex().upper()

    return monotone(arguments[0], digits)


def _in_digits(arguments: Sequence[Argument], written: Callable[[int], str], last: str) -> Interval:
    """Numbers in digits that begin with no 0. ``last``: the digits of the 64 bits that come last."""
    n: Any = within_type(arguments[0])
    if not n.is_bounded or (n.lo < 0) != (n.hi < 0):
        return strict(arguments, "0", last)
    lo, hi = written(n.lo % _BITS), written(n.hi % _BITS)
    return strict(arguments, lo, hi) if len(lo) == len(hi) else strict(arguments, "0", last)


def _bin_type(types: Sequence[Type]) -> Type:
    if not types[0].kind.is_integer:
        raise UnsupportedError(f"bin of {types[0]} is not decided")
    return STRING


def _bin(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    return _in_digits(arguments, lambda number: f"{number:b}", "1" * 64)


def _ascii_type(types: Sequence[Type]) -> Type:
    if types[0].kind not in (Kind.STRING, Kind.VARCHAR):
        raise UnsupportedError(f"ascii of {types[0]} is not decided")
    return INT


def _ascii(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    """0 for an empty text, which is less than any other one."""
    x = arguments[0].interval
    numbers = [None if end is None else ord(end[0]) if end else 0 for end in (x.lo, x.hi)]
    lo, hi = numbers
    if hi is None or (hi > 127 and not (semantics.functions_of_spark and x.is_point)):
        return strict(arguments)
    return strict(arguments, lo, hi)


FUNCTIONS = {
    "hex": RangeFunction(_hex_type, _hex),
    "bin": RangeFunction(_bin_type, _bin),
    "ascii": RangeFunction(_ascii_type, _ascii),
}
