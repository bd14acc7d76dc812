"""The sidecar over loopback: from the first byte sent to the last byte of the answer, for short and long lists.

A process of its own serves tables of as many files as are listed; the clients are other processes, so that they do
not share its interpreter, but they share the machine's cores. "warm": table, filter and list were seen before.
"compressed": the list is a zlib stream, as the jar sends lists of more than 1 MiB. "new list": a list in another order,
which the sidecar has not seen. "new filter": a filter that it has not seen. "received only": the same bytes sent to
a process that counts them and answers as many bytes as the sidecar does: the cost of the network of this machine.
"while commits arrive": the seconds after a commit of 50 files, in which the table is opened anew; they take turns with
seconds without a commit, which show what the machine's other work does to p99.
The goals: p50 of 2,000 names below 0.2 ms when warm, of 100,000 names at most 6 times 2 ms; 4,000 answers a second to
32 clients on two cores; p99 at most 10 times p50 while commits arrive.
"""

from __future__ import annotations

import base64
import contextlib
import json
import multiprocessing
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np

from handler import open_table
from handler.sidecar.idl import PruneRequest
from handler.sidecar.wire import call_message, read_reply
from tests.bench.large_snapshot import commit
from tests.index_store.synthetic import write_table
from tests.sarg import kryo_writer

