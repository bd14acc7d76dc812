"""The tiny case: up to 200 slices as plain Python values, where an array costs more to touch than to compute.

The rule table becomes source text (``evaluation.rendered_rules``) with one list comprehension per test of bounds.
"``x <= v`` can be TRUE" is

    pack([lo <= v_hi for lo in los])

Flags of all slices are a *byte mask*: one integer with a byte per slice, 1 where the flag is set. AND, OR and NOT of
twenty slices are then a dozen operations on integers:

    slices                0     1     2
    i < 5 can be TRUE     1     0     1     0x010001
    s = 'x' can be TRUE   1     1     0     0x000101
    both                  1     0     0     0x000001
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from evaluator.binding.leaves import Fixed, Test
from evaluator.binding.operands import BoundColumn
from evaluator.binding.program import Program
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.rendered_rules import BoundSymbol, FlagSymbol, Rendered, Rule, asked_of, rendered
from evaluator.language.outcome import TRUE, UNKNOWN, and_of, not_of
from evaluator.statistics.columns import ColumnStatistics, PlainBounds
from evaluator.statistics.ranges import Members, Range, plain_is_one_of, plain_meets

__all__ = ["MAX_SLICES", "can_be", "ones_of", "outcomes_of", "possible"]

#: Up to here lists are faster than arrays.
MAX_SLICES = 200


class _Test(FlagSymbol):
    """A test of one slice's ``lo`` or ``hi``, or several that are combined slice by slice."""

    __slots__ = ()

    @property
    def flags(self) -> str:
        """Source text of a byte mask."""
        bounds = [name for name in ("lo", "hi") if re.search(rf"\b{name}\b", self.text)]
        each, lists = ", ".join(bounds), [f"{name}s" for name in bounds]
        return f"pack([{self.text} for {each} in {lists[0] if len(lists) == 1 else f'zip({lists[0]}, {lists[1]})'}])"

    def __and__(self, other: FlagSymbol) -> FlagSymbol:
        return _Test(f"({self.text} & {other.text})") if isinstance(other, _Test) else super().__and__(other)

    def __or__(self, other: FlagSymbol) -> FlagSymbol:
        return _Test(f"({self.text} | {other.text})") if isinstance(other, _Test) else super().__or__(other)

    def __xor__(self, _: object) -> _Test:
        return _Test(f"(not {self.text})")


class _Bound(BoundSymbol):
    """A symbol for a bound of one slice, or of a constant."""

    __slots__ = ()

    tested = _Test

    def meets(self, hi: _Bound, _: Members) -> _Test:
        return _Test(f"meets({self.text}, {hi.text}, members)")

    def is_one_of(self, hi: _Bound, _: Members) -> _Test:
        return _Test(f"is_one_of({self.text}, {hi.text}, members)")


#: A column; its bounds already say where there is no value, so tests of bounds need not ask.
_BOUNDED = Range(_Bound("lo"), _Bound("hi"), FlagSymbol("null"), True)
_COUNTED = Range(_Bound("lo"), _Bound("hi"), FlagSymbol("null"), FlagSymbol("value"))


def _pack(flags: list[bool]) -> int:
    return int.from_bytes(bytes(flags), "little")


#: The rules that ask whether there is a value, beside tests of bounds or without.
_ASKING_FOR_VALUES: frozenset[Rule] = frozenset(
    {("null",), ("in", True), ("in", False), ("prefix", False, True), ("prefix", False, False)}
)
_PARAMETERS = ("los", "his", "null", "value")
_NAMES = {"pack": _pack, "zip": zip, "meets": plain_meets, "is_one_of": plain_is_one_of}


@cache
def _on_lists(rule: Rule) -> Rendered:
    return rendered(rule, _COUNTED if rule in _ASKING_FOR_VALUES else _BOUNDED, _Bound, _PARAMETERS, _NAMES)


@cache
def ones_of(n: int) -> int:
    """The byte mask of n slices with every flag set."""
    return int.from_bytes(b"\1" * n, "little")


def can_be(value: TruthValue, test: Test, statistics: Mapping[str, ColumnStatistics], ones: int) -> int | None:
    """The byte mask of the slices where a test can have this value, by the statistics of one provider.

    None: this form of test is left to the arrays. ``ones`` is the mask of all slices.
    """
    if isinstance(test, Fixed):
        return (test.outcome >> value & 1) * ones
    asked = asked_of(test)
    if asked is None:
        return None
    column, rule, constants = asked
    bounds = _plain(column, statistics)
    if bounds is None:
        return None
    mask = _on_lists(rule)[value](bounds.lo, bounds.hi, bounds.null, bounds.value, *constants)
    return mask * ones if isinstance(mask, bool) else mask


def _plain(column: BoundColumn, statistics: Mapping[str, ColumnStatistics]) -> PlainBounds | None:
    bounds = statistics.get(column.field.name)
    return None if bounds is None or bounds.parts is not None or "." in column.field.name else bounds.plain


def possible(program: Program, leaf: Callable[[int, TruthValue], int], ones: int) -> int:
    """Where the whole filter can be TRUE, as a byte mask; ``leaf`` gives where a leaf can have a value."""

    def conjoin(masks: list[int]) -> int:
        total = ones
        for mask in masks:
            total &= mask
        return total

    def disjoin(masks: list[int]) -> int:
        total = 0
        for mask in masks:
            total |= mask
        return total

    return program.fold_sought(leaf=leaf, conjoin=conjoin, disjoin=disjoin)


def outcomes_of(program: Program, leaf: Callable[[int], int], ones: int) -> int:
    """The outcomes of the whole filter from those of its leaves: integers with an outcome in every byte."""

    def negate(outcomes: int) -> int:
        negated: int = not_of(outcomes, ones)
        return negated

    def conjoin(operands: list[int]) -> int:
        total = TRUE * ones
        for operand in operands:
            total = and_of(total, operand, ones)
        return total

    def disjoin(operands: list[int]) -> int:
        return negate(conjoin([negate(operand) for operand in operands]))

    def refine(result: int, by_leaf: int, bits: int) -> int:
        return result & (by_leaf | (UNKNOWN & ~bits) * ones)

    return program.fold(leaf=leaf, negate=negate, conjoin=conjoin, disjoin=disjoin, refine=refine)
