"""Constants without a single value: which they are, and the literal to write in their place."""

from __future__ import annotations

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain import open_constants as open_constants_module
from evaluator.explain.open_constants import OpenConstant, open_constants
from evaluator.explain.pruning_blockers import pruning_blockers
from evaluator.language import expression as ex
from evaluator.language.clock import Clock
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
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


MOMENT = ", or as_of_clock= with the moment of the query"
NOW = 1_795_381_200_000_000  # 2026-11-22 21:00 of UTC


@pytest.mark.parametrize(
    ("condition", "remedy"),
    [
        (ex.Compare("<", col("dt"), call("current_date")), f"DATE '2026-11-22' in place of current_date(){MOMENT}"),
        (
            ex.Compare("<", col("dt"), call("date_sub", call("current_date"), lit(7, INT))),
            f"DATE '2026-11-15' in place of date_sub(current_date(), 7){MOMENT}",
        ),
        (
            ex.Compare("<", col("ts"), call("current_timestamp")),
            f"TIMESTAMP 'yyyy-MM-dd HH:mm:ss' in place of current_timestamp(){MOMENT}",
        ),
    ],
    ids=str,
)
def test_the_clock_only_moves_on(condition: ex.HudiExpression, remedy: str) -> None:
    clock = Clock.from_now_on(zone_known=True, skew=0, now=NOW / 1_000_000)
    [constant] = open_constants(condition, SCHEMA, SPARK.at(clock))
    assert constant.remedy == remedy
    assert "only known to be at least" in constant.why
    assert "the clock only moves on" in constant.why
    assert open_constants(condition, SCHEMA, SPARK.at(Clock.fixed(NOW))) == ()


def test_a_blocker_on_the_clock_is_no_range() -> None:
    clock = Clock.from_now_on(zone_known=True, skew=0, now=NOW / 1_000_000)
    condition = ex.Compare("<", col("dt"), call("current_date"))
    source = StatisticsProvider("column_stats", {"dt": from_values(DATE, [20_000, 20_779], [20_778, 21_000])})
    bound = bind(condition, SCHEMA, SPARK.at(clock))
    [blocker] = pruning_blockers(evaluate(bound, 2, [source]), [source], SCHEMA)
    assert (blocker.cause, blocker.open) == ("not decided", 2)
    assert blocker.remedy == f"DATE '2026-11-22' in place of current_date(){MOMENT}"
    assert blocker.sentence == (
        "dt < current_date(): the query may run later than this plan, and the clock only moves on: current_date() is "
        f"only known to be at least DATE '2026-11-22'; with {blocker.remedy}, up to 2 more file slices could be skipped"
    )


def test_where_nothing_is_known_of_the_clock_the_sentence_says_how_to_give_it() -> None:
    """Hive folds current_date() before it writes a filter, but not unix_timestamp()."""
    condition = ex.Compare("<", col("b"), call("unix_timestamp"))
    schema = Schema([Field("b", BIGINT)])
    source = StatisticsProvider("column_stats", {"b": from_values(BIGINT, [1, 5], [4, 9])})
    bound = bind(condition, schema, Semantics.named("hive", "UTC"))
    [blocker] = pruning_blockers(evaluate(bound, 2, [source]), [source], schema)
    assert (blocker.cause, blocker.alone) == ("not decided", 2)
    assert "unix_timestamp() is known only when the query runs" in blocker.reason
    assert blocker.remedy == f"its number in place of unix_timestamp(){MOMENT}"


def test_a_blocker_names_the_literal_and_the_slices_that_hang_on_it() -> None:
    condition = ex.And((ex.Compare("<", col("dt"), UDF), ex.Compare("<", col("x"), lit(100, INT))))
    source = StatisticsProvider("column_stats", {"x": from_values(INT, [0, 200, 0], [10, 300, 20], [0] * 3, [5] * 3)})
    bound = bind(condition, SCHEMA, SPARK)
    [blocker] = pruning_blockers(evaluate(bound, 3, [source]), [source], SCHEMA)
    assert (blocker.cause, blocker.open, blocker.alone) == ("not decided", 2, 2)
    assert blocker.remedy == "DATE 'yyyy-MM-dd' in place of my_udf(3)"
    assert blocker.sentence.endswith(
        "with DATE 'yyyy-MM-dd' in place of my_udf(3), up to 2 more file slices could be skipped"
    )


def test_a_list_of_a_hundred_thousand_members_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each member was paired with all others: minutes for ``why_not_more`` of a long list."""
    members = tuple(lit(number, INT) for number in range(100_000))
    condition = ex.In(col("x"), (*members, UDF))
    looked_at = 0

    def counted(node: ex.Node, schema: object) -> object:
        nonlocal looked_at
        looked_at += 1
        return column_type(node, schema)  # type: ignore[arg-type]

    column_type = open_constants_module._column_type
    monkeypatch.setattr(open_constants_module, "_column_type", counted)
    [constant] = open_constants(condition, SCHEMA, SPARK)
    assert constant.literal == "its number"
    assert looked_at < 10
