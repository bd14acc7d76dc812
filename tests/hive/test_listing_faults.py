"""Where the sidecar cannot list, or lies: Hive reads what Hudi lists, and the log says why."""

from __future__ import annotations

import re
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from handler.sidecar.idl import Refused, refuse
from handler.sidecar.wire import read_call, result
from tests.hive.lying import Plan, lying
from tests.hive.playground import Hive
from tests.hive.server import free_port
from tests.hive.sidecars import FailingSidecar, Sidecar, forwarding, framed
from tests.hive.tables import DATA, statements
from tests.hive.test_asking import counted
from tests.hive.test_faults import MOVED, commit
from tests.hive.test_joins import SORT_MERGE, bucketed
from tests.hive.test_listing import BY_SIDECAR, listers, run

pytestmark = pytest.mark.hive

Failing = Callable[[Callable[[socket.socket, bytes], None]], FailingSidecar]
TWO_ROWS = "select id from {} where id between 100 and 101"
WANTED = [(100,), (101,)]


@pytest.fixture
def own_table(hive401: Hive, request: pytest.FixtureRequest) -> Callable[[str], tuple[str, Path]]:
    """Unpacks one of the archives for this test alone, as a table STORED BY the handler."""
    number = iter(range(10))

    def make(archive: str) -> tuple[str, Path]:
        name = re.sub(r"\W", "_", f"own_{request.node.name[-40:]}_{next(number)}").lower()
        directory = hive401.directory / name
        with zipfile.ZipFile(DATA / f"{archive}.zip") as opened:
            opened.extractall(directory)
        with hive401.server.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in statements("stored_by.sql", table=name, location=f"file://{directory}"):
                cursor.execute(statement)
        return name, directory

    return make


OwnTable = Callable[[str], tuple[str, Path]]


# -- a sidecar that does not list


def test_hudi_lists_while_the_sidecar_is_down(hive401: Hive) -> None:
    down = {"sargo.sidecar.address": f"127.0.0.1:{free_port()}"}
    rows, seen, who = run(hive401, TWO_ROWS.format("native_trips"), down)
    assert rows == WANTED
    assert set(who) <= {"SIDECAR_DOWN", "BREAKER_OPEN"}
    assert len(who) == len(seen) == 4
    assert [listing.kept for listing in seen] == [5, 5, 5, 5]


@pytest.mark.parametrize("code", ["listing", "instant"])
def test_hudi_lists_what_the_sidecar_refuses_to_list_and_it_is_pruned(
    hive401: Hive, failing: Failing, code: str
) -> None:
    forward = forwarding(hive401.sidecar.port, lambda _: None)

    def refusing(connection: socket.socket, frame: bytes) -> None:
        call = read_call(memoryview(frame))
        if call.method == "plan":
            connection.sendall(framed(result(call, refused=refuse(Refused(code, "not this one")))))
        else:
            forward(connection, frame)

    own = {"sargo.sidecar.address": failing(refusing).address}
    rows, seen, who = run(hive401, TWO_ROWS.format("stored_trips"), own)
    assert (rows, who) == (WANTED, ["REFUSED"])
    assert [(listing.listed, listing.kept, listing.reason) for listing in seen] == [(20, 1, "")]


@pytest.mark.hive_full
def test_many_queries_at_once_while_the_sidecar_dies(hive401: Hive, tmp_path: Path) -> None:
    sidecar = Sidecar(hive401.directory, tmp_path / "log").start()
    threading.Timer(1.5, sidecar.kill).start()
    before = len(hive401.server.log())

    def query(i: int) -> list[Any]:
        table = f"{'native' if i % 2 else 'stored'}_trips"
        settings = {"sargo.sidecar.address": sidecar.address, **BY_SIDECAR}
        with hive401.server.connect(settings) as connection:
            cursor = connection.cursor()
            cursor.execute(f"select id from {table} where id between {i * 60} and {i * 60 + 2}")
            return sorted(row[0] for row in cursor.fetchall())

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(query, range(32)))
    assert results == [[i * 60, i * 60 + 1, i * 60 + 2] for i in range(32)]
    assert set(listers(hive401.server.log()[before:])) & {"SIDECAR_DOWN", "WRONG_ANSWER", "SIDECAR_SLOW"}


