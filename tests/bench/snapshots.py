"""Snapshots of a table of 2,271,646 files (RFC-15's dataset E), four columns, random layout.

    the first filter of a process, with its imports   at most 0.3 CPU seconds
    its size                                          at most 150 bytes a file
    opening the snapshot and all four columns         at most 0.8 ms, at any number of files
    a commit of 1,000 files carried over              at most 12 ms CPU, in a process that has the base open
    the first answer of a process, and the next ones  for people to look at
    an answer after the commit                        beside one of the base alone: tombstoned slices, a second layer

CPU time of all threads, the least of some rounds. The base is made once, in the folder for temporary files, which takes
half a minute.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from handler import prune
from index_store import Table, open_table
from index_store.opened_table import OpenTable
from index_store.snapshots import Snapshot, SnapshotCache, open_snapshot
from index_store.snapshots.state import state_of
from tests.bench.large_snapshot import COLUMNS, commit, make_base
from tests.bench.timing import compiling_environment

FILES, ROUNDS = 2_271_646, 7
FILTERS = (
    "ts = TIMESTAMP'2023-01-01 10:00:00'",
    "amount BETWEEN 1600000.0 AND 1600100.0",
    "name = 'shop-0012345' AND fee > 100.0",
)

#: Two columns each.
_TWO_FILTERS = (
    "amount BETWEEN 1600000.0 AND 1600100.0 AND ts > TIMESTAMP'2023-01-01 10:00:00'",
    "name = 'shop-0012345' AND fee > 100.0",
)
_NEW_PROCESS = """
import json, sys, time
from pathlib import Path
from handler import open_table, prune
from index_store.snapshots import SnapshotCache
path, first, second = sys.argv[1:]
laps = [time.process_time()]
table = open_table(path, cache=SnapshotCache(Path(path).parent / "cache", 1 << 40))
for text in first, second:
    plan = prune(table, text)
    assert plan.kept and not plan.reasons, plan.reasons
    laps.append(time.process_time())
names = "imports", "open, the first filter", "the second one, on other columns"
print(json.dumps(dict(zip(names, (b - a for a, b in zip([0.0, *laps], laps))))))
"""

Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures, each with its goal."""
    root = _made()
    cache = SnapshotCache(root / "cache", 1 << 40)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table"
        shutil.copytree(root / "table", table)
        os.symlink(table, root / "now")
        try:
            return [*_first(root / "now"), *_opened(root / "now", cache), *_committed(root / "now", cache)]
        finally:
            os.unlink(root / "now")


def _first(path: Path) -> list[Row]:
    """The first filter of a process, on two columns, and the next one, on two others: CPU seconds of each part."""
    parts: dict[str, list[float]] = {"": []}
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", _NEW_PROCESS, str(path), *_TWO_FILTERS]
        seconds = json.loads(subprocess.check_output(command, env=compiling_environment()))
        for name, value in {**seconds, "": sum(seconds.values())}.items():
            parts.setdefault(name, []).append(value)
    rows = [(f"a new process: {name}", _ms(min(values)), "") for name, values in parts.items() if name]
    least = min(parts[""])
    return [*rows, ("a new process: all of it", _ms(least), f"{least / 0.3:.2f} x the goal of 0.3 s")]


def _opened(path: Path, cache: SnapshotCache) -> list[Row]:
    table = open_table(path)
    snapshot = open_snapshot(table, cache)
    assert snapshot is not None
    size = sum(entry.size for entry in snapshot.base_folder.entries())
    opened = _least(lambda: _open_all(table, Snapshot(cache, snapshot.manifest)))
    rows = [
        (
            f"snapshot of {FILES:,} files and {len(COLUMNS)} columns",
            f"{size / 1e6:,.0f} MB, {size / FILES:.0f} bytes a file",
            f"{size / FILES / 150:.2f} x the goal of 150 bytes",
        ),
        ("open it and all its columns", _ms(opened), f"{opened / 0.0008:.2f} x the goal of 0.8 ms"),
    ]
    for text in FILTERS:
        first = _least(lambda text=text: prune(OpenTable(open_table(path), cache), text).kept_rows)
        again = OpenTable(open_table(path), cache)
        _check(prune(again, text))
        warm = _least(lambda text=text, again=again: prune(again, text).kept_rows)
        rows.append((f"{text}: table opened anew", _ms(first), ""))
        rows.append((f"{text}: table kept open", _ms(warm), f"{warm / first:.2f} x opened anew"))
    return rows


def _committed(path: Path, cache: SnapshotCache) -> list[Row]:
    before = open_snapshot(open_table(path), cache)
    assert before is not None
    _open_all(open_table(path), before)
    bases = {text: OpenTable(open_table(path), cache) for text in FILTERS}
    alone = {text: _least(lambda text=text: prune(bases[text], text).kept_rows) for text in FILTERS}
    commit(path, "20260102000000000", FILES)
    carry = sys.modules["index_store.snapshots.incremental_refresh"].refresh_snapshot

    def carried() -> Snapshot:
        table = open_table(path)
        state = state_of(table)
        assert state is not None
        return carry(before, state, table)

    seconds = _least(carried)
    rows = [("carry a commit of 1,000 files over", _ms(seconds), f"{seconds / 0.012:.2f} x the goal of 12 ms")]
    opened = OpenTable(open_table(path), cache)
    layers = opened.at().layers
    assert layers is not None
    assert (layers.base, len(layers.tombstoned), layers.delta) == (FILES, 500, 1000)
    for text in FILTERS:
        _check(prune(opened, text))
        after = _least(lambda text=text: prune(opened, text).kept_rows)
        rows.append((f"{text}: after the commit", _ms(after), f"{after / alone[text]:.2f} x before it"))
    return rows


def _open_all(table: Table, snapshot: Snapshot) -> None:
    for name in COLUMNS:
        column = table.schema.resolve(name, case_sensitive=True)
        assert column is not None
        assert snapshot.base_column("column_stats", column).statistics is not None


def _check(plan: object) -> None:
    assert not getattr(plan, "reasons", ("",)), plan


def _least(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _made() -> Path:
    """The base: its table in ``table``, its snapshot in ``cache``, both as of ``now``."""
    root = Path(tempfile.gettempdir()) / f"sargo-bench-snapshot-{FILES}-3"
    if not (root / "table").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        make_base(root / "now", SnapshotCache(root / "cache", 1 << 40), FILES)
        (root / "now").rename(root / "table")
    return root


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"
