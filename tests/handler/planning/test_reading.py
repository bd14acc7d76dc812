"""Reading the kept slices with less work: residuals, row counts and orders, held against the rows of real tables."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.expression import Constant, Unknown, to_text
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler import open_table, prune
from handler.planning.prune import OnFailure, plan_expression
from handler.planning.reading import default_nulls, exact_row_counts
from handler.sql import parse
from index_store import FileSlice, FileSlices
from tests.handler.conftest import DATA
from tests.handler.table_rows import rows_of
from tests.sampling import share

TABLES = sorted(path.stem for path in DATA.glob("*.zip"))
SPARK = Semantics.named("spark", "UTC")
FILTERS = [
    "i > 100 AND p = 'p1'",
    "(i < 300 OR u = 7) AND id IS NOT NULL",
    "NOT (i > 100 AND s LIKE 'b%')",
    "i <= 5.5",
    "year(dt) = 2020 OR an < 20",
    "an IN (1, 2, 3, 60) AND NOT (i IS NULL)",
    "upper(s) > 'B'",
]


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


# -- residuals


@pytest.mark.parametrize("text", FILTERS)
def test_the_residual_is_true_on_the_rows_where_the_filter_is(main_cow, table, text):
    plan = prune(table, text, time_zone="UTC")
    schema = table.table.schema
    rows = rows_of(main_cow, plan.kept)
    assert len(plan.residuals) == len(plan.kept)
    for item, residual in zip(plan.kept, plan.residuals, strict=True):
        for row in rows[item.file_id]:
            assert (value_of(residual, row, schema, SPARK) is True) == (
                value_of(plan.expression, row, schema, SPARK) is True
            )


def test_slices_that_share_a_residual_are_one_group(table):
    plan = prune(table, "i < 5.5 AND p <> 'p7'", time_zone="UTC")
    by_text = {to_text(group.expression): group for group in plan.residual_groups}
    assert set(by_text) == {"i < 5.5", "TRUE"}
    assert by_text["TRUE"].slices == plan.fully_matched
    assert sum(len(group.slices) for group in plan.residual_groups) == len(plan.kept)
    assert all(group.complete for group in plan.residual_groups)
    sizes = [len(group.slices) for group in plan.residual_groups]
    assert sizes == sorted(sizes, reverse=True)


def test_a_residual_by_slice_and_by_place(table):
    plan = prune(table, "i < 5.5", time_zone="UTC")
    for place, item in enumerate(plan.slices):
        assert plan.residual(place) == plan.residual(item)
        assert (plan.residual(item) == Constant(False)) == (item in plan.skipped)
        assert (plan.residual(item) == Constant(True)) == (item in plan.fully_matched)


def test_what_was_not_understood_is_left_and_marked(table):
    plan = prune(table, "i < 5.5 AND s RLIKE 'x'", time_zone="UTC")
    assert plan.fully_matched == ()
    assert not any(group.complete for group in plan.residual_groups)


def test_a_filter_that_cannot_be_read_is_left_whole(table):
    unread = Unknown("the filter cannot be read")
    plan = plan_expression(table, unread, "spark", None, "UTC", on_failure=OnFailure.SKIP_NOTHING)
    [group] = plan.residual_groups
    assert group.expression == plan.expression
    assert len(group.slices) == 14
    assert not group.complete
    i_is_5 = parse("i = 5", "spark")
    plan = plan_expression(table, i_is_5, "spark", None, "Mars/Olympus", on_failure=OnFailure.SKIP_NOTHING)
    assert [to_text(g.expression) for g in plan.residual_groups] == ["i = 5"]
    assert plan.why_not_more == ()
    assert plan.row_count.rows == 0
    assert plan.slices_for_limit(1) == plan.kept
    ordered = plan.order_slices("i")
    assert len(ordered.slices) == 14
    assert ordered.note


# -- row counts


@pytest.mark.parametrize("name", share(TABLES, 3, seed=4))
def test_row_counts_are_those_of_the_files(unpack, name):
    folder = unpack(name)
    plan = prune(open_table(folder), "1 = 1", time_zone="UTC")
    assert plan.fully_matched == plan.kept
    expected = {
        item: pq.read_metadata(folder / item.base_file).num_rows
        for item in plan.kept
        if item.base_file and item.base_file.endswith(".parquet") and not item.log_files
    }
    assert set(plan.row_count.counted) <= set(expected)
    assert plan.row_count.rows == sum(expected[item] for item in plan.row_count.counted)
    assert set(plan.row_count.counted) | set(plan.row_count.to_read) == set(plan.kept)
    assert all(not item.log_files for item in plan.row_count.counted)


def test_the_rows_of_fully_matched_slices_need_not_be_read(main_cow, table):
    plan = prune(table, "p = 'p1' AND id IS NOT NULL", time_zone="UTC")
    rows = [row for found in rows_of(main_cow, plan.kept).values() for row in found]
    assert plan.row_count.to_read == ()
    assert plan.row_count.rows == len(rows) > 0
    plan = prune(table, "i < 5.5", time_zone="UTC")
    assert (plan.row_count.rows, len(plan.row_count.counted), len(plan.row_count.to_read)) == (9, 1, 2)
    assert plan.row_count.to_dict() == {"rows": 9, "counted": 1, "to_read": 2}


ITEMS = (
    FileSlice("", "a", "a.parquet"),
    FileSlice("", "b", "b.parquet", ("b.log",)),
    FileSlice("", "c", None, ("c.log",)),
    FileSlice("", "d", "d.parquet"),
    FileSlice("", "e", "e.parquet"),
)
SLICES = FileSlices("1", "files", ITEMS)


def counts_of(*columns, ask=None, name="column_stats", schema=None):
    statistics = {
        f"c{i}": from_values(INT, [None] * 5, [None] * 5, nulls, rows) for i, (nulls, rows) in enumerate(columns)
    }
    return exact_row_counts(SLICES, np.arange(5), [StatisticsProvider(name, statistics)], ask, schema).tolist()


def test_only_a_slice_of_one_base_file_has_an_exact_row_count():
    assert counts_of(([0] * 5, [7, 8, 9, 0, None])) == [7, -1, -1, 0, -1]


def test_an_all_null_column_counts_no_rows():
    assert counts_of(([7] * 5, [7] * 5)) == [-1] * 5


def test_columns_that_disagree_count_nothing():
    assert counts_of(([0] * 5, [7] * 5), ([0] * 5, [7, 7, 7, 8, None])) == [7, -1, -1, -1, 7]


def test_counts_of_another_kind_are_not_row_counts():
    assert counts_of(([0] * 5, [7] * 5), name="partition_values") == [-1] * 5


def test_another_column_is_asked_when_those_of_the_filter_have_no_counts():
    asked = []

    def ask(columns):
        asked.extend(column.name for column in columns)
        known = {
            c.name: from_values(INT, [None] * 5, [None] * 5, [0] * 5, [3] * 5)
            for c in columns
            if c.name == "_hoodie_record_key"
        }
        return [StatisticsProvider("column_stats", known)]

    schema = Schema([Field("x", INT), Field("_hoodie_record_key", INT), Field("_hoodie_commit_time", INT)])
    assert counts_of(ask=ask, schema=schema) == [3, -1, -1, 3, 3]
    assert asked == ["_hoodie_record_key"]
    asked.clear()
    assert counts_of(([0] * 5, [7] * 5), ask=ask, schema=schema) == [7, -1, -1, 7, 7]
    assert asked == []


def test_a_table_that_keeps_deletions_as_rows_counts_nothing():
    schema = Schema([Field("x", INT), Field("_hoodie_operation", INT)])
    assert counts_of(([0] * 5, [7] * 5), schema=Schema([Field("x", INT)])) == [7, -1, -1, 7, 7]
    assert counts_of(([0] * 5, [7] * 5), schema=schema) == [-1] * 5


# -- LIMIT


def test_the_fewest_slices_that_surely_hold_n_rows(main_cow, table):
    plan = prune(table, "p = 'p1' AND id IS NOT NULL", time_zone="UTC")
    rows = rows_of(main_cow, plan.kept)
    sizes = sorted((len(found) for found in rows.values()), reverse=True)
    assert plan.slices_for_limit(0) == ()
    for n in range(1, sum(sizes) + 1):
        chosen = plan.slices_for_limit(n)
        assert sum(len(rows[item.file_id]) for item in chosen) >= n
        assert sum(sizes[: len(chosen) - 1]) < n
    assert set(plan.slices_for_limit(sum(sizes) + 1)) == set(plan.kept)


def test_when_it_cannot_be_known_all_are_read_the_sure_ones_first(table):
    plan = prune(table, "i < 5.5", time_zone="UTC")
    assert plan.slices_for_limit(9) == plan.fully_matched
    read = plan.slices_for_limit(10)
    assert read[:1] == plan.fully_matched
    assert sorted(read, key=lambda s: s.file_id) == sorted(plan.kept, key=lambda s: s.file_id)


# -- ORDER BY


@pytest.mark.parametrize("text", ["1 = 1", "i > 100", "p <> 'p1' AND s > 'c'"])
@pytest.mark.parametrize("descending", [False, True], ids=["asc", "desc"])
@pytest.mark.parametrize("by", ["i", "s", "dt", "t", "d", "id", "p", "u", "st.x"])
def test_a_read_that_stops_early_finds_the_top_rows(main_cow, table, by, descending, text):
    plan = prune(table, text, time_zone="UTC")
    ordered = plan.order_slices(by, descending=descending)
    assert set(ordered.slices) == set(plan.kept)
    assert len(ordered.best) == len(plan.kept)
    rows = rows_of(main_cow, plan.kept)
    schema = table.table.schema

    def values(item):
        return [row.get(by) for row in rows[item.file_id] if value_of(plan.expression, row, schema, SPARK)]

    def sort(found):
        nulls, present = (
            [v for v in found if v is None],
            sorted((v for v in found if v is not None), reverse=descending),
        )
        return [*present, *nulls] if descending else [*nulls, *present]

    expected = sort([v for item in plan.kept for v in values(item)])
    for n in (1, 3, 10):
        found = []
        for read, item in enumerate(ordered.slices):
            if len(found) == n and ordered.may_stop(read, found[-1]):
                break
            found = sort([*found, *values(item)])[:n]
        assert found == expected[:n]


def test_a_top_row_takes_few_slices(table):
    plan = prune(table, "1 = 1", time_zone="UTC")
    ordered = plan.order_slices("an", descending=True)
    assert ordered.note is None
    assert [best.rank for best in ordered.best] == ["bounded"] * 12 + ["nulls"] * 2
    values = [best.value for best in ordered.best[:12]]
    assert values == sorted(values, reverse=True)
    assert [best.text for best in ordered.best] == [*map(str, values), "", ""]
    assert plan.order_slices("dt", descending=True, nulls_first=False).best[0].text.startswith("202")
    stops = [ordered.may_stop(read, values[0]) for read in range(15)]
    assert stops.index(True) <= 2


def test_nulls_sort_as_the_engine_says(table):
    assert [default_nulls("spark", descending=d) for d in (False, True)] == ["first", "last"]
    assert [default_nulls("hive", descending=d) for d in (False, True)] == ["either", "either"]
    plan = prune(table, "1 = 1", time_zone="UTC")
    assert plan.order_slices("i").best[0].rank == "anything"
    assert plan.order_slices("i", nulls_first=False).best[0].rank == "bounded"
    assert plan.order_slices("i", descending=True).best[0].rank == "bounded"
    assert plan.order_slices("i", descending=True, nulls_first=True).best[0].rank == "anything"
    hive = prune(table, "1 = 1", engine="hive", time_zone="UTC")
    assert hive.order_slices("i", descending=True).best[0].rank == "anything"
    assert hive.order_slices("i", descending=True, nulls_first=False).best[0].rank == "bounded"
    assert prune(table, "i > 5", time_zone="UTC").order_slices("i").best[0].rank == "bounded"


@pytest.mark.parametrize(
    ("by", "why"), [("nope", "not in the table"), ("st", "no bounds"), ("_hoodie_commit_seqno", "no index")]
)
def test_a_column_without_an_order_is_read_in_any(table, by, why):
    ordered = prune(table, "1 = 1", time_zone="UTC").order_slices(by)
    assert why in ordered.note
    assert len(ordered.slices) == 14
    assert not any(ordered.may_stop(read, 0) for read in range(14))


def test_a_column_is_found_without_case(table):
    assert prune(table, "1 = 1", time_zone="UTC").order_slices("AN").note is None


def test_an_index_that_fails_gives_no_order(main_cow):
    plan = prune(open_table(main_cow), "1 = 1", time_zone="UTC")
    broken = dataclasses.replace(plan, ask=lambda _: [])
    assert broken.order_slices("i").note == "no index has statistics of column i"
    assert broken.row_count.counted == ()
