"""The pages in Chromium: search, sort, drill down, keyboard, dark mode, phone width, accessibility, hostile values."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from handler import open_table, prune, what_helps
from handler.pages import slice_data
from handler.pages.explain_page import explain_page
from tests.handler.commands import run
from tests.handler.pages.browsing import Tab, chromium
from tests.handler.pages.large_plan import large_plan
from tests.handler.plain_table import plain_table

pytestmark = pytest.mark.browser

FILTER = "ts BETWEEN 5000000 AND 60000000 AND (fare < 20 OR city = 'city002')"
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True},
}
PAGES = ("explain", "advise", "inspect", "large")


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def pages(browser, main_cow, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    plan = prune(main_cow, "i >= 400 AND i <= 700 AND (s > 'a' OR u = 7)", engine="spark")
    (folder / "explain.html").write_text(explain_page(plan, what_helps(plan)), encoding="utf-8")
    (folder / "large.html").write_text(explain_page(large_plan(250, 400, FILTER)), encoding="utf-8")
    filters = folder / "filters.sql"
    filters.write_text("i = 100 OR u = 7\ns = 'a'\n", encoding="utf-8")
    order = ("--what-if", "sort by (s)")
    run("advise", main_cow, "--workload", filters, *order, "--html", folder / "advise.html")
    run("inspect", main_cow, *order, "--html", folder / "inspect.html")
    return {name: folder / f"{name}.html" for name in PAGES}


@pytest.fixture
def tab(browser):
    """``tab(file, "dark")``: the page in a new tab; nothing may have gone wrong on it when the test ends."""
    made: list[tuple[object, Tab]] = []

    def shown(file: Path, look: str = "light") -> Tab:
        context = browser.new_context(**LOOKS[look])
        made.append((context, Tab(context)))
        return made[-1][1].show(file)

    yield shown
    problems = [problem for _, one in made for problem in one.problems]
    for context, _ in made:
        context.close()
    assert problems == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_wide_as_the_window_and_accessible(tab, pages, name, look):
    shown = tab(pages[name], look)
    assert shown.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    axe = Path(pytest.importorskip("axe_playwright_python").__file__).parent / "axe.min.js"
    shown.value(axe.read_text("utf-8") + "; 0")
    found = shown.value("axe.run(document, {resultTypes: ['violations']})")
    broken = [
        (one["id"], one["impact"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found["violations"]
    ]
    assert broken == []
    assert len(found["passes"]) > 10


def test_a_page_is_dark_where_the_reader_prefers_that(tab, pages):
    luminance = """(() => {
        const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
        return (r + g + b) / 3; })()"""
    assert tab(pages["explain"], "dark").value(luminance) < 60
    assert tab(pages["explain"], "light").value(luminance) > 200


def test_the_table_of_slices_is_searched_and_sorted(tab, pages):
    shown = tab(pages["large"])
    shown.page.fill(".dt-search input", "Day=00100")
    shown.wait("document.querySelector('.dt-info').textContent", "1 to 25 of 400 (of 100,000)")
    assert {row[1] for row in shown.rows} == {"day=00100"}
    shown.page.fill(".dt-search input", "day=00100 SKIPPED")
    shown.wait("document.querySelector('.dt-info').textContent", "1 to 25 of 140 (of 100,000)")
    assert {row[0] for row in shown.rows} == {"skipped"}
    assert {row[1] for row in shown.rows} == {"day=00100"}
    shown.page.fill(".dt-search input", "")
    shown.wait("document.querySelector('.dt-info').textContent", "1 to 25 of 100,000")
    heading = shown.page.locator("#slices thead th").nth(2).locator("[role=button]")
    heading.focus()
    shown.page.keyboard.press("Enter")
    shown.wait("document.querySelector('#slices thead th:nth-child(3)').getAttribute('aria-sort')", "ascending")
    shown.page.keyboard.press("Enter")
    shown.wait("document.querySelector('#slices thead th:nth-child(3)').getAttribute('aria-sort')", "descending")
    files = [row[2] for row in shown.rows]
    assert files == sorted(files, reverse=True)
    assert files[0].startswith("000000f9-018f-")


def test_the_map_is_opened_down_to_a_file_by_keyboard(tab, pages):
    shown = tab(pages["large"])
    assert shown.page.locator(".map-row").count() == 36
    shown.page.locator(".map-row").nth(2).focus()
    shown.page.keyboard.press("Enter")  # days 14 to 20
    assert shown.page.locator(".map-row").count() == 7
    assert "day=00014" in shown.focused
    shown.page.keyboard.press("Tab")
    assert "day=00015" in shown.focused
    shown.page.keyboard.press("Enter")  # one day: its 400 files
    assert shown.page.locator(".cells button").count() == 400
    shown.wait(
        "document.querySelector('#files-scope').textContent.startsWith('400 of 100,000 file slices, of day=00015')"
    )
    shown.page.keyboard.press("ArrowRight")
    shown.page.keyboard.press("ArrowDown")
    shown.page.keyboard.press("End")
    shown.page.keyboard.press("Enter")
    detail = shown.value("document.querySelector('#slice-detail').textContent")
    assert "0000000f-018f-4000-8000-00000000" in detail
    assert "day=00015" in detail
    assert detail.count("engine spark --file 0000000f-018f-4000-8000-00000000") == 1
    shown.page.locator("#slice-detail [data-copy]").press("Enter")
    shown.wait("/^(Copied|Selected)$/.test(document.querySelector('#slice-detail [data-copy]').textContent)")
    shown.page.locator("#crumbs button").first.press("Enter")
    assert shown.page.locator(".map-row").count() == 36


@pytest.mark.parametrize(
    ("partitions", "files", "opened"),
    [
        (1, 20_000, ["Table", "files 1,001 to 1,500"]),
        (900, 2, ["Table", "day=00046 … day=00068", "day=00048"]),
        (1, 3, ["Table"]),
    ],
)
def test_the_map_goes_down_to_files_in_every_shape_of_table(tab, tmp_path, partitions, files, opened):
    file = tmp_path / "plan.html"
    file.write_text(explain_page(large_plan(partitions, files, FILTER)), encoding="utf-8")
    shown = tab(file)
    for _ in opened[1:]:
        shown.page.locator(".map-row").nth(2).press("Enter")
    assert shown.value("[...document.querySelectorAll('#crumbs li')].map(e => e.firstChild.textContent)") == opened
    assert shown.page.locator(".cells button").count() > 0


def test_files_that_are_not_listed_are_counted(tab, tmp_path, monkeypatch):
    monkeypatch.setattr(slice_data, "MAX_LISTED", 5000)
    file = tmp_path / "plan.html"
    file.write_text(explain_page(large_plan(30, 300, FILTER)), encoding="utf-8")
    shown = tab(file)
    assert "5,000 of 9,000 slices" in shown.value("document.body.textContent")
    for row, listed in ((10, 0), (0, 300), (7, 231)):
        shown.page.locator(".map-row").nth(row).press("Enter")
        assert shown.page.locator(".cells button").count() == listed
        text = f"{300 - listed} of its files are not listed on this page." if listed < 300 else ""
        assert shown.value("document.querySelector('#map-body').textContent") == text
        shown.page.locator("#crumbs button").first.press("Enter")


def test_the_map_shows_what_a_condition_rules_out(tab, pages):
    shown = tab(pages["large"])
    button = shown.page.locator("[data-mark]").first
    button.press("Space")
    assert button.get_attribute("aria-pressed") == "true"
    counted = shown.value("document.querySelector('[data-mark]').closest('.leaf').querySelector('.num').textContent")
    number = counted.split(" of ")[0]
    shown.wait(f"document.querySelector('#files-scope').textContent.startsWith('{number} of 100,000')")
    button.press("Space")
    shown.wait("document.querySelector('#files-scope').textContent.startsWith('All 100,000')")


def test_the_legend_chooses_what_is_shown_and_the_colours_follow_index_or_condition(tab, pages):
    shown = tab(pages["large"])
    legend = shown.page.locator("#map-legend label")
    every = legend.count()
    shown.page.locator("#map-legend input").first.uncheck()
    shown.wait("document.querySelector('#files-scope').textContent.startsWith('All')", False)
    assert "kept" not in {row[0] for row in shown.rows}
    shown.page.select_option("#colour-by", "condition")
    assert legend.count() >= every
    assert "ts >= 5000000" in shown.value("document.querySelector('#map-legend').textContent")
    shown.wait("document.querySelector('#files-scope').textContent.startsWith('All 100,000')")


def test_everything_that_can_be_pressed_is_reached_by_tab_and_shows_its_focus(tab, pages):
    shown = tab(pages["explain"])
    wanted = shown.value(
        """[...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
           .filter(e => e.offsetParent !== null && !e.disabled && e.tabIndex >= 0).length"""
    )
    reached: set[str] = set()
    for _ in range(wanted + 5):
        shown.page.keyboard.press("Tab")
        reached.add(
            shown.value(
                """(() => { const e = document.activeElement; if (e === document.body) return '';
                   const place = [...document.querySelectorAll('*')].indexOf(e);
                   return place + ' ' + getComputedStyle(e).outlineStyle })()"""
            )
        )
    reached.discard("")
    assert len(reached) >= wanted - 3  # links of the table's pages that lead nowhere are left out
    assert {one.split()[1] for one in reached} <= {"solid", "auto"}


def test_a_hundred_thousand_slices_take_less_than_two_seconds_of_a_processor(browser, pages):
    context = browser.new_context(**LOOKS["light"])
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(pages["large"].as_uri())
    page.wait_for_selector("html[data-table=ready]")
    spent = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    assert 0 < spent["TaskDuration"] < 2


def test_hostile_values_stay_text(tab, tmp_path):
    name = "<img src=x onerror=alert(1)><"
    rows = pa.table({"id": ["1", "2"], name: pa.array([1, 2])})
    folder = plain_table(tmp_path / "t", [("<svg onload=alert(2)>", rows), ("b", rows)])
    plan = prune(folder, f"`{name}` = 1 AND id <> '</script><script>alert(3)</script>'", engine="spark")
    file = tmp_path / "plan.html"
    plan.explain_html(file)
    shown = tab(file)
    assert name in shown.value("document.body.innerText")
    assert shown.value("document.querySelectorAll('img').length") == 0
    shown.page.locator(".map-row").first.press("Enter")
    shown.page.locator(".cells button").first.press("Enter")
    shown.page.fill(".dt-search input", "<svg")
    shown.page.select_option("#colour-by", "condition")
    assert "<svg onload=alert(2)>" in shown.value("document.body.innerText")


def test_a_page_prints_without_its_tools(tab, pages):
    shown = tab(pages["explain"])
    shown.page.emulate_media(media="print")
    assert not shown.page.locator(".tools").first.is_visible()
    assert shown.page.locator(".map-row").first.is_visible()


def test_a_table_of_one_file_and_one_without_files_have_pages(tab, tmp_path):
    rows = pa.table({"id": ["1", "2"]})
    for number, files in enumerate(([("", rows)], [])):
        table = open_table(plain_table(tmp_path / f"t{number}", files))
        file = tmp_path / f"{number}.html"
        prune(table, "id = '1'", engine="spark").explain_html(file)
        tab(file)
