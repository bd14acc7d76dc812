"""The score of a secondary index: a key of one row tells all file groups apart, one that all have tells nothing."""

from __future__ import annotations

import pytest

from index_store import open_table
from index_store.own.advice.secondary_benefit import benefits_of_keys
from index_store.own.secondary.operations import create, refresh
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from tests.evaluator.strategies import Slice
from tests.index_store.own.secondary.answers import by, local
from tests.index_store.own.secondary.small_table import small_table

GROUPS = 4


@pytest.mark.parametrize(
    ("column", "score", "left"),
    [("i", 100.0, 1.0), ("s", 0.0, 4.0), ("l", 100.0 * 2 / 3, 2.0)],
    ids=["of one", "of all", "of two each"],
)
def test_the_score_is_the_share_of_file_groups_that_a_key_rules_out(tmp_path, column, score, left) -> None:
    slices = [
        Slice([{"i": 10 * number + row, "s": "same", "l": number // 2} for row in range(5)]) for number in range(GROUPS)
    ]
    table = small_table(tmp_path / "t", slices, ["i", "s", "l"])
    folder = Folder.at(tmp_path / "index")
    create(folder, table, by(column), local)
    [found] = benefits_of_keys(OwnIndex.open(folder))
    assert (found.entry.on, found.drawn) == (column, GROUPS)
    assert found.score.score == pytest.approx(score)
    assert found.score.left == pytest.approx(left)
    assert found.score.text.startswith("about")


def test_keys_that_are_gone_do_not_count_and_nothing_is_said_of_no_entries(tmp_path) -> None:
    slices = [Slice([{"i": number, "s": "x"}]) for number in range(GROUPS)]
    table = small_table(tmp_path / "t", slices, ["i", "s"])
    folder = Folder.at(tmp_path / "index")
    create(folder, table, by("i", "s"), local)
    for path in sorted((tmp_path / "t").glob("g*.parquet"))[1:]:
        path.unlink()
    refresh(folder, open_table(tmp_path / "t"), local)
    [found] = benefits_of_keys(OwnIndex.open(folder))
    assert (found.score.slices, found.score.left, found.entry.on) == (1, 1.0, "i, s")
    empty = small_table(tmp_path / "e", [], ["i", "s"])
    create(Folder.at(tmp_path / "index of nothing"), empty, by("i", "s"), local)
    assert benefits_of_keys(OwnIndex.open(Folder.at(tmp_path / "index of nothing"))) == []
