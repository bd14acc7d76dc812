"""HiveServer2 that runs each query as the user who asks (enable.doAs): rows and kept files are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.compare import seen_after, totals
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.cluster.test_faults import SQL
from tests.hive.test_matrix import rows

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def impersonating(yarn: Cluster, tables: Path) -> Iterator[HiveOnYarn]:
    with HiveOnYarn(yarn, tables, "do_as", {"hive.server2.enable.doAs": "true"}) as found:
        yield found


@pytest.mark.parametrize("kind", ["native", "stored"])
def test_a_query_runs_as_its_user_and_skips_files(impersonating: HiveOnYarn, cluster: Cluster, kind: str) -> None:
    with impersonating.server.connect({"hive.execution.engine": "tez"}) as connection:
        cursor = connection.cursor()
        want = rows(cursor, SQL.format("plain_trips"))
        before = Counter(impersonating.log().splitlines())
        assert rows(cursor, SQL.format(f"{kind}_trips")) == want
        listed, kept = totals(seen_after(impersonating, before, (20, 2)))
        assert (listed, 0 < kept < listed) == (20, True)
    assert "/user/sargo" in cluster.client().folders("/user")  # of the user who asked, not of who runs the server
