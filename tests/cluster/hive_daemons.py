"""Daemons of Hive 4.0.1 beside HiveServer2: a metastore on PostgreSQL, and LLAP with its ZooKeeper.

    with Postgres(cluster) as database:
        uri = Metastore(cluster, database).start()      thrift://localhost:PORT, for hive.metastore.uris
    llap = Llap(cluster)
    HiveOnYarn(cluster, tables, more=llap.settings)     then llap.start(hive), and SET hive.execution.mode=llap

PostgreSQL is Debian's (apt-get install postgresql); the rest comes from Maven.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from types import TracebackType

from tests.cluster.cluster import Cluster, built, is_listening, json_of
from tests.hive.server import HIVE_4, OPENED, STACKS, build, free_port, site

FLAGS = [
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in (*OPENED, "java.math", "sun.security.x509")),
    "--add-opens=java.sql/java.sql=ALL-UNNAMED",
    "-XX:+UseSerialGC",
]
PORTS = ("daemon.rpc", "management.rpc", "daemon.yarn.shuffle", "daemon.web", "daemon.output.service")


def libraries() -> list[Path]:
    """Hive's own class path, without Hudi."""
    return [path for path in build(HIVE_4) if path.parent.name != "hudi"]


class Postgres:
    """A server of its own below the cluster's folder, without a password: it listens on the loopback alone."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.port = free_port()
        # PostgreSQL refuses root, and pytest closes its folders to every other user, again with each run that begins.
        self._folder = tempfile.TemporaryDirectory(prefix="sargo-postgres-")
        self.data = Path(self._folder.name) / "data"

    @staticmethod
    def binaries() -> Path | None:
        """The folder of initdb and postgres."""
        found = shutil.which("initdb")
        folders = [Path(found).resolve().parent] if found else []
        folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        return next((folder for folder in folders if (folder / "initdb").exists()), None)

    def __enter__(self) -> Postgres:
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            for folder in (self.data, self.data.parent):
                os.chown(folder, user.pw_uid, user.pw_gid)
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        options += ["-c", "fsync=off", "-c", "max_connections=40", "-c", "shared_buffers=32MB"]
        self.cluster.process("postgres", self._command("postgres", "-D", str(self.data), *options))
        self.cluster.wait_for("PostgreSQL", lambda: self.ask("select 1", "postgres") == "1")
        self.ask("create role hive login password 'hive'", "postgres")
        self.ask("create database metastore owner hive", "postgres")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.cluster.kill("postgres")
        self._folder.cleanup()

    def tables(self) -> int:
        """The tables of the metastore's schema."""
        return int(self.ask("select count(*) from information_schema.tables where table_schema = 'public'"))

    def ask(self, sql: str, database: str = "metastore") -> str:
        command = ["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-qAt", "-d", database, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise OSError(done.stderr)
        return done.stdout.strip()

    def _command(self, name: str, *arguments: str) -> list[str]:
        folder = self.binaries()
        assert folder is not None
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
        return [*user, str(folder / name), *arguments]

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(self._command(name, *arguments), capture_output=True, text=True, timeout=120, cwd="/")
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stdout}{done.stderr}")


class Metastore:
    """Hive's metastore as a process of its own.

    The scripts of schematool are in no artefact of Maven. DataNucleus makes the same tables from the package.jdo in
    hive-exec; those of transactions are not among them.
    """

    def __init__(self, cluster: Cluster, database: Postgres) -> None:
        self.cluster = cluster
        self.database = database
        self.port = free_port()
        self.uri = f"thrift://localhost:{self.port}"
        self.jars = sorted((built("metastore") / "lib").glob("*.jar"))

    def start(self) -> str:
        if self.database.tables() == 0:
            self._make_tables()
        conf = self.cluster.home / "conf" / "metastore"
        conf.mkdir(parents=True)
        (conf / "hive-site.xml").write_text(
            site(
                **{
                    "javax.jdo.option.ConnectionURL": f"jdbc:postgresql://127.0.0.1:{self.database.port}/metastore",
                    "javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
                    "javax.jdo.option.ConnectionUserName": "hive",
                    "javax.jdo.option.ConnectionPassword": "hive",
                    # True makes the first CREATE TABLE wait for ever, for a lock of another connection.
                    "datanucleus.schema.autoCreateAll": "false",
                    "hive.metastore.schema.verification": "false",
                    "metastore.thrift.bind.host": "127.0.0.1",
                    "hive.metastore.uris": self.uri,
                    "hive.metastore.warehouse.dir": "/user/hive/warehouse",
                    "hive.metastore.warehouse.external.dir": "/user/hive/external",
                    "hive.metastore.event.db.notification.api.auth": "false",
                    "metastore.housekeeping.threads.on": "false",
                    "metastore.connection.pooling.maxPoolSize": "10",
                }
            )
        )
        main = "org.apache.hadoop.hive.metastore.HiveMetaStore"
        run(self.cluster, "metastore", "512m", [conf, *libraries(), *self.jars], main, "-p", str(self.port))
        self.cluster.wait_for("the metastore", lambda: is_listening(self.port))
        return self.uri

    def stop(self) -> None:
        self.cluster.kill("metastore")

    def _make_tables(self) -> None:
        folder = self.cluster.home / "tmp" / "jdo"
        folder.mkdir(parents=True)
        hive_exec = next(path for path in libraries() if path.name.startswith("hive-exec-"))
        with zipfile.ZipFile(hive_exec) as jar:
            jar.extract("package.jdo", folder)
        (folder / "datanucleus.properties").write_text(
            f"datanucleus.ConnectionURL=jdbc:postgresql://127.0.0.1:{self.database.port}/metastore\n"
            "datanucleus.ConnectionDriverName=org.postgresql.Driver\n"
            "datanucleus.ConnectionUserName=hive\ndatanucleus.ConnectionPassword=hive\n"
            "datanucleus.identifierFactory=datanucleus1\ndatanucleus.rdbms.useLegacyNativeValueStrategy=true\n"
            "datanucleus.plugin.pluginRegistryBundleCheck=LOG\n"
        )
        path = os.pathsep.join(map(str, [*libraries(), *self.jars]))
        tool = ["org.datanucleus.store.schema.SchemaTool", "-create", "-api", "JDO"]
        tool += ["-props", str(folder / "datanucleus.properties"), str(folder / "package.jdo")]
        done = subprocess.run(
            ["java", *FLAGS, "-Xmx400m", "-cp", path, *tool], capture_output=True, text=True, timeout=180
        )
        if done.returncode:
            raise RuntimeError(f"SchemaTool: {done.stdout[-2000:]}{done.stderr[-2000:]}")


