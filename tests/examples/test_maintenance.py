"""``examples/maintenance.py`` on a table that a commit has changed, and on one that is none."""

from __future__ import annotations

import shutil

import pytest

import sargo
from examples import maintenance
from index_store.own.store.locations import folder_of
from tests.s3.cases import without_last_commit


@pytest.fixture
def stale(unpack, tmp_path):
    """A table with two indexes that do not know its last commit."""
    table = tmp_path / "table"
    shutil.copytree(unpack("1.1.1_main_cow"), table)
    with without_last_commit(table):
        work = sargo.IndexWork(str(table))
        work.create(["i"], ["min_max"], "bounds")
        work.create(["s"], ["secondary_index"], "keys")
    return table


def test_indexes_are_current_afterwards(stale, capsys, monkeypatch):
    monkeypatch.setattr(maintenance, "MERGE_AT", 2)
    assert maintenance.main([str(stale), "--keep-hours", "0"]) == 0
    said = capsys.readouterr().out
    for name in ("bounds", "keys"):
        assert f"{name}: 1 files added" in said
        assert f"{name}: merged" in said
        assert "old files removed" in said
        assert len(folder_of(sargo.open_table(stale).table, name).names("versions")) == 1
    assert maintenance.main([str(stale)]) == 0
    assert "bounds is up to date\n" in capsys.readouterr().out


def test_a_table_that_fails_is_named_and_the_next_one_is_done(stale, unpack, tmp_path, capsys):
    assert maintenance.main([str(tmp_path / "none"), str(stale), str(unpack("1.1.1_main_mor"))]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(f"{tmp_path / 'none'}: failed: ")
    assert "bounds: 1 files added" in shown.out
    assert "has no index: see 'sargo advise'" in shown.out
