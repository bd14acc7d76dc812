"""The sidecar's page in Chromium: it updates itself, can be searched and used by keyboard, and fits a phone."""

import pytest

from tests.handler.pages.browsing import Tab, chromium
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.test_service import I_IS_100
from tests.handler.sidecar.test_status_page import EVIL, ask

pytestmark = pytest.mark.browser

QUESTIONS = "[...document.querySelectorAll('#question-list tbody tr')].map(row => row.textContent)"


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture
def opened(browser):
    """``opened(running, **look)``: the page in a tab, on which nothing may have gone wrong."""
    tabs = []

    def shown(running, **look):
        context = browser.new_context(**look)
        tab = Tab(context)
        tabs.append((context, tab))
        tab.page.goto(f"http://127.0.0.1:{running.sidecar.metrics_port}/")
        tab.wait("document.getElementById('updated').textContent.startsWith('State of')")
        return tab

    yield shown
    problems = [one for _, tab in tabs for one in tab.problems if not one.startswith("request: http://127.0.0.1:")]
    for context, _ in tabs:
        context.close()
    assert problems == []


@pytest.fixture
def running(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], log_values=True)
    ask(running, main_cow, names, user="ada")
    ask(running, main_cow, names, user=EVIL)
    return running


def test_it_shows_new_questions_by_itself_and_what_clients_name_as_text(opened, running, main_cow, names):
    tab = opened(running)
    rows = tab.value(QUESTIONS)
    assert len(rows) == 2
    assert "<script>alert(1)</script>\\u202e" in rows[0]
    assert "i = 100" in rows[0]
    ask(running, main_cow, names, user="grace")
    tab.wait(f"{QUESTIONS}.length", 3)
    assert "grace" in tab.value(QUESTIONS)[0]


def test_questions_are_searched_and_explained_by_keyboard(opened, running):
    tab = opened(running)
    tab.page.focus("#search")
    tab.page.keyboard.type("ada")
    assert [("ada" in row) for row in tab.value(QUESTIONS)] == [True]
    tab.page.focus("#question-list a")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("html[data-table=ready]")
    assert "file slices are skipped" in tab.value("document.querySelector('h1').textContent")


@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 740}}], ids=str)
def test_it_is_accessible_and_as_wide_as_the_screen(opened, running, look):
    from axe_playwright_python.sync_playwright import Axe

    tab = opened(running, bypass_csp=True, **look)
    assert tab.value("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    found = Axe().run(tab.page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
    tab.problems[:] = [one for one in tab.problems if "404" not in one]  # without the policy Chromium asks for an icon


def test_with_a_secret_the_page_goes_on_updating_itself(browser, sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], secret=SECRET)
    context = browser.new_context(http_credentials={"username": "me", "password": SECRET})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{running.sidecar.metrics_port}/")
    assert "No question yet" in page.text_content("h1")
    with running.client() as client:
        client.prune(request(main_cow, I_IS_100, names, secret=SECRET))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector("text=of the listed files were skipped", timeout=20_000)
    context.close()
