"""The pages of advice and of tables, and the option ``--html`` that writes them."""

from __future__ import annotations

import json
import shlex

import pyarrow as pa
import pytest
from click.testing import CliRunner

from handler.cli import html_option
from handler.cli.main import main
from handler.inspection import overlap_report
from handler.inspection.overlap_report import report_overlap
from index_store.opened_table import open_table
from tests.handler.commands import document, run
from tests.handler.pages.html_reading import Reader
from tests.handler.plain_table import plain_table


@pytest.fixture
def workload(tmp_path):
    file = tmp_path / "filters.sql"
    file.write_text("i = 100 OR u = 7\ns = 'a'\n", encoding="utf-8")
    return file


def page_of(*arguments, file):
    run(*arguments, "--html", file)
    return Reader(file.read_text("utf-8"))


def test_the_page_of_advice_names_the_commands_of_the_json_document(main_cow, workload, tmp_path):
    page = page_of("advise", main_cow, "--workload", workload, file=tmp_path / "a.html")
    found = document("advise", main_cow, "--workload", workload)
    assert found["chosen"]["commands"]
    for command in found["chosen"]["commands"]:
        assert command in page.visible_text
    for one in found["workload"]["by_filter"]:
        assert one["filter"] in page.visible_text


def test_the_page_of_advice_shows_the_ranges_before_and_after_a_layout(main_cow, workload, tmp_path):
    page = page_of("advise", main_cow, "--workload", workload, "--what-if", "sort by (s)", file=tmp_path / "a.html")
    labels = [one["aria-label"] for one in page.tagged("svg") if "ranges" in (one.get("class") or "")]
    assert len(labels) == 2
    assert "What if: sort by (s)" in page.visible_text
    assert "s, today" in page.visible_text
    assert "s, after sort by (s)" in page.visible_text


def test_the_page_of_a_table_says_how_much_ranges_overlap(main_cow, tmp_path):
    page = page_of("inspect", main_cow, file=tmp_path / "t.html")
    report = document("inspect", main_cow)
    text = page.visible_text
    assert f"{report['slices']['count']} file slices in {len(report['slices']['by_partition'])} partitions" in text
    overlap = report_overlap(open_table(main_cow))
    assert [one.score.left for one in overlap.columns] == sorted(
        (one.score.left for one in overlap.columns), reverse=True
    )
    for one in overlap.columns:
        assert f"{one.column.name}" in text
    for one in report["untrusted"]:
        assert one["reason"] in text


def test_the_page_of_a_table_shows_its_ranges_after_another_order(main_cow, tmp_path):
    page = page_of("inspect", main_cow, "--what-if", "sort by (d)", file=tmp_path / "t.html")
    assert "d, after sort by (d)" in page.visible_text
    assert "What if: sort by (d)" in page.visible_text


def test_the_command_that_a_page_of_a_table_proposes_runs(main_cow, tmp_path, monkeypatch):
    page = page_of("inspect", main_cow, file=tmp_path / "t.html")
    [command] = [text for text in page.texts["code"] if "--what-if" in text]
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(command)[1:])
    assert (tmp_path / "what-if.html").stat().st_size > 100_000


def test_the_page_of_a_table_counts_columns_that_are_not_looked_at(main_cow, monkeypatch):
    monkeypatch.setattr(overlap_report, "MAX_COLUMNS", 3)
    found = report_overlap(open_table(main_cow))
    assert len(found.columns) + len(found.without_bounds) == 3
    assert found.left_out > 0


def test_a_table_without_indexes_has_pages(tmp_path):
    rows = pa.table({"id": ["1", "2"], "x": [1, 2]})
    plain_table(tmp_path / "t", [("", rows)])
    assert "No index knows bounds" in page_of("inspect", tmp_path / "t", file=tmp_path / "i.html").visible_text
    assert "one file slice" in page_of("advise", tmp_path / "t", file=tmp_path / "a.html").visible_text


@pytest.mark.parametrize("command", ["inspect", "advise"])
def test_values_of_tables_stay_text(tmp_path, command):
    name = "<script>alert`1`<"
    rows = pa.table({"id": ["1", "2"], name: pa.array([1, 2])})
    folder = plain_table(tmp_path / "t<script>alert(1)", [(name, rows), ("b", rows)])
    order = ["--what-if", f"sort by ({name})"] if command == "advise" else []
    page = page_of(command, folder, *order, file=tmp_path / "a.html")
    assert [one.get("type") for one in page.tagged("script")] == ["module"]
    assert name in page.visible_text


def test_explain_writes_the_page_and_with_json_the_document_too(main_cow, tmp_path):
    file = tmp_path / "e.html"
    result = CliRunner().invoke(main, ["explain", str(main_cow), "--where", "u = 7", "--html", str(file), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["what_helps"]["remedies"]
    assert "u = 7" in Reader(file.read_text("utf-8")).visible_text


@pytest.mark.parametrize("library", ["jinja2", "itables"])
@pytest.mark.parametrize("command", ["explain", "advise", "inspect"])
def test_without_a_library_the_command_says_what_to_install_before_it_reads(tmp_path, monkeypatch, command, library):
    known = html_option.find_spec
    monkeypatch.setattr(html_option, "find_spec", lambda name: None if name == library else known(name))
    printed = run(command, tmp_path / "no table", "--html", tmp_path / "x.html", code=2)
    assert f"'sargo {command} --html' needs the extra 'html' ({library} is missing)" in printed
    assert "pip install 'sargo[html]'" in printed


def test_a_dash_writes_the_page_to_stdout(main_cow):
    assert run("explain", main_cow, "--where", "i = 1", "--html", "-").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "--where", "i = 1", "--html", "no/folder/e.html"], "cannot write --html no/folder/e.html"),
        (["explain", "--where", "i = 1", "--html", ""], "it is empty"),
        (["explain", "--where", "i = 1", "--html", "x.html", "--file", "abc"], "either --file or --html"),
        (["inspect", "--what-if", "sort by (i)"], "give --html FILE"),
        (["inspect", "--html", "x.html", "--what-if", "sort by (nope)"], "has no column nope"),
        (["inspect", "--html", "x.html", "--what-if", "sort by (i)", "--as-of", "20300101"], "leave out --as-of"),
    ],
)
def test_a_page_that_cannot_be_made_ends_with_2(main_cow, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in run(arguments[0], main_cow, *arguments[1:], code=2)
    assert not list(tmp_path.glob("*.html"))
