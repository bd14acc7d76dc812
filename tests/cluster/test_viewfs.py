"""Tables that Hive names by a mount table: viewfs://lake/tables is a folder of HDFS."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.compare import seen_after, totals
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.cluster.test_faults import SQL
from tests.hive.server import site
from tests.hive.test_matrix import rows

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def mounted(yarn: Cluster, tables: Path) -> Iterator[HiveOnYarn]:
    mounts = {"fs.viewfs.mounttable.lake.link./tables": f"{yarn.hdfs}/lake"}
    conf = yarn.home / "conf" / "mounts"
    shutil.copytree(yarn.conf, conf)
    (conf / "core-site.xml").write_text(site(conf / "core-site.xml", **mounts))
    variables = {"HADOOP_CONF_DIR": str(conf)}
    with HiveOnYarn(yarn, tables, "mounted", mounts, "viewfs://lake/tables", variables=variables) as found:
        yield found


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize("kind", ["native", "stored"])
def test_a_query_through_mounts_skips_files(mounted: HiveOnYarn, kind: str, listing: str) -> None:
    with mounted.server.connect({"hive.execution.engine": "tez", "sargo.listing": listing}) as connection:
        cursor = connection.cursor()
        want = rows(cursor, SQL.format("plain_trips"))
        before = Counter(mounted.log().splitlines())
        assert rows(cursor, SQL.format(f"{kind}_trips")) == want
        listed, kept = totals(seen_after(mounted, before, (20, 2)))
        assert (listed, 0 < kept < listed) == (20, True)
