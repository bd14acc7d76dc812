"""Intervals in Hive's filters, where Hive has not folded them: a date moved by one is a constant (C7)."""

from __future__ import annotations

import pytest

from evaluator.language.expression import Call, Compare, Literal, Opaque
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, Type
from sarg.hive_tree.constants import Constant, DayTime, YearMonth
from sarg.translation.literals import literal_of
from tests.evaluator.short_forms import col, lit, outcome_of, stats

_HIVE = "org.apache.hadoop.hive.common.type."


@pytest.mark.parametrize(
    ("value", "type_name", "text"),
    [
        (YearMonth(-14), "interval_year_month", "INTERVAL '-14' MONTH"),
        (DayTime(90 * 86_400, 0), "interval_day_time", "INTERVAL '7776000' SECOND"),
        (DayTime(-1, -500_000_000), "interval_day_time", "INTERVAL '-1.5' SECOND"),
    ],
)
def test_an_interval_is_a_literal(value: object, type_name: str, text: str) -> None:
    literal = literal_of(Constant(_HIVE + "HiveInterval" + type(value).__name__, value), Type.parse(type_name))
    assert str(literal) == text


def test_an_interval_with_nanoseconds_is_not_decided() -> None:
    constant = Constant(_HIVE + "HiveIntervalDayTime", DayTime(1, 1))
    assert isinstance(literal_of(constant, Type.parse("interval_day_time")), Opaque)


def test_a_filter_of_hive_with_an_interval_skips() -> None:
    """d < DATE '1994-01-01' + INTERVAL '1' YEAR: day 9,131 is 1995-01-01."""
    span = literal_of(Constant(_HIVE + "HiveIntervalYearMonth", YearMonth(12)), Type.parse("interval_year_month"))
    assert isinstance(span, Literal)
    filter_ = Compare("<", col("d", DATE), Call("+", (lit(8766, DATE), span), DATE))
    semantics, schema = Semantics.named("hive4", "UTC"), Schema((Field("d", DATE),))
    assert outcome_of(filter_, {"d": stats(DATE, 9131, 9140)}, semantics, schema) == "F"
    assert outcome_of(filter_, {"d": stats(DATE, 9100, 9130)}, semantics, schema) == "T"
