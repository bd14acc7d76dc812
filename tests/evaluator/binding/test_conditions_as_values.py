"""Conditions that stand for a value: TRUE, FALSE and NULL are exactly those of the condition's outcome."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.construction import condition_of_truth, truth_of
from evaluator.language.types import BOOLEAN, INT, STRING
from evaluator.reference.row_oracle import value_of
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, letters, outcome_of, stats
from tests.evaluator.strategies import SCHEMA, exact_statistics, filters, slices
from tests.sampling import examples

I_0_TO_5 = {"i": stats(INT, 0, 5), "j": stats(INT, 0, 5, nulls=2), "b": stats(BOOLEAN, False, False)}
CASES = [
    ("(i > 100) IS NULL", "F", "F"),
    ("(i > 100) IS NOT NULL", "T", "T"),
    ("isnull(j > 100)", "TF", "TF"),
    ("(j > 100) IS NULL OR j < 9", "TN", "TN"),
    ("i BETWEEN 50 AND NULL", "F", "FN"),
    ("NOT (i BETWEEN 50 AND NULL)", "T", "TN"),
    ("i BETWEEN 0 AND NULL", "N", "FN"),
    ("b = (i >= 0)", "F", "F"),
    ("b <> (i >= 0)", "T", "T"),
    ("(i > 5) = TRUE", "F", "F"),
    ("(i > 5) = (i > 7)", "T", "T"),
    ("(i > 5) <=> NULL", "F", "F"),
    ("(j > 5) IS TRUE", "F", "F"),
    ("(j > 5) IS NOT TRUE", "T", "T"),
    ("(j < 9) IS TRUE", "TFN", "TFN"),
    ("(j < 9) IS UNKNOWN", "TF", "TF"),
    ("(i > 5) IN (TRUE)", "F", "F"),
    ("CASE WHEN i > 5 THEN i > 7 ELSE FALSE END", "F", "F"),
    ("if(i > 5, i > 7, i > 9)", "F", "F"),
    ("coalesce(j > 5, FALSE)", "F", "F"),
    ("NOT coalesce(j > 5, FALSE)", "T", "T"),
]


@pytest.mark.parametrize(("text", "spark", "hive"), CASES, ids=lambda value: str(value))
def test_a_condition_is_a_value(text: str, spark: str, hive: str) -> None:
    assert "".join(sorted(outcome_of(parse(text, "spark"), I_0_TO_5))) == "".join(sorted(spark))
    assert "".join(sorted(outcome_of(parse(text, "hive"), I_0_TO_5, HIVE))) == "".join(sorted(hive))


@pytest.mark.parametrize("text", ["b = i > 100", "b = i IN (1)", "b = NOT b", "i > 1 = (i > 2)"])
def test_engines_read_a_comparison_of_conditions_without_parentheses_in_their_own_ways(text: str) -> None:
    try:
        expression = parse(text, "spark")
    except Exception:
        return
    assert outcome_of(expression, I_0_TO_5) == "TFN"


@settings(max_examples=examples(78, at_night=3_000))
@given(st.data())
def test_the_truth_of_a_condition_is_that_of_its_rows(data: st.DataObject) -> None:
    condition = data.draw(filters(["b", "i", "l", "s", "dt", "d"]))
    truth = truth_of(condition)
    columns = ex.column_names(condition)
    part = data.draw(slices(columns))
    known = {name: exact_statistics(name, [part]) for name in columns}
    whole = outcome_of(condition, known, schema=SCHEMA)
    expected = {
        ex.Compare("=", truth, ex.Literal(True, BOOLEAN)): whole,
        ex.Compare("<=>", truth, ex.Literal(True, BOOLEAN)): ("T" if "T" in whole else "") + "F" * (whole != "T"),
        ex.IsNull(truth): ("T" if "N" in whole else "") + "F" * (whole != "N"),
    }
    for expression, wanted in expected.items():
        got = outcome_of(expression, known, schema=SCHEMA)
        assert set(got) <= set(wanted) or whole == "TFN"  # a condition that is not decided reads no column
        for row in part.rows:
            try:
                value = value_of(expression, row, SCHEMA, SPARK)
            except Exception:
                continue
            assert letters(outcome.of_value(value)) in got


def test_a_very_large_condition_is_no_value() -> None:
    one = ex.IsNull(ex.Column(("i",)))
    large = ex.And((one,) * 1_000)
    assert isinstance(truth_of(large), ex.Opaque)
    nested: ex.HudiExpression = one
    for _ in range(40):
        nested = ex.IsNull(truth_of(nested))
    assert sum(1 for _ in ex.walk(nested)) < 2_000


def test_only_a_condition_as_a_value_is_one() -> None:
    one = ex.IsNull(ex.Column(("i",)))
    assert condition_of_truth(truth_of(one)) is one
    assert condition_of_truth(ex.If(one, ex.Literal(True, BOOLEAN), ex.Literal(False, BOOLEAN))) is None
    assert condition_of_truth(ex.If(one, ex.Literal("x", STRING), ex.Literal(None, STRING))) is None
