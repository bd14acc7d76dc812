"""The first filter on a small table of real Hudi that was just opened, and the next ones: nothing is cached.

    copy on write                                      at most 6 CPU ms
    merge on read, with record and secondary index     at most 20 CPU ms
    there, a filter on a key that was not asked for    at most 3 CPU ms
    a filter on a secondary index, first in a process  without a snapshot, and with one that keeps its proof

The libraries are loaded and warm: ``command_line`` has what a process pays for them.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from handler import open_table, prune
from index_store.snapshots import SnapshotCache

ROUNDS = 21
_DATA = Path(__file__).parents[1] / "data" / "hudi"
#: The condition of the first filter, its goal in milliseconds, and a condition on the key ``{}``, of the table.
_TABLES = {
    "1.1.1_main_cow": ("i = 5 AND s > 'b'", 6.0, None),
    "1.1.1_sec_mor": ("i > 5 AND s = 'banana-zz'", 20.0, "id = 'k00{}'"),
}
KEY_GOAL = 3.0
#: A table with a secondary index, and a filter on its column.
_PROVEN, _OF_COLUMN = "1.1.1_sec_cow", "s = 'banana-zz'"

Row = tuple[str, str, str]


def run() -> list[Row]:
    """Medians, each of a table opened anew; the ratio is to the goal."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"SARGO_CACHE": "off"}):
        for name, (condition, goal, of_key) in _TABLES.items():
            path = Path(folder) / name
            with zipfile.ZipFile(_DATA / f"{name}.zip") as archive:
                archive.extractall(path)
            rows += _measured(path, condition, goal, of_key)
        with zipfile.ZipFile(_DATA / f"{_PROVEN}.zip") as archive:
            archive.extractall(Path(folder) / _PROVEN)
        rows += _with_proofs(Path(folder) / _PROVEN, SnapshotCache(Path(folder) / "cache", min_slices=1))
    return rows


def _with_proofs(path: Path, cache: SnapshotCache) -> list[Row]:
    """The first filter on a secondary index, which is proven to be whole, or was before."""
    spent: dict[SnapshotCache | None, list[float]] = {None: [], cache: []}
    for _ in range(ROUNDS):
        for of, milliseconds in spent.items():
            table = open_table(path, cache=of)
            milliseconds.append(_milliseconds(lambda table=table: prune(table, _OF_COLUMN, time_zone="UTC").kept_rows))
    proven, kept = (statistics.median(one) for one in spent.values())
    return [
        (f"{path.name}: the first filter on a secondary index", f"{proven:.1f} CPU ms", ""),
        (f"{path.name}: the same from a snapshot", f"{kept:.1f} CPU ms", f"{kept / proven:.2f} x of it"),
    ]


def _measured(path: Path, condition: str, goal: float, of_key: str | None) -> list[Row]:
    opening, first, again, keys = [], [], [], []
    for _ in range(ROUNDS):
        start = time.process_time()
        table = open_table(path)
        opening.append(time.process_time() - start)
        first.append(_milliseconds(lambda table=table: prune(table, condition, time_zone="UTC").kept_rows))
        again.append(_milliseconds(lambda table=table: prune(table, condition, time_zone="UTC").kept_rows))
        for number in range(10, 14) if of_key else ():
            asked = of_key.format(number) if of_key else ""
            keys.append(_milliseconds(lambda table=table, asked=asked: prune(table, asked, time_zone="UTC").kept_rows))
    rows = [
        (f"{path.name}: open_table", f"{1e3 * statistics.median(opening):.1f} CPU ms", ""),
        _row(f"{path.name}: the first prune", first, goal),
        (f"{path.name}: the same again", f"{statistics.median(again):.1f} CPU ms", ""),
    ]
    return [*rows, _row(f"{path.name}: a filter on a key, not asked for before", keys, KEY_GOAL)] if keys else rows


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def _row(name: str, milliseconds: list[float], goal: float) -> Row:
    median = statistics.median(milliseconds)
    return name, f"{median:.1f} CPU ms", f"{median / goal:.2f} x {goal:.0f} ms"
