"""LLAP's daemons read the files, and the metastore is in PostgreSQL: rows and kept files are those of containers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.compare import compare, kinds, seen_after, totals
from tests.cluster.hive_daemons import Llap, Metastore, Postgres
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.cluster.test_faults import OTHER, SQL
from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.server import HIVE_4
from tests.hive.test_matrix import rows

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.skipif(Postgres.binaries() is None, reason="apt-get install postgresql"),
]

BY_LLAP = {"hive.execution.engine": "tez", "hive.execution.mode": "llap", "hive.llap.execution.mode": "all"}


@pytest.fixture(scope="module")
def llap(yarn: Cluster) -> Llap:
    return Llap(yarn)


@pytest.fixture(scope="module")
def database(yarn: Cluster) -> Iterator[Postgres]:
    with Postgres(yarn) as found:
        yield found


@pytest.fixture(scope="module")
def hive(yarn: Cluster, tables: Path, database: Postgres, llap: Llap) -> Iterator[HiveOnYarn]:
    metastore = Metastore(yarn, database)
    settings = {"hive.metastore.uris": metastore.start(), **llap.settings}
    with HiveOnYarn(yarn, tables, "llap", settings) as found:
        llap.start(found.server.home)
        yield found
    llap.stop()
    metastore.stop()


@pytest.fixture(scope="module")
def cursor(hive: HiveOnYarn) -> Iterator[Any]:
    with hive.server.connect(BY_LLAP) as connection:
        yield connection.cursor()


def chosen() -> Iterator[Any]:
    for case in (*CASES, *MERGED_CASES):
        for kind in kinds(case, HIVE_4) if case.quick else ():
            for listing in ("hudi", "sidecar"):
                yield pytest.param(case, kind, listing, id=f"{listing}-{kind}-{case.name}")


@pytest.mark.parametrize(("case", "kind", "listing"), list(chosen()))
def test_rows_and_kept_files(case: Case, kind: str, listing: str, hive: HiveOnYarn, cursor: Any) -> None:
    cursor.execute(f"set sargo.listing={listing}")
    compare(hive, cursor, "tez", case, kind)


def test_the_daemons_ran_the_tasks(llap: Llap, hive: HiveOnYarn, cursor: Any) -> None:
    before = llap.tasks()
    cursor.execute("set hive.fetch.task.conversion=none")
    rows(cursor, SQL.format("stored_trips"))
    llap.cluster.wait_for("a count of tasks", lambda: llap.tasks() > before)  # the metrics are seconds old


def test_the_metastore_is_in_postgresql(database: Postgres, hive: HiveOnYarn) -> None:
    assert "stored_trips" in database.ask('select "TBL_NAME" from "TBLS"').splitlines()


def test_a_daemon_dies(llap: Llap, hive: HiveOnYarn, cursor: Any) -> None:
    want = rows(cursor, OTHER.format("plain_trips"))
    llap.cluster.kill(llap.names[0])
    before = Counter(hive.log().splitlines())
    assert rows(cursor, OTHER.format("stored_trips")) == want
    listed, kept = totals(seen_after(hive, before, (20, 2)))
    assert 0 < kept < listed