# -- what Hudi lists in another way


@pytest.mark.parametrize("setting", ["commit", "mode"])
def test_hudi_lists_what_is_not_the_latest_state(hive401: Hive, setting: str) -> None:
    first = min(path.name.split("_")[0] for path in (hive401.directory / "trips/.hoodie/timeline").glob("*.commit"))
    consume = {"hoodie.trips.consume.commit": first}
    if setting == "mode":
        consume = {
            "hoodie.trips.consume.mode": "INCREMENTAL",
            "hoodie.trips.consume.start.timestamp": first,
            "hoodie.trips.consume.max.commits": "-1",
        }
    sql = f"select id, name from {{}}_trips where id between 309 and 311 and `_hoodie_commit_time` > '{first}'"
    rows, _, who = run(hive401, sql.format("native"), consume)
    want, _, _ = run(hive401, sql.format("plain"), consume)
    assert rows == want
    assert set(who) == {"CONSUME_SETTING"}


def test_hudi_lists_when_the_session_turns_its_metadata_table_off(hive401: Hive) -> None:
    rows, seen, who = run(hive401, TWO_ROWS.format("stored_trips"), {"hoodie.metadata.enable": "false"})
    assert (rows, who) == (WANTED, ["METADATA_DISABLED"])
    assert [(listing.listed, listing.kept) for listing in seen] == [(20, 1)]


@pytest.mark.hive_full
def test_hudi_lists_for_a_join_that_takes_files_for_buckets(hive401: Hive) -> None:
    bucketed(hive401)
    sql = (
        "select count(*), sum(a.id), min(b.id) from bucketed a join bucketed_too b on a.id = b.id "
        "where a.k >= 300 and b.k < 700 and b.name < 'n000007'"
    )
    rows, seen, who = run(hive401, sql, SORT_MERGE)
    assert rows == [(400, 199800, 300)]
    assert set(who) == {"BUCKETED_JOIN"}
    assert {(listing.listed, listing.kept, listing.reason) for listing in seen} == {(8, 8, "BUCKETED_JOIN")}


def test_the_read_optimised_view_has_the_base_files(hive401: Hive) -> None:
    location = f"file://{hive401.directory / 'rides'}"
    (create,) = statements("stored_by.sql", table="base_files_listed", location=location)
    with hive401.server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("DROP TABLE IF EXISTS base_files_listed")
        cursor.execute(f"{create} TBLPROPERTIES ('sargo.view' = 'read_optimized')")
    rows, seen, who = run(hive401, "select id from base_files_listed where k between 100 and 102", {})
    assert (rows, who) == ([(100,), (101,), (102,)], ["sidecar"])
    assert [(listing.listed, listing.kept) for listing in seen] == [(12, 1)]
    before = len(hive401.server.log())
    run(hive401, "select count(*) from base_files_listed", {"sargo.listing": "shadow"})
    assert "shadow listing, same=true" in hive401.server.log()[before:]


# -- the table moves


def test_a_commit_between_listing_and_reading_does_not_mix_in(
    hive401: Hive, failing: Failing, own_table: OwnTable
) -> None:
    """The sidecar lists the table before the commit, and Hive reads it after."""
    name, directory = own_table("rides_before")
    through = failing(lying(hive401.sidecar.port, lambda _: commit(directory)))
    settings = {"sargo.sidecar.address": through.address, "sargo.sidecar.timeout.ms": "20000"}
    rows, seen, who = run(hive401, f"select id from {name} where k between 55 and 56", settings)
    assert (rows, who) == ([(55,), (56,)], ["sidecar"])
    assert [listing.listed for listing in seen] == [12]
    rows, _, who = run(hive401, f"select id from {name} where k >= 100000", {})
    assert (rows, who) == ([(i,) for i in MOVED], ["sidecar"])


