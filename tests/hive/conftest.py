"""One HiveServer2 a version and session, with the real sidecar beside it; started when the first test wants it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hive.playground import Hive
from tests.hive.server import HIVE_3, HIVE_4, Stack
from tests.hive.sidecars import FailingSidecar


def running(stack: Stack, factory: pytest.TempPathFactory) -> Iterator[Hive]:
    """A server for this session; or that of the playground in the directory that SARGO_HIVE_PLAYGROUND names."""
    playground = Path(os.environ.get("SARGO_HIVE_PLAYGROUND", "")) / stack.name
    if (playground / "port").exists():
        yield Hive.attach(stack, playground)
        return
    hive = Hive.start(stack, factory.mktemp(stack.name))
    yield hive
    hive.stop()


@pytest.fixture(scope="session")
def hive401(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hive]:
    yield from running(HIVE_4, tmp_path_factory)


@pytest.fixture(scope="session")
def hive313(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hive]:
    yield from running(HIVE_3, tmp_path_factory)


@pytest.fixture
def failing() -> Iterator[Callable[..., FailingSidecar]]:
    """Makes sidecars that fail, and stops them."""
    made: list[FailingSidecar] = []

    def make(behave: Callable[..., None]) -> FailingSidecar:
        made.append(FailingSidecar(behave))
        return made[-1]

    yield make
    for sidecar in made:
        sidecar.stop()
