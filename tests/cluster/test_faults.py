"""A DataNode, the sidecar and a NodeManager are killed between queries: rows stay those of the unpruned query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.compare import seen_after, totals
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.test_matrix import rows

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

SQL = "select count(*), max(d), min(price), sum(maybe) from {} where k < 150"
#: A filter nobody has asked before needs blocks that no cache holds.
OTHER = "select count(*), max(d), min(price), sum(maybe) from {} where k >= 1900 and id > 3"


@pytest.fixture
def cursor(hive: HiveOnYarn) -> Iterator[Any]:
    with hive.server.connect({"hive.execution.engine": "tez", "sargo.sidecar.breaker.ms": "100"}) as connection:
        yield connection.cursor()


def asked(hive: HiveOnYarn, cursor: Any, sql: str = SQL) -> tuple[int, int, set[str]]:
    """Files listed and kept, and the reasons. Asserts that the rows are those of Hudi's own format."""
    want = rows(cursor, sql.format("plain_trips"))
    before = Counter(hive.log().splitlines())
    assert rows(cursor, sql.format("stored_trips")) == want
    seen = seen_after(hive, before, None) or seen_after(hive, before, (20, 2))
    return (*totals(seen), {one.reason for one in seen})


def test_a_datanode_dies(hive: HiveOnYarn, cursor: Any) -> None:
    listed, kept, _ = asked(hive, cursor)
    assert kept < listed
    hive.cluster.kill("datanode1")
    try:
        listed, kept, _ = asked(hive, cursor, OTHER)
        assert kept < listed
    finally:
        hive.cluster.restart_datanode("datanode1")


def test_the_sidecar_dies_and_comes_back(hive: HiveOnYarn, cursor: Any) -> None:
    assert asked(hive, cursor)[1] < 20
    hive.sidecar.kill()
    listed, kept, reasons = asked(hive, cursor)
    assert (listed, kept) == (20, 20)
    assert not reasons & {"", "NO_FILTER"}
    hive.sidecar.start()
    assert asked(hive, cursor)[1] < 20


def test_an_address_that_is_another_machines_loopback_reads_everything_and_is_named(
    hive: HiveOnYarn, cursor: Any
) -> None:
    cursor.execute("set sargo.sidecar.address=127.0.0.1:9")  # as on a node that has no sidecar
    listed, kept, _ = asked(hive, cursor)
    assert (listed, kept) == (20, 20)
    assert "loopback" in hive.cluster.container_logs()


def test_a_nodemanager_dies(hive: HiveOnYarn, cursor: Any) -> None:
    assert asked(hive, cursor)[1] < 20
    hive.cluster.kill("nodemanager2")
    try:
        listed, kept, _ = asked(hive, cursor, OTHER)
        assert kept < listed
    finally:
        hive.cluster.java("nodemanager2", "nodemanager2", "org.apache.hadoop.yarn.server.nodemanager.NodeManager")
