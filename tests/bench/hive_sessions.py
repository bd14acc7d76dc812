"""Fifty sessions of a real HiveServer2 ask five tables while commits arrive: no wrong row, and flat memory.

    python -m tests.bench hive_sessions         SARGO_SECONDS=300 for the long run

Each session is a PyHive connection of its own to Hive 4.0.1, and asks for the rows of a range. Half of the sessions
have ``sargo.listing = sidecar``. Every second one table's latest commit is published, or taken back, as Hudi does: the
metadata table first. The rows must be those of one of the two states. Hudi's reader fails when a commit is taken back
that it has just listed, as in a rollback; such queries are counted, and no others may fail. Needs a JDK and Maven, as
`make test-hive`.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from handler import open_table
from tests.bench.many_sessions import p99, publish_and_take_back, resident_bytes, seconds_within
from tests.handler.conftest import DATA
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_4, Server, free_port
from tests.hive.sidecars import Sidecar
from tests.hive.tables import HUDI_COLUMNS, OUTPUT, SERDE

SESSIONS, TABLES = 50, 5
SECONDS = float(os.environ.get("SARGO_SECONDS", "60"))
_TABLE = "1.0.2_main_cow"
_OF_HUDI = "org.apache.hudi.exception."
_COLUMNS = "id string, ts bigint, i int"
Row = tuple[str, str, str]
Rows = frozenset[tuple[str, int]]


class _Run:
    """What the sessions saw. ``states``: the rows (id, i) of the table with its latest commit, and without it."""

    def __init__(self, server: Server, states: list[Rows]) -> None:
        self.server = server
        self.states = states
        self.ended = threading.Event()
        self.failures: list[str] = []
        self.seconds: list[float] = []
        self.seen = Counter[str]()
        self.of_hudi = 0

    def session(self, number: int) -> None:
        """One connection's queries, until the end."""
        rng = random.Random(number)
        listing = ("hudi", "sidecar")[number % 2]
        settings = {"sargo.listing": listing, "hive.fetch.task.conversion": "more", **PATIENT}
        while not self.ended.is_set():
            try:
                with self.server.connect(settings) as connection:
                    while not self.ended.is_set():
                        self._ask(connection.cursor(), rng, listing)
            except Exception as error:
                said = " ".join(str(error).split())
                if _OF_HUDI not in said:
                    self.failures.append(f"{listing}: {said[:2000]}")
                    return
                self.of_hudi += 1

    def _ask(self, cursor: Any, rng: random.Random, listing: str) -> None:
        low, table = rng.randrange(0, 1000, 25), rng.randrange(TABLES)
        began = time.monotonic()
        cursor.execute(f"SELECT id, i FROM t{table} WHERE i >= {low} AND i < {low + 100}")
        rows = cursor.fetchall()
        self.seconds.append(time.monotonic() - began)
        self.seen[listing] += 1
        wanted = [{(one, i) for one, i in state if low <= i < low + 100} for state in self.states]
        if set(rows) not in wanted or len(rows) != len(set(rows)):
            self.failures.append(
                f"{listing}: {len(rows)} rows of t{table} from {low}, not one of {[*map(len, wanted)]}"
            )


def run() -> Iterator[Row]:
    """The figures. Fails when a row is wrong, or a query fails."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tables = [home / "tables" / f"t{number}" for number in range(TABLES)]
        with zipfile.ZipFile(DATA / f"{_TABLE}.zip") as archive:
            archive.extractall(tables[0])
        for table in tables[1:]:
            shutil.copytree(tables[0], table)
        states = _states(tables[0])
        pages = free_port()
        sidecar = Sidecar(home / "tables", home / "sidecar.log", more=("--metrics-port", str(pages))).start()
        server = Server(
            HIVE_4, home, {"sargo.sidecar.address": sidecar.address, "hive.server2.thrift.max.worker.threads": "200"}
        )
        made = _Run(server, states)
        try:
            server.start()
            with server.connect() as connection:
                for table in tables:
                    _register(connection.cursor(), table)
            workers = [threading.Thread(target=made.session, args=(number,)) for number in range(SESSIONS)]
            workers.append(threading.Thread(target=publish_and_take_back, args=(tables, made.ended)))
            for worker in workers:
                worker.start()
            made.ended.wait(SECONDS / 5)
            early = resident_bytes(sidecar)
            made.ended.wait(SECONDS * 4 / 5)
            late = resident_bytes(sidecar)
            made.ended.set()
            for worker in workers:
                worker.join(120)
            within = seconds_within(pages, ("prune", "plan"))
            log = server.log()
        finally:
            made.ended.set()
            server.stop()
            sidecar.stop()
    assert not made.failures, made.failures[:3]
    yield f"{SESSIONS} sessions, {TABLES} tables, {SECONDS:g} s", f"{len(made.seconds):,} queries, none wrong", ""
    yield "of them listed as the setting says", f"{made.seen['hudi']:,} hudi, {made.seen['sidecar']:,} sidecar", ""
    yield "failed in Hudi's reader, by a commit that was taken back", f"{made.of_hudi:,}", ""
    by_sidecar, by_hudi = log.count("listing=sidecar"), log.count("sargo: listed by Hudi")
    yield "scans that the sidecar listed, and that Hudi listed in its place", f"{by_sidecar:,}, {by_hudi:,}", ""
    yield "the sidecar's p50, p99 at most", f"{within(0.5) * 1e3:g} ms, {within(0.99) * 1e3:g} ms", ""
    made.seconds.sort()
    yield "a query's p50, p99", f"{made.seconds[len(made.seconds) // 2]:.2f} s, {p99(made.seconds):.2f} s", ""
    yield (
        "memory of the sidecar after a fifth, at the end",
        f"{early / 1e6:.0f} MB, {late / 1e6:.0f} MB",
        f"{late / early:.2f}",
    )


def _states(table: Path) -> list[Rows]:
    """The rows with the latest commit, and without it; the table is as it was afterwards."""
    found = []
    ended = threading.Event()
    ended.set()  # one turn
    for _ in range(2):
        rows: set[tuple[str, int]] = set()
        for item in open_table(table, cache=None).at().slices:
            read = pq.read_table(table / str(item.base_file), columns=["id", "i"])
            rows.update(
                (one, i) for one, i in zip(*(column.to_pylist() for column in read), strict=True) if i is not None
            )
        found.append(frozenset(rows))
        publish_and_take_back([table], ended)
    return found


def _register(cursor: Any, table: Path) -> None:
    partitions = open_table(table, cache=None).table.partitions()
    added = " ".join(f"PARTITION (p='{one.partition('=')[2]}') LOCATION 'file://{table}/{one}'" for one in partitions)
    cursor.execute(
        f"CREATE EXTERNAL TABLE {table.name} ({HUDI_COLUMNS}, {_COLUMNS}) PARTITIONED BY (p string) ROW FORMAT SERDE "
        f"'{SERDE}' STORED AS INPUTFORMAT 'io.sargo.hive.PruningInputFormat' OUTPUTFORMAT '{OUTPUT}' "
        f"LOCATION 'file://{table}'"
    )
    cursor.execute(f"ALTER TABLE {table.name} ADD {added}")
