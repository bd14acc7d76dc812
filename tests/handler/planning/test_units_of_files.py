"""P14, hudi#9884: files that count milliseconds in a table whose schema says microseconds.

``data/millis_under_micros.tar.xz`` holds two files of each of three tables, which Hudi 0.15.0, 1.0.2 and 1.2.0 wrote
with ``bulk_insert`` and ``hoodie.parquet.outputtimestamptype=TIMESTAMP_MILLIS``: ``t`` is 2023-11-14 22:13:20 UTC and
each of the 15 hours after it. The statistics of 0.15.0 and 1.0.2 hold milliseconds and do not say so.

Pitfall P14 is described in docs/facts/pitfalls.md#p14.
"""

from __future__ import annotations

import datetime
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from handler import open_table, prune

ARCHIVE = Path(__file__).parents[1] / "data" / "millis_under_micros.tar.xz"
FIRST = datetime.datetime(2023, 11, 14, 22, 13, 20)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("units")
    with tarfile.open(ARCHIVE) as opened:
        opened.extractall(home, filter="data")
    return home


@pytest.mark.parametrize("release", ["0.15.0", "1.0.2", "1.2.0"])
def test_no_row_is_lost_in_a_file_of_milliseconds(release: str, tables: Path) -> None:
    opened = open_table(tables / f"footer_{release}")
    assert opened.table.columns.units == {"t": "micros"}
    lost, kept = [], 0
    for hours in (-200_000, -1, 0, 1, 7, 8, 15, 16, 200_000):
        moment = FIRST + datetime.timedelta(hours=hours)
        for op in ("=", "<", "<=", ">", ">=", "<>"):
            plan = prune(opened, f"t {op} timestamp'{moment}'", engine="spark", time_zone="UTC")
            kept += len(plan.kept)
            for item in plan.skipped:
                assert item.base_file
                table = pq.read_table(tables / f"footer_{release}" / item.base_file, partitioning=None)
                values = [value.replace(tzinfo=None) for value in table["t"].to_pylist()]
                assert len(values) == 8
                if any(_compared(value, op, moment) for value in values):
                    lost.append((op, moment, item.base_file))
    assert lost == []
    assert 54 < kept <= 108


def _compared(value: datetime.datetime, op: str, moment: datetime.datetime) -> bool:
    match op:
        case "=":
            return value == moment
        case "<>":
            return value != moment
        case "<":
            return value < moment
        case "<=":
            return value <= moment
        case ">":
            return value > moment
        case _:
            return value >= moment
