"""The packed tables of TPC-H, unpacked once."""

from __future__ import annotations

import pytest

from tests.tpch.measure import Table, tables
from tests.tpch.tables import unpack


@pytest.fixture(scope="session")
def tpch_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return tables(unpack(tmp_path_factory.mktemp("tpch")))
