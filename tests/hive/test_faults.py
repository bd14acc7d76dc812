"""A sidecar that is down, slow, wrong or out of date: the rows stay right, and the log says why nothing was skipped."""

from __future__ import annotations

import socket
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from handler.sidecar.idl import Refused, refuse
from handler.sidecar.wire import ThriftCall, failure, result
from tests.hive.listings import Listing, listings
from tests.hive.playground import Hive
from tests.hive.server import free_port
from tests.hive.sidecars import FailingSidecar, Sidecar, answering, forwarding, framed, skip_everything
from tests.hive.tables import DATA, statements

pytestmark = pytest.mark.hive

TWO_ROWS = "select id from stored_trips where id between 100 and 101"
Failing = Callable[[Callable[[socket.socket, bytes], None]], FailingSidecar]


def ask(hive: Hive, sql: str, **settings: str) -> tuple[list[Any], list[Listing]]:
    """The rows, sorted, and the jar's listings; `sargo_sidecar_address` stands for sargo.sidecar.address."""
    before = len(hive.server.log())
    with hive.server.connect({name.replace("_", "."): value for name, value in settings.items()}) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        rows = sorted(row[0] if len(row) == 1 else row for row in cursor.fetchall())
    return rows, list(listings(hive.server.log()[before:]))


def reasons(seen: list[Listing]) -> list[str]:
    return [listing.reason for listing in seen]


def test_an_answer_that_is_right_in_everything_is_believed(hive401: Hive, failing: Failing) -> None:
    """This sidecar does harm when its answer has no fault. Without that the other tests of this file show nothing."""
    rows, seen = ask(hive401, TWO_ROWS, sargo_sidecar_address=failing(answering(skip_everything)).address)
    assert rows == []
    assert [(listing.listed, listing.kept) for listing in seen] == [(20, 0)]


def cut(call: ThriftCall) -> bytes:
    return skip_everything(call)[:40]


def another_call(call: ThriftCall) -> bytes:
    return skip_everything(ThriftCall(call.method, call.sequence + 7, call.arguments))