class Llap:
    """Daemons that run the tasks of Tez, found through ZooKeeper."""

    def __init__(self, cluster: Cluster, daemons: int = 2) -> None:
        self.cluster = cluster
        self.names = [f"llap{number + 1}" for number in range(daemons)]
        self.zookeeper = free_port()
        self.ports: dict[str, dict[str, int]] = {}
        #: For hive-site.xml of HiveServer2: of no effect until a session sets hive.execution.mode=llap.
        self.settings = {
            "hive.llap.daemon.service.hosts": "@llap0",
            "hive.zookeeper.quorum": "localhost",
            "hive.zookeeper.client.port": str(self.zookeeper),
        }

    def start(self, home: Path) -> None:
        """`home`: of the HiveServer2, whose configuration and jars the daemons share."""
        folder = self.cluster.home / "conf" / "zookeeper"
        folder.mkdir(parents=True)
        (folder / "zoo.cfg").write_text(
            f"tickTime=2000\ndataDir={self.cluster.home}/data/zookeeper\nclientPort={self.zookeeper}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
        )
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        run(self.cluster, "zookeeper", "128m", [folder, *libraries()], main, str(folder / "zoo.cfg"))
        self.cluster.wait_for("ZooKeeper", lambda: is_listening(self.zookeeper))
        for name in self.names:
            self._start(name, home)
        for name in self.names:
            self.cluster.wait_for(name, partial(is_listening, self.ports[name]["daemon.rpc"]))

    def stop(self) -> None:
        for name in (*self.names, "zookeeper"):
            if name in self.cluster.processes:
                self.cluster.kill(name)

    def tasks(self) -> int:
        """The tasks that the living daemons have been given so far."""
        return sum(
            self._requests(self.ports[name]["daemon.web"]) for name in self.names if name in self.cluster.processes
        )

    @staticmethod
    def _requests(port: int) -> int:
        beans = json_of(f"http://localhost:{port}/jmx?qry=Hadoop:service=LlapDaemon,name=LlapDaemonExecutorMetrics*")
        return int(beans["beans"][0]["ExecutorTotalRequestsHandled"])

    def _start(self, name: str, home: Path) -> None:
        conf = self.cluster.home / "conf" / name
        shutil.copytree(home / "conf", conf)
        self.ports[name] = ports = {part: free_port() for part in PORTS}
        (conf / "llap-daemon-site.xml").write_text(
            site(
                **self.settings,
                **{f"hive.llap.{part}.port": str(port) for part, port in ports.items()},
                **{
                    "hive.llap.daemon.num.executors": "2",
                    "hive.llap.daemon.memory.per.instance.mb": "512",
                    "hive.llap.daemon.yarn.container.mb": "1024",
                    "hive.llap.daemon.vcpus.per.instance": "2",
                    "hive.llap.io.enabled": "true",
                    "hive.llap.io.memory.size": str(128 << 20),  # less is refused
                    "hive.llap.io.allocator.arena.count": "1",
                    "hive.llap.io.allocator.direct": "false",
                    "hive.llap.io.threadpool.size": "2",
                    "hive.llap.daemon.work.dirs": f"{self.cluster.home}/data/{name}",
                    "hive.llap.daemon.am.liveness.heartbeat.interval.ms": "3000ms",
                },
            )
        )
        first = sorted((built("metastore") / "first").glob("*.jar"))
        aux = sorted((home / "aux").glob("*.jar"))  # the daemons read, and hive.aux.jars.path does not reach them
        path = [conf, self.cluster.conf, *first, *libraries(), *aux]
        run(self.cluster, name, "768m", path, "org.apache.hadoop.hive.llap.daemon.impl.LlapDaemon", home=home)


def run(
    cluster: Cluster, name: str, heap: str, path: list[Path], main: str, *arguments: str, home: Path | None = None
) -> None:
    """A daemon of Hive. Its log4j writes into a folder of its own below the cluster's logs."""
    log = cluster.home / "log" / name
    log.mkdir(parents=True, exist_ok=True)
    properties = [f"-Dhs2.home={log}", f"-Djava.io.tmpdir={cluster.home}/tmp", f"-Dhadoop.home.dir={cluster.home}/tmp"]
    properties += [f"-Dlog4j2.configurationFile=file:{STACKS}/hive-log4j2.properties"]
    command = ["java", *FLAGS, f"-Xmx{heap}", *properties, "-cp", os.pathsep.join(map(str, path)), main, *arguments]
    conf = str(home / "conf") if home else str(path[0])
    cluster.process(name, command, HADOOP_CONF_DIR=str(cluster.conf), HIVE_CONF_DIR=conf)
