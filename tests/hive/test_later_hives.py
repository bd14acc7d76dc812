"""Hive 4.1 and 4.2, of which no server runs here: the jar compiles against their jars, loads, and reads by them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from handler.planning.prune import prune
from index_store.opened_table import open_table
from tests.hive.server import HIVE_4, JAR_PROJECT, OPENED, STACKS, build, build_jar
from tests.hive.sidecars import Sidecar
from tests.hive.tables import unpack

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]
#: Hive, and the least JDK that reads its classes.
LATER = {"4.1.0": 17, "4.2.0": 21}


#: Hadoop 3.3 asks a JDK for what is gone from this version on ("getSubject is not supported").
TOO_LATE_FOR_HADOOP = 24


def home_of(least: int) -> tuple[Path, int] | None:
    """The home of a JDK of this version or a later one, and its version."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += sorted(path for path in Path("/usr/lib/jvm").glob("*") if (path / "bin" / "javac").exists())
    for home in homes:
        shown = subprocess.run([home / "bin" / "javac", "-version"], capture_output=True, text=True).stdout
        found = re.search(r"javac (\d+)", shown)
        if found and int(found[1]) >= least:
            return home, int(found[1])
    return None


@dataclass(frozen=True)
class Later:
    """A later Hive: its JDK, and a class path with the jar that was compiled against it."""

    jdk: Path
    version: int
    class_path: str

    def run(self, main: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
        command = [str(self.jdk / "bin" / "java"), *opened, "-cp", self.class_path, str(STACKS / main)]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module", params=list(LATER))
def later(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Later:
    hive = request.param
    found = home_of(LATER[hive])
    if found is None:
        pytest.skip(f"Hive {hive} needs a JDK {LATER[hive]}")
    jdk, version = found
    home = tmp_path_factory.mktemp(f"hive-{hive}")
    project = home / "java"
    shutil.copytree(JAR_PROJECT, project, ignore=shutil.ignore_patterns("target"))
    class_path = home / "class_path"
    command = ["mvn", "-q", "-B", "-ntp", "-f", str(project / "pom.xml"), f"-Dhive.version={hive}"]
    command += ["-Dmaven.test.skip", "-Dfmt.skip", "compile", "dependency:build-classpath"]
    command += [f"-Dmdep.outputFile={class_path}", "-Dmdep.includeScope=provided"]
    done = subprocess.run(command, env={**os.environ, "JAVA_HOME": str(jdk)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    others = [str(part) for part in build(HIVE_4) if not part.name.startswith("hive-")]  # Hadoop, Hudi's reader
    path = ":".join([str(build_jar()), class_path.read_text(), *others])
    assert f"hive-exec-{hive}.jar" in path
    return Later(jdk, version, path)


@pytest.mark.timeout(600)
def test_the_jar_compiles_against_a_later_hive_and_loads_with_it(later: Later) -> None:
    loaded = later.run("LoadClasses.java", str(build_jar()))
    assert loaded.returncode == 0, loaded.stderr[-3000:]
    assert int(loaded.stdout) > 20


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.timeout(600)
def test_a_later_hives_fetch_operator_reads_the_rows_and_skips_files(
    later: Later, listing: str, tmp_path: Path
) -> None:
    """The filter is in the bytes that this Hive writes, and the rows come by its own FetchOperator and reader."""
    if later.version >= TOO_LATE_FOR_HADOOP:
        pytest.skip(f"Hadoop 3.3 needs a JDK before {TOO_LATE_FOR_HADOOP}")
    tables = unpack(tmp_path / "tables")
    sidecar = Sidecar(tables, tmp_path / "sidecar.log").start()
    place = str(tables / "flat")
    try:
        answers = []
        for format_name in ("org.apache.hudi.hadoop.HoodieParquetInputFormat", "io.sargo.hive.PruningInputFormat"):
            done = later.run("FetchRows.java", format_name, place, sidecar.address, "300", listing)
            assert done.returncode == 0, done.stderr[-3000:]
            answers.append(done.stdout)
    finally:
        sidecar.stop()
    assert answers[0] == answers[1] != "0 0\n"
    plan = prune(open_table(place), "id < 300", engine="hive")
    lines = [json.loads(line) for line in (tmp_path / "sidecar.log").read_text().splitlines()]
    seen = [(line["listed"], line["skipped"]) for line in lines if line["event"] == "answered"]
    assert seen == [(len(plan.slices), len(plan.skipped))]
    assert 0 < len(plan.kept) < len(plan.slices)