WRONG: dict[str, tuple[Callable[[ThriftCall], bytes], str]] = {
    "another version": (lambda call: skip_everything(call, protocol_version=2), "WRONG_VERSION"),
    "fewer names": (lambda call: skip_everything(call, name_count=lambda n: n - 1), "WRONG_ANSWER"),
    "another list": (lambda call: skip_everything(call, digest=lambda crc: crc ^ 1), "WRONG_ANSWER"),
    "no digest": (lambda call: skip_everything(call, digest=None), "WRONG_ANSWER"),
    "too few bits": (lambda call: skip_everything(call, skip=lambda bits: bits[:-1]), "WRONG_ANSWER"),
    "too many bits": (lambda call: skip_everything(call, skip=lambda bits: bits + b"\xff"), "WRONG_ANSWER"),
    "bits beyond the last name": (lambda call: skip_everything(call, skip=b"\xff\xff\xff", skipped=24), "WRONG_ANSWER"),
    "another count of bits": (lambda call: skip_everything(call, skipped=3), "WRONG_ANSWER"),
    "an answer to another call": (another_call, "WRONG_ANSWER"),
    "an error": (lambda call: framed(failure(call, "no")), "WRONG_ANSWER"),
    "a refusal": (lambda call: framed(result(call, refused=refuse(Refused("table", "no")))), "REFUSED"),
    "a refusal of the version": (
        lambda call: framed(result(call, refused=refuse(Refused("version", "no")))),
        "WRONG_VERSION",
    ),
    "another protocol": (lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n", "WRONG_ANSWER"),
    "an empty frame": (lambda _: framed(b""), "WRONG_ANSWER"),
    "noise in a frame": (lambda _: framed(bytes(range(256)) * 4), "WRONG_ANSWER"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_skips_nothing(hive401: Hive, failing: Failing, wrong: str) -> None:
    answer, reason = WRONG[wrong]
    rows, seen = ask(hive401, TWO_ROWS, sargo_sidecar_address=failing(answering(answer)).address)
    assert rows == [100, 101]
    assert reasons(seen) == [reason]


def hang(connection: socket.socket, frame: bytes) -> None:
    time.sleep(20)


def drip(connection: socket.socket, frame: bytes) -> None:
    """Sends a byte before every time-out, and is not done within it."""
    for byte in b"\x00\x00\x01\x00" + bytes(256):
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


def close(connection: socket.socket, frame: bytes) -> None:
    connection.close()


def cut_short(connection: socket.socket, frame: bytes) -> None:
    connection.sendall(b"\x00\x00\x01\x00half")
    connection.close()


@pytest.mark.parametrize(
    ("behave", "reason"),
    [(hang, "SIDECAR_SLOW"), (drip, "SIDECAR_SLOW"), (close, "WRONG_ANSWER"), (cut_short, "WRONG_ANSWER")],
)
def test_a_failing_sidecar_is_left_alone_after_two_failures(
    hive401: Hive, failing: Failing, behave: Callable[[socket.socket, bytes], None], reason: str
) -> None:
    """A fetch task asks once a partition: four times here."""
    sidecar = failing(behave)
    rows, seen = ask(
        hive401,
        TWO_ROWS.replace("stored", "native"),
        sargo_sidecar_address=sidecar.address,
        sargo_sidecar_timeout_ms="300",
    )
    assert rows == [100, 101]
    assert reasons(seen) == [reason, reason, "BREAKER_OPEN", "BREAKER_OPEN"]
    assert sidecar.calls == 2


def test_a_sidecar_that_comes_back_is_asked_again(hive401: Hive, tmp_path: Path) -> None:
    port = free_port()
    settings = {
        "sargo_sidecar_address": f"127.0.0.1:{port}",
        "sargo_sidecar_breaker_ms": "500",
        "sargo_sidecar_timeout_ms": "20000",
    }
    native = TWO_ROWS.replace("stored", "native")
    rows, seen = ask(hive401, native, **settings)
    assert rows == [100, 101]
    assert set(reasons(seen)) == {"SIDECAR_DOWN", "BREAKER_OPEN"}
    sidecar = Sidecar(hive401.directory, tmp_path / "log", port).start()
    try:
        time.sleep(0.6)
        rows, seen = ask(hive401, native, **settings)
        assert rows == [100, 101]
        assert sum(listing.kept for listing in seen) == 1
    finally:
        sidecar.stop()


def test_many_queries_at_once_while_the_sidecar_dies(hive401: Hive, tmp_path: Path) -> None:
    sidecar = Sidecar(hive401.directory, tmp_path / "log").start()
    threading.Timer(1.5, sidecar.kill).start()
    before = len(hive401.server.log())

    def query(i: int) -> list[Any]:
        with hive401.server.connect({"sargo.sidecar.address": sidecar.address}) as connection:
            cursor = connection.cursor()
            cursor.execute(
                f"select id from {'native' if i % 2 else 'stored'}_trips where id between {i * 60} and {i * 60 + 2}"
            )
            return sorted(row[0] for row in cursor.fetchall())

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(query, range(32)))
    assert results == [[i * 60, i * 60 + 1, i * 60 + 2] for i in range(32)]
    logged = set(reasons(list(listings(hive401.server.log()[before:]))))
    assert logged & {"SIDECAR_DOWN", "WRONG_ANSWER", "SIDECAR_SLOW"}


@pytest.mark.hive_full
def test_thirty_two_queries_at_once(hive401: Hive) -> None:
    before = len(hive401.server.log())

    def query(i: int) -> list[Any]:
        with hive401.server.connect({"sargo.sidecar.timeout.ms": "20000"}) as connection:
            cursor = connection.cursor()
            cursor.execute(f"select id from {('native', 'stored')[i % 2]}_trips where k = {i * 61}")
            return [row[0] for row in cursor.fetchall()]

    with ThreadPoolExecutor(32) as pool:
        assert list(pool.map(query, range(32))) == [[i * 61] for i in range(32)]
    seen = list(listings(hive401.server.log()[before:]))
    assert set(reasons(seen)) == {""}
    assert sum(listing.kept for listing in seen) == 32


# -- the table moves between Hive's listing and the sidecar's answer

MOVED = [55, 56, 255, 256, 455, 456]


def commit(directory: Path) -> None:
    """rides_before becomes rides: three commits with log files."""
    with zipfile.ZipFile(DATA / "rides.zip") as archive:
        archive.extractall(directory)


@pytest.fixture
def moving(hive401: Hive, request: pytest.FixtureRequest) -> tuple[str, Path]:
    """A MERGE_ON_READ table without log files, as a table of Hive, and its directory."""
    name = f"moving_{request.node.name.split('[')[0][-20:]}".lower()
    directory = hive401.directory / name
    with zipfile.ZipFile(DATA / "rides_before.zip") as archive:
        archive.extractall(directory)
    with hive401.server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in statements("stored_by.sql", table=name, location=f"file://{directory}"):
            cursor.execute(statement)
    return name, directory


def test_an_answer_for_another_instant_skips_nothing(hive401: Hive, failing: Failing) -> None:
    rows, seen = ask(
        hive401,
        "select id from stored_rides where k >= 100000",
        sargo_sidecar_address=failing(answering(skip_everything)).address,
    )
    assert rows == MOVED
    assert reasons(seen) == ["WRONG_ANSWER"]


def test_a_commit_between_listing_and_answer_does_not_mix_in(
    hive401: Hive, failing: Failing, moving: tuple[str, Path]
) -> None:
    """Hive listed the table before the commit; the sidecar sees it after."""
    name, directory = moving
    commit_then_forward = forwarding(hive401.sidecar.port, lambda _: commit(directory))
    rows, seen = ask(
        hive401,
        f"select id from {name} where k between 55 and 56",
        sargo_sidecar_address=failing(commit_then_forward).address,
        sargo_sidecar_timeout_ms="20000",
    )
    assert rows == [55, 56]
    assert [listing.listed for listing in seen] == [12]


def test_a_sidecar_that_has_not_seen_the_commit_does_not_lose_its_rows(
    hive401: Hive, moving: tuple[str, Path], tmp_path: Path
) -> None:
    """Hive lists the table after the commit; the sidecar still answers as of before, when no row was above 599."""
    name, directory = moving
    late = Sidecar(hive401.directory, tmp_path / "log", more=("--refresh-seconds", "3600")).start()
    try:
        settings = {"sargo_sidecar_address": late.address, "sargo_sidecar_timeout_ms": "20000"}
        sql = f"select id from {name} where k >= 100000"
        rows, seen = ask(hive401, sql, **settings)
        assert rows == []
        assert [(listing.listed, listing.kept) for listing in seen] == [(12, 0)]
        commit(directory)
        rows, seen = ask(hive401, sql, **settings)
        assert rows == MOVED
    finally:
        late.stop()
