"""The three values that SQL gives a condition on a row, and which of them are possible in a slice.

    outcome          Possible(true, false, null)
    {true}           Possible(True, False, False)
    {false, null}    Possible(False, True, True)
    unknown          Possible(True, True, True)

``Possible`` holds the three bits of an outcome (contract C1) apart, as the rule table works them out. Each field is a
bool for one slice, an ``(n,) bool`` array for n slices, or a symbol from which a faster form of the rule is derived.
``TruthValue`` is the position of a value in it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from evaluator.language import outcome

__all__ = ["Possible", "TruthValue"]


class TruthValue(IntEnum):
    """A value of a condition on one row; as a number its position in ``Possible``."""

    TRUE = 0
    FALSE = 1
    NULL = 2

    @property
    def bit(self) -> int:
        """The outcome that holds this value alone."""
        return (outcome.TRUE, outcome.FALSE, outcome.NULL)[self]


class Possible(NamedTuple):
    """Whether a condition can be TRUE, FALSE and NULL."""

    true: Any
    false: Any
    null: Any
