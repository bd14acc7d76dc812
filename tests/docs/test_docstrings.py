"""The examples in docstrings that need no Spark."""

from __future__ import annotations

import doctest

import pytest

import handler.sql
from evaluator.language import construction, zones
from handler.catalyst import literals, translation
from handler.sql import parsing

MODULES = [construction, zones, handler.sql, parsing, translation, literals]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_what_is_exported_is_found():
    import handler.spark

    for name in handler.spark.__all__:
        assert callable(getattr(handler.spark, name))
    with pytest.raises(AttributeError, match="no attribute 'prunes'"):
        _ = handler.spark.prunes
