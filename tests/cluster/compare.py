"""A query of the matrix on the cluster: its rows beside those without skipping, its files beside the evaluator's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from handler.planning.prune import prune
from index_store.opened_table import open_table
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.cases import MERGED_CASES, Case, Scan
from tests.hive.listings import Listing, listings
from tests.hive.server import HIVE_3, Stack
from tests.hive.test_matrix import names, rows

#: Seconds until the log of a container shows what it wrote last.
LOG_SECONDS = 10


def kinds(case: Case, stack: Stack) -> Iterator[str]:
    """The kinds of table that this Hive reads: of those with log files only the one whose reader in Hudi merges."""
    for kind in ("native", "stored"):
        if case not in MERGED_CASES or kind == merging(stack):
            yield kind


def merging(stack: Stack) -> str:
    return "native" if stack is HIVE_3 else "stored"


_expected: dict[str, Counter[tuple[Any, ...]]] = {}


def expected(hive: HiveOnYarn, case: Case) -> Counter[tuple[Any, ...]]:
    """The rows without any skipping."""
    if case.name not in _expected:
        is_merged = case in MERGED_CASES
        sql = case.sql.format(**names(merging(hive.stack) if is_merged else "plain"))
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


def compare(hive: HiveOnYarn, cursor: Any, engine: str, case: Case, kind: str) -> None:
    """Asserts that the rows are those without skipping, and the files those that the evaluator keeps."""
    want = expected(hive, case)
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
