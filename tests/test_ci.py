"""`.ci/run` tests Java in CI or fails; elsewhere it may leave Java out, and says so. Speed needs the parent commit."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
PYTHON = ["lint", "test AGAIN=1", "fuzz SECONDS=30", "docs"]
SPEED = ["bench-compare BASE=HEAD~1 SECONDS=40"]
JAVA = ["test-java", "test-hooks", "test-hive PART=quick"]


@pytest.mark.parametrize(
    ("ci", "tools", "code", "targets"),
    [
        ("true", ["mvn", "javac"], 0, PYTHON + JAVA),
        ("true", ["javac"], 1, []),
        ("true", ["mvn"], 1, []),
        ("true", [], 1, []),
        ("", ["mvn", "javac"], 0, PYTHON + JAVA),
        ("", ["javac"], 0, PYTHON),
        ("", ["mvn"], 0, PYTHON),
        ("true", ["mvn", "javac", "git"], 0, PYTHON + SPEED + JAVA),
        ("", ["git"], 0, PYTHON + SPEED),
    ],
)
def test_java_is_left_out_only_outside_ci(ci, tools, code, targets, tmp_path):
    log = tmp_path / "targets"
    for name in [*tools, "make"]:
        stub = tmp_path / name
        stub.write_text(f'#!/bin/bash\necho "$*" >> "{log}"\n' if name == "make" else "#!/bin/bash\n")
        stub.chmod(0o755)
    (tmp_path / "dirname").symlink_to(shutil.which("dirname"))
    environment = {"PATH": str(tmp_path), "CI": ci}
    done = subprocess.run([shutil.which("bash"), str(RUN)], env=environment, capture_output=True, text=True)
    made = log.read_text().splitlines() if log.exists() else []
    assert (done.returncode, made) == (code, targets), done.stderr
    assert ("for want of the parent commit" in done.stdout) == (PYTHON[-1] in made and SPEED[0] not in made)
    missing = {"mvn": "Maven (mvn)", "javac": "a JDK (javac)"}
    for tool, name in missing.items():
        assert (name in done.stdout + done.stderr) == (tool not in tools)


def test_a_target_that_fails_fails_the_run(tmp_path):
    for name, text in {"make": "exit 3", "mvn": "", "javac": ""}.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": os.pathsep.join([str(tmp_path), os.environ["PATH"]]), "CI": "true"}
    assert subprocess.run([shutil.which("bash"), str(RUN)], env=environment, capture_output=True).returncode == 3
