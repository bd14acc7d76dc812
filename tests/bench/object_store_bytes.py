"""Where a whole file is read as fast as ranges of it: HFiles of several sizes, latencies and rates, in the small S3.

The value is the time of a look-up of five keys, by ranges and whole, and what ``Pace`` chooses after it has seen small
reads and one large one. The ratio is that of the whole file to ranges (below 1: the whole file is faster).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from index_store.formats.hfile import HFile
from index_store.storage.pace import Pace
from index_store.storage.storage import Storage
from tests.index_store.synthetic import NONE, hfile
from tests.s3.store import Store, running

LATENCIES, RATES = (0.005, 0.03, 0.1), (35e6, 100e6)
MEGABYTES = (1, 2, 4, 8, 16)
_RECORD, _KEYS, _TRIES = 1000, 5, 3
Row = tuple[str, str, str]


def run() -> list[Row]:
    """The times, by latency, rate and size."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch)) as store:
        for size in MEGABYTES:
            records = [(b"%07d" % i, bytes([i % 251]) * _RECORD) for i in range(_records(size))]
            (store.bucket / f"{size}.hfile").write_bytes(hfile(records, codec=NONE))
        (store.bucket / "large").write_bytes(bytes(1 << 20))
        (store.bucket / "small").write_bytes(b"s")
        for latency in LATENCIES:
            for rate in RATES:
                store.server.rate = rate
                with store.answering(latency=latency):
                    rows += _at(store, f"{latency * 1e3:.0f} ms, {rate / 1e6:.0f} MB/s")
    return rows


def _at(store: Store, where: str) -> list[Row]:
    storage = Storage.at(store.uri(""), None, store.options)
    for name in ("small", "small", "small", "large"):
        storage.read(name)
    rows = []
    for size in MEGABYTES:
        by_ranges, whole = (_seconds(storage, size, limit) for limit in (0, 1 << 40))
        chosen = "whole" if size * 1_000_000 <= _pace(storage).whole else "ranges"
        value = f"{by_ranges * 1e3:.0f} ms by ranges, {whole * 1e3:.0f} ms whole, chosen: {chosen}"
        rows.append((f"{where}, {size} MB", value, f"{whole / by_ranges:.2f}"))
    return rows


def _pace(storage: Storage) -> Pace:
    return storage._location.patience.pace


def _records(size: int) -> int:
    return size * 1_000_000 // _RECORD


def _seconds(storage: Storage, size: int, limit: int) -> float:
    """The shortest time of a look-up; files of up to ``limit`` bytes are read whole."""
    keys = [b"%07d" % (i * _records(size) // _KEYS + 7) for i in range(_KEYS)]
    times = []
    for _ in range(_TRIES):
        fresh = storage.afresh()
        with patch.object(Pace, "whole", limit):
            fresh.files()
            began = time.perf_counter()
            with fresh.open(f"{size}.hfile") as source:
                for _ in HFile.open(source).blocks(keys):
                    pass
            times.append(time.perf_counter() - began)
    return min(times)
