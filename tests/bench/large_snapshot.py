"""A snapshot of a table of millions of files, and a commit of a thousand files on top of it, made in real formats.

The base is made in the snapshot's own form (a metadata table of nine million records takes an hour to write); the
commit is what a reader finds after it: an Avro instant with its write statistics, and log blocks of the metadata table.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.stored_bounds import StoredBounds
from index_store import open_table
from index_store.formats.log_file import HFILE_DATA
from index_store.snapshots import Snapshot, SnapshotCache
from index_store.snapshots.state import state_of
from index_store.table.file_slices import FileSlice, FileSlices
from tests.index_store.synthetic import INSTANT, TABLE_SCHEMA, files_value, hfile, log_block, stats_key, stats_value
from tests.index_store.synthetic import write_table as write_small_table

PARTITIONS, COLUMNS = 500, ("ts", "amount", "name", "fee")
_REAL_COMMIT = Path(__file__).parents[1] / "data" / "hudi" / "1.1.1_main_cow.zip"


def make_base(root: Path, cache: SnapshotCache, files: int) -> Snapshot:
    """A table whose snapshot says that it has so many files, with four columns."""
    write_small_table(root, 1)
    table = open_table(root)
    state = state_of(table)
    assert state is not None
    snapshot = Snapshot.write(cache, state, FileSlices(INSTANT, "metadata table", tuple(_slices(files))))
    for name in COLUMNS:
        column = table.schema.resolve(name, case_sensitive=True)
        assert column is not None
        snapshot.keep("column_stats", column, _statistics(column, files), None)
    return snapshot


def commit(root: Path, instant: str, files: int, size: int = 1000) -> None:
    """A commit of ``size`` files: one half replaces files of the base, the other is new."""
    schema = _commit_schema()
    done = str(int(instant) + 5)
    each = size // 50
    written: dict[str, list[dict[str, Any]]] = {}
    names: dict[str, dict[str, int | None]] = {}
    records = []
    for place in range(size):
        partition = f"day={place // each:04d}"
        number = 10**9 + int(instant) % 10**8 * 10 + place
        if place % 2:
            number = (place // each) * (files // PARTITIONS) + place % each + files // PARTITIONS
            partition = partition_of(number, files)
        name = f"{file_id(number)}_{place}-10-100_{instant}.parquet"
        written.setdefault(partition, []).append(
            {"fileId": file_id(number), "path": f"{partition}/{name}", "partitionPath": partition, "numWrites": 1000}
        )
        names.setdefault(partition, {})[name] = 1000
        start, shops = 1_767_225_600_000_000 + place, (f"shop-{place:06d}", f"shop-{place + 50:06d}")
        for column, lo, hi, kind in (
            ("ts", ("LongWrapper", start), ("LongWrapper", start + 30_000_000), (16, None)),
            ("amount", ("DoubleWrapper", 1.5), ("DoubleWrapper", 99.25 + place), (6, None)),
            ("name", ("StringWrapper", shops[0]), ("StringWrapper", shops[1]), (7, None)),
            ("fee", ("BytesWrapper", b"\x01\x10"), ("BytesWrapper", b"\x02\x10"), (10, "10,2")),
        ):
            records.append(
                (stats_key(column, partition, name), stats_value(name, column, lo, hi, 1000, 0, value_type=kind))
            )
    out = io.BytesIO()
    fastavro.writer(
        out,
        schema,
        [
            {
                "partitionToWriteStats": written,
                "compacted": False,
                "operationType": "UPSERT",
                "extraMetadata": {"schema": json.dumps(TABLE_SCHEMA)},
            }
        ],
    )
    metadata = root / ".hoodie" / "metadata"
    blocks = {
        "files": hfile(
            [(partition.encode(), files_value(files_of, 2)) for partition, files_of in names.items()]
            + [(b"__all_partitions__", files_value(list(names), 1))]
        ),
        "column_stats": hfile(records),
    }
    for kind, prefix in (("files", "files"), ("column_stats", "col-stats")):
        log = metadata / kind / f".{prefix}-0000-0_{instant}.log.1_0-1-1"
        log.write_bytes(log_block(HFILE_DATA, blocks[kind], instant))
    (metadata / ".hoodie" / "timeline" / f"{instant}_{done}.deltacommit").write_text("{}")
    (root / ".hoodie" / "timeline" / f"{instant}_{done}.commit").write_bytes(out.getvalue())


def file_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}-0"


def partition_of(number: int, files: int) -> str:
    return f"day={number * PARTITIONS // files:04d}"


def _slices(files: int) -> Iterator[FileSlice]:
    for number in range(files):
        partition, name = partition_of(number, files), file_id(number)
        yield FileSlice(partition, name, f"{partition}/{name}_{number}-10-100_{INSTANT}.parquet")


def _statistics(column: Field, files: int) -> ColumnStatistics:
    draw = np.random.default_rng(len(column.name))
    known, zeros = np.ones(files, np.bool_), np.zeros(files, np.int64)
    lo: Any = draw.integers(1_600_000_000_000_000, 1_800_000_000_000_000, files)
    hi: Any = lo + draw.integers(0, 3_600_000_000, files)
    if column.name == "amount":
        lo, hi = lo / 1e9, hi / 1e9
    elif column.name == "fee":
        lo, hi = lo % 10**8, lo % 10**8 + 1000
    elif column.name == "name":
        shops = lo % 1_000_000
        lo, hi = (
            StoredBounds(
                pa.array([f"shop-{shop + more:07d}".encode() for shop in shops.tolist()], pa.large_binary()),
                column.type,
            )
            for more in (0, 50)
        )
    return ColumnStatistics(
        column.type,
        lo,
        hi,
        lo_known=known,
        hi_known=known,
        null_count=zeros,
        row_count=zeros + 1000,
        trust=np.zeros(files, np.uint8),
    )


def _commit_schema() -> Any:
    """The schema of a commit that real Hudi wrote."""
    with zipfile.ZipFile(_REAL_COMMIT) as archive:
        name = next(
            name for name in archive.namelist() if name.startswith(".hoodie/timeline/2") and name.endswith(".commit")
        )
        return fastavro.reader(io.BytesIO(archive.read(name))).writer_schema
