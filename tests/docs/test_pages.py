"""Every code block of README and docs is run or checked, page by page, from top to bottom."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import KINDS, ROOT, Page, examples, kind_of, pages

pytestmark = pytest.mark.pages

SPARK = "python spark"
#: What the examples of a page must have printed, beside not failing.
PRINTED = {
    "README.md": ["file slices kept"],
    "docs/get-started/python.md": ["file slices kept", "left to read for count(*)", "Best(rank="],
}
PRINTED_ON_SPARK = {
    "README.md": ["of 14 file slices kept"],
    "docs/get-started/pyspark.md": [
        "of 14 file slices kept",
        "rows from",
        "4 of 14 file slices are answered by footers",
    ],
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def kinds_in(page: Path) -> set[str]:
    return {kind_of(one) for one in examples(page)}


def run_blocks(page: Path, folder: Path, *, kinds: set[str], names: dict[str, object]) -> str:
    """Run the blocks of these kinds; everything that they printed."""
    shared = Page(folder, dict(names))
    for example in examples(page):
        if kind_of(example) in kinds:
            example.namespace["page"] = shared
            example.evaluate()
    return shared.everything


@pytest.fixture
def folder(kept_playground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the playground: pages make indexes in it."""
    shutil.copytree(kept_playground, tmp_path / "playground")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_has_a_kind_that_is_checked(page):
    assert kinds_in(page) <= set(KINDS)


@pytest.mark.parametrize("page", [page for page in pages() if kinds_in(page) - {SPARK}], ids=name_of)
def test_the_examples_of_a_page_run(page, folder):
    printed = run_blocks(page, folder, kinds=set(KINDS) - {SPARK}, names={})
    for text in PRINTED.get(name_of(page), []):
        assert text in printed


@pytest.mark.parametrize("page", [page for page in pages() if SPARK in kinds_in(page)], ids=name_of)
def test_the_examples_for_pyspark_run(page, folder, spark):
    printed = run_blocks(page, folder, kinds={SPARK}, names={"spark": spark})
    for text in PRINTED_ON_SPARK.get(name_of(page), []):
        assert text in printed


def test_pages_that_must_print_are_there():
    assert {*PRINTED, *PRINTED_ON_SPARK} <= {name_of(page) for page in pages()}
