"""The sets of slices of a plan as bits, and plans that are combined: ``plan & other``, ``plan | other``, ``~plan``.

    plan.kept_bits       bit i is 1 when ``plan.slices[i]`` must be read
    plan.matched_bits    bit i is 1 when every row of ``plan.slices[i]`` satisfies the filter

    combination    its filter                     slices that it keeps, at most
    -----------    ---------------------------    ---------------------------------------------------
    a & b          (filter of a) AND (that of b)  those that both keep
    a | b          (filter of a) OR (that of b)   those that one of them keeps
    ~a             NOT (filter of a)              those in which a row may not satisfy it: not ``~a.kept_bits``

The plans that are combined are of one table, one instant, one engine and one time zone; anything else is an error. The
combined filter is evaluated again, with the statistics that are in memory, and what each plan knew is used as well. A
plan that was pickled has no statistics: then the outcomes of the two decide, which is sound and explains less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from bitarray import frozenbitarray

from evaluator.evaluation.bit_sets import bits_of_rows
from evaluator.language.expression import And, HudiExpression, Not, Or
from evaluator.language.outcome import Outcomes, conjoin, disjoin, negate
from handler.planning.clocks import PlanMoment
from index_store import FileSlices

__all__ = ["SliceSets"]

P = TypeVar("P", bound="SliceSets")
Combine = Callable[[list[Outcomes], int], Outcomes]


class SliceSets:
    """What a plan's sets of slices can do; ``Plan`` has the fields."""

    table: str
    instant: str | None
    expression: HudiExpression
    engine: str
    time_zone: str
    slices: FileSlices
    kept_rows: npt.NDArray[np.int64]
    moment: PlanMoment | None
    reasons: tuple[Any, ...]
    replan: Callable[[HudiExpression], Any] | None

    @cached_property
    def kept_bits(self) -> frozenbitarray:
        """Bit i is 1 when the query must read ``slices[i]``."""
        return bits_of_rows(self.kept_rows, len(self.slices))

    @cached_property
    def matched_bits(self) -> frozenbitarray:
        """Bit i is 1 when every row of ``slices[i]`` satisfies the filter; a subset of ``kept_bits``."""
        return bits_of_rows(self._full_rows, len(self.slices))

    def __and__(self: P, other: Any) -> P:
        return _combined(self, other, And, conjoin) if isinstance(other, SliceSets) else NotImplemented

    def __or__(self: P, other: Any) -> P:
        return _combined(self, other, Or, disjoin) if isinstance(other, SliceSets) else NotImplemented

    def __invert__(self: P) -> P:
        return _made(self, Not(self.expression), negate(self.outcomes))

    # -- what Plan gives

    @property
    def _full_rows(self) -> npt.NDArray[np.int64]:
        raise NotImplementedError

    @property
    def outcomes(self) -> Outcomes:
        raise NotImplementedError


def _combined(one: P, other: SliceSets, node: type[And] | type[Or], combine: Combine) -> P:
    for name, ours, theirs in (
        ("table", one.table, other.table),
        ("instant", one.instant, other.instant),
        ("engine", one.engine, other.engine),
        ("time zone", one.time_zone, other.time_zone),
    ):
        if ours != theirs:
            raise ValueError(f"plans of two {name}s cannot be combined: {ours} and {theirs}")
    if not _are_same(one.slices, other.slices):
        raise ValueError(f"plans of {one.table} that list different files cannot be combined: make both from one table")
    later = _later(one, other)
    outcomes = combine([one.outcomes, other.outcomes], len(one.slices))
    return _made(one, node((one.expression, other.expression)), outcomes, later, (one, other))


def _made(
    one: P,
    expression: HudiExpression,
    outcomes: Outcomes,
    clock_of: SliceSets | None = None,
    parts: tuple[SliceSets, ...] = (),
) -> P:
    """The plan of an expression by a new evaluation, and by the outcomes that are known of it already."""
    origin: Any = one if clock_of is None else clock_of
    plan: Any = None if origin.replan is None else origin.replan(expression)
    if plan is None or not _are_same(plan.slices, one.slices):
        reasons = tuple(dict.fromkeys(reason for part in parts or (one,) for reason in part.reasons))
        plan = replace(
            origin,
            expression=expression,
            kept_rows=np.arange(len(one.slices)),
            reasons=reasons,
            explanation=None,
            ask=None,
            replan=None,
        )
    made: P = plan.with_outcomes(outcomes)
    return made


def _are_same(one: FileSlices, other: FileSlices) -> bool:
    if one is other or one.items is other.items:
        return True
    return len(one) == len(other) and one.instant == other.instant and list(one.items) == list(other.items)


def _later(one: SliceSets, other: SliceSets) -> SliceSets:
    """The plan that holds when both do. Raises ValueError for plans of two moments."""
    if one.moment is None or other.moment is None or one.moment == other.moment:
        return one if other.moment is None else other
    if one.moment.is_fixed or other.moment.is_fixed:
        raise ValueError(f"plans of two moments cannot be combined: one {one.moment}, the other {other.moment}")
    return max(one, other, key=lambda plan: plan.moment.at if plan.moment else "")
