"""Random queries over random tables of real Hudi, through the extension: rows are those without it, or of one commit.

`make torture-tables TABLES="--extension --tables 30 --seed 7"` asks more after each commit, `--meanwhile` while the
tables are written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handler.spark.extension.test_register import missing
from tests.random_tables.__main__ import asked_meanwhile, asked_through_extension
from tests.random_tables.recipe import Recipe

pytestmark = [pytest.mark.extension, pytest.mark.timeout(1200)]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Of a table whose release of Hudi is here."""
    if why := missing(Recipe.of(request.param).release):
        pytest.skip(why)
    return int(request.param)


def named(seed: int) -> str:
    return f"{seed}-{Recipe.of(seed).release}"


@pytest.mark.parametrize("seed", [3, 8, 10], ids=named, indirect=True)
def test_rows_are_those_without_the_extension(seed: int, tmp_path: Path) -> None:
    found = asked_through_extension([seed], 20, tmp_path)
    assert found.wrong == {}
    assert found.skipping.total() > 10, found


@pytest.mark.parametrize("seed", [3, 10, 11], ids=named, indirect=True)
def test_rows_are_those_of_one_commit_while_the_table_is_written(seed: int, tmp_path: Path) -> None:
    found = asked_meanwhile([seed], tmp_path)
    assert found.wrong == {}
    assert found.skipping.total() > 2, found
