"""The tiny case: up to 200 slices as plain Python values, where an array costs more to touch than to compute.

The rule table is run once on symbols that write down what it asks, as source text with one list comprehension per test
of bounds. "``x <= v`` can be TRUE" becomes

    pack([lo <= v_hi for lo in los])

so that the comparisons are those of ``binding.rules``, never a copy of them. Flags of all slices are a *byte mask*: one
integer with a byte per slice, 1 where the flag is set. AND, OR and NOT of twenty slices are then a dozen operations on
integers:

    slices                0     1     2
    i < 5 can be TRUE     1     0     1     0x010001
    s = 'x' can be TRUE   1     1     0     0x000101
    both                  1     0     0     0x000001
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from evaluator.binding import rules
from evaluator.binding.leaves import Comparison, Fixed, Membership, NullTest, Prefix, Test
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.binding.program import Program
from evaluator.binding.truth_values import Possible, TruthValue
from evaluator.language.outcome import TRUE, UNKNOWN, and_of, not_of
from evaluator.statistics.columns import ColumnStatistics, PlainBounds
from evaluator.statistics.ranges import Members, Range, plain_is_one_of, plain_meets

__all__ = ["MAX_SLICES", "can_be", "ones_of", "outcomes_of", "possible"]

#: Up to here lists are faster than arrays.
MAX_SLICES = 200

#: By truth value, a function from bounds, counts and constants to the byte mask of the slices that can have it.
_Rendered = tuple[Callable[..., int], Callable[..., int], Callable[..., int]]


class _Mask:
    """A symbol for flags of all slices; a combination of symbols is the source text that computes it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def mask(self) -> str:
        """Source text of a byte mask."""
        return self.text

    def __and__(self, other: _Mask) -> _Mask:
        return _Mask(f"({self.mask} & {other.mask})")

    def __or__(self, other: _Mask) -> _Mask:
        return _Mask(f"({self.mask} | {other.mask})")


class _Test(_Mask):
    """A test of one slice's ``lo`` or ``hi``, or several that are combined slice by slice."""

    __slots__ = ()

    @property
    def mask(self) -> str:
        bounds = [name for name in ("lo", "hi") if re.search(rf"\b{name}\b", self.text)]
        each, lists = ", ".join(bounds), [f"{name}s" for name in bounds]
        return f"pack([{self.text} for {each} in {lists[0] if len(lists) == 1 else f'zip({lists[0]}, {lists[1]})'}])"

    def __and__(self, other: _Mask) -> _Mask:
        return _Test(f"({self.text} & {other.text})") if isinstance(other, _Test) else super().__and__(other)

    def __or__(self, other: _Mask) -> _Mask:
        return _Test(f"({self.text} | {other.text})") if isinstance(other, _Test) else super().__or__(other)

    def __xor__(self, _: object) -> _Test:
        return _Test(f"(not {self.text})")


class _Bound:
    """A symbol for a bound of a slice, or of a constant."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: _Bound) -> _Test:
        return _Test(f"({self.text} < {other.text})")

    def __le__(self, other: _Bound) -> _Test:
        return _Test(f"({self.text} <= {other.text})")

    def meets(self, hi: _Bound, _: Members) -> _Test:
        return _Test(f"meets({self.text}, {hi.text}, members)")

    def is_one_of(self, hi: _Bound, _: Members) -> _Test:
        return _Test(f"is_one_of({self.text}, {hi.text}, members)")


#: A column; its bounds already say where there is no value, so tests of bounds need not ask.
_BOUNDED = Range(_Bound("lo"), _Bound("hi"), _Mask("null"), True)
_COUNTED = Range(_Bound("lo"), _Bound("hi"), _Mask("null"), _Mask("value"))


def _pack(flags: list[bool]) -> int:
    return int.from_bytes(bytes(flags), "little")


def _constant(name: str) -> Range:
    return Range(_Bound(f"{name}_lo"), _Bound(f"{name}_hi"), False, True)


_NAMES = {"pack": _pack, "zip": zip, "meets": plain_meets, "is_one_of": plain_is_one_of}


def _rendered(possible_values: Possible, *of_constants: str) -> _Rendered:
    parameters = ", ".join(["los", "his", "null", "value", "ones", *of_constants])

    def rendered(flags: object) -> Callable[..., int]:
        text = flags.mask if isinstance(flags, _Mask) else "ones" if flags else "0"
        # The text is made above, from the rule table.
        made: Callable[..., int] = eval(f"lambda {parameters}: {text}", dict(_NAMES))
        return made

    return rendered(possible_values.true), rendered(possible_values.false), rendered(possible_values.null)


@cache
def _comparison(op: str) -> _Rendered:
    return _rendered(rules.compare(op, _BOUNDED, _constant("v")), "v_lo", "v_hi")


@cache
def _membership(has_null: bool) -> _Rendered:
    some = Members(["any"], None, has_null)  # which members, is a parameter
    return _rendered(rules.is_in(_COUNTED, some), "members")


@cache
def _prefix(exact: bool, ends: bool) -> _Rendered:
    operand = _BOUNDED if exact else _COUNTED
    possible_values = rules.starts_with(operand, _constant("p"), _constant("q") if ends else None, exact)
    return _rendered(possible_values, "p_lo", "p_hi", *(["q_lo", "q_hi"] if ends else []))


@cache
def _null_test() -> _Rendered:
    return _rendered(rules.is_null(_COUNTED))


@cache
def ones_of(n: int) -> int:
    """The byte mask of n slices with every flag set."""
    return int.from_bytes(b"\1" * n, "little")


def can_be(value: TruthValue, test: Test, statistics: Mapping[str, ColumnStatistics], ones: int) -> int | None:
    """The byte mask of the slices where a test can have this value, by the statistics of one provider.

    None: this form of test is left to the arrays. ``ones`` is the mask of all slices.
    """
    if isinstance(test, Comparison):
        column, constant = test.left, test.right
        if isinstance(column, BoundColumn) and isinstance(constant, BoundConstant):
            bounds, v = _plain(column, statistics), constant.interval
            if bounds is not None and v.lo is not None and v.hi is not None and not v.null:
                return _comparison(test.op)[value](bounds.lo, bounds.hi, bounds.null, bounds.value, ones, v.lo, v.hi)
    elif isinstance(test, Prefix) and isinstance(test.operand, BoundColumn) and test.pattern is None:
        bounds = _plain(test.operand, statistics)
        if bounds is not None:
            ends: list[Any] = [test.prefix.interval.lo, test.prefix.interval.hi]
            if test.successor is not None:
                ends += [test.successor.interval.lo, test.successor.interval.hi]
            rendered = _prefix(test.exact, test.successor is not None)
            return rendered[value](bounds.lo, bounds.hi, bounds.null, bounds.value, ones, *ends)
    elif isinstance(test, Membership) and isinstance(test.operand, BoundColumn) and test.members.values:
        bounds = _plain(test.operand, statistics)
        if bounds is not None:
            rendered = _membership(test.members.has_null)
            return rendered[value](bounds.lo, bounds.hi, bounds.null, bounds.value, ones, test.members)
    elif isinstance(test, NullTest) and isinstance(test.operand, BoundColumn):
        bounds = _plain(test.operand, statistics)
        if bounds is not None:
            return _null_test()[value](bounds.lo, bounds.hi, bounds.null, bounds.value, ones)
    elif isinstance(test, Fixed):
        return (test.outcome >> value & 1) * ones
    return None


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
