"""``sargo cache``: what is kept, and clearing it."""

import json

import pytest
from click.testing import CliRunner

from handler import prune
from handler.cli.main import main
from index_store.opened_table import open_table
from index_store.snapshots import SnapshotCache


def run(*arguments):
    return CliRunner().invoke(main, ["cache", *arguments])


def test_nothing_is_kept_when_it_is_off():
    assert "SARGO_CACHE is off" in run().output
    assert json.loads(run("--json").output) == {"folder": None, "tables": []}


@pytest.fixture
def folder(main_cow, tmp_path, monkeypatch):
    monkeypatch.setenv("SARGO_CACHE", str(tmp_path))
    prune(open_table(main_cow, cache=SnapshotCache(tmp_path, min_slices=0)), "i < 40 AND s > 'a'")
    return tmp_path


def test_tables_are_listed_with_what_is_kept_of_them(folder, main_cow):
    [table] = json.loads(run("--json").output)["tables"]
    assert table["table"] == str(main_cow)
    assert table["columns"] >= 2
    assert table["bytes"] > 1000
    lines = run().output.splitlines()
    assert lines[0].split() == ["table", "instant", "columns", "size", "last", "used"]
    assert table["instant"] in lines[1]


def test_one_table_is_cleared(folder, main_cow):
    assert "0 tables" in run("--clear", "/no/such/table").output
    assert "1 table" in run("--clear", str(main_cow)).output
    assert json.loads(run("--json").output)["tables"] == []
