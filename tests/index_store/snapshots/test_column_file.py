"""What is stored of a column is what is read, also what is the same in all slices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, STRING, Type
from evaluator.statistics.columns import ColumnStatistics, from_values
from index_store.snapshots import column_file
from index_store.snapshots.column_file import open_column, write_column
from index_store.snapshots.private_folder import PrivateFolder

COUNTS = {
    "no NULL": ([0, 0, 0], [5, 6, 7]),
    "NULL in some": ([0, 3, 0], [5, 6, 7]),
    "NULL in all": ([1, 3, 2], [5, 6, 7]),
    "some are all NULL": ([0, 6, 0], [5, 6, 7]),
    "nothing but NULL": ([5, 6, 7], [5, 6, 7]),
    "not known": ([None, None, None], [None, None, None]),
    "not known of some": ([0, None, 0], [5, 6, None]),
    "no rows": ([0, 0, 0], [0, 0, 0]),
}
BOUNDS = {BIGINT: ([1, 2, 3], [4, 5, 6]), STRING: (["a", "b", "c"], ["d", "é", "f"])}


def stored(folder: Path, of: Type, statistics: ColumnStatistics) -> ColumnStatistics:
    """The statistics after they were written and read."""
    file, field = (PrivateFolder(folder) / "made").file("column_stats-0.arrow"), Field("c", of)
    write_column(file, "column_stats", field, 3, statistics, None)
    found = open_column(file, "column_stats", field, 3).statistics
    assert found is not None
    return found


@pytest.mark.parametrize("of", BOUNDS)
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("with_flags", [True, False])
def test_null_and_value_are_possible_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Type, counts: str, with_flags: bool
) -> None:
    nulls, rows = COUNTS[counts]
    lo, hi = BOUNDS[of]
    statistics = from_values(of, lo=lo, hi=hi, null_count=nulls, row_count=rows)
    if not with_flags:  # as an older release wrote it
        monkeypatch.setattr(column_file, "_SAME", "unread")
    found = stored(tmp_path, of, statistics)
    for name in ("any_null", "any_value"):
        was, is_now = getattr(statistics, name), getattr(found, name)
        assert json.dumps(np.asarray(was).tolist()) == json.dumps(np.asarray(is_now).tolist()), name
    assert np.array_equal(found.may_be_null, statistics.may_be_null)
    assert np.array_equal(found.may_be_value, statistics.may_be_value)
    assert np.asarray(found.lo).tolist() == lo


def test_what_is_the_same_in_all_slices_is_not_counted_again(tmp_path: Path) -> None:
    statistics = from_values(BIGINT, lo=[1, 2, 3], hi=[4, 5, 6], null_count=[0, 0, 0], row_count=[5, 6, 7])
    found = stored(tmp_path, BIGINT, statistics)
    assert (found.__dict__["any_null"], found.__dict__["any_value"]) == (False, True)
    assert "may_be_null" not in found.__dict__
