"""The packed tables of TPC-DS, unpacked once."""

from __future__ import annotations

import pytest

from tests.tpc.benchmark import benchmark
from tests.tpc.measure import Table, tables
from tests.tpc.tables import unpack


@pytest.fixture(scope="session")
def tpcds_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return tables("tpcds", unpack(tmp_path_factory.mktemp("tpcds"), benchmark("tpcds").archive))
