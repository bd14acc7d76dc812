"""The summaries of ``sargo index create | refresh | show`` say what each sketch is worth."""

from __future__ import annotations

import shutil

import pytest

from index_store import StatsError
from tests.handler.commands import document, run


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def table(main_cow, tmp_path):
    return shutil.copytree(main_cow, tmp_path / "table")


def test_an_index_says_what_its_sketches_are_worth(table):
    using = [
        one
        for sketch in ("min_max", "value_list", "bloom_filter(fpp=0.02)", "null_count")
        for one in ("--using", sketch)
    ]
    made = document("index", "create", table, "--on", "i", "--on", "lower(s)", "--using", "min_max", "--name", "a")
    assert [one["on"] for one in made["effectiveness"]] == ["i", "lower(s)"]
    made = document("index", "create", table, "--on", "i", *using, "--name", "b")
    by = {one["sketch"].partition("(")[0]: one for one in made["effectiveness"]}
    assert by["value_list"]["score"] > by["min_max"]["score"] > 50
    assert {name: one["basis"] for name, one in by.items()} == {
        "min_max": "at least",
        "value_list": "exact",
        "bloom_filter": "at most",
        "null_count": "exact",
    }
    assert all(one["files"] == made["files"] for one in by.values())
    assert document("index", "show", table, "b")["effectiveness"] == made["effectiveness"]
    shown = run("index", "show", table, "b")
    assert f"min_max of i: score at least {by['min_max']['score']:.0f} of 100, an equality leaves" in shown
    assert "bloom_filter(fpp=0.02) of i: score at most" in shown
    [again] = document("index", "refresh", table, "b", "--full")["indexes"]
    assert again["effectiveness"] == made["effectiveness"]
    [nothing] = document("index", "refresh", table, "b")["indexes"]
    assert "effectiveness" not in nothing


def test_a_summary_does_without_what_cannot_be_told(table, monkeypatch):
    def fails(*_):
        raise StatsError("index", "i", "cannot be read")

    monkeypatch.setattr("handler.indexes.benefit.benefits_of", fails)
    assert "effectiveness" not in document("index", "create", table, "--on", "i")
