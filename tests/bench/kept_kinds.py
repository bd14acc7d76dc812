"""The first filter of a new process on each index kind, from a snapshot that has it, beside reading it without one.

    expression indexes    of a table of 20,000 slices: bounds of ``lower(name)`` and of ``length(name)``
    own sketches          of a table of 50,000 slices: bounds, value lists, Bloom filters of 500 values each
    real tables           of a few slices: expression indexes, ``bloom_filters``

CPU time and wall time of opening the table and the first filter, without the imports, of processes that take turns;
then how many files of the table are opened, and the bytes that are read of them. The large tables are made once, in the
folder for temporary files, which takes a minute or two.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from handler import open_table, prune
from index_store.snapshots import SnapshotCache
from tests.bench.large_indexes import make_expressions, make_own
from tests.bench.timing import compiling_environment
from tests.index_store.recording_store import RecordingStore

EXPRESSIONS, OWN, ROUNDS = 20_000, 50_000, 9
_DATA = Path(__file__).parents[1] / "data" / "hudi"
#: The filters on each of the large tables, and on real ones.
_LARGE: dict[str, tuple[Callable[[Path, int], None], int, tuple[str, ...]]] = {
    "expressions": (make_expressions, EXPRESSIONS, ("lower(name) = 'shop-000100'", "length(name) = 50")),
    "own": (
        make_own,
        OWN,
        ("ts < TIMESTAMP'2026-01-01 10:00:00'", "amount = 17.25", "name < 'shop-0000005'", "name = 'shop-0012345'"),
    ),
}
_REAL = {
    "1.1.1_expr_cow": ("lower(s) = 'apple'", "id = 'k0001'"),
    "proofs/1.1.1_expr_part_cow": ("lower(s) = 'apple'",),
    "1.1.1_bloom_simple_cow": ("id = 'k0001'",),
}
_NEW_PROCESS = """
import json, sys, time
from handler import open_table, prune
from index_store.snapshots import SnapshotCache
path, cache, text = sys.argv[1:]
began = time.process_time(), time.perf_counter()
table = open_table(path, cache=SnapshotCache(cache, min_slices=1) if cache else None)
plan = prune(table, text, "spark", time_zone="UTC")
kept = len(plan.kept)
assert not plan.reasons, plan.reasons
print(json.dumps([time.process_time() - began[0], time.perf_counter() - began[1], kept, len(plan.slices)]))
"""

Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures; the ratio is to reading without a snapshot."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, files, filters) in _LARGE.items():
            path = _made(name, make, files)
            rows += _rows(path, filters, Path(folder) / "caches" / name)
        for name, filters in _REAL.items():
            path = Path(folder) / "tables" / name
            with zipfile.ZipFile(_DATA / f"{name}.zip") as archive:
                archive.extractall(path)
            rows += _rows(path, filters, Path(folder) / "caches" / name)
    return rows


def _rows(path: Path, filters: tuple[str, ...], caches: Path) -> list[Row]:
    return [row for number, text in enumerate(filters) for row in _row(path, text, caches / str(number))]


def _row(path: Path, text: str, cache: Path) -> list[Row]:
    """One filter, first in a process: without a snapshot, and with one that an earlier process has left."""
    _spent(path, str(cache), text)
    spent: dict[str, list[tuple[float, float, int, int]]] = {"": [], str(cache): []}
    for _ in range(ROUNDS):
        for where, found in spent.items():
            found.append(_spent(path, where, text))
    assert len({one[2:] for found in spent.values() for one in found}) == 1
    cpu = [statistics.median(one[0] for one in found) for found in spent.values()]
    wall = [statistics.median(one[1] for one in found) for found in spent.values()]
    kept, slices = spent[""][0][2:]
    size = sum(file.stat().st_size for file in cache.rglob("*.arrays"))
    name = f"{path.name}: {text} (keeps {kept:,} of {slices:,})"
    read = [_read(path, None, text), _read(path, SnapshotCache(cache / "recorded", min_slices=1), text)]
    return [
        (f"{name}: without a snapshot", _value(cpu[0], wall[0], read[0]), ""),
        (
            f"{name}: from one of {size / 1e6:,.1f} MB",
            _value(cpu[1], wall[1], read[1]),
            f"{cpu[1] / cpu[0]:.2f} x the CPU time, {read[1][1] / read[0][1]:.3f} x the bytes",
        ),
    ]


def _value(cpu: float, wall: float, read: tuple[int, int]) -> str:
    return f"{cpu * 1e3:,.1f} CPU ms, {wall * 1e3:,.1f} ms; {read[0]} files, {read[1] / 1e3:,.0f} kB"


def _spent(path: Path, cache: str, text: str) -> tuple[float, float, int, int]:
    command = [sys.executable, "-c", _NEW_PROCESS, str(path), cache, text]
    cpu, wall, kept, slices = json.loads(subprocess.check_output(command, env=compiling_environment()))
    return cpu, wall, kept, slices


def _read(path: Path, cache: SnapshotCache | None, text: str) -> tuple[int, int]:
    """How many files of the table are opened, and the bytes read of them, at the second opening."""
    for _ in range(2):
        store = RecordingStore()
        plan = prune(open_table(path, filesystem=store.filesystem, cache=cache), text, "spark", time_zone="UTC")
        assert len(plan.kept) <= len(plan.slices)
    return len({call.path for call in store.of("open")}), sum(call.length for call in store.of("read"))


def _made(name: str, make: Callable[[Path, int], None], files: int) -> Path:
    root = Path(tempfile.gettempdir()) / f"sargo-bench-{name}-{files}-1"
    if not root.exists():
        making = Path(f"{root}.making")
        shutil.rmtree(making, ignore_errors=True)
        make(making, files)
        making.rename(root)
    return root
