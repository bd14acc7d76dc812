"""The sidecar lists the files of a scan: the rows and files of Hudi's listing, and Hudi's listing where it cannot.

The queries are those of the matrix, with ``sargo.listing`` as it is by default. What Hive reads then is compared
with the rows of the unpruned query, with the files that the evaluator keeps, and with the log, which says who listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.listings import Listing, listings
from tests.hive.playground import Hive
from tests.hive.test_matrix import COMBINE, ROWS, expected, listed_and_kept, names, rows

pytestmark = pytest.mark.hive

BY_SIDECAR = {"sargo.listing": "sidecar"}
#: lane: server, engine and settings
LANES: dict[str, tuple[str, str, dict[str, str]]] = {
    "401-tez": ("hive401", "tez", {}),
    "401-tez-rows": ("hive401", "tez", ROWS),
    "401-mr": ("hive401", "mr", {}),
    "401-mr-combine": ("hive401", "mr", COMBINE),
    "313-mr": ("hive313", "mr", {}),
}
IN_CI = {
    ("401-tez", "native", "aggregates"),
    ("401-tez", "stored", "all rows"),
    ("401-tez", "stored", "merged: rows that left"),
    ("401-mr", "native", "fetch task"),
    ("313-mr", "native", "partition and data"),
    ("313-mr", "native", "merged: rows that left"),
}


def matrix() -> Iterator[Any]:
    for lane, (server, _, settings) in LANES.items():
        for case in (*CASES, *MERGED_CASES):
            for kind in ("native", "stored"):
                if case in MERGED_CASES and kind == ("native" if server == "hive401" else "stored"):
                    continue  # Hudi's reader fails, or ours refuses: see test_matrix
                if kind == "native" and settings is COMBINE:
                    continue  # it asks no input format
                marks = () if (lane, kind, case.name) in IN_CI else (pytest.mark.hive_full,)
                yield pytest.param(lane, case, kind, marks=marks, id=f"{lane}-{kind}-{case.name}")


def listers(log: str) -> list[str]:
    """Who listed, for each scan: "sidecar", or Hudi's reason."""
    found = re.findall(r"sargo: listed by Hudi, reason=(\w+)|(listing=sidecar)", log)
    return [reason or "sidecar" for reason, _ in found]


def run(hive: Hive, sql: str, settings: dict[str, str]) -> tuple[list[Any], list[Listing], list[str]]:
    """The rows, sorted, the jar's listings, and who listed."""
    before = len(hive.server.log())
    with hive.server.connect({**BY_SIDECAR, **settings}) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        found = sorted(cursor.fetchall())
    log = hive.server.log()[before:]
    return found, list(listings(log)), listers(log)


@pytest.mark.parametrize("server", ["hive401", "hive313"])
def test_the_sidecar_lists_where_nothing_else_is_set(server: str, request: pytest.FixtureRequest) -> None:
    """A session without settings, on a server with the hive-site.xml of ``hive_conf``."""
    hive: Hive = request.getfixturevalue(server)
    sql = "select id, name from {}_trips where id between 100 and 101"
    for session, by in (({}, "sidecar"), ({"sargo.listing": "hudi"}, "hudi")):
        before = len(hive.server.log())
        with hive.server.connect(session=session) as connection:
            found = rows(connection.cursor(), sql.format("native"))
            assert found == rows(connection.cursor(), sql.format("plain"))
        log = hive.server.log()[before:]
        assert [row[0] for row in found] == [100, 101]
        assert sum(listing.kept for listing in listings(log)) == 1
        assert set(listers(log)) == ({"sidecar"} if by == "sidecar" else set())


@pytest.mark.parametrize(("lane", "case", "kind"), list(matrix()))
@pytest.mark.timeout(600)
def test_rows_and_files_are_those_of_hudis_listing(
    lane: str, case: Case, kind: str, request: pytest.FixtureRequest
) -> None:
    server, engine, settings = LANES[lane]
    hive: Hive = request.getfixturevalue(server)
    want = expected(hive, server, case)
    before = len(hive.server.log())
    with hive.server.connect({"hive.execution.engine": engine, **settings, **BY_SIDECAR}) as connection:
        assert rows(connection.cursor(), case.sql.format(**names(kind))) == want
    log = hive.server.log()[before:]
    seen = list(listings(log))
    assert set(listers(log)) == {"sidecar"}
    assert len(listers(log)) == len(seen)
    assert {listing.reason for listing in seen} <= {"", "NO_FILTER", "FOREIGN_FILTER"}
    scans = case.scans_of(engine, kind)
    if scans is not None:
        wanted = [listed_and_kept(hive, scan) for scan in scans]
        totals = sum(listing.listed for listing in seen), sum(listing.kept for listing in seen)
        assert totals == tuple(map(sum, zip(*wanted, strict=True)))
