"""What README and docs say of the code is still so: keys of JSON, settings, paths of files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, examples, kind_of, pages

#: What a block of code has room for in the site.
COLUMNS_OF_CODE = 90
JSON_PAGE = (ROOT / "docs/reference/json.md").read_text("utf-8")


def documented_keys(command: str) -> set[str]:
    """The keys in the first column of the table below a heading that names the command."""
    section = next(part for part in re.split(r"^## ", JSON_PAGE, flags=re.MULTILINE) if part.startswith(command))
    rows = re.findall(r"^\| (`[^|]*) \|", section, flags=re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


@pytest.fixture(scope="module")
def sargo(kept_playground, tmp_path_factory):
    """Run a command beside the playground; the JSON that it prints."""
    folder = tmp_path_factory.mktemp("json")
    shutil.copytree(kept_playground, folder / "playground")

    def run(*arguments: str) -> Any:
        program = Path(sys.executable).parent / "sargo"
        done = subprocess.run([program, *arguments, "--json"], cwd=folder, capture_output=True, check=False)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


TABLE = "playground/main_cow"
BY_U = ("--on", "u", "--using", "value_list", "--name", "by_u")


def test_keys_of_decode(sargo):
    assert set(sargo("decode", "@playground/filter-2.b64")) == documented_keys("sargo decode")


@pytest.mark.pages
def test_keys_of_prune_and_explain(sargo):
    keys = documented_keys("sargo prune, sargo explain")
    assert set(sargo("prune", TABLE, "--where", "i = 100")) == keys - {"file", "what_helps"}
    assert set(sargo("explain", TABLE, "--where", "i = 100", "--file", "859f7485")) == keys - {"what_helps"}
    assert set(sargo("explain", TABLE, "--where", "i = 100")) == keys - {"file"}


@pytest.mark.pages
def test_keys_of_own_indexes(sargo):
    keys = documented_keys("sargo index create")
    printed = set(sargo("index", "create", TABLE, *BY_U))
    for operation in ("refresh", "optimize", "vacuum"):
        printed |= set(sargo("index", operation, TABLE)["indexes"][0])
    shown = set(sargo("index", "show", TABLE, "by_u"))
    listed = set(sargo("index", "list", TABLE)["indexes"][0])
    printed |= set(sargo("index", "drop", TABLE, "by_u"))
    assert printed <= keys
    of_logs = {"slices_with_logs", "merged_slices", "not_merged"}
    assert keys - printed <= {"note", *of_logs}  # the table has no log files
    of_show = documented_keys("sargo index list, show")
    assert shown <= of_show | {"effectiveness"}
    assert of_show - shown <= {"fault", "secondary_entries", "generations", "shards"}
    assert listed <= of_show


@pytest.mark.pages
def test_keys_of_advise(sargo):
    found = sargo("diff", TABLE, "--where", "i < 300", "--where", "i < 200")
    assert set(found) == documented_keys("sargo diff")
    keys = documented_keys("sargo advise")
    advice = sargo("advise", TABLE, "--workload", "playground/filter-1.b64")
    assert set(advice) == keys - {"what_if"}
    assert advice["workload"]["filters"] == 1
    assert set(sargo("advise", TABLE, "--what-if", "sort by (u)")) == keys


@pytest.mark.pages
def test_keys_of_files_and_inspect(sargo):
    assert set(sargo("files", TABLE, "--partition", "p=p1")) == documented_keys("sargo files")
    assert set(sargo("inspect", TABLE)) == documented_keys("sargo inspect")


@pytest.mark.pages
def test_keys_of_doctor(sargo):
    assert set(sargo("doctor", "--table", TABLE)) == documented_keys("sargo doctor")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_are_there(page):
    text = page.read_text("utf-8")
    named = re.findall(r"`((?:handler|sargo|sarg|index_store|evaluator|hive_conf|tests)/[\w/.-]+)`", text)
    for path in named:
        if not path.endswith("sargo-hive.jar"):
            assert (ROOT / path).exists(), path


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) > 10
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_is_fenced(page):
    """Indented code would be seen by no test."""
    outside = re.sub(r"^( *)(```+|:::+).*?^\1\2", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"^(?!\s*[*\d-])[^\s].*\n\n {4,}\S", outside, flags=re.MULTILINE)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_of_code_fit_the_page(page):
    """A longer line would be cut off until somebody scrolls. What a command prints is as wide as it is."""
    code = [one for one in examples(page) if not kind_of(one).startswith("text")]
    too_long = [line for one in code for line in str(one.parsed).splitlines() if len(line) > COLUMNS_OF_CODE]
    assert too_long == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_import_sargo(page):
    """Programs import ``sargo``; the packages below it are for those who change it, in the pages about the inside."""
    if "internals" in page.parts:
        return
    code = "\n".join(str(one.parsed) for one in examples(page) if kind_of(one).startswith("python"))
    assert re.findall(r"^\s*(?:from|import) (?:handler\b|sarg\b|index_store\.).*", code, re.MULTILINE) == []
