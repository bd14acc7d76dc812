"""One scan that several parts of a query read, each with its own condition: inserts into two tables, joined views."""

from __future__ import annotations

import pytest

from tests.hive.playground import Hive
from tests.hive.test_modes import run

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]

UNPRUNED = {"sargo.enabled": "false", "hive.optimize.index.filter": "false"}
LANES = [("hive401", "tez"), ("hive401", "mr"), ("hive313", "mr")]
TARGETS = ("few", "some_of_them", "many")


def inserted(hive: Hive, script: str, settings: dict[str, str]) -> tuple[list[object], list[tuple[int, int, str]]]:
    """What the inserts of one script wrote, and (listed, kept, reason) of each scan."""
    create = [f"create table if not exists {target} (id bigint, k int)" for target in TARGETS]
    run(hive, [*create, *(f"truncate table {target}" for target in TARGETS)], settings)
    _, seen = run(hive, [script], settings)
    rows = [run(hive, [f"select count(*), sum(id), max(k) from {target}"], settings)[0] for target in TARGETS]
    return rows, [(one.listed, one.kept, one.reason) for one in seen if one.listed == 20]


def scans_with_the_same_rows(hive: Hive, script: str, settings: dict[str, str]) -> list[tuple[int, int, str]]:
    """(listed, kept, reason) of each scan of inserts that write what they write without skipping."""
    rows, seen = inserted(hive, script, settings)
    want, _ = inserted(hive, script, {**settings, **UNPRUNED})
    assert rows == want
    return seen


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize(("server", "engine"), LANES)
def test_inserts_of_one_scan_get_the_rows_of_each_condition(
    server: str, engine: str, listing: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    script = (
        "from native_trips insert overwrite table few select id, k where k < 150 "
        "insert overwrite table many select id, k where k >= 1700"
    )
    settings = {"hive.execution.engine": engine, "sargo.listing": listing}
    seen = scans_with_the_same_rows(hive, script, settings)
    assert seen == [(20, 5, "")]  # Hive pushes nothing down; the plan has the condition of each insert


@pytest.mark.parametrize("table", ["native_trips", "stored_trips"])
@pytest.mark.parametrize(("server", "engine"), LANES)
def test_an_insert_without_a_condition_keeps_every_file(
    server: str, engine: str, table: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    script = (
        f"from {table} insert overwrite table few select id, k where k < 150 insert overwrite table many select id, k"
    )
    assert scans_with_the_same_rows(hive, script, {"hive.execution.engine": engine}) == [(20, 20, "NO_FILTER")]


@pytest.mark.parametrize("table", ["native_trips", "stored_trips"])
@pytest.mark.parametrize(("server", "engine"), LANES)
def test_three_inserts_with_nulls_and_a_group_by(
    server: str, engine: str, table: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    script = (
        f"from {table} insert overwrite table few select id, k where k between 100 and 120 or k is null "
        "insert overwrite table some_of_them select max(id), k where k > 1800 and name <> 'none' group by k "
        "insert overwrite table many select id, k where id in (401, 402) and k < 5000"
    )
    seen = scans_with_the_same_rows(hive, script, {"hive.execution.engine": engine})
    assert len(seen) == 1
    assert seen[0][1] < 20


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize(("server", "engine"), LANES)
def test_two_views_of_a_table_that_are_joined_keep_what_each_needs(
    server: str, engine: str, listing: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    settings = {"hive.execution.engine": engine, "hive.auto.convert.join": "false", "sargo.listing": listing}
    views = {"early": "k < 300", "late": "k between 150 and 449"}
    make = [f"drop view if exists {view}" for view in views]
    make += [f"create view {view} as select id, k from native_trips where {where}" for view, where in views.items()]
    query = "select count(*), sum(a.id), sum(b.k) from early a join late b on a.id = b.id"
    rows, seen = run(hive, [*make, query], settings)
    want, _ = run(hive, [query], {**settings, **UNPRUNED})
    assert rows == want
    assert sorted(one.kept for one in seen) == ([3, 4] if engine == "tez" else [5])  # MapReduce: files of either
