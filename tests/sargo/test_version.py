"""There is one version: ``handler/version.py``. What repeats it says the same."""

from __future__ import annotations

import asyncio
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from click.testing import CliRunner

import sargo
from handler.cli.main import main
from handler.sidecar.service import Service
from handler.version import VERSION

ROOT = Path(__file__).parents[2]
POM = "{http://maven.apache.org/POM/4.0.0}"


def test_the_version_is_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert sargo.__version__ == VERSION
    assert CliRunner().invoke(main, ["--version"]).output == f"sargo, version {VERSION}\n"
    assert json.loads(asyncio.run(Service.version(None)))["sargo"] == VERSION  # type: ignore[arg-type]


def test_the_jar_has_the_version_of_the_package():
    project = ElementTree.parse(ROOT / "handler/java/pom.xml").getroot()
    assert project.findtext(f"{POM}version") == VERSION


def test_pyproject_takes_it_from_there():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'dynamic = ["version"]' in text
    assert 'version = { attr = "handler.version.VERSION" }' in text
    assert not re.search(r'^version = "', text, re.MULTILINE)