def test_hudi_lists_when_the_sidecar_sees_another_timeline(
    hive401: Hive, failing: Failing, own_table: OwnTable
) -> None:
    """The job saw the table before the commit, the sidecar sees it after, and Hudi lists it after."""
    name, directory = own_table("rides_before")
    through = failing(forwarding(hive401.sidecar.port, lambda _: commit(directory)))
    settings = {"sargo.sidecar.address": through.address, "sargo.sidecar.timeout.ms": "20000"}
    rows, _, who = run(hive401, f"select id from {name} where k >= 100000", settings)
    assert (rows, who) == ([(i,) for i in MOVED], ["REFUSED"])


# -- a sidecar that lies


def nothing(plan: Plan) -> None:
    plan.skipped += len(set(plan.slices))
    plan.names, plan.lengths, plan.slices = [], [], []


def test_an_answer_that_is_right_in_everything_is_believed(hive401: Hive, failing: Failing) -> None:
    """This sidecar does harm when its answer has no fault. Without that the next test shows nothing."""
    own = {"sargo.sidecar.address": failing(lying(hive401.sidecar.port, nothing)).address}
    rows, seen, who = run(hive401, TWO_ROWS.format("stored_trips"), own)
    assert (rows, who) == ([], ["sidecar"])
    assert [(listing.listed, listing.kept) for listing in seen] == [(20, 0)]


def with_wrong(**wrong: Any) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        nothing(plan)
        plan.wrong = wrong

    return change


def outside(plan: Plan) -> None:
    plan.names[0] = f"../trips/{plan.names[0]}"


def older(plan: Plan) -> None:
    plan.instant = f"{int(plan.instant) - 1}"
    nothing(plan)


def newer(plan: Plan) -> None:
    plan.instant = f"{int(plan.instant) + 1}"
    nothing(plan)


LIES: dict[str, tuple[Callable[[Plan], None], str]] = {
    "another version": (with_wrong(protocol_version=2), "WRONG_VERSION"),
    "another list of partitions": (with_wrong(digest=1), "WRONG_ANSWER"),
    "another checksum": (with_wrong(checksum=1), "WRONG_ANSWER"),
    "more files than named": (with_wrong(file_count=3), "WRONG_ANSWER"),
    "more slices than listed": (with_wrong(slice_count=1), "WRONG_ANSWER"),
    "no stream": (with_wrong(names=b"", checksum=None), "WRONG_ANSWER"),
    "a file outside the table": (outside, "WRONG_ANSWER"),
    "an instant that is none of the table's": (older, "UNKNOWN_INSTANT"),
    "a newer instant": (newer, "WRONG_ANSWER"),
}


def lies() -> Iterator[Any]:
    for lie in LIES:
        marks = () if lie == "a file outside the table" else (pytest.mark.hive_full,)
        yield pytest.param(lie, marks=marks, id=lie)


@pytest.mark.parametrize("lie", list(lies()))
def test_an_answer_with_a_fault_is_not_believed(hive401: Hive, failing: Failing, lie: str) -> None:
    change, reason = LIES[lie]
    own = {"sargo.sidecar.address": failing(lying(hive401.sidecar.port, change)).address}
    rows, seen, who = run(hive401, TWO_ROWS.format("stored_trips"), own)
    assert (rows, who) == (WANTED, [reason])
    assert [(listing.listed, listing.kept) for listing in seen] == [(20, 1)]


