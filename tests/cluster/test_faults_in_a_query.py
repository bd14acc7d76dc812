"""A DataNode, the sidecar or a node with its containers dies while a query's tasks run: its rows are the same."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.cluster import NODEMANAGER
from tests.cluster.compare import totals
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.listings import listings
from tests.hive.test_matrix import rows

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

#: Each row that is counted takes 50 ms: some ten seconds for the files that are kept. Not in the condition, for Hive
#: gives a scan no filter that is not deterministic.
SLEEP = "reflect('java.lang.Thread', 'sleep', cast(50 as bigint))"
QUERY = "select count(*), sum(id), sum(if({0} = 'x', 1, 0)) from {1} where id between 300 and 700"


@pytest.fixture(params=["hudi", "sidecar"])
def cursor(hive: HiveOnYarn, request: pytest.FixtureRequest) -> Iterator[Any]:
    settings = {
        "hive.execution.engine": "tez",
        "sargo.listing": request.param,
        "sargo.sidecar.breaker.ms": "100",
        "hive.fetch.task.conversion": "none",
        "tez.grouping.split-count": "4",
    }
    with hive.server.connect(settings) as connection:
        yield connection.cursor()


def with_fault(hive: HiveOnYarn, cursor: Any, fault: Callable[[], None]) -> None:
    """Runs the slow query, and `fault` as soon as its files are chosen and a task reads them."""
    want = rows(cursor, QUERY.format("'y'", "plain_trips"))
    before = Counter(hive.log().splitlines())
    done: list[Any] = []

    def query() -> None:
        try:
            done.append(rows(cursor, QUERY.format(SLEEP, "stored_trips")))
        except Exception as error:
            done.append(error)

    thread = threading.Thread(target=query, daemon=True)
    thread.start()
    until = time.monotonic() + 120
    while time.monotonic() < until and not done:
        chosen = list(listings("\n".join((Counter(hive.log().splitlines()) - before).elements())))
        if chosen and hive.cluster.tasks():
            break
        time.sleep(0.1)
    time.sleep(2)
    assert not done, f"the query was over before anything could happen: {done}"
    listed, kept = totals(chosen)
    assert 0 < kept < listed
    fault()
    thread.join(400)
    assert done == [want]


def test_a_datanode_dies(hive: HiveOnYarn, cursor: Any) -> None:
    try:
        with_fault(hive, cursor, lambda: hive.cluster.kill("datanode1"))
    finally:
        hive.cluster.restart_datanode("datanode1")


def test_the_sidecar_dies(hive: HiveOnYarn, cursor: Any) -> None:
    try:
        with_fault(hive, cursor, hive.sidecar.kill)
    finally:
        hive.sidecar.start()


def test_a_node_dies_with_its_tasks(hive: HiveOnYarn, cursor: Any) -> None:
    lost: list[str] = []

    def fault() -> None:
        """The node that has no application master: Hive itself does not always survive the loss of that one."""
        masters = hive.cluster.nodes_of("DAGAppMaster") | hive.cluster.nodes_of("MRAppMaster")
        lost.extend(sorted(set(hive.cluster.nodemanagers) - masters)[:1])
        assert lost, "every node has an application master"
        hive.cluster.kill_node(lost[0])

    try:
        with_fault(hive, cursor, fault)
    finally:
        for node in lost:
            hive.cluster.java(node, node, NODEMANAGER)
