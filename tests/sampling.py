"""What a run of the tests takes of a long list of cases: a fixed share, or all of them with ``SARGO_TESTS=all``.

The share is the same in every run, and is drawn at random, so that it does not follow a pattern of the list.
``make test-all`` runs the tests with all cases and other examples of the property tests.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL_CASES = os.environ.get("SARGO_TESTS") == "all"


def share(cases: Iterable[T], one_in: int, *, seed: int = 7) -> list[T]:
    """One in ``one_in`` of the cases and at least one, in their order; all of them in a run of all tests."""
    found = list(cases)
    if ALL_CASES or not found:
        return found
    chosen = random.Random(seed).sample(range(len(found)), -(-len(found) // one_in))
    return [found[index] for index in sorted(chosen)]


def examples(count: int, *, at_night: int) -> int:
    """How many examples a property test draws: ``count``, or ``at_night`` in a run of all tests."""
    return at_night if ALL_CASES else count
