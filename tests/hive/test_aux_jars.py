"""The jar by hive.aux.jars.path alone: each session has a class loader of its own, which ends with the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hive.listings import listings
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_3, HIVE_4, Server, Stack, build, build_jar
from tests.hive.sidecars import Sidecar
from tests.hive.tables import register, unpack
from tests.hive.test_matrix import rows

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]

FETCH = "select id, dt, name from {} where id between 309 and 311"


class AuxServer(Server):
    """Nothing of the jar is on HiveServer2's own class path."""

    def class_path(self) -> list[Path]:
        return [self.home / "conf", *build(self.stack)]


@pytest.fixture(params=[HIVE_4, HIVE_3], ids=lambda stack: stack.name)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    stack: Stack = request.param
    tables = unpack(tmp_path / "tables")
    sidecar = Sidecar(tables, tmp_path / "sidecar.log").start()
    aux = {"hive.aux.jars.path": f"file://{build_jar()}", "sargo.sidecar.address": sidecar.address, **PATIENT}
    found = AuxServer(stack, tmp_path / "home", aux)
    try:
        found.start()
        with found.connect() as connection:
            register(connection.cursor(), str(tables))
        yield found
    finally:
        found.stop()
        sidecar.stop()


def fetched(server: Server, kind: str, listing: str) -> Any:
    """Rows of a fetch task in a session of its own, which is closed."""
    with server.connect({"sargo.listing": listing}) as connection:
        return rows(connection.cursor(), FETCH.format(f"{kind}_trips"))


def test_a_session_reads_what_an_earlier_one_has_left_half_loaded(server: Server) -> None:
    """A fetch task has the input format that the first session loaded; its loader is closed by now."""
    for kind in ("native", "stored"):
        want = fetched(server, "plain", "hudi")
        for listing in ("hudi", "sidecar", "shadow", "sidecar"):
            before = len(list(listings(server.log())))
            assert fetched(server, kind, listing) == want
            seen = list(listings(server.log()))[before:]
            assert sum(one.kept for one in seen) < sum(one.listed for one in seen), (kind, listing)
