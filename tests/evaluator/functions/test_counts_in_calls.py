"""Constant lengths, positions and counts: an engine casts what is no INT to one, so only an INT is decided.

The values beside the calls are those of Spark 3.5 without ANSI mode, of the text 'abc' and the number 2.5555.
"""

from __future__ import annotations

import pytest

from evaluator.functions.base import Argument, count_of
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import UNKNOWN, Interval, point
from evaluator.language.types import BIGINT, DOUBLE, INT, STRING
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats


@pytest.mark.parametrize("engine", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize(
    "text",
    [
        "left(x, 4294967297) = 'a'",
        "left(x, 4294967297.0) = 'a'",
        "substring(x, 1, 4294967297) = 'a'",
        "substring(x, 4294967297) = 'abc'",
        "substring(x, 1, -4294967295) = 'a'",
        "repeat(x, -4294967293) = 'abcabcabc'",
        "round(y, '1') = 2.6D",
        "round(y, 1.5) = 2.6D",
        "round(y, 4294967297) = 2.6D",
    ],
)
def test_a_count_that_spark_casts_is_not_decided(text: str, engine: object) -> None:
    known = {"x": stats(STRING, "abc", "abc"), "y": stats(DOUBLE, 2.5555, 2.5555)}
    assert outcome_of(parse(text, "spark"), known, engine) == "TFN"


def test_a_text_is_no_count_of_any_range() -> None:
    """repeat(x, 'many') is NULL in Spark without ANSI mode."""
    assert "T" in outcome_of(parse("repeat(x, 'many') IS NULL", "spark"), {"x": stats(STRING, "abc", "abd")})


@pytest.mark.parametrize("count", [-(1 << 31), 0, (1 << 31) - 1])
def test_a_count_is_an_int(count: int) -> None:
    for of in (INT, BIGINT):
        assert count_of(Argument(of, point(count)), "a count") == count


@pytest.mark.parametrize("interval", [*map(point, (-(1 << 31) - 1, 1 << 31, 1.0, "1")), UNKNOWN, Interval(1, 2)])
def test_what_is_no_int_is_no_count(interval: Interval) -> None:
    with pytest.raises(UnsupportedError, match="a count that is no"):
        count_of(Argument(BIGINT, interval), "a count")