NAMES = (20, 2_000, 100_000)
CLIENTS = 32
_PROCESSES = 4
_SECONDS = 6.0
_GOAL_SECONDS, _GOAL_ANSWERS = 0.0002, 4_000
_COMMIT_SECONDS, _COMMITS = 1.0, 12
_TURNS = 200
_CPU_SECONDS = 1.0
_RECEIVED = "received only"

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """p50 and p99 by length of the list; ratios to the goals. Lists take turns: noise falls on all alike."""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (port, process):
        tables: dict[int, tuple[Path, list[str]]] = {}
        for count in NAMES:
            root = Path(folder) / f"table_{count}"
            write_table(root, count)
            tables[count] = root, [item.base_file or "" for item in open_table(root).at().slices]
            warm = frame(*tables[count], count // 2)
            first: list[float] = []
            opening = threading.Thread(target=_first, args=(port, warm, first))
            opening.start()
            small = frame(*tables[NAMES[0]], NAMES[0] // 2)
            meanwhile = [] if count < max(NAMES) else _while_alive(opening, port, small)
            opening.join()
            yield f"{count:,} names, first of all (opens the table)", f"{first[0] * 1e3:,.1f} ms", ""
            if meanwhile:
                yield f"{NAMES[0]:,} names, warm, meanwhile: p50, p99", shown(meanwhile), ""
            skipped = _skipped(port, warm)
            assert 0 < skipped < count, skipped
        with _receiver() as nobody:
            yield from _one_client(port, nobody, process, tables)
        for count, (root, names) in tables.items():
            seconds, rate = _many(port, frame(root, names, count // 2))
            ratio = f"{rate:,.0f} answers/s" + (f" (goal {_GOAL_ANSWERS:,})" if count == 2_000 else "")
            yield f"{count:,} names, warm, {CLIENTS} clients: p50, p99", shown(seconds), ratio
        yield _during_commits(port, *tables[2_000])


def _first(port: int, sent: bytes, seconds: list[float]) -> None:
    with connected(port) as connection:
        seconds += rounds(connection, [sent])


def _while_alive(thread: threading.Thread, port: int, sent: bytes) -> list[float]:
    """Round trips of a small table while another call is under way: how much they share the interpreter."""
    seconds = []
    with connected(port) as connection:
        while thread.is_alive():
            seconds += rounds(connection, [sent])
    return seconds


def _one_client(port: int, nobody: int, process: int, tables: Mapping[int, tuple[Path, list[str]]]) -> Iterator[Row]:
    kinds: dict[tuple[int, str], list[bytes]] = {}
    for count, (root, names) in tables.items():
        turns = _TURNS if count < 100_000 else _TURNS // 5
        kinds[count, "warm"] = [frame(root, names, count // 2)] * _TURNS
        kinds[count, _RECEIVED] = [frame(root, names, count // 2)] * _TURNS
        kinds[count, "warm, compressed"] = [frame(root, names, count // 2, compressed=True)] * turns
        kinds[count, "new filter"] = [frame(root, names, count // 2 + 1 + i) for i in range(min(turns, count // 4))]
        kinds[count, "new list"] = [frame(root, _shuffled(names, seed), count // 2) for seed in range(turns // 4)]
    with (
        connected(port) as connection,
        connected(nobody) as floor,
    ):  # now: a sidecar waits for the first call only so long
        yield from _taking_turns(connection, floor, process, kinds)


def _taking_turns(
    connection: socket.socket, floor: socket.socket, process: int, kinds: Mapping[tuple[int, str], list[bytes]]
) -> Iterator[Row]:
    taken: dict[tuple[int, str], list[float]] = {kind: [] for kind in kinds}
    for turn in range(_TURNS):
        for kind, frames in kinds.items():
            share = len(frames) * turn // _TURNS, len(frames) * (turn + 1) // _TURNS
            taken[kind] += rounds(floor if kind[1] == _RECEIVED else connection, frames[slice(*share)])
    for (count, what), seconds in taken.items():
        median = statistics.median(seconds)
        ratio = f"{median / _GOAL_SECONDS:.2f} of 0.2 ms" if what.startswith("warm") else ""
        if count == max(NAMES) and what != _RECEIVED:
            ratio += f" {median / statistics.median(taken[2_000, what]):.1f} x 2,000 names"
        yield f"{count:,} names, {what}, 1 client: p50, p99", shown(seconds), ratio.strip()
        if what.startswith("warm"):
            yield f"{count:,} names, {what}: CPU of the sidecar", _cpu(connection, process, kinds[count, what]), ""


def _during_commits(port: int, root: Path, names: Sequence[str]) -> Row:
    """Round trips of one client while a writer commits."""
    sent = frame(root, names, len(names) // 2)
    seconds, without = list[float](), list[float]()
    with connected(port) as connection:
        for number in range(_COMMITS):
            commit(root, f"{20260201000000000 + number * 1_000}", len(names), 50)
            seconds += rounds(connection, [sent] * 100_000, _COMMIT_SECONDS)
            rounds(connection, [sent] * 100_000, _COMMIT_SECONDS)  # what the commit began ends in this one
            without += rounds(connection, [sent] * 100_000, _COMMIT_SECONDS)
    ratio = (
        f"p99 is {_p99(seconds) / statistics.median(seconds):.1f} x p50 (goal 10); "
        f"without commits {_p99(without) / statistics.median(without):.1f} x {statistics.median(without) * 1e3:.2f} ms"
    )
    return f"{len(names):,} names, warm, 1 client, while commits arrive: p50, p99", shown(seconds), ratio


def _cpu(connection: socket.socket, process: int, frames: list[bytes]) -> str:
    """CPU time of the sidecar for one answer, which a busy machine does not lengthen as it does the round trip."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return "not known here"

    def spent() -> float:
        return sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    before, answers = spent(), 0
    while spent() - before < _CPU_SECONDS:
        answers += len(rounds(connection, frames[:20]))
    return f"{(spent() - before) / answers * 1e3:.2f} ms"


def frame(table: Path, names: Sequence[str], bound: int, *, compressed: bool = False) -> bytes:
    """A request as it goes over the wire: ``amount < bound``, for these names."""
    return frame_of(table, names, _filter(bound), compressed=compressed)


def frame_of(table: Path, names: Sequence[str], filter_: bytes, *, compressed: bool = False) -> bytes:
    """A request with any filter, as it goes over the wire."""
    blob = "\n".join(names).encode()
    blob = zlib.compress(blob, 1) if compressed else blob
    request = PruneRequest(
        protocol_version=1,
        table=str(table),
        filter=filter_,
        engine="hive4",
        time_zone="UTC",
        names=blob,
        names_compressed=compressed,
        name_count=len(names),
    )
    body = call_message("prune", {"request": request})
    return struct.pack("!i", len(body)) + body


def _filter(bound: int) -> bytes:
    double = kryo_writer.type_info("double")
    value = kryo_writer.Wrapper("java.lang.Double", float(bound))
    less = kryo_writer.function("OPLessThan", kryo_writer.column("amount", double), kryo_writer.constant(value, double))
    return base64.b64encode(kryo_writer.write(less))


def _shuffled(names: Sequence[str], seed: int) -> list[str]:
    mixed = list(names)
    random.Random(seed).shuffle(mixed)
    return mixed


@contextlib.contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    """A connection to this machine."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


@contextlib.contextmanager
def serving(folder: str, request_seconds: float = 60) -> Iterator[tuple[int, int]]:
    """The port, and the process's id."""
    command = [
        sys.executable,
        "-c",
        "from handler.cli.main import main; main()",
        "serve",
        "--roots",
        folder,
        "--port",
        "0",
        "--metrics-port",
        "-1",
        "--request-seconds",
        str(request_seconds),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        port = json.loads(process.stderr.readline())["port"]
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield int(port), process.pid
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def _receiver() -> Iterator[int]:
    """The port of a process that only counts the bytes of frames."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_receive, args=(sending,), daemon=True)
    process.start()
    try:
        assert receiving.poll(60)
        yield int(receiving.recv())
    finally:
        process.terminate()
        process.join(30)


def _receive(sending: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sending.send(listening.getsockname()[1])
        connection, _ = listening.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while header := connection.recv(4, socket.MSG_WAITALL):
                buffer, filled = np.empty(int.from_bytes(header, "big"), np.uint8).data, 0
                while filled < len(buffer):
                    filled += connection.recv_into(buffer[filled:])
                answer = bytes(200 + len(buffer) // (75 * 8))
                connection.sendall(len(answer).to_bytes(4, "big") + answer)


def ask(connection: socket.socket, sent: bytes) -> bytes:
    """The bytes of the answer to one frame."""
    connection.sendall(sent)
    buffer = bytearray()
    while len(buffer) < 4 or len(buffer) < 4 + int.from_bytes(buffer[:4], "big"):
        piece = connection.recv(1 << 20)
        assert piece
        buffer += piece
    return bytes(buffer)


def _skipped(port: int, sent: bytes) -> int:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        answer = ask(connection, sent)
    return int(read_reply("prune", answer[4:]).success.skipped)


def rounds(connection: socket.socket, frames: Sequence[bytes], until: float = _SECONDS) -> list[float]:
    """Seconds of each round trip of one client, one after the other."""
    seconds: list[float] = []
    end = time.perf_counter() + until
    for sent in frames:
        start = time.perf_counter()
        ask(connection, sent)
        seconds.append(time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return seconds


def _many(port: int, sent: bytes) -> tuple[list[float], float]:
    """The same of many clients at once, in some processes that begin together, and answers per second."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(_PROCESSES)
    with context.Pool(_PROCESSES, _begin_together, (barrier,)) as pool:
        parts = pool.starmap(_clients, [(port, sent, CLIENTS // _PROCESSES)] * _PROCESSES, chunksize=1)
        seconds = [second for part, _ in parts for second in part]
        return seconds, len(seconds) / max(lasted for _, lasted in parts)


def _begin_together(barrier: Barrier) -> None:
    """Wait, in a new process, until all of them have imported what they need."""
    barrier.wait()


def _clients(port: int, sent: bytes, count: int) -> tuple[list[float], float]:
    """Seconds of each round trip, and of all together."""
    seconds, began = list[float](), time.perf_counter()

    def work() -> None:
        with connected(port) as connection:
            seconds.extend(rounds(connection, [sent] * 100_000))

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds, time.perf_counter() - began


def shown(seconds: Sequence[float]) -> str:
    """p50, p99 and the number of calls."""
    return f"{statistics.median(seconds) * 1e3:.2f} ms, {_p99(seconds) * 1e3:.2f} ms ({len(seconds):,} calls)"


def _p99(seconds: Sequence[float]) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
