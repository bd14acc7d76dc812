"""The listing of RFC-15's largest table (2,271,646 files in 493 partitions) from the metadata table.

    one partition after all are loaded     under 1 ms
    one partition from nothing             only its own record is inflated and decoded
    all partitions                         columns, not an object for each file
    all file slices                        beside fastavro, which reads the records alone

CPU time, the least of some rounds. The table, which is a metadata table and nothing else, is made once, in the folder
for temporary files; that takes half a minute. RFC-15 measured 0.27 s for one partition of it with its own index.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import fastavro

from index_store import open_table
from index_store.formats import hfile as reader
from index_store.storage.byte_source import Bytes
from tests.index_store.synthetic import DONE, INSTANT, TABLE_SCHEMA, files_value, hfile, protobuf_varint

FILES, PARTITIONS = 2_271_646, 493
Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures; the ratio is to the goal of 1 ms, or the share of the bytes."""
    path = _made()
    partition = f"dt={PARTITIONS // 2:04d}"
    cold, one_partition = _least(lambda: open_table(path).files(partition), 3)
    share = _inflated(lambda: open_table(path).files(partition)) / _inflated(lambda: open_table(path).listing.load())
    names, partitions = _least(lambda: open_table(path).partitions(), 3)
    table = open_table(path)
    load, _ = _once(table.listing.load)
    seconds_of_slices, slices = _once(lambda: open_table(path).slices())
    assert len(slices) == FILES
    by_fastavro, files = _once(lambda: _files_by_fastavro(path))
    assert files == FILES + PARTITIONS
    warm, again = _least(lambda: table.files(partition), 5, 10_000)
    assert list(again) == list(one_partition)
    assert len(partitions) == PARTITIONS
    assert sum(len(table.files(name)) for name in partitions) == FILES
    return [
        (
            f"one partition of {FILES:,} files, {len(one_partition):,} files, all loaded",
            f"{warm * 1e6:.2f} µs",
            f"{warm / 1e-3:.4f} of 1 ms",
        ),
        (
            "the same from nothing: open the table, seek its record",
            f"{cold * 1e3:.1f} ms",
            f"{share:.4f} of the bytes inflated",
        ),
        ("the names of all partitions from nothing", f"{names * 1e3:.1f} ms", ""),
        ("all partitions, from nothing to columns", f"{load:.2f} s", f"{load / FILES * 1e6:.2f} µs a file"),
        (
            "all file slices, from nothing",
            f"{seconds_of_slices:.2f} s, {seconds_of_slices / FILES * 1e6:.2f} µs a file",
            f"{seconds_of_slices / by_fastavro:.2f} x fastavro for the records alone",
        ),
    ]


def _once(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _files_by_fastavro(path: Path) -> int:
    """Read all records of the files partition, and count their names."""
    names = 0
    [file] = (path / ".hoodie/metadata/files").iterdir()
    table = reader.HFile.open(Bytes(file.read_bytes()))
    schema = fastavro.parse_schema(table.schema)
    for block in table.blocks():
        for _, start, end in reader.entries(block):
            record = fastavro.schemaless_reader(io.BytesIO(block[start:end]), schema, None)
            names += len(record["filesystemMetadata"])
    return names


def _least(work: Callable[[], object], rounds: int, repeats: int = 1) -> tuple[float, object]:
    least, result = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            result = work()
        least = min(least, (time.process_time() - start) / repeats)
    return least, result


def _inflated(work: Callable[[], object]) -> int:
    """Bytes of data blocks that the work inflates."""
    sizes: list[int] = []
    original = reader.StoredBlock.inflated

    def counted(block: reader.StoredBlock) -> bytes:
        sizes.append(block.size)
        return original(block)

    reader.StoredBlock.inflated = counted
    try:
        work()
    finally:
        reader.StoredBlock.inflated = original
    return sum(sizes)


def _made() -> Path:
    root = Path(tempfile.gettempdir()) / f"sargo-bench-listing-{FILES}-{PARTITIONS}"
    if root.exists():
        return root
    work = root.with_suffix(".part")
    shutil.rmtree(work, ignore_errors=True)
    timeline, metadata = work / ".hoodie/timeline", work / ".hoodie/metadata"
    for folder in (timeline, metadata / ".hoodie/timeline", metadata / "files"):
        folder.mkdir(parents=True)
    (work / ".hoodie/hoodie.properties").write_text(
        "\n".join(
            (
                "hoodie.table.name=e",
                "hoodie.table.version=9",
                "hoodie.table.type=COPY_ON_WRITE",
                "hoodie.table.metadata.partitions=files",
                "hoodie.table.partition.fields=dt",
            )
        )
        + "\n"
    )
    (timeline / f"{INSTANT}_{DONE}.commit").write_text(
        json.dumps({"partitionToWriteStats": {}, "extraMetadata": {"schema": json.dumps(TABLE_SCHEMA)}})
    )
    (metadata / ".hoodie/timeline" / f"{INSTANT}_{DONE}.deltacommit").write_text("{}")
    (metadata / f"files/files-0000-0_0-1-1_{INSTANT}.hfile").write_bytes(hfile(_records()))
    work.rename(root)
    return root


def _records() -> list[tuple[bytes, bytes]]:
    empty = files_value({}, 2)  # ... map of no entries, then four nulls
    head, tail = empty[: empty.rindex(b"\0\0\0\0\0")], empty[empty.rindex(b"\0\0\0\0\0") + 1 :]
    assert head + b"\0" + tail == empty
    records = [(b"__all_partitions__", files_value([f"dt={i:04d}" for i in range(PARTITIONS)], 1))]
    for i in range(PARTITIONS):
        entries = []
        for n in range(i, FILES, PARTITIONS):
            name = f"{n * 2654435761 % 2**32:08x}-{n & 0xFFFF:04x}-4000-8000-{n:012x}-0_{n}-10-100_{INSTANT}.parquet"
            size = 50_000_000 + n  # zigzag: twice that
            entries.append(protobuf_varint(len(name) << 1) + name.encode() + protobuf_varint(2 * size) + b"\0")
        records.append(
            (f"dt={i:04d}".encode(), head + protobuf_varint(len(entries) << 1) + b"".join(entries) + b"\0" + tail)
        )
    return records
