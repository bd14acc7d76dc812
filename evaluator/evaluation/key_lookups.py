"""Look-ups of keys: providers that know which values occur in a slice, beside providers of bounds.

    filter               city = 'oslo' AND ts > 100
    kept by statistics   slices 2, 5, 9
    look-up              "might slices 2, 5, 9 contain city = 'oslo'?"       bloom filter: 2 yes, 5 no, 9 yes
    kept                 slices 2, 9

A look-up may read files, so it is asked only for the slices that are still open, and only for leaves that are sought to
be TRUE: to know that no row has ``city = 'oslo'`` removes TRUE from the leaf's outcome and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.program import Not, Or
from evaluator.binding.statistics_provider import Declined, StatisticsProvider
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.statistics_evaluation import RowIndices
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes

__all__ = ["KeyLookups"]

Mask = npt.NDArray[np.bool_]
LeafAt = Callable[[int, RowIndices], Outcomes]

_NOT_TRUE = np.uint8(outcome.FALSE | outcome.NULL)
_ANYTHING = np.uint8(outcome.UNKNOWN)


class KeyLookups:
    """The look-ups of one filter, and what they answered: by leaf and provider, where the slice might match."""

    def __init__(self, bound: BoundExpression, n: int, providers: Sequence[StatisticsProvider]) -> None:
        self._bound = bound
        self._n = n
        self._providers = providers
        self._answers: dict[tuple[int, str], Mask] = {}
        #: By leaf and provider, why the provider did not look up its keys.
        self.declined: dict[tuple[int, str], str] = {}

    @staticmethod
    def of(bound: BoundExpression, n: int, providers: Sequence[StatisticsProvider]) -> KeyLookups | None:
        """The look-ups of a filter; None when no leaf or no provider has keys."""
        answering = [provider for provider in providers if provider.might_contain is not None]
        if not answering or all(leaf.lookup is None for leaf in bound.leaves):
            return None
        return KeyLookups(bound, n, answering)

    def allowed(self, index: int, provider: str) -> Outcomes | None:
        """``(n,) uint8``: the outcomes of a leaf that a provider's answer leaves possible; None without an answer."""
        might_contain = self._answers.get((index, provider))
        return None if might_contain is None else np.where(might_contain, _ANYTHING, _NOT_TRUE)

    def restrict(self, index: int, outcomes: Outcomes, rows: npt.NDArray[Any]) -> Outcomes:
        """The outcomes of a leaf in some slices, ``(k,) uint8``, as far as the answers leave them possible."""
        for provider in self._providers:
            allowed = self.allowed(index, provider.name)
            if allowed is not None:
                outcomes = outcomes & allowed[rows]
        return outcomes

    def ask(self, rows: RowIndices, leaf_at: LeafAt) -> bool:
        """Look up the keys of every leaf in the slices that statistics leave. Returns whether a provider answered.

        ``leaf_at`` gives the outcomes of a leaf in some slices, by statistics.
        """
        program = self._bound.program
        sought = program.sought_values()
        every_leaf_must_hold = not program.uses(Not) and not program.uses(Or)
        has_alternatives = program.uses(Or)
        left = rows
        for index, leaf in enumerate(self._bound.leaves):
            if leaf.lookup is None or sought[index] is not TruthValue.TRUE:
                continue
            for provider in self._providers:
                if not len(left):
                    return bool(self._answers)
                open_rows = left
                if has_alternatives:  # otherwise a kept slice is open at every leaf
                    open_rows = left[(leaf_at(index, left) & outcome.TRUE) != 0]
                self._ask(index, provider, open_rows)
                might_contain = self._answers.get((index, provider.name))
                if every_leaf_must_hold and might_contain is not None:
                    left = left[might_contain[left]]
        return bool(self._answers)

    def _ask(self, index: int, provider: StatisticsProvider, rows: RowIndices) -> None:
        lookup = self._bound.leaves[index].lookup
        assert lookup is not None
        assert provider.might_contain is not None
        for (asked, _), might_contain in self._answers.items():
            if asked == index:
                rows = rows[might_contain[rows]]
        if not len(rows):
            return
        candidates: Mask = np.zeros(self._n, np.bool_)
        candidates[rows] = True
        answer = provider.might_contain(lookup, candidates)
        if isinstance(answer, Declined):
            self.declined[index, provider.name] = answer.why
            answer = answer.might_contain
        if answer is not None:
            self._answers[index, provider.name] = answer | ~candidates
