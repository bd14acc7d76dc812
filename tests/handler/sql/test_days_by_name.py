"""Spark's names of days in literals, DATE with a time, and what has the name of a type and is a cast."""

from __future__ import annotations

import pytest

from evaluator.language.clock import reads_clock
from evaluator.language.expression import Call, Cast, Compare, Literal, Opaque, to_text
from evaluator.language.types import DATE, TIMESTAMP_LTZ
from handler.sql import SqlError, parse

SPARK = ("spark", "spark-ansi", "spark-legacy")


def right_of(condition: str, engine: str = "spark") -> object:
    comparison = parse(condition, engine)  # type: ignore[arg-type]
    assert isinstance(comparison, Compare)
    return comparison.right


@pytest.mark.parametrize("engine", SPARK)
@pytest.mark.parametrize(
    ("literal", "operand"),
    [
        ("DATE 'today'", "current_date()"),
        ("DATE ' Now '", "current_date()"),
        ("DATE 'yesterday'", "date_add(current_date(), -1)"),
        ("DATE 'tomorrow'", "date_add(current_date(), 1)"),
        ("DATE 'epoch'", "DATE '1970-01-01'"),
        ("DATE '2020-01-31 10:00:00'", "DATE '2020-01-31'"),
        ("DATE '2020-01-31T'", "DATE '2020-01-31'"),
        ("TIMESTAMP 'now'", "current_timestamp()"),
    ],
)
def test_a_named_day_is_the_clock(literal: str, operand: str, engine: str) -> None:
    assert to_text(right_of(f"d >= {literal}", engine)) == operand  # type: ignore[arg-type]


def test_a_named_day_as_a_timestamp_is_its_midnight() -> None:
    assert right_of("t >= TIMESTAMP 'today'") == Cast(Call("current_date", ()), TIMESTAMP_LTZ)
    assert to_text(right_of("t >= TIMESTAMP 'epoch'")) == "TIMESTAMP '1970-01-01 00:00:00Z'"  # type: ignore[arg-type]
    assert reads_clock(parse("t >= TIMESTAMP 'yesterday'", "spark"))
    assert not reads_clock(parse("t >= TIMESTAMP 'epoch'", "spark"))


@pytest.mark.parametrize("literal", ["DATE 'today'", "TIMESTAMP 'now'", "DATE '2020-01-31 10:00:00'"])
def test_hive_has_no_such_literals(literal: str) -> None:
    with pytest.raises(SqlError, match="is not a"):
        parse(f"d >= {literal}", "hive")


@pytest.mark.parametrize("literal", ["DATE 'someday'", "DATE ''", "DATE 'today UTC'", "TIMESTAMP 'x'"])
def test_other_words_are_no_dates(literal: str) -> None:
    with pytest.raises(SqlError, match="is not a"):
        parse(f"d >= {literal}", "spark")


def test_timestamp_of_a_value_is_a_cast_in_spark() -> None:
    right = right_of("t >= timestamp('2020-01-01')")
    assert right == Cast(Literal("2020-01-01", right_of("s = 'x'").type), TIMESTAMP_LTZ)  # type: ignore[attr-defined]
    assert right_of("t >= timestamp('a', 'b')").function == "timestamp"  # type: ignore[attr-defined]
    assert right_of("d >= date('2020-01-01')").type == DATE  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("date_part('YEAR', d)", "year(d)"),
        ("extract(WEEK FROM d)", "weekofyear(d)"),
        ("date_part('dow', d)", "dayofweek(d)"),
        ("datediff(HOUR, a, b)", "timestampdiff('hour', a, b)"),
        ("timestampdiff(MONTH, a, b)", "timestampdiff('month', a, b)"),
        ("position('x' IN s)", "locate('x', s)"),
        ("position('x', s, 3)", "locate('x', s, 3)"),
        ("ltrim('x', s)", "ltrim(s, 'x')"),
        ("trim(LEADING 'x' FROM s)", "ltrim(s, 'x')"),
        ("trim(BOTH 'x' FROM s)", "trim(s, 'x')"),
    ],
)
def test_one_function_in_its_spellings(text: str, operand: str) -> None:
    assert to_text(right_of(f"c = {text}")) == operand  # type: ignore[arg-type]


def test_a_field_that_is_no_constant_is_opaque() -> None:
    assert isinstance(right_of("c = date_part(s, d)"), Opaque)
