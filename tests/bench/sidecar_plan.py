"""The sidecar answers which files to read: 100,000 files of 5,000 partitions in one reply, over loopback.

    the table            a metadata table and nothing else; file names hold a random UUID, as Hudi's do
    plan()               the partitions that a query reads in the request, names and lengths of their files in the reply
    prune()              for comparison: what Hudi listed in the request (compressed, as the jar sends it), bits in the
                         reply; the list was seen before

Round trips of one client on a connection of its own, in turns. The sidecar is a process of its own. The goal: 100,000
files in a reply within 100 ms.
"""

from __future__ import annotations

import base64
import random
import statistics
import struct
import tempfile
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path

from handler.sidecar.idl import PlanRequest
from handler.sidecar.wire import call_message, read_reply
from tests.bench.sidecar import ask, connected, frame_of, rounds, serving, shown
from tests.index_store.synthetic import DONE, INSTANT, files_value, hfile, write_table
from tests.sarg import kryo_writer

FILES, PARTITIONS = 100_000, 5_000
_GOAL_SECONDS = 0.1
_TURNS = 40
Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """p50 and p99 of a reply, its size, and ratios to the goal and to prune()."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "table"
        partitions, names = _write(root)
        with serving(folder) as (port, _), connected(port) as connection:
            every, some = _frame(root, partitions), _frame(root, partitions[:50])
            first = rounds(connection, [every])
            yield f"{FILES:,} files of {PARTITIONS:,} partitions, first of all (opens the table)", shown(first), ""
            listed = frame_of(root, names, _filter(), compressed=True)
            rounds(connection, [listed])
            questions = {"plan, all": every, "plan, 50 partitions": some, "prune, all names": listed}
            taken: dict[str, list[float]] = {what: [] for what in questions}
            for _ in range(_TURNS):
                for what, sent in questions.items():
                    taken[what] += rounds(connection, [sent])
            answers = {what: ask(connection, sent) for what, sent in questions.items()}
            reply = read_reply("plan", answers["plan, all"][4:]).success
            assert (reply.file_count, zlib.decompress(reply.names).count(b"\n")) == (FILES, FILES - 1)
            for what, seconds in taken.items():
                median = statistics.median(seconds)
                ratio = f"{median / _GOAL_SECONDS:.2f} of 100 ms" if what == "plan, all" else ""
                yield f"{what}: p50, p99", shown(seconds), ratio
                sizes = f"{len(questions[what]) / 1e6:.2f} MB sent, {len(answers[what]) / 1e6:.2f} MB received"
                yield f"{what}: bytes", sizes, ""


def _write(root: Path) -> tuple[list[str], list[str]]:
    """A table of which only the metadata table is there: its partitions, and the paths of its files."""
    write_table(root, 1)
    made = random.Random(1)
    partitions = [f"dt={number // 24:04d}/hour={number % 24:02d}" for number in range(PARTITIONS)]
    names: list[str] = []
    records = []
    for partition in partitions:
        files = sorted(
            f"{uuid.UUID(int=made.getrandbits(128), version=4)}-0_{number}-10-100_{INSTANT}.parquet"
            for number in range(FILES // PARTITIONS)
        )
        sizes = {file: made.randrange(10 << 20, 130 << 20) for file in files}
        records.append((partition.encode(), files_value(sizes, 2)))
        names += [f"{partition}/{file}" for file in files]
    every = files_value(dict.fromkeys(partitions, 0), 1)
    metadata = root / ".hoodie" / "metadata"
    (metadata / "files" / f"files-0000-0_0-1-1_{INSTANT}.hfile").write_bytes(
        hfile(sorted([*records, (b"__all_partitions__", every)]))
    )
    properties = root / ".hoodie" / "hoodie.properties"
    properties.write_text(
        properties.read_text().replace("files,column_stats", "files") + "hoodie.table.partition.fields=dt,hour\n"
    )
    assert (root / ".hoodie" / "timeline" / f"{INSTANT}_{DONE}.commit").exists()
    return partitions, names


def _frame(root: Path, partitions: list[str]) -> bytes:
    blob = zlib.compress("\n".join(partitions).encode(), 1)
    request = PlanRequest(
        protocol_version=1,
        table=str(root),
        engine="hive4",
        instant=INSTANT,
        instant_count=1,
        partitions=blob,
        partitions_compressed=True,
        partition_count=len(partitions),
    )
    body = call_message("plan", {"request": request})
    return struct.pack("!i", len(body)) + body


def _filter() -> bytes:
    """``amount < 1``: no statistics say anything about it."""
    double = kryo_writer.type_info("double")
    value = kryo_writer.Wrapper("java.lang.Double", 1.0)
    less = kryo_writer.function("OPLessThan", kryo_writer.column("amount", double), kryo_writer.constant(value, double))
    return base64.b64encode(kryo_writer.write(less))
