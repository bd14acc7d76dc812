"""The sidecar under attack by a client that may ask: what expensive filters cost others, and what they leave behind.

    alone           small filters, half of them new, from one client
    under attack    the same while other clients send expensive filters, each a new one, for eight tables
    bombs           how long these clients wait: at most ``request_seconds`` and what a busy machine adds
    memory          of the sidecar and its processes, before and after so many expensive filters

The goals: p99 under attack is at most 3 times that alone; bombs are answered within ``request_seconds`` and 0.3 s;
memory stays below ``MEMORY_GOAL``. The full run: SARGO_ATTACK_FILTERS=10000.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from handler import open_table
from handler.sidecar.client import Client
from tests.bench.sidecar import ask, connected, frame_of, serving, shown
from tests.handler.sidecar import hostile_filters as hostile
from tests.index_store.synthetic import write_table

TABLES, SLICES, ATTACKERS = 8, 2_000, 16
REQUEST_SECONDS, SECONDS = 1.5, 20.0
FILTERS = int(os.environ.get("SARGO_ATTACK_FILTERS", "300"))
#: The sidecar, its cache of open tables, and the planning process.
MEMORY_GOAL = 1 << 30

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """p99 of a client alone and under attack, waits of the attackers, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [Path(folder).resolve() / f"t{number}" for number in range(TABLES + 1)]
        for table in tables:
            write_table(table, SLICES)
        names = [item.base_file or "" for item in open_table(tables[0]).at().slices]
        with serving(folder, REQUEST_SECONDS) as (port, process), connected(port) as connection:
            yield "memory at the start", _megabytes(process), ""
            numbers = itertools.count()
            _small(connection, tables, names, numbers, 2.0)
            alone = _small(connection, tables, names, numbers, SECONDS)
            yield "small filters alone: p50, p99", shown(alone), ""
            waits, during = _under_attack(port, connection, tables, names, numbers)
            ratio = _p99(during) / _p99(alone)
            yield "small filters under attack: p50, p99", shown(during), f"p99 {ratio:.1f} x alone"
            longest = max(waits)
            yield "bombs: p50, p99", shown(waits), f"longest {longest:.2f} s of {REQUEST_SECONDS:g} s"
            yield "memory after it", _megabytes(process), ""
        with serving(folder, REQUEST_SECONDS / 10) as (port, process):
            peak = _many_filters(port, process, tables, names)
            yield (
                f"most memory of {FILTERS:,} different expensive filters",
                f"{peak >> 20:,} MiB",
                (f"{peak / MEMORY_GOAL:.2f} of {MEMORY_GOAL >> 20:,} MiB"),
            )
            yield "memory after them", _megabytes(process), ""
            yield "the sidecar's own count", _cache_bytes(port), ""


def _small(
    connection: socket.socket, tables: Sequence[Path], names: Sequence[str], numbers: Iterator[int], seconds: float
) -> list[float]:
    """Round trips of small filters: every second one is new, and tables take turns."""
    warm = [frame_of(table, names, hostile.encoded(hostile.less(7)).encode()) for table in tables]
    taken = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        number = next(numbers)
        table = number // 2 % len(tables)
        sent = warm[table]
        if number % 2:
            sent = frame_of(tables[table], names, hostile.encoded(hostile.less(8 + number)).encode())
        start = time.perf_counter()
        ask(connection, sent)
        taken.append(time.perf_counter() - start)
        time.sleep(0.005)
    return taken


def _under_attack(
    port: int, connection: socket.socket, tables: Sequence[Path], names: Sequence[str], numbers: Iterator[int]
) -> tuple[list[float], list[float]]:
    """What attackers in a process of their own wait, and the round trips of small filters meanwhile."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    attack = context.Process(target=_attack, args=(sending, port, tables[:TABLES], names), daemon=True)
    attack.start()
    assert receiving.poll(120)
    receiving.recv()  # the first bombs are on their way
    during = _small(connection, tables, names, numbers, SECONDS)
    assert receiving.poll(120)
    waits: list[float] = receiving.recv()
    attack.join(30)
    return waits, during


def _attack(sending: multiprocessing.connection.Connection, port: int, tables: list[Path], names: list[str]) -> None:
    bombs = [
        frame_of(tables[seed % len(tables)], names, _bomb(seed).encode()) for seed in range(ATTACKERS * int(SECONDS))
    ]
    waiting = iter(bombs)
    waits: list[float] = []
    end = time.perf_counter() + SECONDS + 2

    def work() -> None:
        with connected(port) as connection:
            while time.perf_counter() < end:
                sent = next(waiting, None)
                if sent is None:
                    return
                start = time.perf_counter()
                ask(connection, sent)
                waits.append(time.perf_counter() - start)
                time.sleep(0.2)  # an attacker who is turned away at once asks again

    threads = [threading.Thread(target=work) for _ in range(ATTACKERS)]
    for thread in threads:
        thread.start()
    sending.send(None)
    for thread in threads:
        thread.join()
    sending.send(waits)


def _bomb(seed: int) -> str:
    """By turns: doubled, long, and as large as a filter may be without being expensive."""
    if seed % 3 == 0:
        return hostile.encoded(hostile.doubled(14, seed))
    return hostile.encoded(hostile.one_of(5_000 if seed % 3 == 1 else 165, seed))


def _many_filters(port: int, process: int, tables: Sequence[Path], names: Sequence[str]) -> int:
    """The most memory while so many different hostile filters are asked, by eight clients."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            peak[0] = max(peak[0], _resident_bytes(process))

    def work(first: int) -> None:
        with connected(port) as connection:
            for seed in range(first, FILTERS, TABLES):
                ask(connection, frame_of(tables[seed % TABLES], names[:20], hostile.any_hostile(seed).encode()))

    watching = threading.Thread(target=watch)
    watching.start()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(TABLES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    watching.join()
    return peak[0]


def _resident_bytes(process: int) -> int:
    """Bytes of memory of a process and those that it started."""
    return sum(_resident(process))


def _resident(process: int) -> tuple[int, int]:
    """Bytes of memory of a process, and of those that it started."""
    own = others = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
        except (OSError, ValueError):
            continue
        held = int(status.get("VmRSS", "0 kB").split()[0]) << 10
        own += held if int(path.name) == process else 0
        others += held if int(status["PPid"]) == process else 0
    return own, others


def _megabytes(process: int) -> str:
    own, others = _resident(process)
    return f"{own >> 20:,} MiB, its processes {others >> 20:,} MiB"


def _cache_bytes(port: int) -> str:
    return f"{json.loads(Client(f'127.0.0.1:{port}').health())['cache_bytes'] >> 20:,} MiB"


def _p99(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[-1]
