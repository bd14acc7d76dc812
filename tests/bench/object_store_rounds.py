"""Requests, rounds and bytes of what users do with a table in an object store, each from nothing.

Exact: the server of ``tests/s3`` counts. A round is a request that began after the one before had been answered; the
lower bound fetches the same objects with their listings in two rounds. Beside them what the Rust package ``hudi`` needs
for the file slices of two of the tables, without and with a filter.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from hudi import HudiReadOptions, HudiTableBuilder

from tests.s3.cases import CASES, LATENCY, prepared
from tests.s3.store import Store, rounds, running

PEER_TABLES = ("1.1.1_main_mor", "0.15.0_main_cow")
TABLES = Path(__file__).parents[1] / "data/hudi"
Row = tuple[str, str, str]


def run() -> list[Row]:
    """The figures of each case; the ratio is that of its rounds to two."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch) / "s3") as store:
        for case in CASES:
            folder = Path(scratch) / case.name
            folder.mkdir()
            with prepared(case, store, _unpacked(Path(scratch), case.table), folder) as measure:
                found = measure()
            value = f"{found.requests} requests, {found.rounds} rounds, {found.nbytes / 1e6:.2f} MB"
            rows.append((f"{case.name} ({case.table})", value, f"{found.rounds / 2:.1f}"))
        for table in PEER_TABLES:
            for name, filters in (("files", []), ("prune", [("i", ">", "700")])):
                rows.append(_of_hudi_rs(f"{name} ({table}), hudi-rs", _unpacked(Path(scratch), table), filters, store))
    return rows


def _unpacked(scratch: Path, table: str) -> Path:
    folder = scratch / table
    if not folder.exists():
        with zipfile.ZipFile(TABLES / f"{table}.zip") as archive:
            archive.extractall(folder)
    return folder


def _of_hudi_rs(name: str, unpacked: Path, filters: list[tuple[str, str, str]], store: Store) -> Row:
    place = store.bucket / f"peer-{unpacked.name}"
    if not place.exists():
        shutil.copytree(unpacked, place)
    options = {
        "aws_endpoint": store.options["endpoint"],
        "aws_access_key_id": store.options["access_key"],
        "aws_secret_access_key": store.options["secret_key"],
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    with store.answering(latency=LATENCY):
        store.take()
        table = HudiTableBuilder.from_base_uri(store.uri(place.name)).with_options(options).build()
        table.get_file_slices(HudiReadOptions().with_filters(filters) if filters else None)
        asked = store.take()
    found = f"{len(asked)} requests, {rounds(asked)} rounds, {sum(one['sent'] for one in asked) / 1e6:.2f} MB"
    return name, found, f"{rounds(asked) / 2:.1f}"
