"""The lock files fit pyproject.toml and each other; the demo installs what Sargo itself needs, and nothing more."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def locked(name):
    """The lines of a lock file by the name of the package."""
    found = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        found.setdefault(re.match(r"[\w.-]+", line)[0].lower(), []).append(line)
    return found


def versions(lines):
    return [Requirement(line).specifier for line in lines]


def required(texts):
    return {Requirement(text).name.lower().replace("_", "-"): Requirement(text) for text in texts}


def test_the_demo_installs_a_part_of_what_the_tests_install_in_the_same_versions():
    demo, tests = locked("requirements-demo.lock"), locked("requirements.lock")
    assert demo.items() <= tests.items()
    assert len(demo) < len(tests) / 4


def test_each_lock_holds_what_pyproject_asks_for():
    extras = PROJECT["optional-dependencies"]
    for name, texts in {
        "requirements-demo.lock": PROJECT["dependencies"],
        "requirements.lock": [*PROJECT["dependencies"], *extras["dev"]],
    }.items():
        lines = locked(name)
        for package, wanted in required(texts).items():
            assert package in lines, f"{name} lacks {package}: make lock"
            for version in versions(lines[package]):
                assert all(wanted.specifier.contains(str(one.version)) for one in version), package


def test_the_demo_needs_no_package_of_the_tests():
    shown = subprocess.run(
        ["make", "-n", "-W", "pyproject.toml", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "requirements-demo.lock" in shown
    assert "requirements.lock" not in shown
    assert "sargo demo" in shown
