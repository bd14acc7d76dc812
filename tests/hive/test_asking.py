"""The jar's requests: how many, over which connection, in which form, to which sidecar, and what it counts."""

from __future__ import annotations

import subprocess
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from handler.sidecar.wire import ThriftCall
from tests.hive.playground import Hive
from tests.hive.server import LOCAL
from tests.hive.sidecars import FailingSidecar, answering, forwarding, skip_everything
from tests.hive.tables import statements
from tests.hive.test_modes import run

pytestmark = pytest.mark.hive

Behaviour = Callable[..., None]


class Requests(list[Any]):
    """The requests that went through to the real sidecar, as they were sent."""

    def __call__(self, call: ThriftCall) -> None:
        request = call.arguments[0]
        self.append((bool(request.names_compressed), request.name_count, bytes(request.names)))


def test_a_fetch_task_asks_once_a_partition_over_one_connection(
    hive401: Hive, failing: Callable[[Behaviour], FailingSidecar]
) -> None:
    requests = Requests()
    through = failing(forwarding(hive401.sidecar.port, requests))
    rows, seen = run(
        hive401,
        ["select id from native_trips where id between 100 and 101"],
        {"sargo.sidecar.address": through.address},
    )
    assert rows == [(100,), (101,)]
    assert [(listing.listed, listing.kept) for listing in seen] == [(5, 1), (5, 0), (5, 0), (5, 0)]
    assert [count for _, count, _ in requests] == [5, 5, 5, 5]
    assert through.connections == 1


def test_names_are_sent_compressed_when_they_are_many(
    hive401: Hive, failing: Callable[[Behaviour], FailingSidecar]
) -> None:
    plain, packed = Requests(), Requests()
    for requests, least in ((plain, "100000"), (packed, "1")):
        through = failing(forwarding(hive401.sidecar.port, requests))
        rows, seen = run(
            hive401,
            ["select id from stored_trips where id between 100 and 101"],
            {"sargo.sidecar.address": through.address, "sargo.names.compress.from": least},
        )
        assert rows == [(100,), (101,)]
        assert [(listing.listed, listing.kept) for listing in seen] == [(20, 1)]
    [(was_packed, count, names)] = packed
    assert was_packed
    assert count == 20
    assert plain == [(False, 20, zlib.decompress(names))]


@pytest.mark.parametrize("engine", ["tez", "mr"])
def test_a_stored_table_names_its_own_sidecar(
    hive401: Hive, failing: Callable[[Behaviour], FailingSidecar], engine: str
) -> None:
    """That sidecar answers "skip everything", so a query without rows has asked it."""
    own = failing(answering(skip_everything)).address
    (create,) = statements("stored_by.sql", table="own_sidecar", location=f"file://{hive401.directory / 'flat'}")
    run(
        hive401,
        [
            "DROP TABLE IF EXISTS own_sidecar",
            create,
            f"ALTER TABLE own_sidecar SET TBLPROPERTIES ('sargo.sidecar.address' = '{own}')",
        ],
    )
    for sql, none in (
        ("select id from own_sidecar where id = 312", []),
        ("select count(*) from own_sidecar where id between 312 and 313", [(0,)]),
    ):
        rows, seen = run(hive401, [sql], {"hive.execution.engine": engine})
        assert rows == none
        assert [listing.kept for listing in seen] == [0]


def counted(hive: Hive) -> Counter[str]:
    done = subprocess.run(
        ["java", str(LOCAL / "Counters.java"), str(hive.server.pid)], check=True, capture_output=True, text=True
    )
    return Counter({name: int(count) for name, _, count in (line.partition("=") for line in done.stdout.splitlines())})


def test_what_jmx_counts(hive401: Hive) -> None:
    run(hive401, ["select id from stored_flat where id = 312"])
    before = counted(hive401)
    run(hive401, ["select id from stored_flat where id = 312"])
    run(hive401, ["select id from stored_flat where id = 312"], {"sargo.enabled": "false"})
    run(hive401, ["select id from stored_flat"])
    assert counted(hive401) - before == Counter(
        {"files_listed": 24, "files_skipped": 7, "kept_all.disabled": 1, "kept_all.no_filter": 1}
    )
