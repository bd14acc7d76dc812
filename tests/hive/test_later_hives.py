"""Hive 4.1 and 4.2, of which no server runs here: the jar compiles against their jars, and its classes load."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.hive.server import HIVE_4, JAR_PROJECT, STACKS, build, build_jar

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]
#: Hive, and the least JDK that reads its classes.
LATER = {"4.1.0": 17, "4.2.0": 21}


def home_of(least: int) -> Path | None:
    """The home of a JDK of this version or a later one."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += sorted(path for path in Path("/usr/lib/jvm").glob("*") if (path / "bin" / "javac").exists())
    for home in homes:
        shown = subprocess.run([home / "bin" / "javac", "-version"], capture_output=True, text=True).stdout
        found = re.search(r"javac (\d+)", shown)
        if found and int(found[1]) >= least:
            return home
    return None


@pytest.mark.parametrize("hive", list(LATER))
@pytest.mark.timeout(600)
def test_the_jar_compiles_against_a_later_hive_and_loads_with_it(hive: str, tmp_path: Path) -> None:
    jdk = home_of(LATER[hive])
    if jdk is None:
        pytest.skip(f"Hive {hive} needs a JDK {LATER[hive]}")
    project = tmp_path / "java"
    shutil.copytree(JAR_PROJECT, project, ignore=shutil.ignore_patterns("target"))
    class_path = tmp_path / "class_path"
    command = ["mvn", "-q", "-B", "-ntp", "-f", str(project / "pom.xml"), f"-Dhive.version={hive}"]
    command += ["-Dmaven.test.skip", "-Dfmt.skip", "compile", "dependency:build-classpath"]
    command += [f"-Dmdep.outputFile={class_path}", "-Dmdep.includeScope=provided"]
    done = subprocess.run(command, env={**os.environ, "JAVA_HOME": str(jdk)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    jar = build_jar()
    others = [str(part) for part in build(HIVE_4) if not part.name.startswith("hive-")]  # Hadoop, Hudi's reader
    path = ":".join([str(jar), class_path.read_text(), *others])
    assert f"hive-exec-{hive}.jar" in path
    load = [jdk / "bin" / "java", "-cp", path, STACKS / "LoadClasses.java", jar]
    loaded = subprocess.run(load, cwd=tmp_path, capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr[-3000:]
    assert int(loaded.stdout) > 20
