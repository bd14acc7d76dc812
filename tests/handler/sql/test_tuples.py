"""Tuples in the text of a condition: equal tuples are NULL-safe, and columns have the types of the constants."""

from __future__ import annotations

import pytest

from evaluator.language.expression import to_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, SMALLINT, STRING, TIMESTAMP_LTZ
from handler.sql.parsing import parse
from tests.evaluator.short_forms import outcome_of, stats

ENGINES = ("spark", "spark-ansi", "spark-legacy", "hive", "hive4")

MEANINGS = [
    ("(a, b) IN ((1, 'x'), (3, 'y'))", "((a <=> 1 AND b <=> 'x') OR (a <=> 3 AND b <=> 'y'))"),
    ("struct(a, b) IN (struct(1, 2))", "(a <=> 1 AND b <=> 2)"),
    ("(a, b) NOT IN ((1, 2))", "NOT (a <=> 1 AND b <=> 2)"),
    ("(a, b) = (1, DATE '2020-01-02')", "(a <=> 1 AND b <=> DATE '2020-01-02')"),
    ("(a, b) <> (1, TRUE)", "NOT (a <=> 1 AND b <=> True)"),
    ("(a, b) <=> (1, 2)", "(a <=> 1 AND b <=> 2)"),
    ("(st.x, b) IN ((1, 2))", "(st.x <=> 1 AND b <=> 2)"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_tuples_are_compared_field_by_field(text: str, meaning: str, engine: str) -> None:
    assert to_text(parse(text, engine)) == meaning  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "(a, b) IN ((1, NULL))",
        "(a, b) IN ((1, 2, 3))",
        "(a, b) IN (1, 2)",
        "a IN ((1, 2))",
        "(a, b) IN ((b, a))",
        "(a + 1, b) IN ((2, 2))",
        "(a, b) IN ((0.0D, 1))",
        "(a, b) IN ((1.5, 1))",
        "(a, b) < (1, 2)",
        "(a, b) = NULL",
        "struct(a AS x, b) IN (struct(1, 2))",
        "named_struct('x', a) IN (named_struct('x', 1))",
        "(a, (a, b)) IN ((1, (1, 2)))",
        "(a, b) IN (SELECT 1, 2)",
    ],
)
@pytest.mark.parametrize("engine", ["spark", "hive"])
def test_other_tuples_are_not_decided(text: str, engine: str) -> None:
    known = {"a": stats(INT, 100, 200), "b": stats(INT, 100, 200)}
    semantics = Semantics.named(engine, "UTC")
    assert outcome_of(parse(text, engine), known, semantics) == "TFN"  # type: ignore[arg-type]


OUTCOMES = [
    ("(a, b) IN ((1, 2), (3, 4))", (1, 3), (2, 4), 0, "TF"),
    ("(a, b) IN ((1, 2), (3, 4))", (1, 1), (2, 2), 0, "T"),
    ("(a, b) IN ((1, 2), (3, 4))", (1, 1), (4, 9), 0, "F"),
    ("(a, b) IN ((1, 2), (3, 4))", (5, 9), (2, 4), 3, "F"),
    ("(a, b) NOT IN ((1, 2), (3, 4))", (5, 9), (2, 4), 3, "T"),
    ("(a, b) IN ((1, 2), (3, 4))", (1, 1), (2, 2), 3, "TF"),
    ("(a, b) <> (1, 2)", (1, 1), (2, 2), 0, "F"),
]


@pytest.mark.parametrize(("text", "of_a", "of_b", "nulls", "expected"), OUTCOMES, ids=str)
@pytest.mark.parametrize("engine", ["spark", "hive4"])
def test_a_tuple_with_a_null_is_unequal_and_never_null(text, of_a, of_b, nulls, expected, engine) -> None:
    known = {"a": stats(INT, *of_a, nulls), "b": stats(INT, *of_b)}
    assert outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC")) == expected


@pytest.mark.parametrize("of", [BIGINT, STRING, DOUBLE, DATE, TIMESTAMP_LTZ], ids=str)
def test_a_column_of_another_type_leaves_the_tuple_open(of) -> None:
    """Spark refuses such a tuple, and Hive converts its fields."""
    known = {"a": stats(of, None, None), "b": stats(INT, 7, 9)}
    assert outcome_of(parse("(a, b) IN ((1, 2))", "spark"), known) == "F"  # by b alone
    assert outcome_of(parse("(a, b) IN ((1, 8))", "spark"), known) == "TFN"


def test_integers_of_fewer_bits_are_read_as_they_are() -> None:
    known = {"a": stats(SMALLINT, 5, 9), "b": stats(INT, 7, 9)}
    assert outcome_of(parse("(a, b) IN ((1, 8))", "spark"), known) == "F"
