"""Every command and every Python example of the README runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def playground(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    subprocess.run(
        [Path(sys.executable).parent / "sargo", "demo", "--keep", "playground"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


COMMANDS = [
    line.split("  #")[0].strip() for block in blocks("sh") for line in block.splitlines() if line.startswith("sargo ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_readme_runs(playground, command):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=playground,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_every_python_example_of_the_readme_runs(playground, monkeypatch, capsys):
    monkeypatch.chdir(playground)
    names = {}
    for block in blocks("python"):  # read from top to bottom: a later one goes on where the one before ended
        if "handler.spark" in block:  # tests/handler/spark/test_readme.py
            continue
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "file slices kept" in printed
    assert "left to read for count(*)" in printed
    assert "Best(rank=" in printed


def test_the_readme_has_its_commands():
    assert len(COMMANDS) >= 8
