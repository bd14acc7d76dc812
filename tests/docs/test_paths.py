"""Every file and folder that ARCHITECTURE, CONTRIBUTING and the pages about the inside name is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "internals").glob("*.md"))]
PACKAGES = ("evaluator", "handler", "hive_conf", "index_store", "sarg", "sargo", "tests")

CODE = re.compile(r"`([\w./-]+/|[\w./-]*[\w-]+\.(?:py|java|thrift|toml|sql))`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")


@cache
def known() -> frozenset[str]:
    """All paths of the packages, with every tail of them: ``a/b/c.py``, ``b/c.py`` and ``c.py``."""
    tails = {path.name for path in ROOT.glob("*.py")}
    for package in PACKAGES:
        for path in [ROOT / package, *(ROOT / package).rglob("*")]:
            if "__pycache__" not in path.parts:
                parts = path.relative_to(ROOT).parts
                end = "/" if path.is_dir() else ""
                tails.update("/".join(parts[start:]) + end for start in range(len(parts)))
    return frozenset(tails)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_in_code_exists(page: Path) -> None:
    named = [path for path in CODE.findall(page.read_text(encoding="utf-8")) if not path.startswith((".", "docs/"))]
    assert [path for path in named if path not in known()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_linked_file_exists(page: Path) -> None:
    linked = LINK.findall(page.read_text(encoding="utf-8"))
    assert [path for path in linked if not (page.parent / path).exists()] == []


def test_a_path_that_is_not_there_is_found() -> None:
    assert CODE.findall("see `evaluator/binding/rules.py`, `no_such.py` and `binding/`") == [
        "evaluator/binding/rules.py",
        "no_such.py",
        "binding/",
    ]
    assert "no_such.py" not in known()
    assert {"evaluator/binding/rules.py", "binding/"} <= known()
