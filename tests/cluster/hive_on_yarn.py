"""HiveServer2 on the cluster: Tez and MapReduce in containers of YARN, tables and sidecar on HDFS.

Hudi and the jar under test come by hive.aux.jars.path alone, as an administrator would set it: nothing of either is on
HiveServer2's own class path. The sidecar reads HDFS without Java.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from tests.cluster.cluster import CONTAINER_MB, Cluster, built
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_3, HIVE_4, Server, Stack, build, build_jar, site
from tests.hive.sidecars import Sidecar
from tests.hive.tables import register

HEAP = f"-Xmx{CONTAINER_MB - 112}m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class _Server(Server):
    """HiveServer2 as a client of the cluster."""

    def __init__(self, stack: Stack, cluster: Cluster, home: Path, settings: dict[str, str]) -> None:
        super().__init__(stack, home, settings)
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
    """The server, its tables and its sidecar.

    ``more``: settings of hive-site.xml beside those below. ``lake``: where the tables are for Hive and for the sidecar.
    ``options`` and ``variables``: the sidecar's flags, and what its environment has beside this process's.
    """

    stack = HIVE_4

    def __init__(
        self,
        cluster: Cluster,
        tables: Path,
        name: str = "hive",
        more: Mapping[str, str] | None = None,
        lake: str = "",
        options: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.cluster = cluster
        self.lake = lake or f"{cluster.hdfs}/lake"
        self.directory = tables
        home = cluster.home / name
        aux = home / "aux"
        aux.mkdir(parents=True)
        for jar in (built("hudi") / "hudi.jar", build_jar()):
            shutil.copy(jar, aux)
        self.sidecar = Sidecar(self.lake, home / "sidecar.log", more=options, environment=variables)
        settings = {
            "hive.aux.jars.path": ",".join(f"file://{jar}" for jar in sorted(aux.iterdir())),
            "sargo.sidecar.address": self.sidecar.address,
            **PATIENT,
            "fs.defaultFS": cluster.hdfs,
            "mapreduce.framework.name": "yarn",
            "hive.metastore.warehouse.dir": "/user/hive/warehouse",
            "hive.metastore.warehouse.external.dir": "/user/hive/external",
            "hive.exec.scratchdir": "/tmp/hive",
            "hive.user.install.directory": "/user",
            "hadoop.tmp.dir": f"{cluster.home}/tmp",
            **self.of_engine(),
            **(more or {}),
        }
        self._sessions: dict[str, Any] = {}
        self.server = _Server(self.stack, cluster, home, settings)

    def of_engine(self) -> dict[str, str]:
        unset = ("tez.local.mode", "tez.local.mode.without.network", "tez.ignore.lib.uris")
        return {
            "hive.execution.engine": "tez",
            "tez.staging-dir": "/tmp/tez",
            "tez.runtime.optimize.local.fetch": "true",
            "hive.tez.container.size": str(CONTAINER_MB),
            "hive.tez.java.opts": HEAP,
            **dict.fromkeys(unset, "false"),
        }

    def __enter__(self) -> Self:
        self.prepare()
        try:
            self.sidecar.start()
            self.server.start()
            with self.server.connect() as connection:
                register(connection.cursor(), self.lake)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        self.server.stop()
        self.sidecar.stop()

    def session(self, name: str, settings: Mapping[str, str]) -> Any:
        """A session that stays open: the first query of each waits for an application master."""
        if name not in self._sessions:
            self._sessions[name] = self.server.connect(settings)
        return self._sessions[name]

    def unpruned(self, table_rows: Callable[[Any], Any], *, is_merged: bool) -> Any:
        """What `table_rows(cursor)` finds without any skipping: in a session where Hive pushes no filter.

        ``is_merged``: through our own format, turned off. Hudi's reads no log files of partitioned tables.
        """
        cursor = self.session("unpruned", {"hive.optimize.index.filter": "false"}).cursor()
        cursor.execute(f"set sargo.enabled={'false' if is_merged else 'true'}")
        return table_rows(cursor)

    def log(self) -> str:
        """What the jar has said so far, in HiveServer2 and in all containers."""
        return self.server.log() + self.cluster.container_logs()

    def prepare(self) -> None:
        """Puts Tez where containers find it."""
        archive = self.cluster.home / "tmp" / "tez.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
            for jar in _jars():
                packed.add(jar, jar.name)
        self.cluster.put(archive, "/apps")
        archive.unlink()


class Hive3OnYarn(HiveOnYarn):
    """Hive 3.1.3 with MapReduce.

    Its containers get Hadoop 3.1.4 as the client has it, not the node's 3.3.6: the client writes that protobuf 2 is
    spoken into the job's settings, on which 3.3.6 fails. In front stands what Hive 3.1 lacks on a JDK 17.
    """

    stack = HIVE_3

    def of_engine(self) -> dict[str, str]:
        classes = HIVE_3.directory / "target" / "classes"
        return {
            "hive.execution.engine": "mr",
            "hive.exec.submitviachild": "false",
            "yarn.application.classpath": str(self.cluster.conf),
            "mapreduce.application.classpath": f"{classes},{built('hadoop', '3.1.4')}/lib/*",
        }

    def prepare(self) -> None:
        """MapReduce comes with its class path."""


def _jars() -> Iterator[Path]:
    yield from sorted((built("tez") / "lib").glob("*.jar"))
