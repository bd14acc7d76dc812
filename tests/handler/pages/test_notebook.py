"""What notebooks show of plans, tables and advice, and ``plan.explain_html``."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest

from handler import open_table, prune, what_helps
from handler.advise.advisor import Advisor
from handler.advise.ranking import advise
from handler.pages.slice_data import slice_data
from tests.handler.pages.html_reading import Reader
from tests.handler.plain_table import plain_table

HOSTILE = "<script>alert`1`<"

WITHOUT_THE_LIBRARIES = """
import json, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jinja2", "markupsafe", "itables"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from handler.planning.prune import prune
plan = prune(sys.argv[1], "i = 100", engine="spark")
shown = plan._repr_html_()
try:
    plan.explain_html()
except ImportError as error:
    print(json.dumps([shown, str(error)]))
"""

IN_ANOTHER_PROCESS = """
import pickle, sys
plan = pickle.load(sys.stdin.buffer)
print(plan.explain_html(what_if_seconds=0))
"""


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def static(html):
    """The text of HTML that must run nothing."""
    reader = Reader(f"<body>{html}</body>")
    assert not {"script", "iframe", "style", "link"} & {tag for tag, _ in reader.elements}
    assert not any(key.startswith("on") or key in ("src", "href") for _, one in reader.elements for key in one)
    return reader.visible_text


def test_a_notebook_shows_how_much_a_plan_skips_and_why_not_more(table):
    plan = prune(table, "i >= 400 AND i <= 700", engine="spark")
    text = static(plan._repr_html_())
    assert f"{len(plan.skipped)} of {len(plan.slices)} file slices skipped" in text
    assert plan.why_not_more[0].sentence in text
    for leaf in plan.leaves:
        assert f"{leaf.text}: {leaf.skipped} of {leaf.slices}" in text


def test_a_notebook_shows_a_table_and_what_would_help(table):
    text = static(table._repr_html_())
    assert "14 in 3 partitions" in text
    assert "column_stats" in text
    plan = prune(table, "u = 7", engine="spark")
    found = what_helps(plan)
    shown = static(found._repr_html_())
    for command in found.commands:
        assert command in shown
    for where in ("i = 12345678", "rand() > 2"):
        assert static(what_helps(prune(table, where, engine="spark"))._repr_html_())


@pytest.mark.nightly
def test_a_notebook_shows_advice(table):
    text = static(advise(Advisor(table, None))._repr_html_())
    assert "14 file slices" in text
    assert "value_list(limit=50)" in text


def test_values_in_a_notebook_stay_text(tmp_path):
    rows = pa.table({"id": ["1", "2"], HOSTILE: pa.array([1, 2])})
    opened = open_table(plain_table(tmp_path / "t<img src=x>", [(HOSTILE, rows), ("b", rows)]))
    plan = prune(opened, f"`{HOSTILE.replace('`', '``')}` = 1 AND id = '{HOSTILE}'", engine="spark")
    for item in (plan, opened, what_helps(plan), advise(Advisor(opened, None))):
        static(item._repr_html_())
    assert HOSTILE in static(opened._repr_html_())


def test_a_table_that_cannot_be_read_is_shown_by_its_name(main_cow_copy):
    opened = open_table(main_cow_copy, cache=None)
    for file in (main_cow_copy / ".hoodie").rglob("*"):
        if file.is_file():
            file.write_bytes(b"")
    assert opened._repr_html_() is None


def test_the_page_of_a_plan_is_also_written(table, tmp_path):
    plan = prune(table, "u = 7", engine="spark")
    page = plan.explain_html(tmp_path / "plan.html", what_if_seconds=0)
    assert (tmp_path / "plan.html").read_text("utf-8") == page
    assert "Ask the data" in Reader(page).visible_text
    assert "sargo index create" in Reader(plan.explain_html()).visible_text


def test_a_plan_of_another_process_has_a_page(table):
    plan = prune(table, "i >= 400 AND i <= 700", engine="spark")
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=pickle.dumps(plan),
        capture_output=True,
        check=True,
        timeout=60,
    )
    page = Reader(done.stdout.decode("utf-8"))
    assert f"{len(plan.skipped)} of {len(plan.slices)} file slices are skipped" in page.visible_text
    for leaf in plan.leaves:
        assert leaf.text in page.visible_text
    states = [page.data["ways"][way]["state"] for way in page.data["slices"]["way"]]
    assert states.count("skipped") == len(plan.skipped)
    assert states.count("fully matched") == len(plan.fully_matched)


def test_plans_that_are_combined_count_their_own_slices(table):
    one = pickle.loads(pickle.dumps(prune(table, "i >= 400", engine="spark")))
    other = prune(table, "i <= 700", engine="spark")
    for plan in (one & other, other & one, ~one, one | other, prune(table, "i >= 400", engine="spark") & other):
        document = slice_data(plan).document
        states = [document["ways"][way]["state"] for way in document["slices"]["way"]]
        assert states.count("skipped") == len(plan.skipped)
        assert states.count("fully matched") == len(plan.fully_matched)
        assert plan._repr_html_()


def test_without_the_libraries_a_notebook_shows_the_text_and_a_page_says_what_to_install(main_cow):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_LIBRARIES, str(main_cow)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    shown, error = json.loads(done.stdout)
    assert shown is None
    assert "pip install 'sargo[html]'" in error
