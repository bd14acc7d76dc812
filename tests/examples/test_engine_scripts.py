"""The scripts of examples/ for Polars, DuckDB and processes, as a user runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from handler import scan
from tests.handler.conftest import unpack as unpack

EXAMPLES = Path(__file__).parents[2] / "examples"
WHERE = "i > 100 AND p = 'p1'"


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table(unpack):
    return unpack("1.1.1_main_cow")


@pytest.fixture(scope="module")
def rows(table):
    return scan(table, WHERE).to_table().num_rows


def test_polars(table, rows):
    pytest.importorskip("polars")
    shown = run("polars_rows.py", table, WHERE)
    assert "file slices kept" in shown
    assert re.search(rf"p=p1\s+┆ {rows}\b", shown)


def test_duckdb(table, rows):
    pytest.importorskip("duckdb")
    shown = run("duckdb_rows.py", table, WHERE, "SELECT count(*) AS n FROM rows")
    assert re.search(rf"\b{rows}\b", shown)


def test_processes(table, rows):
    shown = run("multiprocessing_rows.py", table, WHERE, 2)
    assert shown.splitlines()[-1] == f"rows: {rows}"
    assert len(shown.splitlines()) == 3
