"""The scans of TPC-H on small tables of real Hudi: nothing is lost, and what is kept is what bounds leave open.

``make tpch`` does the same on large tables. The tables and the answers of Hudi are in ``tests/data/tpch``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import share
from tests.tpc.benchmark import benchmark
from tests.tpc.measure import Answer, Table, answers
from tests.tpc.report import report
from tests.tpc.spellings import ALL, LITERAL, SPELLINGS
from tests.tpch.layouts import LAYOUTS

Tables = dict[str, Table]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_scan_keeps_what_bounds_leave_open_and_no_more_than_hudi(tpch_tables: Tables, name: str) -> None:
    asked = share(tpch_tables[name].questions, 4)
    given = list(answers(tpch_tables[name], asked))
    assert [fault for answer in given for fault in answer.faults] == []
    assert all(answer.ideal <= answer.bounds for answer in given)
    assert any(len(answer.sargo) < len(answer.table.groups) for answer in given) or name == "supplier"


def test_the_files_of_a_slice_are_tested_apart(tpch_tables: Tables) -> None:
    """The base file has no such day, the log file no such discount: their bounds together leave the slice open."""
    table = tpch_tables["lineitem_mor"]
    question = next(
        question for question in tpch_tables["lineitem"].questions if question.name == "Q6 lineitem, seed 1"
    )
    (answer,) = answers(table, [question])
    assert answer.hudi is not None
    assert answer.ideal <= answer.sargo <= answer.hudi < answer.bounds
    assert answer.bounds - answer.sargo <= table.merged < frozenset(table.groups)


def test_an_answer_that_is_wrong_is_a_fault(tpch_tables: Tables) -> None:
    table = tpch_tables["orders"]
    question = next(question for question in table.questions if question.name == "Q4 orders, seed 0")
    (answer,) = answers(table, [question])
    every, none = frozenset(table.groups), frozenset[str]()
    right = [answer.sargo, answer.literal, answer.hudi, answer.ideal, answer.bounds]
    assert answer.ideal
    assert not answer.faults
    for place, wrong, fault in (
        (0, none, "2 slices with a match are skipped"),
        (0, every, "16 kept, 2 with the constants computed by hand"),
        (0, every, "16 kept, 2 by exact bounds"),
        (0, every, "16 kept, 2 by Hudi"),
    ):
        given = [*right[:place], wrong, *right[place + 1 :]]
        assert f"orders: Q4 orders, seed 0: {fault}" in Answer(table, question, *given).faults


@pytest.mark.parametrize("name", ["lineitem", "orders", "customer", "part", "supplier", "nation", "region"])
def test_constants_in_other_spellings_keep_the_same_slices(tpch_tables: Tables, name: str) -> None:
    table = tpch_tables[name]
    cases = {
        (engine, question.spelled(spelling)): question
        for question in table.questions
        for spelling in SPELLINGS
        for engine in sorted(spelling.engines)
        if spelling is not LITERAL
    }
    for engine, sql in share(cases, 240):
        assert table.kept(sql, engine) == table.kept(cases[engine, sql].literal), (engine, sql)


def test_every_spelling_is_a_condition_for_each_of_its_engines(tpch_tables: Tables) -> None:
    question = next(
        question for question in tpch_tables["lineitem"].questions if question.name == "Q6 lineitem, seed 0"
    )
    table = tpch_tables["lineitem"]
    for spelling in SPELLINGS:
        assert spelling.engines <= ALL
        for engine in spelling.engines:
            assert not table.plan(question.spelled(spelling), engine).reasons, (engine, spelling.name)


def test_the_report_has_a_row_for_each_scan_and_totals(tpch_tables: Tables) -> None:
    asked = [question for question in tpch_tables["nation"].questions if question.seed < 2]
    lines = report(answers(tpch_tables["nation"], asked)).splitlines()
    assert lines[1].split() == ["nation", "COW", "Q7", "5", "1", "1", "1", "1"]
    assert lines[5].split() == ["all", "4", "scans", "20", "4", "4", "4", "4"]
    assert lines[-1].split()[:4] == ["all", "8", "conditions", "40"]


@pytest.mark.parametrize(("result", "part"), [("sf0.1.txt", 1), ("sf1.txt", 2), ("joins_sf0.1.txt", 0)])
def test_the_page_shows_the_recorded_result(result: str, part: int) -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/internals/tpch.md").read_text(encoding="utf-8")
    recorded = (benchmark("tpch").results / result).read_text(encoding="utf-8")
    assert recorded.split("\n\n")[part].strip() in page
