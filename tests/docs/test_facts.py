"""Every citation of ``docs/facts`` leads somewhere: tests, paths and make targets of its pages, pages and sections that
the code cites.

    in a page       `test_x.py::test_y`, `tests/data/README.md`, `make bench`, [text](page.md#section)
    in the code     docs/facts/page.md#section, and no document that is not in the project
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "facts").glob("*.md"))
#: Documents of other projects that the code cites by their path there.
ELSEWHERE = {"hudi-io/hfile_format.md"}
#: What stands in a page to show how a citation looks.
EXAMPLES = {"test_x.py::test_y", "docs/facts/<page>.md#<section>", "make target"}

CITED_TEST = re.compile(r"`(?P<file>test_\w+\.py)(?:::(?P<test>\w+))?`")
CITED_PATH = re.compile(r"`((?:docs|evaluator|handler|hive_conf|index_store|sarg|sargo|tests)/[\w./-]*)`")
CITED_TARGET = re.compile(r"`make ([\w-]+)")
LINK = re.compile(r"\]\((?P<page>[\w-]+\.md)?(?:#(?P<section>[\w-]+))?\)")
CITED_FACT = re.compile(r"docs/facts/(?P<page>[\w-]+\.md)(?:#(?P<section>[\w-]+))?")
#: "P7" in a comment, a docstring or a name of a test case.
PITFALL = re.compile(r"(?<!\w)P(?:1?[1-9]|[12]0)\b")
DOCUMENT = re.compile(r"[\w./-]*\b[\w-]+\.md\b")


def sections(text: str) -> set[str]:
    """The anchors that GitHub and MyST give to headings: ``## From a key`` is ``from-a-key``."""
    titles = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def missing_tests(text: str, tests: Mapping[str, set[str]]) -> Iterator[str]:
    """The cited tests that are not there, with the file where a test of that name is now."""
    for found in CITED_TEST.finditer(text):
        file, test = found["file"], found["test"]
        if found[0].strip("`") in EXAMPLES or (file in tests and (test is None or test in tests[file])):
            continue
        elsewhere = sorted(name for name, names in tests.items() if test in names)
        yield found[0] + (f" is in {', '.join(elsewhere)} now" if elsewhere else " is nowhere")


def missing_sections(
    text: str, pages: Mapping[str, set[str]], citation: re.Pattern[str], own: str = ""
) -> Iterator[str]:
    """The cited pages and sections that are not there; a citation without a page means ``own``."""
    for found in citation.finditer(text):
        page, section = found["page"] or own, found["section"]
        if page not in pages or (section is not None and section not in pages[page]):
            yield found[0]


@cache
def names_of_tests() -> Mapping[str, set[str]]:
    names: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names[path.name] |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return dict(names)


@cache
def sections_by_page() -> Mapping[str, set[str]]:
    return {page.name: sections(page.read_text(encoding="utf-8")) for page in PAGES}


@cache
def sources() -> Mapping[Path, str]:
    """Every text of the project that may cite a fact."""
    found = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "SECURITY.md", "pyproject.toml", "Makefile")]
    for folder in ("docs", "evaluator", "handler", "hive_conf", "index_store", "sarg", "sargo", "tests"):
        found += [path for ending in ("py", "java", "md") for path in (ROOT / folder).rglob(f"*.{ending}")]
    return {path: path.read_text(encoding="utf-8") for path in found if path != Path(__file__)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cited_test_exists(page):
    assert list(missing_tests(page.read_text(encoding="utf-8"), names_of_tests())) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cited_path_and_command_exists(page):
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert [path for path in CITED_PATH.findall(text) if path not in EXAMPLES and not (ROOT / path).exists()] == []
    assert {f"make {target}" for target in CITED_TARGET.findall(text) if target not in targets} <= EXAMPLES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_between_pages_leads_to_a_section(page):
    assert list(missing_sections(page.read_text(encoding="utf-8"), sections_by_page(), LINK, page.name)) == []


def test_every_page_and_section_that_is_cited_exists():
    wrong = {
        str(path.relative_to(ROOT)): found
        for path, text in sources().items()
        if (found := list(missing_sections(text, sections_by_page(), CITED_FACT)))
    }
    assert wrong == {}


def test_no_source_cites_a_document_that_is_not_in_the_project():
    documents = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md") if ".venv" not in path.parts}
    wrong = {
        str(path.relative_to(ROOT)): cited
        for path, text in sources().items()
        if path.suffix in (".py", ".java", ".toml")
        and (
            cited := {
                name
                for name in DOCUMENT.findall(text)
                if name not in ELSEWHERE and not _is_there(name, path, documents)
            }
        )
    }
    assert wrong == {}


def _is_there(name: str, source: Path, documents: set[str]) -> bool:
    """Whether the path leads from the root or from the folder of the source that names it."""
    return name in documents or (source.parent / name).exists()


def test_a_source_that_names_a_pitfall_says_where_it_is_described():
    wrong = [
        str(path.relative_to(ROOT))
        for path, text in sources().items()
        if path.suffix in (".py", ".java") and PITFALL.search(text) and "docs/facts/pitfalls.md" not in text
    ]
    assert wrong == []


def test_every_pitfall_has_its_section():
    assert {f"p{number}" for number in range(1, 21)} <= sections_by_page()["pitfalls.md"]


def test_the_first_page_leads_to_all_others():
    linked = set(re.findall(r"\]\(([\w-]+\.md)", (ROOT / "docs" / "facts" / "index.md").read_text(encoding="utf-8")))
    assert linked == {page.name for page in PAGES} - {"index.md"}


def test_wrong_citations_are_found():
    tests = {"test_a.py": {"test_one"}, "test_b.py": {"test_two"}}
    text = "`test_a.py::test_one` `test_a.py` `test_a.py::test_two` `test_c.py` `test_c.py::test_three`"
    assert list(missing_tests(text, tests)) == [
        "`test_a.py::test_two` is in test_b.py now",
        "`test_c.py` is nowhere",
        "`test_c.py::test_three` is nowhere",
    ]
    pages = {"a.md": sections("# A page\n## From a key, to its group\n")}
    assert pages == {"a.md": {"a-page", "from-a-key-to-its-group"}}
    assert list(missing_sections("docs/facts/a.md#a-page docs/facts/a.md#b docs/facts/b.md", pages, CITED_FACT)) == [
        "docs/facts/a.md#b",
        "docs/facts/b.md",
    ]
    assert list(missing_sections("[x](a.md) [y](#a-page) [z](#b)", pages, LINK, "a.md")) == ["](#b)"]
