"""The parts of `make dist` that need no build: the notes, the extras that it tries, the interpreters that it finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from handler.version import VERSION
from tests.release.__main__ import DEVELOPMENT, PROJECT, extras, main
from tests.release.building import ROOT, BuildError, _compare
from tests.release.release_notes import release_notes
from tests.release.trying import PYTHONS, TrialError, _run, find_pythons

CHANGES = (
    "# Changelog\n\nText.\n\n## Unreleased\n\n* new\n\n## 0.2.0 (2026-11-01)\n\n### A\n\n* b\n\n## 0.1.0\n\n* old\n"
)


@pytest.mark.parametrize(
    ("version", "notes"),
    [("0.2.0", "### A\n\n* b\n"), ("0.1.0", "* old\n"), ("0.3.0", "* new\n")],
)
def test_the_notes_are_the_part_of_the_version_or_what_is_unreleased(version, notes):
    assert release_notes(CHANGES, version) == f"# Sargo {version}\n\n{notes}"


def test_a_changelog_without_a_part_is_an_error():
    with pytest.raises(ValueError, match=r"no part '## 1\.0\.0'"):
        release_notes("# Changelog\n", "1.0.0")


def test_there_are_notes_of_this_version():
    done = subprocess.run(
        [sys.executable, "-m", "tests.release.release_notes"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"# Sargo {VERSION}\n\n")
    assert len(done.stdout.splitlines()) > 5


def test_the_page_names_every_extra_that_is_tried():
    page = (ROOT / "docs/get-started/install.md").read_text("utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == set(extras())
    assert set(PROJECT["optional-dependencies"]) >= DEVELOPMENT


def test_the_interpreter_that_runs_is_found():
    if sys.version_info[:2] <= (3, 13):
        assert f"{sys.version_info[0]}.{sys.version_info[1]}" in find_pythons()
    supported = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
    assert PYTHONS[0] == supported


def test_builds_that_differ_are_an_error(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a")
    other.write_bytes(b"b")
    with pytest.raises(BuildError, match="two wheels of the same sources differ"):
        _compare("wheels", one, other)


def test_a_command_that_ends_with_another_code_is_an_error():
    with pytest.raises(TrialError, match="ends with 3"):
        _run([sys.executable, "-c", "raise SystemExit(3)"], Path.cwd())


def test_without_maven_the_way_without_the_jar_is_named(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["tests.release"])
    assert main() == 1
    assert "--without-jar" in capsys.readouterr().err
