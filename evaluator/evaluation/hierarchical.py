"""Hierarchical evaluation: a function of one column is evaluated for groups of slices first, then for smaller ones.

To evaluate a function on one interval takes some 15 microseconds: nothing for twenty slices, half a minute for two
million. An outcome that holds on a wide interval holds on every interval inside it. So the slices are sorted by their
bounds, and the function is evaluated on the hull of a run of slices. A run that is neither all TRUE nor all FALSE is
split into sixteen:

    year(ts) = 2020      2,000,000 slices that span ten years
    runs evaluated       1, 16, 32, 32, ...: only the two runs that hold a border of the year are split, 300 in all

Slices whose statistics differ in more than the bounds are in separate groups (``evaluator.statistics.groups``). After
``MAX_EVALUATIONS`` the other slices stay unknown, which keeps them. A sample of slices shows beforehand whether smaller
runs can decide anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, NULL, TRUE, UNKNOWN, Outcomes
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.groups import SliceGroup
from evaluator.statistics.stored_bounds import plain_value

__all__ = ["MAX_EVALUATIONS", "evaluate_groups"]

#: At about 15 microseconds each.
MAX_EVALUATIONS = 200_000
_FANOUT = 16
_SAMPLE = 256

OutcomeOf = Callable[[Interval], int]
Rows = npt.NDArray[Any]


def evaluate_groups(
    statistics: ColumnStatistics, outcome_of: OutcomeOf, max_evaluations: int = MAX_EVALUATIONS
) -> Outcomes:
    """``(n,) uint8``: the outcome of every slice; ``outcome_of`` takes one interval in the form of the arrays."""
    outcomes: Outcomes = np.full(len(statistics), UNKNOWN, np.uint8)
    left = max_evaluations
    for group in statistics.groups:
        left -= _GroupEvaluation(group, outcome_of, left).write(outcomes)
    return outcomes


class _GroupEvaluation:
    """The evaluation of one group, from one run of all its slices down to runs of one slice."""

    def __init__(self, group: SliceGroup, outcome_of: OutcomeOf, max_evaluations: int) -> None:
        self._rows, self._lo, self._hi = group.rows, group.lo, group.hi
        self._null, self._value = group.null, group.value
        self._outcome_of, self._max, self._count = outcome_of, max_evaluations, 0

    def write(self, outcomes: Outcomes) -> int:
        """Write the outcomes of these slices; returns the number of evaluations."""
        starts, ends = np.array([0]), np.array([len(self._rows)])
        while len(starts) and self._count < self._max:
            hulls = list(zip(*self._hulls(starts, ends), strict=True))
            if len(starts) > 4 * _SAMPLE and not self._worthwhile():
                break
            open_starts, open_ends = [], []
            for start, end, (lo, hi, same) in zip(starts.tolist(), ends.tolist(), hulls, strict=True):
                if self._count >= self._max:
                    break
                self._count += 1
                outcome = self._outcome_of(Interval(lo, hi, self._null, self._value))
                outcomes[self._rows[start:end]] = outcome
                if not (same or self._is_settled(outcome, lo, hi)):
                    open_starts.append(start)
                    open_ends.append(end)
            starts, ends = _split(open_starts, open_ends)
        return self._count

    def _hulls(self, starts: Rows, ends: Rows) -> tuple[list[Any], list[Any], list[bool]]:
        """Least lower and greatest upper bound of each run, and whether all its slices have these very bounds."""
        edges = np.stack((starts, ends), axis=1).ravel()

        def least_and_greatest(bound: Any) -> tuple[list[Any], list[Any]]:
            if bound is None:
                return [None] * len(starts), [None] * len(starts)
            padded = np.append(bound, bound[-1:])  # reduceat wants every edge inside
            return np.minimum.reduceat(padded, edges)[::2].tolist(), np.maximum.reduceat(padded, edges)[::2].tolist()

        (lo, lo_greatest), (hi_least, hi) = least_and_greatest(self._lo), least_and_greatest(self._hi)
        same = [a == b and c == d for a, b, c, d in zip(lo, lo_greatest, hi_least, hi, strict=True)]
        return lo, hi, same

    def _is_settled(self, outcome: int, lo: Any, hi: Any) -> bool:
        """One value for all values of the hull: then also for the values of every slice in it.

        NULL may be the result for NULL, or for values. Without NULL among the values the function is evaluated again,
        and of NULL alone: a branch of ``if(i <= 5, i, 0)`` is not reached once all values are greater than 5.
        """
        if outcome & (TRUE | FALSE) == TRUE | FALSE:
            return False
        if not self._null or not outcome & (TRUE | FALSE):
            return outcome in (TRUE, FALSE, NULL)
        self._count += 1
        of_values = self._outcome_of(Interval(lo, hi, False, self._value))
        return of_values in (TRUE, FALSE, NULL) and outcome == of_values | self._of_null

    @cached_property
    def _of_null(self) -> int:
        self._count += 1
        return self._outcome_of(Interval(null=True, value=False))

    def _worthwhile(self) -> bool:
        """Whether the outcome of any slice of a sample, evaluated by itself, rules out TRUE or FALSE."""
        for position in np.linspace(0, len(self._rows) - 1, _SAMPLE).astype(np.intp).tolist():
            self._count += 1
            lo, hi = (None if bound is None else plain_value(bound[position]) for bound in (self._lo, self._hi))
            if self._outcome_of(Interval(lo, hi, self._null, self._value)) & (TRUE | FALSE) != TRUE | FALSE:
                return True
        return False


def _split(starts: list[int], ends: list[int]) -> tuple[Rows, Rows]:
    """Each run in up to sixteen of about equal length."""
    if not starts:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    first, last = np.array(starts), np.array(ends)
    cuts = first[:, None] + (last - first)[:, None] * np.arange(_FANOUT + 1) // _FANOUT
    begin, end = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    filled = begin < end
    return begin[filled], end[filled]
