"""Three sidecars are restarted one after the other under the queries of a HiveServer2: none fails, and all are pruned.

The jar has all three addresses. While one is away the next one of a table's order answers within the deadline, so no
scan loses its pruning, not even for the pause of a breaker.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.sidecar.client import Client, ClientError
from handler.sidecar.client.addresses import in_order
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.hive.playground import Hive
from tests.hive.sidecars import Sidecar
from tests.hive.tables import FLAT, RIDES, TRIPS, TRIPS2

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]

TABLES = {table.name for table in (TRIPS, TRIPS2, FLAT, RIDES)}
#: Scans of each table, by the input format and by the storage handler; merged views on Hive 4 by the handler alone.
QUERIES = (
    "select id from native_trips where id between 100 and 101",
    "select id from stored_trips2 where id between 300 and 302",
    "select id from native_flat where k between 40 and 41",
    "select id from stored_rides where k >= 150",
)
OF_TEZ = ("select count(*), sum(id) from stored_flat where id between 310 and 312",)
#: Queries of a session, and its settings. Tasks of Tez take longer than those of the client.
SESSIONS = (
    (QUERIES, {"sargo.listing": "hudi"}),
    (QUERIES, {"sargo.listing": "sidecar"}),
    (QUERIES, {"sargo.listing": "sidecar"}),
    (OF_TEZ, {"sargo.listing": "hudi", "hive.fetch.task.conversion": "none"}),
)
UNPRUNED = {"sargo.enabled": "false", "hive.optimize.index.filter": "false"}
BREAKER = {"sargo.sidecar.breaker.ms": "2000"}
_ASKED = re.compile(r"sargo: asked, listed=(\d+) skipped=(\d+).*? table=(\S+).*? query=(\S+)")


class Load(threading.Thread):
    """One session: each of the queries in turn, again and again, until the end."""

    def __init__(self, hive: Hive, settings: dict[str, str], wanted: dict[str, list[Any]]) -> None:
        super().__init__()
        self._hive, self._settings, self._wanted = hive, settings, wanted
        self.ended = threading.Event()
        self.turns = 0
        self.failures: list[str] = []

    def run(self) -> None:
        try:
            with self._hive.server.connect(self._settings) as connection:
                while not self.ended.is_set():
                    for sql, rows in self._wanted.items():
                        found = rows_of(connection, sql)
                        if found != rows:
                            self.failures.append(f"{sql}: {len(found)} rows, not {len(rows)}")
                    self.turns += 1
        except Exception as error:
            self.failures.append(repr(error)[:2000])


def rows_of(connection: Any, sql: str) -> list[Any]:
    cursor = connection.cursor()
    cursor.execute(sql)
    return sorted(cursor.fetchall())


def pool_with_shares(directory: Path, logs: Path) -> list[Sidecar]:
    """Three sidecars of which each is the preferred one of a table. Ports are chosen anew until they are."""
    tables = [f"file:{directory / name}" for name in TABLES]
    for _ in range(1000):
        pool = [Sidecar(directory, logs / f"log{number}", more=("--warm", ",".join(tables))) for number in range(3)]
        addresses = [one.address for one in pool]
        if {in_order(addresses, table)[0] for table in tables} == set(addresses):
            break
    return pool


def health(sidecar: Sidecar) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(Client(sidecar.address).health())
    except ClientError:
        return {"status": "down", "asked": 0}
    return found


def wait_for_turn(loads: list[Load]) -> None:
    """Until each session has run every query once more, from its beginning."""
    until = [load.turns + 2 for load in loads]
    wait_for(
        lambda: all(load.failures or load.turns >= turns for load, turns in zip(loads, until, strict=True)),
        seconds=120,
    )


@pytest.fixture
def pool(hive401: Hive, tmp_path: Path) -> Iterator[list[Sidecar]]:
    made = pool_with_shares(hive401.directory, tmp_path)
    try:
        for one in made:
            one.start()
        for one in made:
            wait_for(lambda one=one: health(one)["status"] == "ok")
        yield made
    finally:
        for one in made:
            one.stop()


@pytest.fixture
def wanted(hive401: Hive) -> dict[str, list[Any]]:
    """The rows of each query, unpruned."""
    with hive401.server.connect(UNPRUNED) as connection:
        return {sql: rows_of(connection, sql) for sql in (*QUERIES, *OF_TEZ)}


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(Sidecar.stop, id="SIGTERM"),
        pytest.param(Sidecar.kill, id="SIGKILL"),
    ],
)
@pytest.mark.timeout(400)
def test_no_query_fails_and_every_scan_is_pruned(
    hive401: Hive, pool: list[Sidecar], wanted: dict[str, list[Any]], end: Callable[[Sidecar], None]
) -> None:
    assert all(wanted.values())
    addresses = {"sargo.sidecar.address": ",".join(one.address for one in pool)}
    loads = [
        Load(hive401, {**addresses, **BREAKER, **settings}, {sql: wanted[sql] for sql in queries})
        for queries, settings in SESSIONS
    ]
    before = len(hive401.server.log())
    answered_for: dict[str, str] = {}
    try:
        for load in loads:
            load.start()
        for one in pool:
            wait_for(lambda one=one: health(one)["asked"] > 0)  # its own tables are asked of it
            since = len(hive401.server.log())
            end(one)
            wait_for_turn(loads)
            answered_for[one.address] = hive401.server.log()[since:]
            one.start()
            wait_for(lambda one=one: health(one)["status"] == "ok")
        wait_for(lambda: health(pool[-1])["asked"] > 0)
        wait_for_turn(loads)
    finally:
        for load in loads:
            load.ended.set()
        for load in loads:
            if load.ident is not None:
                load.join(60)
    assert [load.failures for load in loads] == [[]] * len(loads)
    for address, log in answered_for.items():
        assert re.search(rf"answered, because .*{re.escape(address)}", log), address  # another one did
    log = hive401.server.log()[before:]
    assert re.findall(r"sargo: (?:kept all|listed by Hudi).*", log) == []
    scans = defaultdict(Counter[str])
    for listed, skipped, table, query in _ASKED.findall(log):
        scans[table, query].update(listed=int(listed), skipped=int(skipped))
    by_table = defaultdict(set)
    for (table, _), files in scans.items():
        by_table[table].add((files["listed"], files["skipped"]))
    assert {Path(table).name for table in by_table} == TABLES
    for table, totals in by_table.items():
        [(_, skipped)] = totals  # each query of the table, before, during and after the restarts
        assert skipped > 0, table
