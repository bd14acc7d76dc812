"""`.ci/run` tests Java in CI or fails; elsewhere it may leave Java out, and says so. Speed needs the parent commit."""

import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
PYTHON = ["lint", "test AGAIN=1", ".venv/.docs-installed", "fuzz SECONDS=10", "docs"]
SPEED = ["bench-compare BASE=HEAD~1 SECONDS=40"]
JAVA = [".venv/.hive-installed", "test-java", "test-hooks PART=quick", "test-hive PART=quick"]


def _run(tmp_path, ci, tools, fails=""):
    """What ended, and the targets that were made; two parts of a run are made at once, so in no order."""
    tools_here, log, copy = tmp_path / "tools", tmp_path / "targets", tmp_path / "repository" / ".ci" / "run"
    tools_here.mkdir()
    make = f'#!/bin/bash\necho "$*" >> "{log}"\nif [[ "$*" == "{fails}" ]]; then echo FAILED one; exit 3; fi\n'
    for name in [*tools, "make"]:
        (tools_here / name).write_text(make if name == "make" else "#!/bin/bash\n")
        (tools_here / name).chmod(0o755)
    for name in ("dirname", "mkdir", "rm", "cat", "tee", "grep", "tail"):
        (tools_here / name).symlink_to(shutil.which(name))
    copy.parent.mkdir(parents=True)
    shutil.copy(RUN, copy)
    environment = {"PATH": str(tools_here), "CI": ci}
    done = subprocess.run([shutil.which("bash"), str(copy)], env=environment, capture_output=True, text=True)
    return done, sorted(log.read_text().splitlines()) if log.exists() else []


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
    done, made = _run(tmp_path, ci, tools)
    assert (done.returncode, made) == (code, sorted(targets)), done.stderr
    assert ("for want of the parent commit" in done.stdout) == (PYTHON[-1] in made and SPEED[0] not in made)
    missing = {"mvn": "Maven (mvn)", "javac": "a JDK (javac)"}
    for tool, name in missing.items():
        assert (name in done.stdout + done.stderr) == (tool not in tools)


@pytest.mark.parametrize("target", PYTHON + JAVA + SPEED)
def test_a_target_that_fails_fails_the_run(tmp_path, target):
    done, made = _run(tmp_path, "true", ["mvn", "javac", "git"], fails=target)
    assert done.returncode != 0
    assert target in made


@pytest.mark.parametrize("target", [one for one in PYTHON + JAVA if not one.startswith(".venv")])
def test_a_failed_run_ends_with_what_failed(tmp_path, target):
    done, _ = _run(tmp_path, "true", ["mvn", "javac"], fails=target)
    assert done.stdout.rstrip().endswith("What failed, of build/*tests.log:\nFAILED one")
