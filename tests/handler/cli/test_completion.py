"""``sargo completion``: the scripts, and bash with one of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from handler.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell):
    result = CliRunner().invoke(main, ["completion", shell])
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"_SARGO_COMPLETE={shell}_complete" in result.stdout


def test_another_shell_is_refused():
    result = CliRunner().invoke(main, ["completion", "csh"])
    assert result.exit_code == 2
    assert "'csh' is not one of 'bash', 'zsh', 'fish'" in result.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["sargo", "pru"], ["prune"]),
        (["sargo", "prune", "--len"], ["--lenient"]),
        (["sargo", "index", "cr"], ["create"]),
    ],
)
def test_bash_completes(line, expected):
    sargo = Path(sys.executable).with_name("sargo")
    words = " ".join(f"'{one}'" for one in line)
    script = (
        f"source <({sargo} completion bash)\n"
        f"COMP_WORDS=({words}) COMP_CWORD={len(line) - 1}\n"
        f"_sargo_completion {sargo}\n"
        "printf '%s\\n' ${COMPREPLY[@]}"
    )
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == expected
