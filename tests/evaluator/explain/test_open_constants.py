"""Constants without a single value: which they are, and the literal to write in their place."""

from __future__ import annotations

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain.open_constants import OpenConstant, open_constants
from evaluator.explain.pruning_blockers import pruning_blockers
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP
from evaluator.statistics.columns import from_values
from tests.evaluator.short_forms import SPARK, col, lit

SCHEMA = Schema([Field("x", INT), Field("dt", DATE), Field("ts", TIMESTAMP), Field("s", STRING), Field("d", DOUBLE)])


def call(name: str, *arguments: ex.Operand) -> ex.Call:
    return ex.Call(name, arguments)


UDF = call("my_udf", lit(3, INT))


@pytest.mark.parametrize(
    ("condition", "remedies"),
    [
        (ex.Compare("<", col("dt"), UDF), ["DATE 'yyyy-MM-dd' in place of my_udf(3)"]),
        (ex.Compare(">", UDF, col("ts")), ["TIMESTAMP 'yyyy-MM-dd HH:mm:ss' in place of my_udf(3)"]),
        (ex.Compare("=", col("s"), UDF), ["its text in quotes in place of my_udf(3)"]),
        (ex.Compare("=", col("d"), UDF), ["its number in place of my_udf(3)"]),
        (ex.Compare("=", col("gone"), UDF), ["its value as a literal in place of my_udf(3)"]),
        (
            ex.In(col("dt"), (lit(3, DATE), UDF, call("other", lit(1, INT)))),
            ["DATE 'yyyy-MM-dd' in place of my_udf(3)", "DATE 'yyyy-MM-dd' in place of other(1)"],
        ),
        (ex.Compare("<", col("dt"), call("+", UDF, lit(1, INT))), ["DATE 'yyyy-MM-dd' in place of (my_udf(3) + 1)"]),
        (
            ex.Compare("<", call("+", col("x"), UDF), lit(3, INT)),
            ["its value as a literal in place of my_udf(3)"],
        ),
        (ex.Compare("<", col("dt"), call("unix_timestamp", UDF)), ["its number in place of unix_timestamp(my_udf(3))"]),
        # what is one value, is understood, or has no one value
        (ex.Compare("<", col("x"), call("abs", lit(-3, INT))), []),
        (ex.Compare("<", col("x"), lit(3, BIGINT)), []),
        (ex.Compare("<", col("x"), call("abs", col("x"))), []),
        (ex.Compare("<", col("d"), call("rand")), [""]),
        (ex.Compare("=", col("s"), call("concat", lit("a", STRING), call("uuid"))), [""]),
        (ex.Compare("<", col("x"), ex.Opaque("a subquery is not decided")), []),
        (ex.Unknown("a lateral view"), []),
    ],
    ids=str,
)
def test_the_literal_to_write(condition: ex.HudiExpression, remedies: list[str]) -> None:
    assert [one.remedy for one in open_constants(condition, SCHEMA, SPARK)] == remedies


def test_without_a_schema_the_type_of_a_column_is_not_known() -> None:
    [constant] = open_constants(ex.Compare("<", col("dt"), UDF), None, SPARK)
    assert constant.literal == "its value as a literal"


def test_what_changes_from_row_to_row_is_said_to_do_so() -> None:
    [constant] = open_constants(ex.Compare("<", col("d"), call("rand")), SCHEMA, SPARK)
    assert constant == OpenConstant("rand()", "rand() may differ from row to row", "")


def test_a_blocker_names_the_literal_and_the_slices_that_hang_on_it() -> None:
    condition = ex.And((ex.Compare("<", col("dt"), UDF), ex.Compare("<", col("x"), lit(100, INT))))
    source = StatisticsProvider("column_stats", {"x": from_values(INT, [0, 200, 0], [10, 300, 20], [0] * 3, [5] * 3)})
    bound = bind(condition, SCHEMA, SPARK)
    [blocker] = pruning_blockers(bound, evaluate(bound, 3, [source]), [source], SCHEMA)
    assert (blocker.cause, blocker.open, blocker.alone) == ("not decided", 2, 2)
    assert blocker.remedy == "DATE 'yyyy-MM-dd' in place of my_udf(3)"
    assert blocker.sentence.endswith(
        "with DATE 'yyyy-MM-dd' in place of my_udf(3), up to 2 more file slices could be skipped"
    )
