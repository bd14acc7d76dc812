"""Every query of the matrix on real Hive returns the rows of the unpruned query, and reads the files that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from handler.planning.prune import prune
from index_store.opened_table import open_table
from tests.hive.cases import CASES, MERGED_CASES, Case, Scan
from tests.hive.listings import listings
from tests.hive.playground import Hive

pytestmark = pytest.mark.hive

COMBINE = {"hive.input.format": "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat"}
ROWS = {"hive.vectorized.execution.enabled": "false"}
#: What CI runs: on Tez each quick case as a native table or as a stored one, in turns, under MapReduce what Hive plans
#: in a way of its own there, and with Hive 3 what it reads in a way of its own.
OF_TEZ = frozenset(
    ("stored" if n % 2 or case in MERGED_CASES else "native", case.name)
    for n, case in enumerate(case for case in (*CASES, *MERGED_CASES) if case.quick)
)
OF_MAPREDUCE = frozenset(
    {
        ("stored", "union that leaves a foreign filter behind"),
        ("native", "self join"),
        ("stored", "merged: rows that left"),
    }
)
OF_HIVE_3 = frozenset(
    {
        ("native", "fetch task"),
        ("native", "partition and data"),
        ("stored", "partition and data"),
        ("native", "merged: rows that left"),
    }
)
#: lane: (server, engine, settings, which cases CI runs)
LANES: dict[str, tuple[str, str, dict[str, str], frozenset[tuple[str, str]]]] = {
    "401-tez": ("hive401", "tez", {}, OF_TEZ),
    "401-tez-rows": ("hive401", "tez", ROWS, frozenset()),
    "401-mr": ("hive401", "mr", {}, OF_MAPREDUCE),
    "401-mr-mapjoin-off": ("hive401", "mr", {"hive.auto.convert.join": "false"}, frozenset()),
    "401-mr-combine": ("hive401", "mr", COMBINE, frozenset()),
    "313-mr": ("hive313", "mr", {}, OF_HIVE_3),
    "313-mr-rows": ("hive313", "mr", ROWS, frozenset()),
}


def matrix() -> Iterator[Any]:
    for lane, (server, _, settings, in_ci) in LANES.items():
        for case in (*CASES, *MERGED_CASES):
            for kind in ("native", "stored"):
                if kind == "native" and case in MERGED_CASES and server == "hive401":
                    continue  # Hudi 1.0.2's own reader of partitioned MERGE_ON_READ tables fails under Hive 4
                if kind == "stored" and case in MERGED_CASES and server == "hive313":
                    continue  # refused, see test_modes
                if kind == "native" and settings is COMBINE:
                    continue  # it lists the files itself, old versions too, with Hudi's own format as well
                marks = () if (kind, case.name) in in_ci else (pytest.mark.hive_full,)
                yield pytest.param(lane, case, kind, marks=marks, id=f"{lane}-{kind}-{case.name}")


_expected: dict[tuple[str, str], Counter[tuple[Any, ...]]] = {}


def names(kind: str) -> dict[str, str]:
    return {"T": f"{kind}_trips", "U": f"{kind}_trips2", "V": f"{kind}_view", "M": f"{kind}_rides"}


def rows(cursor: Any, sql: str) -> Counter[tuple[Any, ...]]:
    cursor.execute(sql)
    return Counter(cursor.fetchall())


def expected(hive: Hive, server: str, case: Case) -> Counter[tuple[Any, ...]]:
    """The rows without any skipping: Hudi's own format; for merged tables ours with skipping turned off.

    And without Hive's own push-down into Parquet: under MapReduce it reads two scans of one table by the filter of one.
    """
    if (server, case.name) not in _expected:
        merged = case in MERGED_CASES
        settings = {
            "hive.execution.engine": "mr",
            "hive.optimize.index.filter": "false",
            **({"sargo.enabled": "false"} if merged else {}),
        }
        with hive.server.connect(settings) as connection:
            kind = "plain" if not merged else "native" if server == "hive313" else "stored"
            _expected[server, case.name] = rows(connection.cursor(), case.sql.format(**names(kind)))
    return _expected[server, case.name]


def listed_and_kept(hive: Hive, scan: Scan) -> tuple[int, int]:
    """The files that the evaluator lists and keeps for a scan, in this process and by the SQL text."""
    table = open_table(str(hive.directory / scan.table))
    plan = prune(table, scan.condition or "true", engine="hive")
    here = [item for item in plan.slices if scan.partition in (None, item.partition)]
    kept = set(plan.kept)
    return len(here), len([item for item in here if item in kept])


@pytest.mark.parametrize(("lane", "case", "kind"), list(matrix()))
@pytest.mark.timeout(600)
def test_rows_are_those_without_skipping_and_files_those_the_evaluator_keeps(
    lane: str, case: Case, kind: str, request: pytest.FixtureRequest
) -> None:
    server, engine, settings, _ = LANES[lane]
    hive: Hive = request.getfixturevalue(server)
    want = expected(hive, server, case)
    before = len(hive.server.log())
    with hive.server.connect({"hive.execution.engine": engine, **settings}) as connection:
        assert rows(connection.cursor(), case.sql.format(**names(kind))) == want
    seen = list(listings(hive.server.log()[before:]))
    assert all(listing.kept <= listing.listed for listing in seen)
    assert {listing.reason for listing in seen} <= {"", "NO_FILTER", "FOREIGN_FILTER"}
    scans = case.scans_of(engine, kind)
    if scans is not None:
        wanted = [listed_and_kept(hive, scan) for scan in scans]
        totals = sum(listing.listed for listing in seen), sum(listing.kept for listing in seen)
        assert totals == tuple(map(sum, zip(*wanted, strict=True)))
