"""Several conditions that are analysed together mean what each means by itself."""

from __future__ import annotations

import re
from random import Random

import pytest
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.errors import SargoError
from evaluator.language.expression import to_text
from handler.spark import prune
from handler.spark.catalyst import conditions
from handler.spark.catalyst.conditions import ConditionError, ConditionSyntaxError, to_expression, together
from tests.handler.spark.catalyst.test_conditions_against_spark import MORE
from tests.sampling import examples

SCHEMA = (
    "i int, l bigint, an int, u int, b boolean, s string, t timestamp, dt date, d double, f float, bin binary, "
    "dec decimal(10,2), dec30 decimal(30,5), st struct<x:int,y:string>, id string, p string"
)
#: What is computed, known only when the query runs, not decided, or of values that Catalyst's JSON leaves out.
FORMS = (
    "i = 5",
    "i = 5 AND s = 'a' AND NOT b",
    "dt >= date '1994-01-01' + interval 1 year",
    "dt >= current_date() - interval 7 days",
    "d < pow(2, 10)",
    "1 = 1",
    "NULL",
    "d < 1 / 0",
    "rand() < 0.5",
    "t > timestamp '2020-01-01 10:00:00'",
    "t > timestamp 'now'",
    "bin = X'CAFE'",
    "s LIKE 'a/_%' ESCAPE '/'",
    "i IN (1, 2, NULL)",
    "st.x > 3 OR st.y = 'b'",
    "i IN (SELECT 1)",
    "soundex(s) = 'A123'",
    "exists(array(i, l), x -> x > 3)",
    "b",
    "cast(i AS boolean)",
    "i = 1 -- and no more",
    "`i` = 1 /* or so */",
)
#: What no analysis takes, alone or with others.
REFUSED = ("nope = 1", "i +", "i + 1", "s", "sum(i) > 3", "i = 1) OR (l = 2", "i = 1; l = 2", "SELECT 1")


@pytest.fixture(scope="module")
def schema(spark):
    return spark.createDataFrame([], SCHEMA).schema


def alone(spark, schema, condition):
    """The meaning of a condition by itself, or its error."""
    try:
        return without_ids(to_text(to_expression(spark, schema, condition)))
    except SargoError as error:
        return f"{type(error).__name__}: {error}"


def without_ids(text):
    return re.sub(r"#\d+L?", "#", text)


def test_any_of_them_mean_what_each_means(spark, schema):
    chance = Random(11)
    texts = [*FORMS, *MORE]
    meant = {text: alone(spark, schema, text) for text in texts}
    right = [text for text in texts if not meant[text].partition(":")[0].endswith("Error")]
    answered = 0
    for _ in range(examples(39, at_night=600)):
        chosen = chance.sample(right, chance.choice((2, 2, 3, 5)))
        given = [F.expr(text) if chance.random() < 0.3 and "'now'" not in text else text for text in chosen]
        found = together(spark.newSession(), schema, given)
        for text, expression in zip(chosen, found, strict=True):
            if expression is not None:
                assert without_ids(to_text(expression)) == meant[text], (text, chosen)
                answered += 1
    assert answered > examples(52, at_night=800)


@pytest.mark.parametrize("refused", REFUSED)
def test_one_that_is_refused_says_so_and_the_others_are_asked_alone(spark, schema, refused):
    session = spark.newSession()
    assert together(session, schema, ["i = 5", refused, "l = 7"])[1] is None
    with pytest.raises((ConditionError, ConditionSyntaxError)) as raised:
        to_expression(session, schema, ["i = 5", refused, "l = 7"])
    assert f"{type(raised.value).__name__}: {raised.value}" == alone(session, schema, refused)


def test_they_are_one_analysis_and_are_known_afterwards(spark, schema, monkeypatch):
    session, asked = spark.newSession(), []
    one, several = conditions.analyse, conditions.analyse_together
    monkeypatch.setattr(conditions, "analyse", lambda *given: asked.append(given[2]) or one(*given))
    monkeypatch.setattr(conditions, "analyse_together", lambda *given: asked.append(given[2]) or several(*given))
    texts = ["i = 5", "s >= 'b'", "dt < date '2020-01-01' + interval 1 day"]
    first = to_expression(session, schema, texts)
    assert asked == [texts]
    assert to_expression(session, schema, texts) == first
    assert [to_expression(session, schema, text) for text in texts] == list(first.children)
    assert asked == [texts]
    to_expression(session, schema, [*texts, "l = 7"])
    assert asked == [texts, "l = 7"]


def test_what_is_not_computed_alike_is_asked_alone(spark, schema):
    """The clock keeps Spark's rules from computing constants in the whole filter."""
    found = together(spark.newSession(), schema, ["i = 5", "d < pow(2, 10)", "dt >= current_date()"])
    assert [expression is None for expression in found] == [False, True, False]


def test_more_conditions_than_are_analysed_at_once(spark, schema):
    texts = [f"i <> {number}" for number in range(40)]
    assert together(spark.newSession(), schema, texts) == [None] * 40
    assert len(to_expression(spark.newSession(), schema, texts).children) == 40


def test_a_plan_of_several_keeps_what_the_plan_of_their_and_keeps(spark, main_cow):
    columns = [F.col("i") < 100, F.col("s") >= "b"]
    expected = prune(spark, main_cow, "i < 100 AND s >= 'b'").kept
    assert 0 < len(expected) < len(prune(spark, main_cow, "TRUE").kept)
    for given in (["i < 100", "s >= 'b'"], columns, ["i < 100", columns[1]]):
        assert prune(spark.newSession(), main_cow, given).kept == expected
    assert prune(spark, main_cow, ["m.i < 100", "m.s >= 'b'"]).kept == expected
