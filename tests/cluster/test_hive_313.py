"""Hive 3.1.3 with MapReduce on YARN: the rows of the unpruned query, and the files that the evaluator keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.hive_on_yarn import Hive3OnYarn
from tests.cluster.test_matrix import expected, listed_and_kept, seen_after, totals
from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.test_matrix import names, rows

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


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize("kind", ["native", "stored"])
@pytest.mark.parametrize(
    "case", [case for case in (*CASES, *MERGED_CASES) if case.name in CHOSEN], ids=lambda case: case.name
)
def test_rows_and_kept_files(case: Case, kind: str, listing: str, hive: Hive3OnYarn, cursor: Any) -> None:
    want = expected(hive, case)
    cursor.execute(f"set sargo.listing={listing}")
    before = Counter(hive.log().splitlines())
    assert rows(cursor, case.sql.format(**names(kind))) == want
    scans = case.scans_of("mr", kind)
    if scans:
        numbers = [listed_and_kept(hive, scan) for scan in scans]
        wanted = (sum(listed for listed, _ in numbers), sum(kept for _, kept in numbers))
        assert totals(seen_after(hive, before, wanted)) == wanted
