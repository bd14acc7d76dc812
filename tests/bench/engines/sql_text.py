"""A question about bounds as SQL text, for DuckDB and DataFusion."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from tests.bench.bound_tests import AnyMember, BoundTest, Question, question, render
from tests.bench.shapes import Shape

__all__ = ["select"]


def select(shape: Shape, any_member: Callable[[AnyMember], str]) -> str:
    """``SELECT file FROM files WHERE ...``; a member test alone is put by ``any_member``, in the engine's best way."""
    asked = question(shape.expression)
    return any_member(asked) if isinstance(asked, AnyMember) else f"SELECT file FROM files WHERE {condition(asked)}"


def condition(asked: Question) -> str:
    """AND and OR of comparisons."""
    return render(asked, _test, lambda a, b: f"({a} AND {b})", lambda a, b: f"({a} OR {b})")


def _test(leaf: BoundTest | AnyMember) -> str:
    assert isinstance(leaf, BoundTest)
    value = leaf.value
    if leaf.bound.startswith("day"):
        assert isinstance(value, int)
        text = f"DATE '{datetime.date(1970, 1, 1) + datetime.timedelta(days=value)}'"
    else:
        text = f"'{value}'" if isinstance(value, str) else repr(value)
    return f'"{leaf.bound}" {leaf.op.replace("!=", "<>")} {text}'
