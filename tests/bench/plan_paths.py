"""The URIs of 2,271,646 kept files (RFC-15's dataset E) beside the same from objects, and sets of slices as bits.

plan.paths()              at most 0.5 CPU seconds
kept_bits                 beside row numbers and a mask of numpy: bytes, and the time of an intersection
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from evaluator.evaluation.bit_sets import bits_of_mask, mask_of_bits, rows_of_bits
from handler import prune
from index_store import open_table
from index_store.opened_table import OpenTable
from index_store.snapshots import SnapshotCache
from tests.bench.snapshots import FILES, _made

ROUNDS = 3
GOAL = 0.5

Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures."""
    root = _made()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "table", Path(folder) / "table")
        path = root / "now"
        path.symlink_to(Path(folder) / "table")
        try:
            return _measured(path, SnapshotCache(root / "cache", 1 << 40))
        finally:
            path.unlink()


def _measured(path: Path, cache: SnapshotCache) -> list[Row]:
    table = OpenTable(open_table(path), cache)
    plan = prune(table, "fee >= 0.0 OR fee IS NULL OR fee < 0.0")
    assert len(plan.kept_rows) == FILES
    vectorised = _least(plan.paths)
    start = time.process_time()
    objects = [f"{plan.table}/{one.base_file}" for one in plan.slices.some(plan.kept_rows)]
    by_object = time.process_time() - start
    assert plan.paths().to_pylist() == objects
    rows = [
        (f"plan.paths() of {FILES:,} files", f"{vectorised:.3f} s", f"{vectorised / GOAL:.2f} x the goal of {GOAL} s"),
        ("the same from objects", f"{by_object:.3f} s", f"{by_object / vectorised:.1f} x plan.paths()"),
    ]
    del objects
    return [*rows, *_sets()]


def _sets() -> list[Row]:
    draw = np.random.default_rng(20)
    masks = [draw.random(FILES) < share for share in (0.5, 0.01)]
    numbers = [np.flatnonzero(mask) for mask in masks]
    bits = [bits_of_mask(mask) for mask in masks]
    size = len(bits[0].tobytes())
    rows = [
        (f"half of {FILES:,} slices: bits", f"{size / 1e6:.2f} MB", ""),
        ("... a mask", f"{masks[0].nbytes / 1e6:.2f} MB", f"{masks[0].nbytes / size:.0f} x bits"),
        ("... row numbers", f"{numbers[0].nbytes / 1e6:.2f} MB", f"{numbers[0].nbytes / size:.0f} x bits"),
        ("... a set of Python", f"{_python_set(numbers[0]) / 1e6:.0f} MB", f"{_python_set(numbers[0]) / size:.0f} x"),
    ]
    ways: list[tuple[str, Callable[[], object]]] = [
        ("and of two: bits", lambda: bits[0] & bits[1]),
        ("... masks", lambda: masks[0] & masks[1]),
        ("... row numbers", lambda: np.intersect1d(numbers[0], numbers[1], assume_unique=True)),
        ("count: bits", lambda: bits[0].count()),
        ("... masks", lambda: np.count_nonzero(masks[0])),
        ("make bits of a mask", lambda: bits_of_mask(masks[0])),
        ("make a mask of bits", lambda: mask_of_bits(bits[0])),
        ("make row numbers of bits", lambda: rows_of_bits(bits[0])),
        ("row numbers of a mask", lambda: np.flatnonzero(masks[0])),
    ]
    for name, call in ways:
        rows.append((name, f"{_least(call) * 1e6:,.0f} us", ""))
    return rows


def _python_set(rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    found = set(rows.tolist())
    return sys.getsizeof(found) + sum(map(sys.getsizeof, found))


def _least(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)
