"""One query of real Hive on a table of 2,000 small files, with skipping and without, from the client's side.

HiveServer2 4.0.1 with Tez, Hudi 1.0.2's reader and `sargo serve`, all on this machine. After one round untimed, each
query takes turns with itself under `sargo.enabled=false`, which lists and reads everything; which one goes first
changes, and each round has another range of ids, so that no answer is known beforehand. Medians of the rounds. "native"
is the table that Hudi's Hive sync registers (four partitions) with the jar's input format, "stored" the same files by
the storage handler. Permissions of local files come from the JDK (see JdkLocalFileSystem): Hadoop's way without its
native library starts a process for each file, which no cluster does.

The goals: more than 5 times faster where 1 % of the files are kept, at most 5 % slower where all are. The time of
the jar itself (scope of the filter, names, request and answer, dropping files) is in its log line.

Left out without a JDK, Maven or PyHive; the first run fetches Hive (about 300 MB).
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.hive.many_files import ROWS, write
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_4, Server
from tests.hive.sidecars import Sidecar
from tests.hive.tables import Table, as_synced, pruned_natively, statements

FILES = 2_000
KEPT = FILES // 100
KINDS = ("native", "stored")
ENGINE = "tez"
_ROUNDS = 4

Row = tuple[str, str, str]


def run() -> Iterator[Row | str]:
    """Seconds with and without skipping, and their ratio."""
    if lacking := _lacking():
        yield f"hive_query is left out: no {lacking} here"
        return
    with tempfile.TemporaryDirectory(prefix="sargo-bench-") as folder:
        home = Path(folder).resolve()
        table = write(home / "tables" / "many", FILES)
        sidecar = Sidecar(table.parent, home / "sidecar.log").start()
        server = Server(HIVE_4, home, {"sargo.sidecar.address": sidecar.address, **PATIENT})
        try:
            server.start()
            yield from _measure(server, table)
        finally:
            server.stop()
            sidecar.stop()


def _lacking() -> str:
    missing = [name for name in ("java", "mvn") if not shutil.which(name)]
    return ", ".join(missing + (["pyhive"] if importlib.util.find_spec("pyhive") is None else []))


def _measure(server: Server, table: Path) -> Iterator[Row]:
    settings = {"hive.execution.engine": ENGINE}
    taken: dict[tuple[str, str, bool], list[float]] = {}
    with (
        server.connect(settings) as pruned,
        server.connect({**settings, "sargo.enabled": "false"}) as unpruned,
    ):
        cursors = {True: pruned.cursor(), False: unpruned.cursor()}
        _register(cursors[True], table)
        for cursor in cursors.values():
            for kind in KINDS:
                _timed(cursor, *_kept_query(kind, 0))
        for turn in range(1, _ROUNDS + 1):
            for skipping in (turn % 2 == 0, turn % 2 == 1):
                cursor = cursors[skipping]
                for kind in KINDS:
                    taken.setdefault(("1 %", kind, skipping), []).append(_timed(cursor, *_kept_query(kind, turn)))
                taken.setdefault(("all", KINDS[0], skipping), []).append(_timed(cursor, *_whole_query(turn)))
    for what, kind in (*(("1 %", kind) for kind in KINDS), ("all", KINDS[0])):
        fast, slow = (statistics.median(taken[what, kind, skipping]) for skipping in (True, False))
        name = f"{what} of {FILES:,} files kept, {kind}"
        goal = f"{slow / fast:.1f} x faster (goal: > 5)" if what == "1 %" else f"{fast / slow - 1:+.1%} (goal: < 5 %)"
        yield f"{name}: with skipping, without", f"{fast:.1f} s, {slow:.1f} s", goal
    own = [int(millis) for millis in re.findall(rf"listed={FILES} skipped=0 ms=(\d+)", server.log())]
    whole = statistics.median(taken["all", KINDS[0], True])
    yield (
        "none skipped: what the jar itself takes",
        f"{statistics.median(own)} ms",
        f"{statistics.median(own) / whole / 1000:.2%} of the query (goal: < 5 %)",
    )


def _register(cursor: Any, table: Path) -> None:
    location, made = f"file://{table}", Table("many", partitioned=True, merge_on_read=False)
    for statement in (
        *as_synced("native", made, location),
        *pruned_natively("native", made),
        *statements("stored_by.sql", table="stored", location=location),
    ):
        cursor.execute(statement)


def _kept_query(kind: str, turn: int) -> tuple[str, tuple[int, int]]:
    """Rows of KEPT files."""
    first = turn * 3 * KEPT * ROWS
    ids = range(first, first + KEPT * ROWS)
    return f"select count(*), sum(id) from {kind} where id between {ids[0]} and {ids[-1]}", (len(ids), sum(ids))


def _whole_query(turn: int) -> tuple[str, tuple[int, int]]:
    ids = range(FILES * ROWS)
    return f"select count(*), sum(id) from {KINDS[0]} where id >= {-turn}", (len(ids), sum(ids))


def _timed(cursor: Any, sql: str, expected: tuple[int, int]) -> float:
    begun = time.perf_counter()
    cursor.execute(sql)
    rows = cursor.fetchall()
    seconds = time.perf_counter() - begun
    assert rows == [expected], (sql, rows)
    return seconds
