"""A module of another project with the name of one of our packages: the error names its file and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sargo.shadowing import PACKAGES, shadowed

ROOT = Path(__file__).parents[2]
COMMAND = "import sys; sys.argv[0] = '/usr/bin/sargo'; from sargo.__main__ import run; run()"


def python(folder, *words):
    """A process that was started in a folder, with its folder first on the path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    environment.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(params=[f"{name}.py" for name in PACKAGES] + ["handler/__init__.py"])
def shadow(tmp_path, request):
    path = tmp_path / request.param
    path.parent.mkdir(exist_ok=True)
    path.write_text("print('this is not Sargo')\n")
    return path


def test_importing_sargo_names_the_file_and_the_remedy(shadow, tmp_path):
    (tmp_path / "program.py").write_text("import sargo\n")
    name = shadow.parent.name if shadow.name == "__init__.py" else shadow.stem
    for words in (["-c", "import sargo"], ["program.py"]):
        done = python(tmp_path, *words)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == 1
        assert last.startswith("sargo.shadowing.ShadowedError: ")
        assert f"{shadow} is imported instead of Sargo's package '{name}'" in last
        assert "rename it" in last
        assert "this is not Sargo" not in done.stdout


@pytest.mark.parametrize("words", [["-m", "sargo"], ["-msargo"], ["-c", COMMAND]])
def test_the_command_ends_with_4_and_one_line(shadow, words):
    done = python(shadow.parents[shadow.name == "__init__.py"], *words, "prune", "--help")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"sargo: {shadow} is imported instead of Sargo's package ")
    assert "rename it" in done.stderr


def test_a_module_that_was_loaded_before_is_found_too(tmp_path):
    (tmp_path / "handler.py").write_text("")
    done = python(tmp_path, "-c", "import handler, sys; sys.path.pop(0); sys.path.pop(0); import sargo")
    assert done.returncode == 1
    assert str(tmp_path / "handler.py") in done.stderr


def test_the_remedies_work(tmp_path):
    (tmp_path / "handler.py").write_text("")
    (tmp_path / "program.py").write_text("import sargo; print(sargo.prune.__module__)\n")
    assert python(tmp_path, "program.py").returncode == 1
    (tmp_path / "handler.py").rename(tmp_path / "my_handler.py")
    assert python(tmp_path, "program.py").stdout == "handler.planning.prune\n"


def test_a_folder_without_python_shadows_nothing(tmp_path):
    (tmp_path / "handler").mkdir()
    (tmp_path / "sarg").mkdir()
    done = python(tmp_path, "-c", "import sargo; print(sargo.prune.__module__)")
    assert done.stdout == "handler.planning.prune\n", done.stderr


def test_our_own_packages_shadow_nothing():
    assert [shadowed(name) for name in PACKAGES] == [None] * 4
