"""Tuples in conditions: what real Spark says of each row is in the row's outcome, as analysed and as optimised.

A tuple with a NULL field is unequal, never NULL, NULL equals NULL in it, and so do the two zeros and NaN. Spark refuses
a tuple whose fields have other types; beside ``=`` Spark 3.5 also one whose fields have other names.
"""

from __future__ import annotations

import itertools
import json

import pytest

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.expression import Unknown, walk
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler.catalyst.translation import condition_of
from handler.spark.catalyst.conditions import engine_of, to_expression
from handler.sql.parsing import parse
from tests.handler.one_row_slices import contradictions
from tests.handler.spark.spark_answers import LETTERS, answers_of

TYPES = {"a": INT, "l": BIGINT, "s": STRING, "d": DOUBLE, "day": DATE}
#: Conditions, each with whether all of it is decided. A folded constant that has a comma or ``null`` in it is not read.
CASES = {
    "(a, s) IN ((1, 'x'), (3, 'y'))": True,
    "(a, s) NOT IN ((1, 'x'), (3, 'y'))": True,
    "struct(a, s) IN (struct(1, 'x'))": True,
    "named_struct('p', a, 'q', l) IN (struct(1, 2L), struct(3, 2L))": True,
    "(a, l, s) = (1, 2L, 'x')": True,
    "(a, l) <> (1, 2L)": True,
    "(a, l) <=> (1, 2L)": True,
    "(1, 2L) = (a, l)": True,
    "(a, s) IN ((1, CAST(NULL AS STRING)), (3, 'x'))": False,
    "(a, day) IN ((1, DATE'2020-02-29'), (3, DATE'2020-03-01'))": True,
    "(a, d) IN ((1, 0.0D))": True,
    "(a, d) IN ((1, -0.0D), (3, double('NaN')))": True,
    "(a + 1, s) IN ((2, 'x'))": True,
    "(a, s) IN ((1, 'x,y'), (3, 'null'))": False,
    "(a, s) IN ((1, 'x')) OR a = 3": True,
    "NOT ((a, s) IN ((1, 'x')) AND a = 1)": True,
    "(a, s) < (3, 'y')": False,
    "(a, (l, s)) IN ((1, (2L, 'x')))": False,
}


@pytest.fixture(scope="module")
def rows(spark):
    """(the DataFrame, the rows by name, statistics of one slice each)."""
    values = itertools.product((1, 3, None), (2, None), ("x", "y", "x,y", "null", None), (0.0, float("nan"), None))
    plain = [(*row, 18_321 if row[0] == 1 else 18_322) for row in values]
    numbered = [(number, *row) for number, row in enumerate(plain)]
    frame = spark.createDataFrame(numbered, "id int, a int, l bigint, s string, d double, days int")
    frame = frame.selectExpr("id", "a", "l", "s", "d", "date_from_unix_date(days) day").cache()
    columns = list(zip(*plain, strict=True))
    statistics = {
        name: from_values(of, list(column), list(column), [int(v is None) for v in column], [1] * len(plain))
        for (name, of), column in zip(TYPES.items(), columns, strict=True)
    }
    return frame, [dict(zip(TYPES, row, strict=True)) for row in plain], StatisticsProvider("rows", statistics)


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_the_outcome_of_a_tuple_holds_what_spark_says(spark, rows, ansi: str) -> None:
    frame, values, source = rows
    kept = spark.conf.get("spark.sql.ansi.enabled", "false")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        answers = answers_of(frame, list(CASES), "id")
        analysed = {text: to_expression(spark, frame.schema, text) for text in answers}
        semantics = Semantics.named(engine_of(spark), "UTC")
    finally:
        spark.conf.set("spark.sql.ansi.enabled", kept)
    assert set(answers) >= {text for text in CASES if " IN " in text}
    schema = Schema([Field(*column) for column in TYPES.items()])
    for text in answers:
        for expression in (analysed[text], parse(text, "spark")):
            assert contradictions(expression, answers[text], schema, source, semantics) == [], text
        assert any(isinstance(node, Unknown) for node in walk(analysed[text])) != CASES[text], text
        if CASES[text]:
            assert [LETTERS[value_of(analysed[text], row, schema, semantics)] for row in values] == answers[text], text
    assert not any("N" in letters for text, letters in answers.items() if "OR" not in text and "AND" not in text)


def test_constants_that_the_optimiser_folds_are_read_where_they_have_one_reading(spark, rows) -> None:
    frame, _, source = rows
    schema = Schema([Field(*column) for column in TYPES.items()])
    read = 0
    answers = answers_of(frame, list(CASES), "id")
    for text in answers:
        condition = frame.where(text)._jdf.queryExecution().optimizedPlan()
        while condition.nodeName() != "Filter":
            condition = condition.children().apply(0)
        expression = condition_of(json.loads(condition.condition().toJSON()), {}, "UTC")
        assert contradictions(expression, answers[text], schema, source, Semantics.named("spark", "UTC")) == [], text
        read += not any(isinstance(node, Unknown) for node in walk(expression))
    assert read >= 7
