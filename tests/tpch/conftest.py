"""The packed tables of TPC-H, unpacked once."""

from __future__ import annotations

import pytest

from tests.tpc.benchmark import benchmark
from tests.tpc.measure import Table, tables
from tests.tpc.tables import unpack


@pytest.fixture(scope="session")
def tpch_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return tables("tpch", unpack(tmp_path_factory.mktemp("tpch"), benchmark("tpch").archive))
