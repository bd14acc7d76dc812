"""Statistics of some hundred slices as an opened table reads them, and what later filters find."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler import open_table, prune
from index_store import cached_statistics
from index_store.formats import stats_reader
from tests.index_store.synthetic import write_table

CONDITIONS = (
    "name LIKE 'shop-0003%'",
    "name >= 'shop-000100' AND name < 'shop-000120'",
    "NOT name > 'shop-000200'",
    "name IN ('shop-000300', 'shop-000007x')",
    "name IS NULL",
)


@pytest.mark.parametrize("form", ["ranks", "index"])
def test_text_of_many_slices_is_prepared_for_the_filters_that_follow(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "index":
        monkeypatch.setattr(cached_statistics, "INDEXED_FROM", 600)
    write_table(tmp_path / "table", 600)
    table = open_table(tmp_path / "table")
    first = [prune(open_table(tmp_path / "table"), condition).kept_rows.tolist() for condition in CONDITIONS]

    def prepared() -> list[bool]:
        return [getattr(one.statistics["name"], form) is not None for one in table.at().cached if one.statistics]

    for _ in range(1 if form == "index" else 31):
        assert prune(table, CONDITIONS[0]).kept_rows.tolist() == first[0]
        assert prepared() == [False]
    assert [prune(table, condition).kept_rows.tolist() for condition in CONDITIONS] == first
    assert prepared() == [True]
    assert any(0 < len(kept) < 600 for kept in first)


def test_statistics_that_are_decoded_in_several_steps_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path / "table", 600)
    table = tmp_path / "table"
    kept = [prune(table, condition, strict=True).kept_rows.tolist() for condition in CONDITIONS]
    monkeypatch.setattr(stats_reader, "STEP", 250)  # as a table of more than 16,384 files is
    assert [prune(table, condition, strict=True).kept_rows.tolist() for condition in CONDITIONS] == kept
    assert len(kept[0]) < 600
