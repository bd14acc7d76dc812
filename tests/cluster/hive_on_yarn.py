"""HiveServer2 4.0.1 on the cluster: Tez and MapReduce in containers of YARN, tables and sidecar on HDFS.

Hudi and the jar under test come by hive.aux.jars.path alone, as an administrator would set it: nothing of either is on
HiveServer2's own class path. The sidecar reads HDFS without Java.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from tests.cluster.cluster import CONTAINER_MB, Cluster, built
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_4, Server, build, build_jar, site
from tests.hive.sidecars import Sidecar
from tests.hive.tables import register

HEAP = f"-Xmx{CONTAINER_MB - 112}m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class _Server(Server):
    """HiveServer2 as a client of the cluster."""

    def __init__(self, cluster: Cluster, home: Path, settings: dict[str, str]) -> None:
        super().__init__(HIVE_4, home, settings)
        self.cluster = cluster

    def class_path(self) -> list[Path]:
        parts = [path for path in build(self.stack) if path.parent.name != "hudi"]
        return [self.home / "conf", self.cluster.conf, *parts]

    def start(self, patience: float = 300) -> None:
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        (self.home / "conf" / "tez-site.xml").write_text(
            site(
                **{
                    "tez.lib.uris": f"{self.cluster.hdfs}/apps/tez.tar.gz",
                    "tez.use.cluster.hadoop-libs": "false",
                    "tez.am.resource.memory.mb": str(CONTAINER_MB),
                    "tez.am.launch.cmd-opts": HEAP,
                    "tez.task.resource.memory.mb": str(CONTAINER_MB),
                    "tez.runtime.io.sort.mb": "64",
                    "tez.runtime.unordered.output.buffer.size-mb": "16",
                    "tez.staging-dir": "/tmp/tez",
                    # One or two tasks a scan: each is a JVM that two processors have to start.
                    "tez.grouping.split-waves": "0.2",
                }
            )
        )
        super().start(patience)

    def core_site(self) -> Path:
        return self.cluster.conf / "core-site.xml"


class HiveOnYarn:
    """The server, its tables and its sidecar. ``more``: settings of hive-site.xml beside those below."""

    def __init__(self, cluster: Cluster, tables: Path, name: str = "hive", more: dict[str, str] | None = None) -> None:
        self.cluster = cluster
        self.directory = tables
        home = cluster.home / name
        aux = home / "aux"
        aux.mkdir(parents=True)
        for jar in (built("hudi") / "hudi.jar", build_jar()):
            shutil.copy(jar, aux)
        self.sidecar = Sidecar(f"{cluster.hdfs}/lake", home / "sidecar.log")
        unset = ("tez.local.mode", "tez.local.mode.without.network", "tez.ignore.lib.uris")
        settings = {
            "hive.aux.jars.path": ",".join(f"file://{jar}" for jar in sorted(aux.iterdir())),
            "sargo.sidecar.address": self.sidecar.address,
            **PATIENT,
            "sargo.listing": "hudi",
            "fs.defaultFS": cluster.hdfs,
            "hive.execution.engine": "tez",
            "mapreduce.framework.name": "yarn",
            "hive.metastore.warehouse.dir": "/user/hive/warehouse",
            "hive.metastore.warehouse.external.dir": "/user/hive/external",
            "hive.exec.scratchdir": "/tmp/hive",
            "hive.user.install.directory": "/user",
            "hadoop.tmp.dir": f"{cluster.home}/tmp",
            "tez.staging-dir": "/tmp/tez",
            "tez.runtime.optimize.local.fetch": "true",
            "hive.tez.container.size": str(CONTAINER_MB),
            "hive.tez.java.opts": HEAP,
            **dict.fromkeys(unset, "false"),
            **(more or {}),
        }
        self.server = _Server(cluster, home, settings)

    def __enter__(self) -> HiveOnYarn:
        self._put_tez()
        try:
            self.sidecar.start()
            self.server.start()
            with self.server.connect() as connection:
                register(connection.cursor(), f"{self.cluster.hdfs}/lake")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        self.server.stop()
        self.sidecar.stop()

    def log(self) -> str:
        """What the jar has said so far, in HiveServer2 and in all containers."""
        return self.server.log() + self.cluster.container_logs()

    def _put_tez(self) -> None:
        archive = self.cluster.home / "tmp" / "tez.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
            for jar in _jars():
                packed.add(jar, jar.name)
        self.cluster.put(archive, "/apps")
        archive.unlink()


def _jars() -> Iterator[Path]:
    yield from sorted((built("tez") / "lib").glob("*.jar"))
