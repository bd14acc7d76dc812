"""The queries of the matrix on tables in an object store: Hive by ``s3a://``, the sidecar by its own client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.listings import listings
from tests.hive.playground import PATIENT, Hive
from tests.hive.s3a import ServerOnS3, environment_for
from tests.hive.sidecars import Sidecar
from tests.hive.tables import register, unpack
from tests.hive.test_matrix import expected, listed_and_kept, names, rows
from tests.s3.store import BUCKET, Store, running

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with running(tmp_path_factory.mktemp("s3")) as made:
        yield made


@pytest.fixture(scope="module")
def hive(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hive]:
    home, root = tmp_path_factory.mktemp("hive"), f"s3a://{BUCKET}/tables"
    directory = unpack(store.bucket / "tables")
    sidecar = Sidecar(root, home / "sidecar.log", environment=environment_for(store)).start()
    made = Hive(ServerOnS3(home, {"sargo.sidecar.address": sidecar.address, **PATIENT}, store), sidecar, directory)
    try:
        made.server.start()
        with made.server.connect() as connection:
            register(connection.cursor(), root)
        yield made
    finally:
        made.stop()


def cases() -> Iterator[Any]:
    for engine in ("tez", "mr"):
        for case in (*CASES, *MERGED_CASES):
            for kind in ("native", "stored"):
                if kind == "native" and case in MERGED_CASES:
                    continue  # Hudi 1.0.2's own reader of partitioned MERGE_ON_READ tables fails under Hive 4
                for listing in ("hudi", "sidecar"):
                    yield pytest.param(engine, case, kind, listing, id=f"{engine}-{kind}-{listing}-{case.name}")


@pytest.mark.parametrize(("engine", "case", "kind", "listing"), list(cases()))
@pytest.mark.timeout(600)
def test_rows_and_files_are_those_of_the_matrix(hive: Hive, engine: str, case: Case, kind: str, listing: str) -> None:
    want = expected(hive, "s3a", case)
    before = len(hive.server.log())
    with hive.server.connect({"hive.execution.engine": engine, "sargo.listing": listing}) as connection:
        assert rows(connection.cursor(), case.sql.format(**names(kind))) == want
    log = hive.server.log()[before:]
    seen = sorted((one.listed, one.kept) for one in listings(log))
    scans = case.scans_of(engine, kind)
    if scans is not None:
        assert seen == sorted(listed_and_kept(hive, scan) for scan in scans)
    assert (listing == "sidecar" and bool(seen)) == ("listing=sidecar" in log)


@pytest.mark.parametrize("kind", ["403", "503", "cut", "hang"])
def test_a_fault_of_the_sidecar_s_reads_costs_skips_and_no_row(hive: Hive, store: Store, kind: str) -> None:
    query = "SELECT count(*), sum(id) FROM native_trips WHERE k < 150"
    with hive.server.connect({"hive.execution.engine": "tez", "sargo.enabled": "false"}) as connection:
        want = rows(connection.cursor(), query)
    fault = {"kind": kind, "path": r"\.hoodie/", "agent": "object_store"}
    for listing in ("hudi", "sidecar"):
        with (
            store.answering(fault),
            hive.server.connect({"hive.execution.engine": "tez", "sargo.listing": listing}) as connection,
        ):
            assert rows(connection.cursor(), query) == want
