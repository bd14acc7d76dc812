"""Hive 3.1.3 with MapReduce on YARN: the rows of the unpruned query, and the files that the evaluator keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.compare import compare, kinds
from tests.cluster.hive_on_yarn import Hive3OnYarn
from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.server import HIVE_3

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

#: A job starts a JVM for each task, so a few cases stand for all.
CHOSEN = {"fetch task", "aggregates", "partition and data", "merged: moved rows", "merged: deleted rows"}


@pytest.fixture(scope="module")
def hive(yarn: Cluster, tables: Path) -> Iterator[Hive3OnYarn]:
    with Hive3OnYarn(yarn, tables, "hive313") as found:
        yield found


@pytest.fixture(scope="module")
def cursor(hive: Hive3OnYarn) -> Iterator[Any]:
    with hive.server.connect() as connection:
        yield connection.cursor()


def chosen() -> Iterator[Any]:
    for case in (*CASES, *MERGED_CASES):
        for kind in kinds(case, HIVE_3) if case.name in CHOSEN else ():
            for listing in ("hudi", "sidecar"):
                yield pytest.param(case, kind, listing, id=f"{listing}-{kind}-{case.name}")


@pytest.mark.parametrize(("case", "kind", "listing"), list(chosen()))
def test_rows_and_kept_files(case: Case, kind: str, listing: str, hive: Hive3OnYarn, cursor: Any) -> None:
    cursor.execute(f"set sargo.listing={listing}")
    compare(hive, cursor, "mr", case, kind)
