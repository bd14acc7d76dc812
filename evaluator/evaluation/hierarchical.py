"""Functions of one column over many slices: decided for whole groups of slices first, and only then one by one.

A range function costs some 15 microseconds, which is nothing for twenty slices and half a minute for two million. But
what holds on a wide range holds on every range inside it. So the slices are sorted by their bounds, and the function is
asked for the hull of a group; a group that is neither all TRUE nor all FALSE is split into sixteen:

    year(ts) = 2020    2,000,000 slices of ten years: two borders of the year are followed down, about 300 questions

Slices whose statistics differ in more than the bounds are apart (``evaluator.statistics.groups``).
After ``MAX_QUESTIONS`` the rest is left open, which keeps it; a sample tells beforehand whether going on is any use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, NULL, TRUE, UNKNOWN, Outcomes
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.groups import SliceGroup

__all__ = ["MAX_QUESTIONS", "descend"]

#: At about 15 microseconds each.
MAX_QUESTIONS = 200_000
_FANOUT = 16
_SAMPLE = 256

Ask = Callable[[Interval], int]
Rows = npt.NDArray[Any]


def descend(statistics: ColumnStatistics, ask: Ask, most_questions: int = MAX_QUESTIONS) -> Outcomes:
    """``(n,) uint8``: the outcome of ``ask`` in every slice, which takes one slice's interval in the arrays' form."""
    found: Outcomes = np.full(len(statistics), UNKNOWN, np.uint8)
    left = most_questions
    for group in statistics.groups:
        left -= _Descent(group, ask, left).fill(found)
    return found


class _Descent:
    """One group, of which stretches are asked about."""

    def __init__(self, group: SliceGroup, ask: Ask, most_questions: int) -> None:
        self._rows, self._lo, self._hi = group.rows, group.lo, group.hi
        self._null, self._value = group.null, group.value
        self._ask, self._most, self._asked = ask, most_questions, 0

    def fill(self, found: Outcomes) -> int:
        """Write the outcomes of these slices; returns how many questions that took."""
        starts, ends = np.array([0]), np.array([len(self._rows)])
        while len(starts) and self._asked < self._most:
            hulls = list(zip(*self._hulls(starts, ends), strict=True))
            if len(starts) > 4 * _SAMPLE and not self._worthwhile():
                break
            open_starts, open_ends = [], []
            for start, end, (lo, hi, same) in zip(starts.tolist(), ends.tolist(), hulls, strict=True):
                if self._asked >= self._most:
                    break
                self._asked += 1
                outcome = self._ask(Interval(lo, hi, self._null, self._value))
                found[self._rows[start:end]] = outcome
                if not (same or self._is_settled(outcome, lo, hi)):
                    open_starts.append(start)
                    open_ends.append(end)
            starts, ends = _split(open_starts, open_ends)
        return self._asked

    def _hulls(self, starts: Rows, ends: Rows) -> tuple[list[Any], list[Any], list[bool]]:
        """Least lower and greatest upper bound of each stretch, and whether all its slices have these very bounds."""
        edges = np.stack((starts, ends), axis=1).ravel()

        def least_and_greatest(bound: Any) -> tuple[list[Any], list[Any]]:
            if bound is None:
                return [None] * len(starts), [None] * len(starts)
            padded = np.append(bound, bound[-1:])  # reduceat wants every edge inside
            return np.minimum.reduceat(padded, edges)[::2].tolist(), np.maximum.reduceat(padded, edges)[::2].tolist()

        (lo, lo_most), (hi_least, hi) = least_and_greatest(self._lo), least_and_greatest(self._hi)
        same = [a == b and c == d for a, b, c, d in zip(lo, lo_most, hi_least, hi, strict=True)]
        return lo, hi, same

    def _is_settled(self, outcome: int, lo: Any, hi: Any) -> bool:
        """One answer for all values of the hull: then also for the values of every slice in it.

        NULL may be the answer for NULL, or for values: without NULL among them the function is asked again.
        """
        if outcome & (TRUE | FALSE) == TRUE | FALSE:
            return False
        if self._null and outcome & (TRUE | FALSE):
            self._asked += 1
            outcome = self._ask(Interval(lo, hi, False, self._value))
        return outcome in (TRUE, FALSE, NULL)

    def _worthwhile(self) -> bool:
        """Whether any slice of a sample, asked by itself, says more than "anything"."""
        for place in np.linspace(0, len(self._rows) - 1, _SAMPLE).astype(np.intp).tolist():
            self._asked += 1
            lo, hi = (None if bound is None else _plain(bound[place]) for bound in (self._lo, self._hi))
            if self._ask(Interval(lo, hi, self._null, self._value)) & (TRUE | FALSE) != TRUE | FALSE:
                return True
        return False


def _split(starts: list[int], ends: list[int]) -> tuple[Rows, Rows]:
    """Each stretch in up to sixteen of about equal length."""
    if not starts:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    first, last = np.array(starts), np.array(ends)
    cuts = first[:, None] + (last - first)[:, None] * np.arange(_FANOUT + 1) // _FANOUT
    begin, end = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    filled = begin < end
    return begin[filled], end[filled]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
