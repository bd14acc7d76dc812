"""The rule table as source text: it is run once on symbols that write down what it asks.

    x = v can be TRUE        ((lo <= v_hi) & (v_lo <= hi))

So the comparisons are those of ``binding.rules``, never a copy of them, and to compute them calls no function of the
table again. What a name in the text stands for is up to the symbols: lists of a few slices (``evaluation.small``), or
arrays of some thousand (``evaluation.flat_scan``).

``asked_of`` takes a test apart into the rule, the column and the constants, so that one text serves all of a form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from evaluator.binding import rules
from evaluator.binding.leaves import Comparison, Membership, NullTest, Prefix, Test
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.statistics.ranges import Members, Range

__all__ = ["Asked", "BoundSymbol", "FlagSymbol", "Rendered", "Rule", "asked_of", "rendered"]

#: A name of a rule and what else chooses its text: an operator, or flags.
Rule = tuple[str | bool, ...]
#: A test of one column against constants: the column, the rule, and what the constants among its parameters are.
Asked = tuple[BoundColumn, Rule, Sequence[Any]]
#: By truth value, a function from bounds, flags and constants to the flags of the slices that can have it.
Rendered = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]


class FlagSymbol:
    """A symbol for flags of all slices; a combination of symbols is the source text that computes it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def flags(self) -> str:
        """Source text of the flags of all slices."""
        return self.text

    def __and__(self, other: FlagSymbol) -> FlagSymbol:
        return FlagSymbol(f"({self.flags} & {other.flags})")

    def __or__(self, other: FlagSymbol) -> FlagSymbol:
        return FlagSymbol(f"({self.flags} | {other.flags})")


class BoundSymbol:
    """A symbol for a bound of the slices, or of a constant.

    unknown   the name of the flags of unknown bounds, which pass every test; "" where all are known
    tested    the symbol that a test becomes
    """

    __slots__ = ("text", "unknown")

    tested: ClassVar[type[FlagSymbol]] = FlagSymbol

    def __init__(self, text: str, unknown: str = "") -> None:
        self.text = text
        self.unknown = unknown

    def __lt__(self, other: BoundSymbol) -> FlagSymbol:
        return self._test("<", other)

    def __le__(self, other: BoundSymbol) -> FlagSymbol:
        return self._test("<=", other)

    def _test(self, operator: str, other: BoundSymbol) -> FlagSymbol:
        passes = "".join(f" | {unknown}" for unknown in (self.unknown, other.unknown) if unknown)
        test = f"({self.text} {operator} {other.text})"
        return self.tested(f"({test}{passes})" if passes else test)


def asked_of(test: Test) -> Asked | None:
    """The column, the rule and the constants of a test; None for another form, and for constants that are not known."""
    if isinstance(test, Comparison):
        column, constant = test.left, test.right
        if isinstance(column, BoundColumn) and isinstance(constant, BoundConstant):
            v = constant.interval
            if v.lo is not None and v.hi is not None and not v.null:
                return (column, (test.op,), (v.lo, v.hi))
    elif isinstance(test, Prefix):
        if isinstance(test.operand, BoundColumn) and test.pattern is None:
            p, q = test.prefix.interval, None if test.successor is None else test.successor.interval
            ends = () if q is None else (q.lo, q.hi)
            return (test.operand, ("prefix", test.exact, q is not None), (p.lo, p.hi, *ends))
    elif isinstance(test, Membership):
        if isinstance(test.operand, BoundColumn) and test.members.values:
            return (test.operand, ("in", test.members.has_null), (test.members,))
    elif isinstance(test, NullTest) and isinstance(test.operand, BoundColumn):
        return (test.operand, ("null",), ())
    return None


def rendered(
    rule: Rule,
    column: Range,
    constant_symbol: Callable[[str], BoundSymbol],
    parameters: Sequence[str],
    names: Mapping[str, object],
) -> Rendered:
    """The text of a rule as functions of ``parameters`` and then of the constants of ``Asked``, each by position.

    ``column`` holds the symbols of the column, ``constant_symbol`` makes that of a constant's bound; ``names`` is what
    their texts call.
    """

    def constant(name: str) -> Range:
        return Range(constant_symbol(f"{name}_lo"), constant_symbol(f"{name}_hi"), False, True)

    constants: tuple[str, ...] = ()
    match rule:
        case ("prefix", bool() as exact, has_end):
            constants = ("p_lo", "p_hi", "q_lo", "q_hi") if has_end else ("p_lo", "p_hi")
            end = constant("q") if has_end else None
            possible_values = rules.starts_with(column, constant("p"), end, exact)
        case ("in", bool() as has_null):
            constants = ("members",)
            possible_values = rules.is_in(column, Members(["any"], None, has_null))  # which ones, is a parameter
        case ("null",):
            possible_values = rules.is_null(column)
        case (op,):
            constants = ("v_lo", "v_hi")
            possible_values = rules.compare(str(op), column, constant("v"))
        case _:
            raise ValueError(f"no rule: {rule}")

    def function(flags: object) -> Callable[..., Any]:
        text = flags.flags if isinstance(flags, FlagSymbol) else str(bool(flags))
        # The text is made above, from the rule table.
        made: Callable[..., Any] = eval(f"lambda {', '.join((*parameters, *constants))}: {text}", dict(names))
        return made

    return function(possible_values.true), function(possible_values.false), function(possible_values.null)
