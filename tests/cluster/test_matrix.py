"""Queries of the matrix in containers of YARN: the rows of the unpruned query, and the files that are kept.

The jar comes by hive.aux.jars.path alone; tables and sidecar are on HDFS, which the sidecar reads without Java.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from handler.planning.prune import prune
from index_store.opened_table import open_table
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.cases import CASES, MERGED_CASES, Case, Scan
from tests.hive.listings import Listing, listings
from tests.hive.test_matrix import names, rows

pytestmark = pytest.mark.cluster

#: A job of MapReduce starts a JVM for each task, so a few cases stand for all.
ON_MAPREDUCE = frozenset({"aggregates", "partition and data"})
#: Seconds until the log of a container shows what it wrote last.
LOG_SECONDS = 10


def matrix() -> Iterator[Any]:
    for engine, listing, chosen in (("tez", "hudi", None), ("tez", "sidecar", None), ("mr", "sidecar", ON_MAPREDUCE)):
        for case in (*CASES, *MERGED_CASES):
            for kind in ("native", "stored"):
                if kind == "native" and case in MERGED_CASES:
                    continue  # Hudi 1.0.2's own reader of partitioned MERGE_ON_READ tables fails under Hive 4
                if chosen is None or case.name in chosen:
                    yield pytest.param(engine, listing, case, kind, id=f"{engine}-{listing}-{kind}-{case.name}")


_expected: dict[str, Counter[tuple[Any, ...]]] = {}


def expected(hive: HiveOnYarn, case: Case) -> Counter[tuple[Any, ...]]:
    """The rows without any skipping."""
    if case.name not in _expected:
        is_merged = case in MERGED_CASES
        sql = case.sql.format(**names("stored" if is_merged else "plain"))
        _expected[case.name] = hive.unpruned(lambda cursor: rows(cursor, sql), is_merged=is_merged)
    return _expected[case.name]


def listed_and_kept(hive: HiveOnYarn, scan: Scan) -> tuple[int, int]:
    """The files that the evaluator lists and keeps, in this process and of the local copy."""
    plan = prune(open_table(str(hive.directory / scan.table)), scan.condition or "true", engine="hive")
    here = [item for item in plan.slices if scan.partition in (None, item.partition)]
    kept = set(plan.kept)
    return len(here), len([item for item in here if item in kept])


def seen_after(hive: HiveOnYarn, before: Counter[str], wanted: tuple[int, int] | None) -> list[Listing]:
    """The listings that the jar has logged since, in HiveServer2 and in all containers."""
    until = time.monotonic() + LOG_SECONDS
    while True:
        found = list(listings("\n".join((Counter(hive.log().splitlines()) - before).elements())))
        if wanted is None or totals(found) == wanted or time.monotonic() > until:
            return found
        time.sleep(0.5)


def totals(found: list[Listing]) -> tuple[int, int]:
    return sum(one.listed for one in found), sum(one.kept for one in found)


@pytest.mark.parametrize(("engine", "listing", "case", "kind"), list(matrix()))
@pytest.mark.timeout(600)
def test_rows_are_those_without_skipping_and_files_those_the_evaluator_keeps(
    engine: str, listing: str, case: Case, kind: str, hive: HiveOnYarn
) -> None:
    want = expected(hive, case)
    cursor = hive.session(engine, {"hive.execution.engine": engine}).cursor()
    cursor.execute(f"set sargo.listing={listing}")
    before = Counter(hive.log().splitlines())
    assert rows(cursor, case.sql.format(**names(kind))) == want
    scans = case.scans_of(engine, kind)
    wanted = None
    if scans is not None:
        sums = [sum(numbers) for numbers in zip(*(listed_and_kept(hive, scan) for scan in scans), strict=True)]
        wanted = (sums[0], sums[1]) if sums else (0, 0)
    seen = seen_after(hive, before, wanted)
    assert {one.reason for one in seen} <= {"", "NO_FILTER", "FOREIGN_FILTER"}
    if wanted is not None:
        assert totals(seen) == wanted
