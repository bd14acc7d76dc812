"""``prune`` for a Spark session on real tables: no row is lost, also where Hudi's own data skipping loses some."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.expression import Unknown
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table
from handler import prune as prune_as_on_the_command_line
from handler.spark.catalyst.conditions import ConditionError
from handler.spark.pruning.prune import prune
from handler.sql.parsing import parse
from index_store.storage.errors import TableError
from tests.handler.planning.test_wrong_results import LOST
from tests.handler.spark.real_tables import unpack
from tests.handler.table_rows import rows_of

MAIN = "1.1.1_main_cow"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    tables = {}

    def opened_table(name):
        if name not in tables:
            folder = unpack(name, tmp_path_factory.mktemp("table") / name)
            table = open_table(folder)
            tables[name] = table, rows_of(folder, table.at().slices)
        return tables[name]

    return opened_table


@pytest.mark.parametrize(
    ("name", "text", "matching"),
    [pytest.param(name, text, rows, id=f"{report}: {text[:50]}") for report, name, text, rows, _ in LOST],
)
def test_no_row_is_lost_that_hudi_lost(spark, opened, name, text, matching):
    table, rows = opened(name)
    plan = prune(spark, table, text, strict=True)
    expression, semantics = parse(text, "spark"), Semantics.named("spark", "UTC")
    found = [
        file_id
        for file_id, held in rows.items()
        for row in held
        if value_of(expression, row, table.table.schema, semantics) is True
    ]
    assert len(found) == matching
    assert set(found) <= {one.file_id for one in plan.kept}


@pytest.mark.parametrize(
    "text",
    [
        "i = 100",
        "s LIKE 'b%' AND i > 0",
        "dt >= DATE'2021-12-01'",
        "t < '2020-01-10'",
        "i IN (1, 2, 300)",
        "p = 'p1'",
        "NOT (s > 'c')",
        "d BETWEEN 1 AND 5",
        "dec > 100.5",
        "year(dt) = 2020",
        "id = 'k0042'",
        "st.x > 100",
        "an IS NULL",
        "b",
        "coalesce(an, 0) > 150",
        "CASE WHEN i > 0 THEN l ELSE 0 END > 1000000000",
        "upper(s) = 'APPLE-001'",
        "(i > 1000) IS TRUE",
        "NOT (i <=> 100)",
        "i NOT BETWEEN 0 AND 1500",
        "t >= timestamp'2020-02-01 10:00:00'",
    ],
)
def test_it_keeps_what_the_command_line_keeps(spark, opened, text):
    table, _ = opened(MAIN)
    plan = prune(spark, table, text, strict=True)
    other = prune_as_on_the_command_line(table, text, "spark-ansi", time_zone="UTC", strict=True)
    assert plan.kept == other.kept
    skips_nothing = text == "NOT (i <=> 100)"
    assert skips_nothing == (len(plan.kept) == len(plan.slices))


def test_a_path_a_column_and_a_list_of_both(spark, opened):
    table, _ = opened(MAIN)
    by_text = prune(spark, table.path, "i > 1000 AND s >= 'c'")
    by_column = prune(spark, table, (F.col("i") > 1000) & (F.col("s") >= "c"))
    by_list = prune(spark, table, ["i > 1000", F.col("s") >= "c"])
    assert by_text.kept == by_column.kept == by_list.kept
    assert 0 < len(by_text.kept) < len(by_text.slices)
    assert prune(spark, table, []).kept == tuple(prune(spark, table, []).slices)


def test_an_older_instant_is_pruned_in_the_schema_of_its_time(spark, opened):
    table, _ = opened("1.1.1_evol_cow")
    first = table.table.timeline.writes[0].requested
    assert prune(spark, table, "extra = 1", as_of=first).reasons[0].text.startswith("Spark cannot resolve")
    plan = prune(spark, table, "i > 100000", as_of=first, strict=True)
    assert plan.instant == first
    assert plan.kept == prune_as_on_the_command_line(table, "i > 100000", "spark", as_of=first, time_zone="UTC").kept


def test_what_spark_refuses_skips_nothing_and_says_why(spark, opened):
    table, _ = opened(MAIN)
    plan = prune(spark, table, ["no_such_column = 1", "i = 100"])
    assert 0 < len(plan.kept) < len(plan.slices)
    assert isinstance(plan.expression.children[0], Unknown)
    assert "no_such_column" in plan.reasons[0].text
    assert "'Filter" not in plan.reasons[0].text
    with pytest.raises(ConditionError, match="no_such_column"):
        prune(spark, table, "no_such_column = 1", strict=True)


@pytest.mark.parametrize("text", ["f(i) = 3", "dt = 5", "st.nope = 1", "abs(b)"])
def test_what_another_table_or_session_may_resolve_brings_no_plan_down(spark, opened, text):
    table, _ = opened(MAIN)
    plan = prune(spark, table, text)
    assert len(plan.kept) == len(plan.slices)
    assert plan.reasons[0].text.startswith("Spark cannot resolve the condition ")
    assert len(plan.reasons[0].text) < 1_500
    assert "\n" not in plan.reasons[0].text


@pytest.mark.parametrize(
    "text",
    [
        "i > rand() * 1e9",
        "dt < DATE 'today'",
        "i > (SELECT max(id) FROM range(3))",
    ],
)
def test_what_is_known_only_when_the_query_runs_rules_nothing_out(spark, opened, text):
    table, _ = opened(MAIN)
    assert len(prune(spark, table, text).kept) == len(prune(spark, table, text).slices)
    alone = prune(spark, table, "i = 100")
    assert prune(spark, table, [text, "i = 100"]).kept == alone.kept
    assert len(prune(spark, table, f"NOT ({text})").kept) == len(alone.slices)


def test_what_is_too_old_now_is_skipped_whenever_the_query_runs(spark, opened):
    table, _ = opened(MAIN)
    plan = prune(spark, table, "dt >= current_date() - interval 7 days")
    assert not plan.kept
    assert plan.moment is not None
    assert not plan.moment.is_fixed
    assert prune(spark, table, "i = 100").moment is None


def test_at_a_fixed_moment_the_clock_is_a_constant(spark, opened):
    table, _ = opened(MAIN)
    for clock, date in (("2020-01-10 08:00:00", "2020-01-10"), ("2020-01-15", "2020-01-15")):
        for op in ("<", "<=", "=", ">="):
            fixed = prune(spark, table, f"dt {op} current_date()", as_of_clock=clock)
            assert fixed.kept == prune(spark, table, f"dt {op} DATE '{date}'").kept
            assert fixed.moment is not None
            assert fixed.moment.is_fixed


def test_a_folder_without_a_table_is_an_error_strict_or_not(spark, tmp_path):
    with pytest.raises(TableError):
        prune(spark, tmp_path, "i = 1")


def test_anything_else_is_no_condition(spark, opened):
    table, _ = opened(MAIN)
    with pytest.raises(TypeError, match="a condition is SQL text, a Column, or a list of them, not int"):
        prune(spark, table, 5)
