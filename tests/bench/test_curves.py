"""The page of growing cost says what was measured, and its charts are SVG. No test looks at a time."""

import xml.etree.ElementTree as ElementTree

import pytest

from tests.bench.curves.charts import chart
from tests.bench.curves.growth import COMMIT, PEERS, Growth, measure
from tests.bench.curves.page import charts_of, page_of
from tests.bench.engines.sargo import Sargo
from tests.bench.shapes import SHAPES

SVG = "{http://www.w3.org/2000/svg}"


def test_a_chart_has_a_line_for_each_curve_that_rises_to_the_right():
    document = ElementTree.fromstring(chart("a < b", {"one": [(100, 1e-5), (1000, 1e-3)], "two": [(100, 1e-4)]}))
    lines = [one.attrib["points"] for one in document.iter(f"{SVG}polyline")]
    assert sorted(line.count(",") for line in lines) == [1, 2]
    [(x0, y0), (x1, y1)] = [map(float, point.split(",")) for line in lines if " " in line for point in line.split()]
    assert x0 < x1
    assert y0 > y1  # SVG counts downwards
    assert [one.text for one in document.iter(f"{SVG}title")] == ["a < b"]


def test_without_a_point_there_is_no_chart():
    with pytest.raises(ValueError, match="no curve has a point"):
        chart("nothing", {"one": []})


def growth(layout, files):
    seconds = {shape.name: dict.fromkeys((Sargo.name, COMMIT, *PEERS), files * 1e-8) for shape in SHAPES}
    seconds["IN of 1,000"].pop("DuckDB")
    return Growth(
        layout=layout,
        files=files,
        seconds=seconds,
        kept=dict.fromkeys(seconds, 1),
        indexed=6e-6 * files,
        index_bytes=132 * files,
        cold=0.03 if files < 1_000 else None,
    )


def test_the_page_shows_every_layout_and_number_of_files_that_was_measured():
    page = page_of([growth("random", 100), growth("random", 10_000), growth("wide", 100)], "2 cores", "Polars 2")
    assert "2 cores. Polars 2." in page
    assert "| 1 equality | 0.001 ms (1, 1) | 0.1 ms (1, 1) |" in page
    assert [line for line in page.split("\n") if line.startswith("## ")] == [
        "## Random",
        "## Wide",
        "## Cold, and memory",
    ]
    wide = page[page.index("## Wide") :]
    assert "| 1 equality | 0.001 ms (1, 1) |  |" in wide
    assert "| ... per file and column | 1.00 µs | 1.00 µs |" in page
    assert "| ... per file and column | 22 | 22 |" in page
    assert "| open a table, read 4 columns, prune: CPU | 30 ms |  |" in page
    for line in page.split("\n"):
        if line.startswith("| "):
            assert line.count("|") == 4


def test_charts_are_made_of_the_random_layout():
    charts = charts_of([growth("random", 100), growth("random", 1_000), growth("wide", 100)])
    assert list(charts) == ["growth-equality.svg", "growth-leaves.svg", "growth-in.svg"]
    counts = {name: text.count("<polyline") for name, text in charts.items()}
    assert counts == {"growth-equality.svg": 6, "growth-leaves.svg": 6, "growth-in.svg": 5}


def test_a_measurement_has_every_shape_and_the_files_that_are_kept():
    found = measure("clustered", 300)
    assert (found.layout, found.files, found.cold) == ("clustered", 300, None)
    assert set(found.kept) == {shape.name for shape in SHAPES}
    assert all({Sargo.name, COMMIT} <= set(seconds) for seconds in found.seconds.values())
    assert found.index_bytes > 0
