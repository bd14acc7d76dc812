"""Text of many files stays in Arrow's buffers from the HFile to the statistics: the same as with an object for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import StoredBounds
from index_store import open_table
from index_store.formats import stats_reader
from index_store.kinds.column_stats import stats_values
from tests.index_store.conftest import TABLES
from tests.index_store.snapshots.test_rewinding import assert_same
from tests.index_store.synthetic import write_table
from tests.sampling import share

FUNCTIONS = ("lower", "upper", "trim", "length", "year", "month", "day")


def statistics(path: Path) -> dict[tuple[str, str], ColumnStatistics]:
    """By kind and column, or function and column."""
    table, found = open_table(path), {}
    for kind in table.kinds(table.slices()):
        if kind.name in ("column_stats", "expression_index"):
            functions = tuple((function, column) for column in table.schema for function in FUNCTIONS)
            said = kind.provide(kind.requires(RequiredStatistics(bounds=tuple(table.schema), functions=functions)))
            found.update({(kind.name, name): one for name, one in said.statistics.items()})
            found.update(said.expressions)
    return found


@pytest.mark.parametrize("name", share(TABLES, 3, seed=7))
def test_the_statistics_are_the_same(
    name: str, hudi_table: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats_reader, "FEW_RECORDS", 0)
    monkeypatch.setattr(stats_reader, "FEW_OF_A_COLUMN", 0)
    expected = statistics(hudi_table(name))
    monkeypatch.setattr(stats_values, "MIN_IN_ARROW", 0)
    found = statistics(hudi_table(name))
    assert found.keys() == expected.keys()
    for key, one in found.items():
        assert_same(one, expected[key])
        assert not isinstance(expected[key].lo, StoredBounds)


def test_no_object_is_made_of_the_text_of_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path, 800)
    table = open_table(tmp_path)
    monkeypatch.setattr("evaluator.statistics.stored_bounds._decoded", lambda *_: pytest.fail("text became objects"))
    [kind] = [one for one in table.kinds(table.slices()) if one.name == "column_stats"]
    [column] = [one for one in table.schema if one.name == "name"]
    assert column.type.kind is Kind.STRING
    known = kind.provide(RequiredStatistics(bounds=(column,))).statistics["name"]
    assert isinstance(known.lo, StoredBounds)
    assert isinstance(known.hi, StoredBounds)
    assert known.lo_known.all()