def test_a_wrong_length_turns_the_listing_off_for_this_table(
    hive401: Hive, failing: Failing, own_table: OwnTable
) -> None:
    name, _ = own_table("trips")

    def longer(plan: Plan) -> None:
        plan.lengths[0] += 1

    before = counted(hive401)
    own = {"sargo.sidecar.address": failing(lying(hive401.sidecar.port, longer)).address}
    rows, _, who = run(hive401, TWO_ROWS.format(name), own)
    assert (rows, who) == (WANTED, ["WRONG_LENGTH"])
    rows, seen, who = run(hive401, TWO_ROWS.format(name), {})
    assert (rows, who) == (WANTED, ["TURNED_OFF"])
    assert [(listing.listed, listing.kept) for listing in seen] == [(20, 1)]
    assert run(hive401, TWO_ROWS.format("stored_trips"), {})[2] == ["sidecar"]
    counts = counted(hive401) - before
    assert (counts["listing_turned_off"], counts["listed_by_sidecar"]) == (1, 1)
    assert (counts["listed_by_hudi.wrong_length"], counts["listed_by_hudi.turned_off"]) == (1, 1)


def test_a_file_that_is_gone_lets_hudi_list(hive401: Hive, failing: Failing) -> None:
    def another(plan: Plan) -> None:
        plan.names[0] = re.sub(r"/[0-9a-f]{8}-", "/00000000-", plan.names[0])

    own = {"sargo.sidecar.address": failing(lying(hive401.sidecar.port, another)).address}
    rows, _, who = run(hive401, TWO_ROWS.format("stored_trips2"), own)
    assert (rows, who) == (WANTED, ["FILE_GONE"])
    assert run(hive401, TWO_ROWS.format("stored_trips2"), {})[2] == ["sidecar"]


# -- both listings side by side


@pytest.mark.parametrize(
    ("server", "engine", "table"),
    [
        ("hive401", "tez", "native_trips"),
        ("hive401", "tez", "stored_rides"),
        pytest.param("hive401", "mr", "stored_trips", marks=pytest.mark.hive_full),
        pytest.param("hive401", "tez", "native_flat", marks=pytest.mark.hive_full),
        pytest.param("hive401", "tez", "stored_flat", marks=pytest.mark.hive_full),
        pytest.param("hive401", "mr", "stored_flat_mor", marks=pytest.mark.hive_full),
        pytest.param("hive313", "mr", "native_trips", marks=pytest.mark.hive_full),
        pytest.param("hive313", "mr", "native_rides", marks=pytest.mark.hive_full),
        pytest.param("hive313", "mr", "native_flat_mor", marks=pytest.mark.hive_full),
    ],
)
def test_the_sidecars_listing_is_hudis(server: str, engine: str, table: str, request: pytest.FixtureRequest) -> None:
    hive: Hive = request.getfixturevalue(server)
    settings = {"hive.execution.engine": engine, "hive.fetch.task.conversion": "none"}
    before = len(hive.server.log())
    sql = f"select count(*), sum(k) from {table} where k >= 150"
    rows, _, _ = run(hive, sql, {**settings, "sargo.listing": "shadow"})
    said = re.findall(r"sargo: shadow listing, (.*?) table=", hive.server.log()[before:])
    assert said
    assert all(line.startswith("same=true only_hudi=0 only_sidecar=0 lengths=0 slices=0") for line in said)
    want, _, _ = run(hive, sql, {**settings, "sargo.listing": "hudi"})
    assert rows == want == run(hive, sql, settings)[0]


def test_a_difference_between_the_listings_is_said(hive401: Hive, failing: Failing) -> None:
    def less(plan: Plan) -> None:
        plan.names.pop()
        plan.lengths.pop()
        plan.slices.pop()

    before = len(hive401.server.log())
    own = {"sargo.sidecar.address": failing(lying(hive401.sidecar.port, less)).address, "sargo.listing": "shadow"}
    rows, _, who = run(hive401, TWO_ROWS.format("stored_trips"), own)
    assert (rows, who) == (WANTED, [])
    assert "shadow listing, same=false only_hudi=1 only_sidecar=0" in hive401.server.log()[before:]
