"""The sidecar's Thrift code alone: decoding calls, encoding replies, importing; and short round trips over loopback.

    decode       a ``prune`` call as the jar sends it, checks included, for 20 and for 200,000 names, not compressed
    encode       the reply to it, with the bits of as many names
    import       CPU of the import of what reads and writes calls, in a new process
    round trip   a warm ``prune`` of 20 names, one client, to a sidecar in a process of its own

Decoding and encoding: the median of single calls on one thread, and the most memory that one call allocates.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from handler import open_table
from handler.sidecar.idl import PruneReply
from handler.sidecar.wire import read_call, result
from tests.bench.sidecar import connected, frame, rounds, serving, shown
from tests.index_store.synthetic import write_table

_SHORT, _LONG = 20, 200_000
_IMPORTS = 15

Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """Seconds and bytes."""
    for count, times in ((_SHORT, 20_000), (_LONG, 60)):
        names = [
            f"dt=2024-01-{i % 28 + 1:02}/{i:032x}-0_{i % 977}-12-{i}_20240101000000000.parquet" for i in range(count)
        ]
        sent = memoryview(frame(Path("/warehouse/table"), names, count // 2)[4:])
        yield (
            f"decode a call of {count:,} names ({len(sent):,} bytes)",
            *_timed(lambda sent=sent: read_call(sent), times),
        )
        call = read_call(sent)
        reply = PruneReply(
            protocol_version=1,
            skip=bytes((count + 7) // 8),
            name_count=count,
            instant="20240101000000000",
            covered=count,
            skipped=count // 2,
            fully_matched=0,
            report_id="0123456789abcdef",
            reasons=["no statistics of the column 'amount'"] * 4,
            digest=1 << 31,
        )
        yield "encode its reply", *_timed(lambda call=call, reply=reply: result(call, reply), times)
    yield "import", f"{_import_seconds() * 1e3:.0f} ms of CPU", ""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (port, _), connected(port) as connection:
        root = Path(folder) / "table"
        write_table(root, _SHORT)
        names = [item.base_file or "" for item in open_table(root).at().slices]
        warm = frame(root, names, _SHORT // 2)
        rounds(connection, [warm] * 200)
        yield f"round trip, prune of {_SHORT} names: p50, p99", shown(rounds(connection, [warm] * 20_000)), ""


def _timed(work: Callable[[], object], times: int) -> tuple[str, str]:
    """The median of a call, and the peak of what one call allocates."""
    work()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    try:
        work()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return f"{statistics.median(seconds) * 1e6:,.1f} µs", f"{peak:,} bytes at most"


def _import_seconds() -> float:
    """The least CPU that the import takes in a new process: other work on the machine only adds."""
    code = "import time; start = time.process_time(); import handler.sidecar.wire; print(time.process_time() - start)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(_IMPORTS))
