"""A small real cluster below one folder: HDFS and YARN from Maven, every daemon a process of its own.

    with Cluster(home) as cluster:       a NameNode, DataNodes, a ResourceManager, NodeManagers
        cluster.start_hdfs()
        cluster.start_yarn()
        cluster.hdfs                     hdfs://localhost:PORT
        cluster.put(folder, "/lake")     without a JVM
        cluster.kill("datanode1")

Ports are free ones of the loopback. Needs a JDK 17 and Maven, and no installation of Hadoop.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from index_store.storage.hdfs_client import HdfsClient
from index_store.storage.storage import Storage
from tests.hive.server import OPENED, free_port, maven, newest, site

STACKS = Path(__file__).parent / "stack"
#: A JDK 17 closes what Hadoop 3.3, Hive and Tez look into. Every java of every container reads this variable.
JDK_JAVA_OPTIONS = " ".join(
    [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in (*OPENED, "java.math", "sun.security.x509")]
    + ["--add-opens=java.sql/java.sql=ALL-UNNAMED"]
)
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
RESOURCEMANAGER = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
NODEMANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
CONTAINER_MB = 512


def built(name: str, version: str = "") -> Path:
    """The folder that Maven fills once from a pom in stack/: target/, or for another `version` of Hadoop one in it."""
    project = STACKS / name
    folder = project / "target" / version
    stamp = folder / "complete"
    if not stamp.exists() or stamp.stat().st_mtime < newest(project / "pom.xml"):
        maven(project, *([f"-Dhadoop.version={version}", f"-Dlibraries={folder}/lib"] if version else []))
        stamp.touch()
    return folder


class Cluster:
    """Daemons and their configuration.

    ``extra``: properties beside those below, for every daemon and client. ``variables``: of their environment.
    """

    def __init__(
        self,
        home: Path,
        *,
        datanodes: int = 2,
        nodemanagers: int = 2,
        extra: dict[str, str] | None = None,
        variables: dict[str, str] | None = None,
    ):
        self.home = home.resolve()
        self.datanodes = [f"datanode{n + 1}" for n in range(datanodes)]
        self.nodemanagers = [f"nodemanager{n + 1}" for n in range(nodemanagers)]
        self.extra = dict(extra or {})
        self.variables = dict(variables or {})
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port = {
            name: free_port() for name in ("nn", "nn_http", "rm", "rm_sched", "rm_track", "rm_admin", "rm_http")
        }
        self.hdfs = f"hdfs://localhost:{self.port['nn']}"
        self.libraries = built("hadoop") / "lib"
        for name in ("log", "run", "data", "tmp", "web/webapps/hdfs", "web/webapps/datanode"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        self.conf = self.configured("client")

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # -- configuration

    def configured(self, node: str) -> Path:
        """A folder of configuration files, for a daemon or for clients."""
        folder = self.home / "conf" / node
        folder.mkdir(parents=True, exist_ok=True)
        for name, properties in {
            "core-site.xml": self._core(),
            "hdfs-site.xml": self._hdfs(node),
            "yarn-site.xml": self._yarn(node),
            "mapred-site.xml": self._mapreduce(),
            "capacity-scheduler.xml": {
                "yarn.scheduler.capacity.root.queues": "default",
                "yarn.scheduler.capacity.root.default.capacity": "100",
                # An application master is one of few containers: by the default of 0.1 a second session waits for ever.
                "yarn.scheduler.capacity.maximum-am-resource-percent": "0.8",
            },
        }.items():
            (folder / name).write_text(site(**{**properties, **self.extra}))
        (folder / "log4j.properties").write_text(
            "log4j.rootLogger=INFO,console\nlog4j.appender.console=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.console.target=System.err\nlog4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n\n"
        )
        return folder

    def _core(self) -> dict[str, str]:
        user = os.environ.get("USER") or "root"
        return {
            "fs.defaultFS": self.hdfs,
            "hadoop.tmp.dir": f"{self.home}/tmp",
            f"hadoop.proxyuser.{user}.hosts": "*",
            f"hadoop.proxyuser.{user}.groups": "*",
        }

    def _hdfs(self, node: str) -> dict[str, str]:
        found = {
            "dfs.replication": str(len(self.datanodes)),
            "dfs.namenode.name.dir": f"file://{self.home}/data/nn",
            "dfs.namenode.rpc-address": f"localhost:{self.port['nn']}",
            "dfs.namenode.http-address": f"localhost:{self.port['nn_http']}",
            "dfs.namenode.safemode.extension": "0",
            "dfs.datanode.data.dir": f"file://{self.home}/data/{node}",
            "dfs.datanode.hostname": "localhost",
        }
        if node in self.datanodes:
            for name in ("address", "ipc.address", "http.address"):
                found[f"dfs.datanode.{name}"] = f"127.0.0.1:{free_port()}"
        return found

    def _yarn(self, node: str) -> dict[str, str]:
        found = {
            "yarn.resourcemanager.hostname": "localhost",
            "yarn.resourcemanager.address": f"localhost:{self.port['rm']}",
            "yarn.resourcemanager.scheduler.address": f"localhost:{self.port['rm_sched']}",
            "yarn.resourcemanager.resource-tracker.address": f"localhost:{self.port['rm_track']}",
            "yarn.resourcemanager.admin.address": f"localhost:{self.port['rm_admin']}",
            "yarn.resourcemanager.webapp.address": f"localhost:{self.port['rm_http']}",
            "yarn.scheduler.minimum-allocation-mb": "256",
            "yarn.nm.liveness-monitor.expiry-interval-ms": "15000",
            "yarn.nodemanager.resource.memory-mb": "3072",
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
            "yarn.nodemanager.aux-services": "mapreduce_shuffle",
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR,JDK_JAVA_OPTIONS",
            "yarn.nodemanager.delete.debug-delay-sec": "600",
            "yarn.application.classpath": f"{self.home}/conf/client,{self.libraries}/*",
        }
        if node in self.nodemanagers:
            found |= {
                "yarn.nodemanager.hostname": "localhost",
                "yarn.nodemanager.local-dirs": f"{self.home}/data/{node}",
                "yarn.nodemanager.log-dirs": f"{self.home}/log/containers/{node}",
            }
            for name in ("address", "localizer.address", "webapp.address", "collector-service.address"):
                found[f"yarn.nodemanager.{name}"] = f"localhost:{free_port()}"
        return found

    def _mapreduce(self) -> dict[str, str]:
        heap = f"-Xmx{CONTAINER_MB - 128}m -XX:+UseSerialGC"
        return {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": f"{self.libraries}/*",
            # Of NodeManagers, but read after yarn-site.xml: a port in mapred-default.xml would be that of each of them.
            "mapreduce.shuffle.port": "0",
            "yarn.app.mapreduce.am.resource.mb": str(CONTAINER_MB),
            "yarn.app.mapreduce.am.command-opts": heap,
            "yarn.app.mapreduce.am.staging-dir": "/tmp/staging",
            "mapreduce.map.memory.mb": str(CONTAINER_MB),
            "mapreduce.map.java.opts": heap,
            "mapreduce.reduce.memory.mb": str(CONTAINER_MB),
            "mapreduce.reduce.java.opts": heap,
            "mapreduce.task.io.sort.mb": "64",
        }

    # -- daemons

    def start_hdfs(self) -> None:
        if not (self.home / "data/nn/current/VERSION").exists():
            self.java("format", "client", NAMENODE, "-format", "-nonInteractive").wait(120)
        self.java("namenode", "client", NAMENODE)
        for node in self.datanodes:
            self.configured(node)
            self.java(node, node, DATANODE)
        self._await_datanodes()

    def make_folders(self) -> None:
        """The folders that YARN, Tez and Hive write to."""
        client = self.client()
        for folder in ("/tmp", "/tmp/staging", "/tmp/hive", "/tmp/tez"):
            client.native.mkdirs(folder, 0o777, True)
            client.native.set_permission(folder, 0o1777)
        client.native.mkdirs("/user", 0o777, True)

    def start_yarn(self) -> None:
        self.java("resourcemanager", "client", RESOURCEMANAGER, heap="320m")
        for node in self.nodemanagers:
            self.configured(node)
            self.java(node, node, NODEMANAGER)
        metrics = f"http://localhost:{self.port['rm_http']}/ws/v1/cluster/metrics"
        self.wait_for("YARN", lambda: json_of(metrics)["clusterMetrics"]["activeNodes"] == len(self.nodemanagers))

    def restart_namenode(self) -> None:
        self.kill("namenode")
        self.java("namenode", "client", NAMENODE)
        self._await_datanodes()

    def restart_datanode(self, node: str) -> None:
        self.java(node, node, DATANODE)
        self._await_datanodes()

    def _await_datanodes(self) -> None:
        state = f"http://localhost:{self.port['nn_http']}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        self.wait_for("HDFS", lambda: json_of(state)["beans"][0]["NumLiveDataNodes"] == len(self.datanodes))

    def java(self, name: str, node: str, main: str, *arguments: str, heap: str = "256m") -> subprocess.Popen[bytes]:
        """A daemon of Hadoop, or a program of it."""
        conf = self.home / "conf" / node
        command = ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", f"-Dhadoop.log.dir={self.home}/log"]
        command += [f"-Dyarn.log.dir={self.home}/log", "-cp", f"{conf}:{self.home}/web:{self.libraries}/*"]
        return self.process(name, [*command, main, *arguments], HADOOP_CONF_DIR=str(conf))

    def process(self, name: str, command: list[str], **variables: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "JDK_JAVA_OPTIONS": JDK_JAVA_OPTIONS, **self.variables, **variables}
        with (self.home / "log" / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.home / "run",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    def kill(self, name: str) -> None:
        """As a machine that loses its power does."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Containers end with their NodeManagers' process groups, or are found by their folder."""
        for process in reversed(list(self.processes.values())):
            process.terminate()
        until = time.monotonic() + 10
        for process in self.processes.values():
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
        self._kill_containers()

    def kill_node(self, node: str) -> None:
        """A NodeManager and all its containers."""
        self.kill(node)
        self._kill_containers(node)

    def _kill_containers(self, node: str = "") -> None:
        for pid, _ in self._containers(node):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def tasks(self) -> list[int]:
        """The processes that run tasks of Tez or MapReduce now."""
        return [pid for pid, command in self._containers() if "TezChild" in command or "YarnChild" in command]

    def nodes_of(self, main: str) -> set[str]:
        """The nodes with a container that runs this class."""
        return {node for node in self.nodemanagers for _, command in self._containers(node) if main in command}

    def _containers(self, node: str = "") -> list[tuple[int, str]]:
        """Processes that NodeManagers of this cluster have started, and their command: it names the folder of logs."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if f"{self.home}/log/containers/{node}" in command:
                found.append((int(entry.parent.name), command))
        return found

    def wait_for(self, what: str, is_up: Callable[[], bool], seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            dead = [name for name, process in self.processes.items() if process.poll() not in (None, 0)]
            if dead:
                raise RuntimeError(f"{dead[0]} died:\n{(self.home / 'log' / f'{dead[0]}.log').read_text()[-4000:]}")
            try:
                if is_up():
                    return
            except (OSError, LookupError):  # it listens before it has all of its pages
                pass
            time.sleep(0.3)
        raise RuntimeError(f"{what} did not start within {seconds:g} s: {self.home}/log")

    # -- files, and what containers said

    def client(self) -> HdfsClient:
        client = Storage.at(f"{self.hdfs}/", None, {"client": "native"}).client
        assert isinstance(client, HdfsClient)
        return client

    def put(self, local: Path, folder: str) -> None:
        """A file, or all that a folder holds, below a folder of HDFS."""
        client = self.client()
        files = [local] if local.is_file() else [path for path in local.rglob("*") if path.is_file()]
        base = local.parent if local.is_file() else local
        for parent in sorted({f"{folder}/{path.relative_to(base).parent}" for path in files}):
            client.create_folder(os.path.normpath(parent))
        with ThreadPoolExecutor(8) as threads:  # the NameNode makes each writer wait for the DataNodes' reports
            list(threads.map(lambda path: client.write(f"{folder}/{path.relative_to(base)}", path, new=True), files))

    def container_logs(self) -> str:
        """What all containers have written so far, application masters and tasks."""
        files = sorted((self.home / "log" / "containers").rglob("syslog*"))
        return "".join(file.read_text(errors="replace") for file in files)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def json_of(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return json.load(answer)
