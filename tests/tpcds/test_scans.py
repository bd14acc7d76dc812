"""The scans of TPC-DS on small tables of real Hudi: nothing is lost, and what is kept is what bounds leave open.

``python -m tests.tpcds`` does the same on large tables. The tables and the answers of Hudi are in ``tests/data/tpcds``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import share
from tests.tpc.benchmark import benchmark
from tests.tpc.measure import Answer, Table, answers
from tests.tpc.report import report
from tests.tpc.spellings import LITERAL, SPELLINGS
from tests.tpcds.joins import JOINS, Join
from tests.tpcds.layouts import LAYOUTS
from tests.tpcds.parameters import RULES
from tests.tpcds.scans import SCANS

Tables = dict[str, Table]
#: Tables in the order of their days, which only a join knows: no scan skips a slice.
BY_JOINS = {"catalog_sales", "inventory_weeks"}


def test_the_scans_are_those_of_99_queries() -> None:
    queries = {scan.query for scan in SCANS}
    assert queries == {f"Q{number}" for number in range(1, 100)}
    assert set(RULES) <= queries
    assert len({(scan.label, scan.table) for scan in SCANS}) == len(SCANS)
    assert {scan.table for scan in SCANS} == {layout.table for layout in LAYOUTS.values()}


def test_other_seeds_draw_other_parameters() -> None:
    drawn = [benchmark("tpcds").parameters(seed) for seed in range(3)]
    assert drawn[0] != drawn[1] != drawn[2]
    assert all(set(drawn[0][query]) == set(given[query]) for given in drawn for query in RULES)
    assert drawn[0]["Q37"] == {
        "date": drawn[0]["Q37"]["date"],
        "price": 68,
        "manufacturer1": 677,
        "manufacturer2": 940,
        "manufacturer3": 694,
        "manufacturer4": 808,
    }


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_scan_keeps_what_bounds_leave_open_and_no_more_than_hudi(tpcds_tables: Tables, name: str) -> None:
    table = tpcds_tables[name]
    given = list(answers(table, share(table.questions, 20)))
    assert [fault for answer in given for fault in answer.faults] == []
    assert all(answer.ideal <= answer.bounds for answer in given)
    assert all(answer.hudi is not None for answer in given)


def test_most_tables_skip(tpcds_tables: Tables) -> None:
    """A table of which nothing is ever skipped would show nothing."""
    idle = {
        name
        for name, table in tpcds_tables.items()
        if not any(len(table.kept(question.literal)) < len(table.groups) for question in table.questions[::3])
    }
    assert idle == BY_JOINS <= {join.fact for join in JOINS}


def test_constants_in_other_spellings_keep_the_same_slices(tpcds_tables: Tables) -> None:
    cases = {
        (name, engine, question.spelled(spelling)): question
        for name, table in tpcds_tables.items()
        for question in table.questions
        if question.seed == 0
        for spelling in SPELLINGS
        for engine in sorted(spelling.engines)
        if spelling is not LITERAL and question.spelled(spelling) != question.literal
    }
    assert len(cases) > 10_000
    for name, engine, sql in share(cases, 960):
        table = tpcds_tables[name]
        assert table.kept(sql, engine) == table.kept(cases[name, engine, sql].literal), (name, engine, sql)


@pytest.mark.parametrize("join", JOINS, ids=lambda join: join.name)
def test_a_list_of_keys_keeps_the_slices_that_bounds_leave_open(tpcds_tables: Tables, join: Join) -> None:
    """The keys of a dimension as people paste them: up to all days of a decade."""
    table, own = tpcds_tables[join.fact], join.condition(tpcds_tables)
    members = ", ".join(str(key) for key in join.keys(tpcds_tables).to_pylist())
    sql = f"{join.column} in ({members})" + (f" and ({own.specification})" if own is not None else "")
    bounds = join.by_bounds(tpcds_tables)
    assert join.ideal(tpcds_tables) <= bounds
    for engine in ("spark", "hive4"):
        assert table.kept(sql, engine) == bounds


def test_a_row_without_a_price_is_not_in_a_band_of_prices(tpcds_tables: Tables) -> None:
    """Q76 finds the rows without a shop, Q28 must not."""
    table = tpcds_tables["store_sales_shops"]
    unknown = frozenset(group for group, bounds in table.bounds.items() if bounds["ss_store_sk"].low is None)
    assert table.kept("ss_store_sk is null") == unknown != frozenset()
    assert table.kept("ss_store_sk between -100 and 100") == frozenset(table.groups) - unknown
    assert table.kept("not ss_store_sk between -100 and 100") == frozenset()


def test_an_answer_that_is_wrong_is_a_fault(tpcds_tables: Tables) -> None:
    table = tpcds_tables["date_dim"]
    question = next(question for question in table.questions if question.name == "Q12 date_dim, seed 0")
    (answer,) = answers(table, [question])
    assert answer.ideal
    assert not answer.faults
    every = frozenset(table.groups)
    lost = Answer(table, question, frozenset(), answer.literal, answer.hudi, answer.ideal, answer.bounds)
    more = Answer(table, question, every, answer.literal, answer.hudi, answer.ideal, answer.bounds)
    assert [fault.split(": ")[-1] for fault in lost.faults] == [f"{len(answer.ideal)} slices with a match are skipped"]
    assert len(more.faults) == 3


def test_the_page_shows_the_recorded_result_and_it_is_still_true(tpcds_tables: Tables) -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/internals/tpcds.md").read_text(encoding="utf-8")
    recorded = (benchmark("tpcds").results / "sf0.001.txt").read_text(encoding="utf-8").split("\n\n")[2]
    assert recorded in page
    for name in share(LAYOUTS, 39):
        total = report(answers(tpcds_tables[name])).splitlines()[-2]
        [line] = [line for line in recorded.splitlines() if line.split()[0] == name]
        assert line.split() == total.split()
