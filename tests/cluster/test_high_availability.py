"""A nameservice with two NameNodes: hdfs-native follows the active one, and goes on when that one is killed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.sidecar.client import Client
from index_store.storage.errors import TransientError
from index_store.storage.storage import Storage
from tests.cluster.cluster import DATANODE, NAMENODE, Cluster
from tests.cluster.test_kerberos import ANY_FILTER
from tests.hive.server import free_port
from tests.hive.sidecars import Sidecar
from tests.hive.tables import unpack

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
ADMIN = "org.apache.hadoop.hdfs.tools.DFSHAAdmin"
TABLE = "hdfs://lake/lake/flat"


class Pair(Cluster):
    """Two NameNodes that share their edits by a folder, nn1 active at first. Nobody fails over but ``activate``."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, datanodes=1, nodemanagers=0)
        self.hdfs = "hdfs://lake"
        self.extra = {
            "fs.defaultFS": "hdfs://lake",
            "dfs.nameservices": "lake",
            "dfs.ha.namenodes.lake": "nn1, nn2",
            "dfs.namenode.shared.edits.dir": f"file://{home}/data/edits",
            "dfs.ha.fencing.methods": "shell(/bin/true)",
            "dfs.ha.nn.not-become-active-in-safemode": "false",
            "dfs.client.failover.proxy.provider.lake": "org.apache.hadoop.hdfs.server.namenode.ha."
            "ConfiguredFailoverProxyProvider",
        }
        for node in ("nn1", "nn2"):
            self.extra[f"dfs.namenode.rpc-address.lake.{node}"] = f"localhost:{free_port()}"
            self.extra[f"dfs.namenode.http-address.lake.{node}"] = f"localhost:{free_port()}"
        self.conf = self.configured("client")

    def start(self) -> None:
        for node in ("nn1", "nn2"):
            own = {"dfs.ha.namenode.id": node, "dfs.namenode.name.dir": f"file://{self.home}/data/{node}"}
            before, self.extra = self.extra, {**self.extra, **own}
            self.configured(node)
            self.extra = before
        self.done("format", "nn1", NAMENODE, "-format", "-nonInteractive")
        shutil.copytree(self.home / "data/nn1", self.home / "data/nn2")
        for node in ("nn1", "nn2"):
            self.java(node, node, NAMENODE)
        self.configured("datanode1")
        self.java("datanode1", "datanode1", DATANODE)
        self.activate("nn1")

    def activate(self, node: str) -> None:
        until = time.monotonic() + 60
        while self.java("admin", "client", ADMIN, "-transitionToActive", "--forceactive", node).wait(60):
            if time.monotonic() > until:
                raise RuntimeError((self.home / "log/admin.log").read_text()[-3000:])
            time.sleep(1)
        self.processes.pop("admin")

    def done(self, name: str, node: str, main: str, *arguments: str) -> None:
        if self.java(name, node, main, *arguments).wait(120):
            raise RuntimeError((self.home / "log" / f"{name}.log").read_text()[-3000:])
        self.processes.pop(name)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with pytest.MonkeyPatch.context() as patch, Pair(tmp_path_factory.mktemp("pair").resolve()) as found:
        patch.setenv("HADOOP_CONF_DIR", str(found.conf))
        found.start()
        tables = unpack(tmp_path_factory.mktemp("tables"))
        for attempt in range(30):  # until the DataNode has reported
            try:
                found.put(tables / "flat", "/lake/flat")
                break
            except OSError:
                if attempt == 29:
                    raise
                time.sleep(1)
        yield found


def test_the_other_namenode_answers_when_the_active_one_is_killed(pair: Pair, tmp_path: Path) -> None:
    sidecar = Sidecar("hdfs://lake/lake", tmp_path / "log", more=("--refresh-seconds", "0")).start()
    try:
        client, storage = Client(sidecar.address, 60), Storage.at(TABLE, None, {"client": "native", "tries": "1"})
        files = storage.files(recursive=True)
        first = client.prune(TABLE, ANY_FILTER.encode(), ["a.parquet"])
        assert (bool(first.instant), len(files) > 1) == (True, True)
        assert Storage.at(f"hdfs://{pair.extra['dfs.namenode.rpc-address.lake.nn1']}/lake/flat").files(recursive=True)

        pair.kill("nn1")
        with pytest.raises(TransientError):  # the other one is standby, and an error comes soon
            storage.afresh().files(recursive=True)
        kept = client.prune(TABLE, ANY_FILTER.encode(), ["a.parquet"])  # of the state that it has
        assert kept.instant == first.instant

        pair.activate("nn2")
        assert storage.afresh().files(recursive=True) == files
        until = time.monotonic() + 60  # the sidecar answers from the state that it has until a look succeeds
        while "could not be read" in " ".join(client.prune(TABLE, ANY_FILTER.encode(), ["a.parquet"]).reasons):
            assert time.monotonic() < until, (tmp_path / "log").read_text()[-3000:]
            time.sleep(1)
        assert client.prune(TABLE, ANY_FILTER.encode(), ["a.parquet"]).instant == first.instant
    finally:
        sidecar.stop()
