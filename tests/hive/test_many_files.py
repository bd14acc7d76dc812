"""The multiplied table of the benchmark is true: its files, the list of files, and its statistics."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from handler.planning.prune import prune
from tests.hive.many_files import ROWS, write
from tests.hive.tables import PARTITIONS

FILES = 40


def test_its_files_are_listed_and_its_statistics_hold(tmp_path: Path) -> None:
    table = write(tmp_path / "many", FILES)
    files = {str(path.relative_to(table)): path for path in table.glob("dt=*/*.parquet")}
    assert len(files) == FILES
    assert {path.parent.name for path in files.values()} == {f"dt={day}" for day in PARTITIONS}
    for condition, kept in (
        (None, FILES),
        ("id between 100 and 139", 2),
        ("k < 100", 5),
        ("amount >= 1198", 1),
        ("name < 'n00000021'", 2),
        ("dt = '2024-01-03'", FILES // 4),
        ("id < 0", 0),
    ):
        plan = prune(str(table), condition or "true", engine="hive")
        assert {item.base_file for item in plan.slices} == set(files)
        assert len(list(plan.kept)) == kept
        assert not plan.reasons
    bounds = {pc.min_max(pq.read_table(path, partitioning=None)["id"])["min"].as_py() for path in files.values()}
    assert bounds == set(range(0, FILES * ROWS, ROWS))
