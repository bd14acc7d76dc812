"""Flame graphs: what of py-spy's output counts, and what is drawn of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from tests.bench.compare.hot_paths import HOT_PATHS
from tests.bench.compare.ratios import Comparison
from tests.bench.flames.drawing import COLOURS, flame_graph
from tests.bench.flames.page import Profile, file_of, page_of
from tests.bench.flames.stacks import stacks_in

BIND, RULES, NUMPY = "bind (evaluator/binding/bind.py:99)", "rules (evaluator/rules.py:1)", "dot (numpy/core.py:5)"
SVG = "{http://www.w3.org/2000/svg}"


def test_what_the_loop_calls_is_counted_and_nothing_else() -> None:
    lines = [
        "<module> (looping.py:40);main (looping.py:29);repeated (looping.py:20);" + f"{BIND};{RULES} 3",
        f"<module> (looping.py:40);main (looping.py:29);repeated (looping.py:20);{BIND} 2",
        f"<module> (looping.py:40);main (looping.py:29);{BIND} 50",  # the preparation
        "<module> (looping.py:40);main (looping.py:29);repeated (looping.py:20) 1",
        f"<module> (looping.py:40);main (looping.py:29);repeated (looping.py:20);{BIND};{RULES} 4",
        f"_bootstrap (threading.py:1002);{NUMPY} 9",
        " 1",
    ]
    assert stacks_in(lines) == {(BIND, RULES): 7, (BIND,): 2}


def test_a_box_is_as_wide_as_its_share_and_below_its_caller() -> None:
    drawn = ET.fromstring(flame_graph("a & b", Counter({(BIND, RULES): 60, (BIND,): 15, (NUMPY,): 24, (RULES,): 1})))
    boxes = {}
    for group in drawn.iter(f"{SVG}g"):
        box, title = group.find(f"{SVG}rect"), group.find(f"{SVG}title")
        assert box is not None
        assert title is not None
        boxes[title.text] = (box.get("x"), box.get("width"), box.get("y"), box.get("fill"))
    assert boxes == {
        f"{BIND}: 75.0%": ("0.0", "689.4", "26", COLOURS["evaluator"]),
        f"{RULES}: 60.0%": ("0.0", "551.4", "43", COLOURS["evaluator"]),
        f"{NUMPY}: 24.0%": ("690.0", "220.2", "26", COLOURS[""]),
        f"{RULES}: 1.0%": ("910.8", "8.6", "26", COLOURS["evaluator"]),
    }
    assert "a & b" in [title.text for title in drawn.iter(f"{SVG}title")]
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts == ["a & b", "bind", "dot", "rules"]  # the narrow box has no name


def test_what_takes_next_to_no_time_is_left_out() -> None:
    drawn = flame_graph("t", Counter({(BIND,): 995, (RULES,): 5}))
    assert "rules" not in drawn
    with pytest.raises(ValueError, match="no stack"):
        flame_graph("t", {})


def test_each_path_has_a_drawing_of_its_own() -> None:
    names = [file_of(name, when) for name in HOT_PATHS for when in ("before", "now")]
    assert len(set(names)) == 2 * len(HOT_PATHS)
    assert file_of("search 200,000 files: 1 equality", "now") == "search-200-000-files-1-equality-now.svg"


def test_the_page_says_how_much_faster_a_path_is_and_what_the_base_cannot_run() -> None:
    page = page_of(
        [
            Profile(Comparison("bind", [0.004, 0.005], [0.002, 0.003]), "b.svg", "n.svg"),
            Profile(Comparison("decode", [], [], why="ImportError"), "", "d.svg", why="ImportError"),
        ],
        "2 cores",
        "abc",
    )
    assert "## Bind\n\n4.00 ms before, 2.00 ms now: 0.50 x." in page
    assert "The earlier commit cannot run it: ImportError." in page
    assert [line.split("/")[-1] for line in page.splitlines() if "diagram" in line] == ["b.svg", "n.svg", "d.svg"]
