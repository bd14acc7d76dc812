"""A rolling restart under load: sidecars are restarted one after the other.

At night they are processes of their own. A start costs 2 CPU seconds, so by day they are threads of this process.
"""

import itertools
import json
import shutil
import threading
import time

from handler.sidecar.client import Client, ClientError, Clients
from handler.sidecar.client.addresses import in_order
from handler.sidecar.settings import Settings
from tests.handler.sidecar.conftest import Running
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_service import I_IS_100
from tests.hive.sidecars import Sidecar, free_port
from tests.sampling import ALL_CASES, examples

#: By day each sidecar is restarted once, at night often and under more load.
ROUNDS, CLIENTS, PAUSE = examples(1, at_night=10), examples(2, at_night=12), examples(20, at_night=5) / 1000
TABLES, BREAKER_SECONDS = 5, 2.0


class Load(threading.Thread):
    """One client program: asks about each table in turn, and notes when, and whether files could be skipped."""

    def __init__(self, addresses, tables, names):
        super().__init__()
        self.clients = Clients(addresses, 20, breaker_seconds=BREAKER_SECONDS)
        self.tables, self.names = tables, names
        self.answers = {table: [] for table in tables}
        self.failures = []
        self.ended = threading.Event()

    @property
    def count(self):
        return sum(map(len, self.answers.values()))

    def run(self):
        for table in itertools.cycle(self.tables):
            if self.ended.is_set():
                return
            began = time.monotonic()
            try:
                reply = self.clients.prune(str(table), I_IS_100.encode(), self.names)
                self.answers[table].append((began, time.monotonic(), reply.skipped > 0))
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            time.sleep(PAUSE)


class InThread:
    """A sidecar in this process, on one port whenever it runs."""

    def __init__(self, settings):
        self._settings = settings
        self.address = f"127.0.0.1:{settings['port']}"
        self._running = None

    def start(self):
        self._running = Running(Settings(**self._settings)).__enter__()

    def stop(self):
        if self._running is not None:
            self._running.stop()


def pool_of(count, folder, tables):
    """Sidecars that are not started yet. ``tables``: what they open before they say healthy."""
    if ALL_CASES:
        return [Sidecar(folder, folder / f"log{n}", more=("--warm", ",".join(map(str, tables)))) for n in range(count)]
    given = {"roots": [str(folder)], "tables": list(map(str, tables)), "metrics_port": -1}
    return [InThread({**given, "port": free_port()}) for _ in range(count)]


def pool_with_shares(folder, tables):
    """Three sidecars of which each is the preferred one of a table. Ports are chosen anew until they are."""
    for _ in range(1000):
        pool = pool_of(3, folder, tables)
        addresses = [one.address for one in pool]
        if {in_order(addresses, str(table))[0] for table in tables} == set(addresses):
            break
    return pool


def health(address):
    try:
        return json.loads(Client(address).health())
    except ClientError:
        return {"status": "down", "asked": 0}


def wait_for_answers(loads):
    """Until every client has asked about every table twice more."""
    until = [load.count + 2 * len(load.tables) for load in loads]
    wait_for(lambda: all(load.failures or load.count >= count for load, count in zip(loads, until, strict=True)))


def longest_without_pruning(answers):
    """Seconds from the first answer of a row that skip nothing until the next one that skips."""
    longest, since = 0.0, None
    for began, ended, skips in answers:
        since = None if skips else began if since is None else since
        longest = max(longest, 0.0 if since is None else ended - since)
    return longest


def test_a_rolling_restart_fails_no_question_and_loses_no_pruning_for_long(main_cow, names, tmp_path):
    tables = [shutil.copytree(main_cow, tmp_path / f"t{number}") for number in range(TABLES)]
    pool = pool_with_shares(tmp_path, tables)
    loads = [Load(",".join(one.address for one in pool), tables, names) for _ in range(CLIENTS)]
    try:
        for one in pool:
            one.start()
        for one in pool:
            wait_for(lambda one=one: health(one.address)["status"] == "ok")
        for load in loads:
            load.start()
        for one in pool * ROUNDS:
            wait_for_answers(loads)
            one.stop()
            wait_for_answers(loads)
            one.start()
            wait_for(lambda one=one: health(one.address)["status"] == "ok")
            time.sleep(BREAKER_SECONDS)  # the next one follows when every client may call this one again
        wait_for(lambda: all(health(one.address)["asked"] for one in pool))  # each is used again
    finally:
        for load in loads:
            load.ended.set()
        for load in loads:
            if load.ident is not None:
                load.join(60)
        for one in pool:
            one.stop()
    assert [load.failures for load in loads] == [[]] * CLIENTS
    for load in loads:
        for answers in load.answers.values():
            assert len(answers) > 3
            assert longest_without_pruning(answers) < BREAKER_SECONDS
