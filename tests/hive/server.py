"""A HiveServer2 of its own, in one JVM, from Maven Central: embedded Derby metastore, MapReduce and Tez local.

    build(stack) -> class path   (Maven, once; `stack/<name>/target`)
    Server(stack, home) -> start() -> connect({"hive.execution.engine": "tez"}) -> ... -> stop()

The administrator's settings come unchanged from ``hive_conf/hive-site-<version>.xml``. Settings that only a test needs
are in ``stack/hive-site.xml``. Needs a JDK 17 and Maven, and no installation of Hive. HIVE_JAVA_HOME names another
Java to run HiveServer2 on.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.jvm_flags import SHORT_LIVED

ROOT = Path(__file__).parent.parent.parent
STACKS = Path(__file__).parent / "stack"
LOCAL = STACKS / "local"
JAR_PROJECT = ROOT / "handler" / "java"
OPENED = (
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.regex",
    "java.io",
    "java.text",
    "java.time",
    "sun.nio.ch",
    "sun.nio.fs",
)


@dataclass(frozen=True)
class Stack:
    """One version of Hive, and the versions it runs on; `fragment` is the administrator's part of its hive-site.xml."""

    name: str
    fragment: str
    engines: tuple[str, ...]
    needs_url_class_loader: bool = False

    @property
    def directory(self) -> Path:
        return STACKS / self.name


HIVE_4 = Stack("hive401", "hive-site-4.xml", ("tez", "mr"))
HIVE_3 = Stack("hive313", "hive-site-3.1.xml", ("mr",), needs_url_class_loader=True)


def maven(project: Path, *options: str) -> None:
    command = ["mvn", "-q", "-B", "-f", str(project / "pom.xml"), "-Dmaven.test.skip", *options, "package"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"mvn package in {project}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def newest(*paths: Path) -> float:
    files = [item for path in paths for item in ([path] if path.is_file() else path.rglob("*")) if item.is_file()]
    return max(item.stat().st_mtime for item in files)


def build(stack: Stack) -> list[Path]:
    """The class path, without the jar under test: parts in the order in which they must come."""
    ordered = []
    for project in (LOCAL, stack.directory):
        target = project / "target"
        stamp = target / "complete"
        sources = [path for path in (project / "pom.xml", project / "src") if path.exists()]
        if not stamp.exists() or stamp.stat().st_mtime < newest(*sources):
            shutil.rmtree(target, ignore_errors=True)
            maven(project)
            stamp.touch()
        ordered += [target / "classes"] if (target / "classes").exists() else []
        for part in ("first", "hudi", "lib"):
            ordered += sorted((target / part).glob("*.jar"))
    return ordered


def build_jar() -> Path:
    """The jar under test."""
    jar = JAR_PROJECT / "target" / "sargo-hive.jar"
    if not jar.exists() or jar.stat().st_mtime < newest(JAR_PROJECT / "pom.xml", JAR_PROJECT / "src"):
        maven(JAR_PROJECT)
    return jar


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def site(*files: Path, **more: str) -> str:
    """One hive-site.xml of several, the later ones first to win."""
    properties: dict[str, str] = {}
    for file in files:
        for item in ET.parse(file).getroot().iter("property"):
            properties[item.findtext("name", "")] = item.findtext("value", "")
    properties.update(more)
    root = ET.Element("configuration")
    for name, value in properties.items():
        item = ET.SubElement(root, "property")
        ET.SubElement(item, "name").text = name
        ET.SubElement(item, "value").text = value
    return ET.tostring(root, encoding="unicode")


#: Of every session, unless it is given others: most tests say what is skipped of Hudi's own listing.
SESSION = {"sargo.listing": "hudi"}


class Server:
    """HiveServer2 with a home directory of its own; `settings` go into its hive-site.xml."""

    def __init__(self, stack: Stack, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.stack = stack
        self.home = home
        self.port = free_port()
        self.settings = dict(settings or {})
        self.environment: dict[str, str] = {}
        #: Of PyHive's connections: SASL without a password.
        self.login = {"host": "127.0.0.1", "username": "sargo", "auth": "NONE"}
        self.process: subprocess.Popen[bytes] | None = None
        self.pid = 0

    def class_path(self) -> list[Path]:
        return [self.home / "conf", build_jar(), *build(self.stack)]

    def core_site(self) -> Path:
        return LOCAL / "core-site.xml"

    def command(self) -> list[str]:
        conf = self.home / "conf"
        path = os.pathsep.join(map(str, self.class_path()))
        java = os.environ.get("HIVE_JAVA_HOME") or os.environ.get("JAVA_HOME", "")
        flags = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
        flags += [
            "--add-opens=java.sql/java.sql=ALL-UNNAMED",
            "-Xmx2g",
            *SHORT_LIVED,
            f"-Dhs2.home={self.home}",
            f"-Dderby.stream.error.file={self.home}/derby.log",
            f"-Dhadoop.home.dir={self.home}",
            f"-Djava.io.tmpdir={self.home}/tmp",
            f"-Dlog4j2.configurationFile=file:{conf}/hive-log4j2.properties",
        ]
        main = "org.apache.hive.service.server.HiveServer2"
        if self.stack.needs_url_class_loader:
            launch = ["-cp", str(self.stack.directory / "target" / "classes"), "UrlLauncher", path, main]
        else:
            launch = ["-cp", path, main]
        return [f"{java}/bin/java" if java else "java", *flags, *launch]

    def start(self, patience: float = 300) -> None:
        conf = self.home / "conf"
        for name in ("conf", "tmp", "scratch", "warehouse", "warehouse_ext"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        (self.home / "scratch").chmod(0o777)
        fragments = (ROOT / "hive_conf" / self.stack.fragment, STACKS / "hive-site.xml")
        settings = {"hive.server2.thrift.port": str(self.port), **self.settings}
        (conf / "hive-site.xml").write_text(site(*fragments, **settings))
        for file in (STACKS / "hive-log4j2.properties", self.core_site()):
            shutil.copy(file, conf)
        command = self.command()
        with (self.home / "out.log").open("wb") as out:
            self.process = subprocess.Popen(
                command, cwd=self.home, env={**os.environ, **self.environment}, stdout=out, stderr=subprocess.STDOUT
            )
        self.pid = self.process.pid
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"HiveServer2 did not start:\n{(self.home / 'out.log').read_text()[-4000:]}")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def connect(self, settings: Mapping[str, str] | None = None, session: Mapping[str, str] = SESSION) -> Any:
        """A PyHive connection. ``session``: an empty one has the defaults of an installation."""
        from pyhive import hive

        return hive.connect(port=self.port, configuration={**session, **(settings or {})}, **self.login)

    def log(self) -> str:
        """The jar's log so far."""
        file = self.home / "sargo.log"
        return file.read_text() if file.exists() else ""
