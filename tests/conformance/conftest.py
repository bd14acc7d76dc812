"""The tables, unpacked and opened once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handler import open_table
from index_store.opened_table import OpenTable
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, unpack
from tests.handler.spark.conftest import spark as spark


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``folders("1.2.0_wide_cow")``: the folder of that table."""
    root = tmp_path_factory.mktemp("conformance")
    unpacked: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in unpacked:
            unpacked[name] = unpack(name, root)
        return unpacked[name]

    return folder


@pytest.fixture(scope="session")
def kept(opened: dict[str, OpenTable]) -> Kept:
    return Kept(opened)


@pytest.fixture(scope="session")
def opened(folders: Callable[[str], Path]) -> dict[str, OpenTable]:
    return {name: open_table(folders(name)) for name in TABLES}
