"""What can be no condition on rows is a mistake of the caller: it raises, strict or not, and says what to give."""

from __future__ import annotations

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from handler.spark import prune, prune_by_join, read
from handler.spark.catalyst.conditions import ConditionError, ConditionSyntaxError, NoConditionError
from tests.handler.spark.real_tables import unpack

CASES = [
    pytest.param(text, error, why, id=text or "empty")
    for text, error, why in [
        ("i", NoConditionError, "it is of type INT, and a condition is true or false"),
        ("i + 1", NoConditionError, "it is of type INT"),
        ("'i = 1'", NoConditionError, "it is of type STRING"),
        ("st", NoConditionError, "it is of type STRUCT"),
        ("NULL", NoConditionError, "it is of type VOID"),
        ("i = max(i)", NoConditionError, "it holds an aggregate or window function"),
        ("count(*) > 1", NoConditionError, "it holds an aggregate or window function"),
        ("i = 1 AND sum(i) > 3", NoConditionError, "it holds an aggregate or window function"),
        ("row_number() OVER (ORDER BY i) = 1", NoConditionError, "it holds an aggregate or window function"),
        ("explode(array(i)) = 1", NoConditionError, "it holds a function that makes rows"),
        ("explode(array(b))", NoConditionError, "it holds a function that makes rows"),
        ("*", NoConditionError, "it names no single column"),
        ("i = :p", NoConditionError, "it holds a parameter without a value"),
        ("", ConditionSyntaxError, "it is empty, and to read all files one gives 'TRUE'"),
        (" \n", ConditionSyntaxError, "it is empty"),
        ("SELECT * FROM t WHERE i = 1", ConditionSyntaxError, "give the condition alone, which is what follows WHERE"),
        ("with a as (select 1) select * from a", ConditionSyntaxError, "give the condition alone"),
        ("WHERE i = 1", ConditionSyntaxError, "give the condition alone"),
        ("DELETE FROM t WHERE i = 1", ConditionSyntaxError, "give the condition alone"),
        ("i = = 1", ConditionSyntaxError, "Syntax error"),
        ("i = 1; DROP TABLE t", ConditionSyntaxError, "Syntax error"),
    ]
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return unpack("1.1.1_main_cow", tmp_path_factory.mktemp("refused") / "main")


@pytest.mark.parametrize(("condition", "error", "why"), CASES)
@pytest.mark.parametrize("given", ["alone", "in a list"])
def test_it_raises_and_says_what_to_give(spark, table, condition, error, why, given):
    with pytest.raises(error) as raised:
        prune(spark, table, condition if given == "alone" else ["i = 1", condition])
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 800


@pytest.mark.parametrize("call", [prune, read])
@pytest.mark.parametrize(
    ("column", "why"),
    [
        (lambda: F.col("i"), "it is of type INT"),
        (lambda: F.max("i") == 1, "it holds an aggregate or window function"),
        (lambda: F.row_number().over(Window.orderBy("i")) == 1, "it holds an aggregate or window function"),
        (lambda: F.explode(F.array("b")), "it holds a function that makes rows"),
    ],
    ids=["value", "aggregate", "window", "generator"],
)
def test_a_column_raises_too(spark, table, call, column, why):
    with pytest.raises(NoConditionError, match=why):
        call(spark, table, column())


def test_a_column_of_another_dataframe_raises_wherever_it_came_from(spark, table):
    frame = read(spark, table)
    plain = spark.createDataFrame([(1,)], "i int")
    for column in (frame.i == 100, frame["i"] > F.col("l"), plain.i == 100):
        for call in (prune, read):
            with pytest.raises(NoConditionError, match=r"column i of another DataFrame: .*F.col\('i'\)"):
                call(spark, table, column)
    with pytest.raises(NoConditionError, match="of another DataFrame"):
        prune_by_join(spark, table, "i", plain, condition=plain.i == 100)


@pytest.mark.parametrize(
    "text", ["i = 1", "b", "(SELECT true)", "EXISTS (SELECT 1)", "i = 1 AS x", "true", "values = 1"]
)
def test_a_boolean_is_a_condition(spark, table, text):
    try:
        assert prune(spark, table, text).slices
    except NoConditionError:
        pytest.fail("it is true or false")


@pytest.mark.parametrize("name", ["select", "with", "from", "values", "table", "where"])
def test_a_column_with_a_statements_name_is_refused_as_a_column(spark, table, name):
    """It is a column that the table does not have, not a statement."""
    reasons = prune(spark, table, f"`{name}` = 1").reasons
    assert name in reasons[0].text
    with pytest.raises(ConditionError) as raised:
        prune(spark, table, f"{name} = = 1")
    assert "give the condition alone" not in str(raised.value)
