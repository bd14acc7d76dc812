"""A filter as a question about bounds: a form that any engine can evaluate over a table with lo and hi columns.

    x <  v    lo <  v              x =  v    lo <= v and hi >= v
    x <= v    lo <= v              x != v    lo != v or hi != v
    x >  v    hi >  v              x IN s    some s with lo <= s <= hi
    x >= v    hi >= v              LIKE p%   hi >= p and lo < the next prefix

AND and OR stay, NOT is pushed down to the leaves. A file without any value has null bounds: SQL's logic leaves it out.
Sargo answers more: these answers are only "may be TRUE", with every bound known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from evaluator.language.expression import And, Column, Compare, HudiExpression, In, Like, Literal, Not, Or
from tests.bench.datasets import PARTITION

__all__ = ["All", "AnyMember", "AnyOf", "BoundTest", "Question", "bounds_read", "question", "render"]

R = TypeVar("R")


@dataclass(frozen=True)
class BoundTest:
    """``bound op value``; ``bound`` is the name of a column of ``Files.arrow_table``."""

    bound: str
    op: str
    value: object


@dataclass(frozen=True)
class AnyMember:
    """Some of the sorted members lies between the bounds."""

    lo: str
    hi: str
    members: tuple[int, ...]


@dataclass(frozen=True)
class All:
    """Every part holds."""

    parts: tuple[Question, ...]


@dataclass(frozen=True)
class AnyOf:
    """Some part holds."""

    parts: tuple[Question, ...]


Question = BoundTest | AnyMember | All | AnyOf

_NEGATED = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def question(expression: HudiExpression, *, negated: bool = False) -> Question:
    """The question whose answer is the files to keep. Raises ValueError for what no shape of this bench holds."""
    match expression:
        case Not(child=child):
            return question(child, negated=not negated)
        case And(children=children) | Or(children=children):
            parts = tuple(question(child, negated=negated) for child in children)
            return All(parts) if isinstance(expression, And) is not negated else AnyOf(parts)
        case Compare(op=op, left=Column() as column, right=Literal(value=value)):
            return _compared(column.name, _NEGATED[op] if negated else op, value)
        case In(operand=Column() as column, members=members) if not negated:
            values = sorted(member.value for member in members if isinstance(member, Literal))
            return AnyMember(*_bounds(column.name), tuple(values))
        case Like(operand=Column() as column, pattern=pattern) if not negated and pattern.find("%") == len(pattern) - 1:
            lo, hi = _bounds(column.name)
            prefix = pattern[:-1]
            return All((BoundTest(hi, ">=", prefix), BoundTest(lo, "<", prefix[:-1] + chr(ord(prefix[-1]) + 1))))
        case _:
            raise ValueError(f"not in this bench: {expression}")


def _bounds(column: str) -> tuple[str, str]:
    return (column, column) if column == PARTITION else (f"{column}_lo", f"{column}_hi")


def _compared(column: str, op: str, value: object) -> Question:
    lo, hi = _bounds(column)
    if lo == hi:
        return BoundTest(lo, op, value)
    match op:
        case "=":
            return All((BoundTest(lo, "<=", value), BoundTest(hi, ">=", value)))
        case "!=":
            return AnyOf((BoundTest(lo, "!=", value), BoundTest(hi, "!=", value)))
        case "<" | "<=":
            return BoundTest(lo, op, value)
        case _:
            return BoundTest(hi, op, value)


def render(
    asked: Question, leaf: Callable[[BoundTest | AnyMember], R], both: Callable[[R, R], R], either: Callable[[R, R], R]
) -> R:
    """A question in an engine's own form: from its leaves and its AND and OR of two."""
    if isinstance(asked, BoundTest | AnyMember):
        return leaf(asked)
    join = both if isinstance(asked, All) else either
    first, *rest = (render(part, leaf, both, either) for part in asked.parts)
    for part in rest:
        first = join(first, part)
    return first


def bounds_read(asked: Question) -> frozenset[str]:
    """The names of the bounds that a scan has to read."""
    return frozenset(_bounds_of(asked))


def _bounds_of(asked: Question) -> Iterable[str]:
    match asked:
        case BoundTest(bound=bound):
            yield bound
        case AnyMember(lo=lo, hi=hi):
            yield from (lo, hi)
        case All(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _bounds_of(part)
