"""One HiveServer2 a version and session, with the real sidecar beside it; started when the first test wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hive.server import HIVE_3, HIVE_4, Server, Stack
from tests.hive.sidecars import FailingSidecar, Sidecar
from tests.hive.tables import register, unpack

class Hive:
    """A running server, its tables and its sidecar."""

    def __init__(self, stack: Stack, home: Path) -> None:
        self.directory = unpack(home / "tables")
        self.sidecar = Sidecar(self.directory, home / "sidecar.log").start()
        self.server = Server(stack, home / stack.name, {"sargo.sidecar.address": self.sidecar.address})
        try:
            self.server.start()
            with self.server.connect() as connection:
                register(connection.cursor(), self.directory)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self.server.stop()
        self.sidecar.stop()


def running(stack: Stack, home: Path) -> Iterator[Hive]:
    hive = Hive(stack, home)
    yield hive
    hive.stop()


@pytest.fixture(scope="session")
def hive401(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hive]:
    yield from running(HIVE_4, tmp_path_factory.mktemp("hive401"))


@pytest.fixture(scope="session")
def hive313(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hive]:
    yield from running(HIVE_3, tmp_path_factory.mktemp("hive313"))


@pytest.fixture
def failing() -> Iterator[Callable[..., FailingSidecar]]:
    """Makes sidecars that fail, and stops them."""
    made: list[FailingSidecar] = []

    def make(behave: Callable[..., None]) -> FailingSidecar:
        made.append(FailingSidecar(behave))
        return made[-1]

    yield make
    for one in made:
        one.stop()
