"""Fifty sessions ask one sidecar about five tables while commits arrive: no wrong skip, the times, and flat memory.

    python -m tests.bench many_sessions         SARGO_SECONDS=300 for the long run

The sessions are threads of one process, each with connections of its own, and ask one of FILTERS filters ten times a
second at most. Every second one table's latest commit is published, or taken back, as Hudi does: the metadata table
first. A skip is wrong if a row of the skipped file matches, whichever state of the table the answer was made of. The
sidecar's seconds are those of its own histogram. Memory is compared between the end of the first fifth and the end.
"""

from __future__ import annotations

import base64
import os
import random
import shutil
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pyarrow.parquet as pq
from prometheus_client.parser import text_string_to_metric_families

from handler import open_table
from handler.sidecar.client import Clients
from tests.handler.conftest import unpack_table
from tests.hive.server import free_port
from tests.hive.sidecars import Sidecar
from tests.sarg import kryo_writer

SESSIONS, TABLES, FILTERS = 50, 5, 40
SECONDS = float(os.environ.get("SARGO_SECONDS", "20"))
_PAUSE, _COMMIT_PAUSE = 0.1, 1.0
Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """The figures. Fails when a skip is wrong, or a question fails."""
    with tempfile.TemporaryDirectory() as folder:
        made = unpack_table(Path(folder) / "made")
        names = [str(item.base_file) for item in open_table(made).at().slices]
        values = {name: pq.read_table(made / name, columns=["i"])["i"].to_pylist() for name in names}
        tables = [shutil.copytree(made, Path(folder) / f"t{number}") for number in range(TABLES)]
        pages = free_port()
        sidecar = Sidecar(folder, Path(folder) / "log", more=("--metrics-port", str(pages)))
        ended = threading.Event()
        failures: list[str] = []
        seconds: list[float] = []
        seen: list[tuple[str | None, bool]] = []

        def session(number: int) -> None:
            rng, clients = random.Random(number), Clients(sidecar.address, 10)
            while not ended.is_set():
                bound, began = rng.randrange(FILTERS) * 25, time.monotonic()
                try:
                    reply = clients.prune(str(rng.choice(tables)), _less(bound), names)
                except Exception as error:
                    failures.append(repr(error))
                    return
                seconds.append(time.monotonic() - began)
                seen.append((reply.instant, reply.skipped > 0))
                bits = int.from_bytes(reply.skip, "little")
                for place, name in enumerate(names):
                    if bits >> place & 1 and any(value is not None and value < bound for value in values[name]):
                        failures.append(f"wrong skip of {name} for i < {bound}")
                ended.wait(_PAUSE * rng.uniform(0.5, 1.5))

        sidecar.start()
        try:
            workers = [threading.Thread(target=session, args=(number,)) for number in range(SESSIONS)]
            workers.append(threading.Thread(target=publish_and_take_back, args=(tables, ended)))
            for worker in workers:
                worker.start()
            ended.wait(SECONDS / 5)
            early = resident_bytes(sidecar)
            ended.wait(SECONDS * 4 / 5)
            late = resident_bytes(sidecar)
            ended.set()
            for worker in workers:
                worker.join(30)
            histogram = seconds_within(pages)
        finally:
            ended.set()
            sidecar.stop()
    assert not failures, failures[:3]
    instants, skipping = {instant for instant, _ in seen}, sum(skips for _, skips in seen)
    assert len(instants) == 2, instants  # with the latest commit, and without it
    seconds.sort()
    yield f"{SESSIONS} sessions, {TABLES} tables, {SECONDS:g} s", f"{len(seconds):,} answers, none wrong", ""
    yield "answers that skipped files", f"{skipping / len(seen):.1%}", ""
    yield "the sidecar's p50, p99 at most", f"{histogram(0.5) * 1e3:g} ms, {histogram(0.99) * 1e3:g} ms", ""
    yield "the clients' p50, p99", f"{seconds[len(seconds) // 2] * 1e3:.1f} ms, {p99(seconds) * 1e3:.1f} ms", ""
    yield "memory after a fifth, at the end", f"{early / 1e6:.0f} MB, {late / 1e6:.0f} MB", f"{late / early:.2f}"


def _less(bound: int) -> bytes:
    """``i < bound``, as Hive sends it."""
    less = kryo_writer.function("OPLessThan", kryo_writer.column("i"), kryo_writer.integer(bound))
    return base64.b64encode(kryo_writer.write(less))


def publish_and_take_back(tables: list[Path], ended: threading.Event) -> None:
    """Publish the latest commit of one table after the other, and take it back."""
    for turn in range(1 << 30):
        table = tables[turn % len(tables)]
        done = [*table.glob(".hoodie/timeline/*_*.commit*"), *table.glob(".hoodie/timeline/*_*.hidden")]
        latest = max(done, key=lambda path: path.name)
        instant = latest.name.partition("_")[0]
        [of_metadata] = table.glob(f".hoodie/metadata/.hoodie/timeline/{instant}_*.*commit*")
        pair = [of_metadata, latest] if latest.suffix == ".hidden" else [latest, of_metadata]
        for path in pair:
            shown = path.with_suffix("") if path.suffix == ".hidden" else path.with_name(path.name + ".hidden")
            path.rename(shown)
        if ended.wait(_COMMIT_PAUSE):
            return


def resident_bytes(sidecar: Sidecar) -> int:
    assert sidecar.process is not None
    text = Path(f"/proc/{sidecar.process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) << 10


def seconds_within(port: int, methods: Collection[str] = ("prune",)) -> Callable[[float], float]:
    """The upper bound of the bucket in which a share of the sidecar's answers to these calls ends."""
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    counts = Counter[float]()
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == "sargo_request_seconds_bucket" and sample.labels["method"] in methods:
                counts[float(sample.labels["le"])] += int(sample.value)
    buckets = sorted(counts.items())
    return lambda share: next(bound for bound, count in buckets if count >= share * buckets[-1][1])


def p99(ordered: list[float]) -> float:
    return ordered[int(len(ordered) * 0.99)]
