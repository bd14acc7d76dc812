"""What keeps values of filters and tables from becoming code in a page."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from handler.pages import environment
from handler.pages.environment import json_for_scripts, render_page
from tests.handler.pages.html_reading import Reader

HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "<!--<script>", "\u2028]]>&", "\ud800"]


@pytest.mark.parametrize("text", HOSTILE)
def test_data_for_scripts_can_end_no_element_and_comes_back_as_it_was(text):
    made = json_for_scripts({text: [text]})
    assert not set("<>&") & set(made)
    assert made.isascii()
    assert json.loads(made) == {text: [text]}


def test_the_policy_names_the_scripts_and_styles_that_the_page_holds():
    page = render_page("base.html.j2", title="t", scripts=("page.js",), data={}, with_tables=True)
    reader = Reader(page.html)
    policy = reader.policy
    [script] = [
        text
        for text, attributes in zip(reader.texts["script"], reader.tagged("script"), strict=True)
        if attributes.get("type") == "module"
    ]
    [style] = reader.texts["style"]
    for rule, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[rule] == f"'sha256-{digest}'"
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in page.policy
    assert "connect-src" not in policy


def test_a_page_names_nothing_on_the_network():
    page = render_page("base.html.j2", title="t", scripts=("page.js",), with_tables=True)
    for _, attributes in Reader(page.html).elements:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")


def test_what_cannot_be_seen_is_written_as_an_escape():
    page = render_page("base.html.j2", title="a\u202eb\ud800<", data=None)
    assert "<title>a\\u202eb\\ud800&lt;</title>" in page.html
    page.html.encode("utf-8")


def test_a_script_that_would_end_its_element_is_refused():
    with pytest.raises(ValueError, match=r"x\.js holds the end"):
        environment._checked("a = '</SCRIPT>'", "x.js")


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0 %"), (0, 5, "0 %"), (5, 5, "100 %"), (99_999, 100_000, "99.9 %"), (1, 100_000, "0.1 %"), (1, 3, "33 %")],
)
def test_a_share_is_all_or_nothing_only_when_it_is(part, whole, text):
    assert environment._percent(part, whole) == text
