"""The worked examples in the docstrings of the evaluator's two contracts give what they show."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from evaluator.binding import statistics_provider
from evaluator.evaluation import evaluate


@pytest.mark.parametrize("module", [evaluate, statistics_provider], ids=lambda module: module.__name__)
def test_the_worked_examples_hold(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 10
    assert results.failed == 0
