"""Filters with many terms on real Hive: the rows are those without skipping, and the whole filter skips files.

Parquet's reader visits a filter recursively: before the jar kept such filters from it, 1,000 members ended the query in
a StackOverflowError. Hive 3.1.3 itself takes minutes to compile a list of 20,000: it looks each member up in a list
of all (``DefaultGraphWalker``), with Sargo or without.

Facts: docs/facts/hive-reading.md#hudis-input-formats
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hive.playground import Hive
from tests.hive.test_modes import run

pytestmark = pytest.mark.hive

#: The row that the conditions find, in one file of 20 or 12; a log file of the merged table has changed it.
ROW = 455


def members(n: int) -> list[int]:
    return [ROW, *range(100_000, 100_000 + n - 1)]


def in_list(n: int) -> str:
    return f"id in ({', '.join(map(str, members(n)))})"


def not_in_list(n: int) -> str:
    return f"id between {ROW} and {ROW + 1} and id not in ({', '.join(map(str, (ROW + 1, *members(n)[1:])))})"


def or_chain(n: int) -> str:
    """Ranges, of which Hive makes no IN."""
    return " or ".join(f"id between {one} and {one}" for one in members(n))


def and_chain(n: int) -> str:
    return f"id = {ROW} and " + " and ".join(f"not (k between {one} and {one})" for one in range(200_000, 200_000 + n))


def nested(n: int) -> str:
    """An IN below AND below OR."""
    return f"(id >= 0 and ({in_list(n)} and k >= 0)) or (id = {ROW} and {in_list(n)})"


FORMS: dict[str, tuple[Callable[[int], str], tuple[int, ...]]] = {
    "in": (in_list, (300, 1_000, 5_000, 20_000)),
    "not in": (not_in_list, (300, 1_000, 5_000, 20_000)),
    "or": (or_chain, (300, 1_000)),
    "and": (and_chain, (300, 1_000)),
    "nested": (nested, (300, 1_000, 5_000)),
}
CASES = [(form, n) for form, (_, sizes) in FORMS.items() for n in sizes]
QUICK = (("401-tez", "in", 5_000), ("313-mr", "in", 1_000))
LANES = {
    "401-tez": ("hive401", {"hive.execution.engine": "tez"}),
    "401-tez-rows": ("hive401", {"hive.execution.engine": "tez", "hive.vectorized.execution.enabled": "false"}),
    "401-mr": ("hive401", {"hive.execution.engine": "mr"}),
    "313-mr": ("hive313", {}),
    "313-mr-rows": ("hive313", {"hive.vectorized.execution.enabled": "false"}),
}
#: An aggregate is a job; without one Hive fetches the rows itself.
JOB, FETCH = "select count(*), sum(id) from {} where {}", "select id from {} where {}"


def tables_of(server: str) -> tuple[str, ...]:
    """COPY_ON_WRITE, and the merged tables that this version reads."""
    return ("native_trips", "stored_trips", "native_rides" if server == "hive313" else "stored_rides")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("lane", "form", "n"),
    [
        pytest.param(
            lane,
            form,
            n,
            id=f"{lane}-{form}-{n}",
            marks=() if (lane, form, n) in QUICK else pytest.mark.hive_full,
        )
        for lane in LANES
        for form, n in CASES
        if n < 20_000 or not lane.startswith("313")
    ],
)
def test_a_long_filter_returns_its_rows_and_skips_the_files_of_the_whole_filter(
    lane: str, form: str, n: int, request: pytest.FixtureRequest
) -> None:
    server, settings = LANES[lane]
    hive: Hive = request.getfixturevalue(server)
    condition = FORMS[form][0](n)
    for table in tables_of(server):
        for sql, want in ((JOB, (1, ROW)), (FETCH, (ROW,))):
            for _ in range(3):  # an answer that came too late is ready for the next query
                rows, seen = run(hive, [sql.format(table, condition)], settings)
                assert rows == [want], (table, sql)
                if sum(listing.kept for listing in seen) == 1:
                    break
            assert {listing.reason for listing in seen} == {""}, (table, sql)
            assert sum(listing.kept for listing in seen) == 1, (table, sql)
