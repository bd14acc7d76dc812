"""The sidecar over loopback: from the first byte sent to the last byte of the answer, for short and long lists.

A process of its own serves a real table of as many files as are listed; the clients are other processes, so that they
do not share its interpreter, but they share the machine's cores. "warm": table, filter and list were seen before.
"new list": a list in another order, which the sidecar has not seen. "new filter": a filter that it has not seen.
"""

from __future__ import annotations

import base64
import contextlib
import json
import multiprocessing
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.thrift import TMessageType

from handler import open_table
from handler.sidecar.idl import interface
from handler.sidecar.wire import Memory
from tests.index_store.synthetic import write_table
from tests.sarg import kryo_writer

NAMES = (20, 2_000, 100_000)
CLIENTS = 32
_PROCESSES = 4
_SECONDS = 6.0
_GOAL_SECONDS, _GOAL_RATIO = 0.002, 6.0

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """p50 and p99 by length of the list; ratios to the goals."""
    medians: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in NAMES:
            root = Path(folder) / f"table_{count}"
            write_table(root, count)
            names = [item.base_file or "" for item in open_table(root).at().slices]
            with _sidecar(folder) as port:
                yield from _measure(root, names, port, medians)


def _measure(root: Path, names: list[str], port: int, medians: dict[int, float]) -> Iterator[Row]:
    count = len(names)
    warm = frame(root, names, count // 2)
    first = _rounds(port, [warm], 1)[0]
    yield f"{count:,} names, first of all (opens the table)", f"{first * 1e3:,.1f} ms", ""
    skipped = _skipped(port, warm)
    assert 0 < skipped < count, skipped
    seconds = _rounds(port, [warm] * 2_000, 2_000)
    medians[count] = statistics.median(seconds)
    ratio = f"{medians[count] / _GOAL_SECONDS:.2f} of 2 ms"
    if count == 100_000:
        ratio += f", {medians[count] / medians[2_000]:.1f} x 2,000 names (goal {_GOAL_RATIO:.0f})"
    yield f"{count:,} names, warm, 1 client: p50, p99", _shown(seconds), ratio
    lists = [frame(root, _shuffled(names, seed), count // 2) for seed in range(min(200, max(5, 200_000 // count)))]
    yield f"{count:,} names, new list, 1 client: p50, p99", _shown(_rounds(port, lists, len(lists))), ""
    filters = [frame(root, names, count // 2 + 1 + i) for i in range(min(300, max(20, 200_000 // count)))]
    yield f"{count:,} names, new filter, 1 client: p50, p99", _shown(_rounds(port, filters, len(filters))), ""
    seconds, rate = _many(port, warm)
    yield f"{count:,} names, warm, {CLIENTS} clients: p50, p99", _shown(seconds), f"{rate:,.0f} answers/s"


def frame(table: Path, names: Sequence[str], bound: int) -> bytes:
    """A request as it goes over the wire: ``amount < bound``, for these names."""
    blob = "\n".join(names).encode()
    request = interface().PruneRequest(
        protocol_version=1, table=str(table), filter=_filter(bound), engine="hive4", time_zone="UTC", names=blob,
        name_count=len(names))
    memory = Memory()
    protocol = TBinaryProtocol(memory)
    protocol.write_message_begin("prune", TMessageType.CALL, 1)
    interface().Sargo.prune_args(request=request).write(protocol)
    body = memory.written()
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
def _sidecar(folder: str) -> Iterator[int]:
    command = [sys.executable, "-c", "from handler.cli import main; main()", "serve", "--roots", folder,
               "--port", "0", "--metrics-port", "-1", "--request-seconds", "60"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        port = json.loads(process.stderr.readline())["port"]
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield int(port)
    finally:
        process.terminate()
        process.wait(30)


def _ask(connection: socket.socket, sent: bytes) -> bytes:
    connection.sendall(sent)
    buffer = bytearray()
    while len(buffer) < 4 or len(buffer) < 4 + int.from_bytes(buffer[:4], "big"):
        piece = connection.recv(1 << 20)
        assert piece
        buffer += piece
    return bytes(buffer)


def _skipped(port: int, sent: bytes) -> int:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        answer = _ask(connection, sent)
    protocol = TBinaryProtocol(Memory(answer[4:]))
    protocol.read_message_begin()
    result = interface().Sargo.prune_result()
    result.read(protocol)
    return int(result.success.skipped)


def _rounds(port: int, frames: Sequence[bytes], most: int, until: float = _SECONDS) -> list[float]:
    """Seconds of each round trip of one client, one after the other."""
    seconds = []
    end = time.perf_counter() + until
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for sent in frames[:most]:
            start = time.perf_counter()
            _ask(connection, sent)
            seconds.append(time.perf_counter() - start)
            if time.perf_counter() > end:
                break
    return seconds


def _many(port: int, sent: bytes) -> tuple[list[float], float]:
    """The same of many clients at once, in some processes, and answers per second."""
    with multiprocessing.get_context("spawn").Pool(_PROCESSES) as pool:
        start = time.perf_counter()
        found = pool.starmap(_clients, [(port, sent, CLIENTS // _PROCESSES)] * _PROCESSES)
        seconds = [one for part in found for one in part]
        return seconds, len(seconds) / (time.perf_counter() - start)


def _clients(port: int, sent: bytes, count: int) -> list[float]:
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.extend(_rounds(port, [sent] * 100_000, 100_000)))
               for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _shown(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{statistics.median(ordered) * 1e3:.2f} ms, {p99 * 1e3:.2f} ms ({len(ordered):,} calls)"
