"""The page of a plan shows what the text output shows, from the same reports, and no value becomes code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from handler import open_table, prune, what_helps
from handler.pages import slice_data as slice_data_module
from handler.pages.explain_page import explain_page, tree_steps
from handler.pages.slice_data import slice_data
from tests.handler.pages.html_reading import Reader
from tests.handler.plain_table import plain_table


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def test_the_page_says_how_much_is_skipped_and_what_decided(table):
    plan = prune(table, "i >= 400 AND i <= 700", engine="spark")
    reader = Reader(explain_page(plan))
    text = reader.visible_text
    assert f"{len(plan.skipped)} of {len(plan.slices)} file slices are skipped" in text
    for leaf in plan.leaves:
        assert leaf.text in text
        assert f"{leaf.skipped} of {leaf.slices}" in text
    for blocker in plan.why_not_more:
        assert blocker.reason in text
    for group in plan.residual_groups:
        assert group.text in text or group.text == "TRUE"
    for phase in plan.seconds:
        assert phase in text
    slices = reader.data["slices"]
    ways = reader.data["ways"]
    states = dict(zip(slices["id"], (ways[way]["state"] for way in slices["way"]), strict=True))
    assert {name for name, state in states.items() if state == "skipped"} == {one.file_id for one in plan.skipped}
    full = {name for name, state in states.items() if state == "fully matched"}
    assert full == {one.file_id for one in plan.fully_matched}
    assert {way["index"] for way in ways if way["state"] == "skipped"} == {"column_stats"}


def test_the_page_names_the_command_to_run_next(table):
    plan = prune(table, "u = 7", engine="spark")
    asked = what_helps(plan)
    assert asked.commands
    for command in asked.commands:
        assert command in Reader(explain_page(plan, asked)).visible_text
    assert f'sargo explain {plan.table} --where "u = 7" --engine spark' in Reader(explain_page(plan)).visible_text


def test_a_filter_that_could_not_be_evaluated_has_a_page(table, tmp_path):
    plan = prune(table, "no_such_column = 1 OR weird(i)", engine="spark")
    text = Reader(explain_page(plan)).visible_text
    for reason in plan.reasons:
        assert reason.text in text


@pytest.mark.parametrize("value", ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "a'\"><b onx=1>"])
def test_values_of_filters_columns_and_partitions_stay_text(tmp_path, value):
    name = value.replace("/", "_")
    rows = pa.table({"id": ["1", "2"], name: pa.array([1, 2])})
    plain_table(tmp_path / "t", [(name, rows), ("b", rows)])
    quoted = value.replace("'", "''")
    plan = prune(tmp_path / "t", f"`{name}` = 1 AND id <> '{quoted}'", engine="hive")
    html = explain_page(plan)
    reader = Reader(html)
    assert {attributes.get("type") for attributes in reader.tagged("script")} == {"application/json", "module"}
    assert len(reader.tagged("script")) == 2
    assert not reader.tagged("img")
    assert not [one for one in reader.elements if any(key.startswith("on") for key in one[1])]
    assert name in reader.data["partitions"]
    assert name in reader.visible_text


def test_a_table_without_slices_has_a_page(tmp_path):
    plain_table(tmp_path / "t", [])
    plan = prune(tmp_path / "t", "id = 1", engine="spark")
    assert "The table has no file slices" in Reader(explain_page(plan)).visible_text


def test_the_same_plan_gives_the_same_page(table):
    plan = prune(table, "i = 100 OR u = 7", engine="spark")
    assert explain_page(plan) == explain_page(plan)


def test_of_a_larger_table_the_kept_slices_are_listed_first_and_all_are_counted(table, monkeypatch):
    monkeypatch.setattr(slice_data_module, "MAX_LISTED", 8)
    plan = prune(table, "i >= 400 AND i <= 700", engine="spark")
    assert 0 < len(plan.kept) < 8
    found = slice_data(plan)
    assert found.listed == 8
    assert found.document["marked"] == {}  # what a condition rules out is not counted on a part
    assert {one.file_id for one in plan.kept} < set(found.document["slices"]["id"])
    assert sum(number for _, _, number in found.document["totals"]) == len(plan.slices)
    assert np.unique(found.document["slices"]["partition"]).tolist() == sorted(
        set(found.document["slices"]["partition"])
    )


def test_a_deep_filter_is_cut_and_every_node_is_closed(table):
    plan = prune(table, "NOT (" * 300 + "i = 1" + ")" * 300, engine="spark")
    steps = list(tree_steps(plan.explanation))
    assert len(steps) < 100
    assert sum(step.form == "open" for step in steps) == sum(step.form == "close" for step in steps)
    wide = prune(table, " OR ".join(f"(i = {n} AND l = {n})" for n in range(500)), engine="spark")
    steps = list(tree_steps(wide.explanation))
    assert len(steps) < 400
    assert sum(step.form == "open" for step in steps) == sum(step.form == "close" for step in steps)
    assert [step for step in steps if step.form == "note"]
    explain_page(wide)
